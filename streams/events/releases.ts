import { Type } from 'typebox';
import { decodeContributions, encodeContributions } from '../codec/releaseSeen.ts';
import type { Contribution } from '../records.ts';
import { bulkEvent, jsonEvent } from './define.ts';
import {
  backboneSchema,
  closed,
  countSchema,
  epochSchema,
  groupSchema,
  numberSchema,
  ordinalSchema,
  rangeIdSchema,
  serviceKindSchema,
} from './schemas.ts';

/** The fields that name one pass over one run of a range: the source of contributions and chunks. */
export const passFields = {
  backbone: backboneSchema,
  group: groupSchema,
  epoch: epochSchema,
  rangeId: rangeIdSchema,
  run: ordinalSchema,
  pass: ordinalSchema,
} as const;

export const passOf = (d: { backbone: string; group: string; rangeId: string; run: number; pass: number }): string =>
  `${d.backbone}/${d.group}/${d.rangeId}/${d.run}/${d.pass}`;

export const openedSchema = Type.Object({ ...passFields, lo: numberSchema, hi: numberSchema }, closed);
export type PassOpened = Type.Static<typeof openedSchema>;

/** A pass begins: everything of a lower (run, pass) of this range is withdrawn. */
export const releaseOpened = jsonEvent({
  type: 'release.opened',
  version: 1,
  stream: 'RELEASES',
  schema: openedSchema,
  subject: (d) => ({ verb: 'release.opened', backbone: d.backbone, group: d.group }),
  about: passOf,
});

const seenSchema = Type.Object(
  {
    origin: serviceKindSchema,
    ...passFields,
    /** Counts the messages of the pass, from 0. */
    k: countSchema,
  },
  closed,
);

/** What a pass learned about releases, many contributions a message. */
export const releaseSeen = bulkEvent({
  type: 'release.seen',
  version: 1,
  stream: 'RELEASES',
  schema: seenSchema,
  encodeBody: (body: readonly Contribution[]) => encodeContributions(body),
  decodeBody: (bytes) => decodeContributions(bytes),
  subject: (d) => ({ verb: 'release.seen', origin: d.origin, backbone: d.backbone, group: d.group }),
  about: (d) => `${passOf(d)}/${d.k}`,
});
export type ReleaseSeen = ReturnType<typeof releaseSeen.decode>;
