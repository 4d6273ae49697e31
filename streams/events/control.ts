import { Type } from 'typebox';
import { jsonEvent } from './define.ts';
import {
  backboneSchema,
  closed,
  epochSchema,
  groupSchema,
  nullable,
  numberSchema,
  serviceKindSchema,
  timeSchema,
} from './schemas.ts';

/** How far back a group is wanted, counted from the day it joined. */
const backfillSchema = Type.Union([
  Type.Object({ kind: Type.Literal('none') }, closed),
  Type.Object({ kind: Type.Literal('all') }, closed),
  Type.Object({ kind: Type.Literal('days'), days: Type.Integer({ minimum: 1, maximum: 20_000 }) }, closed),
  Type.Object({ kind: Type.Literal('since'), since: timeSchema }, closed),
  Type.Object({ kind: Type.Literal('number'), from: numberSchema }, closed),
]);

/** The numbers that the entry covers on one backbone in one epoch; `to` is set when the group is removed. */
const spanSchema = Type.Object(
  {
    backbone: backboneSchema,
    epoch: epochSchema,
    from: numberSchema,
    /** The first number of the live lane: the high mark when the group was first read, plus one. */
    liveFrom: numberSchema,
    to: nullable(numberSchema),
  },
  closed,
);

const entrySchema = Type.Object(
  {
    group: groupSchema,
    /** Join order, from 1; never changed: the lowest rank in an Xref is the main group. */
    rank: Type.Integer({ minimum: 1 }),
    backfill: backfillSchema,
    /** Filled by the coordinator once it has read the group's marks on a backbone. */
    spans: Type.Array(spanSchema, { maxItems: 1000 }),
    removed: Type.Boolean(),
  },
  closed,
);

const schema = Type.Object(
  {
    origin: serviceKindSchema,
    listVersion: Type.Integer({ minimum: 1 }),
    entries: Type.Array(entrySchema, { maxItems: 20_000 }),
  },
  closed,
);

export type GroupList = Type.Static<typeof schema>;
export type GroupEntry = Type.Static<typeof entrySchema>;
export type GroupSpan = Type.Static<typeof spanSchema>;
export type Backfill = Type.Static<typeof backfillSchema>;

/** One whole, immutable version of the group list. Appended only after the last event of the stream (a compare-and-set). */
export const controlGroups = jsonEvent({
  type: 'control.groups',
  version: 1,
  stream: 'CONTROL',
  schema,
  subject: (d) => ({ verb: 'control.groups', origin: d.origin }),
  about: (d) => `${d.listVersion}`,
});
