import { Type } from 'typebox';
import { jsonEvent } from './define.ts';
import { closed, serviceKindSchema, timeSchema } from './schemas.ts';

/** It becomes part of an event id, which travels as a header: no line breaks. */
const printable = Type.String({ pattern: '^[^\\p{Cc}]{1,200}$' });

const serviceSchema = Type.Object(
  {
    service: serviceKindSchema,
    /** One process of that kind: `<host>/<pid>`. */
    instance: printable,
    state: Type.Union([Type.Literal('started'), Type.Literal('ready'), Type.Literal('stopped')]),
    build: Type.String({ maxLength: 80 }),
  },
  closed,
);
export type ServiceState = Type.Static<typeof serviceSchema>;

export const opsService = jsonEvent({
  type: 'ops.service',
  version: 1,
  stream: 'OPS',
  schema: serviceSchema,
  subject: (d) => ({ verb: 'ops.service', service: d.service }),
  about: (d, at) => `${d.service}/${d.instance}/${d.state}/${at}`,
});

/** What an incident is about, e.g. `provider/eweka`, `projection/catalog`; class + this is its identity while open. */
const incidentKey = {
  origin: serviceKindSchema,
  class: Type.String({ pattern: '^[A-Z][A-Z0-9_]{2,79}$' }),
  about: printable,
} as const;

const openedSchema = Type.Object(
  { ...incidentKey, message: Type.String({ maxLength: 1000 }), hint: Type.String({ maxLength: 1000 }) },
  closed,
);
export type IncidentOpened = Type.Static<typeof openedSchema>;

export const incidentOpened = jsonEvent({
  type: 'ops.incident.opened',
  version: 1,
  stream: 'OPS',
  schema: openedSchema,
  subject: (d) => ({ verb: 'ops.incident.opened', origin: d.origin }),
  about: (d, at) => `${d.origin}/${d.class}/${d.about}/${at}`,
});

const closedSchema = Type.Object({ ...incidentKey, openedAt: timeSchema }, closed);
export type IncidentClosed = Type.Static<typeof closedSchema>;

export const incidentClosed = jsonEvent({
  type: 'ops.incident.closed',
  version: 1,
  stream: 'OPS',
  schema: closedSchema,
  subject: (d) => ({ verb: 'ops.incident.closed', origin: d.origin }),
  about: (d) => `${d.origin}/${d.class}/${d.about}/${d.openedAt}`,
});
