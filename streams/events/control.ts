import { Type } from 'typebox';
import { ArticleNumber } from '../ids.ts';
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

/**
 * The numbers that the entry covers on one backbone in one epoch; `to` is set when the group is removed. A group that is added
 * again begins another span, with what is wanted now; the earlier one stays, for what it covers was read as the group's own.
 */
const spanSchema = Type.Object(
  {
    backbone: backboneSchema,
    epoch: epochSchema,
    from: numberSchema,
    /** The first number of the live lane: the high mark when the group was first read, plus one. */
    liveFrom: numberSchema,
    to: nullable(numberSchema),
    /** The first number of each calendar year within the span, ascending; bisected once. */
    eras: Type.Optional(
      Type.Array(Type.Object({ year: Type.Integer({ minimum: 1980, maximum: 2200 }), from: numberSchema }, closed), {
        maxItems: 100,
      }),
    ),
  },
  closed,
);

/** `to` of a span that the operator ended: the last number is yet to be read, until then it covers what an open one does. */
export const END_UNREAD = ArticleNumber(Number.MAX_SAFE_INTEGER);

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

/** What an article is recognised by. A tool is named as `readTool` of the headers core names it. */
export const GARBAGE_FIELDS = ['poster', 'message_id', 'tool'] as const;
export type GarbageField = (typeof GARBAGE_FIELDS)[number];

const signatureSchema = Type.Object(
  {
    /** What dropped articles are counted under. */
    signature: Type.String({ pattern: '^[a-z0-9_-]{1,40}$' }),
    field: Type.Unsafe<GarbageField>(Type.Union(GARBAGE_FIELDS.map((f) => Type.Literal(f)))),
    /** The whole field; `*` stands for any number of characters, `?` for one. Letter case does not matter. */
    pattern: Type.String({ minLength: 1, maxLength: 200 }),
  },
  closed,
);
export type GarbageSignature = Type.Static<typeof signatureSchema>;

/** One whole, immutable version of the garbage table: random-named articles with one of these signatures are dropped. */
export const controlGarbage = jsonEvent({
  type: 'control.garbage',
  version: 1,
  stream: 'CONTROL',
  schema: Type.Object(
    {
      origin: serviceKindSchema,
      garbageVersion: Type.Integer({ minimum: 1 }),
      signatures: Type.Array(signatureSchema, { maxItems: 1000 }),
    },
    closed,
  ),
  subject: (d) => ({ verb: 'control.garbage', origin: d.origin }),
  about: (d) => `${d.garbageVersion}`,
});
export type GarbageTable = ReturnType<typeof controlGarbage.decode>;
