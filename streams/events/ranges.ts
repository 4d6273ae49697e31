import { Type } from 'typebox';
import { MANY_GROUPS } from '../subjects.ts';
import { jsonEvent } from './define.ts';
import {
  backboneSchema,
  closed,
  countSchema,
  epochSchema,
  groupSchema,
  intervalSchema,
  laneSchema,
  nullable,
  numberSchema,
  ordinalSchema,
  planVersions,
  positionSchema,
  rangeFields,
  rangeIdSchema,
  serviceKindSchema,
  timeSchema,
} from './schemas.ts';

/** `<backbone>/<group>/<rangeId>/<run>`: what one run of a range is called inside event ids. */
const runOf = (d: { backbone: string; group: string; rangeId: string; run: number }): string =>
  `${d.backbone}/${d.group}/${d.rangeId}/${d.run}`;

const plannedRange = Type.Object(
  {
    group: groupSchema,
    epoch: epochSchema,
    rangeId: rangeIdSchema,
    lo: numberSchema,
    hi: numberSchema,
    run: ordinalSchema,
  },
  closed,
);

const plannedSchema = Type.Object(
  {
    lane: laneSchema,
    backbone: backboneSchema,
    /** One range, or (live) the spans of many groups of the backbone. */
    ranges: Type.Array(plannedRange, { minItems: 1, maxItems: 2000 }),
    /** The short run whose missing numbers these ranges ask for again: it is not short any more, and nor will they be. */
    reasks: Type.Optional(Type.Object({ group: groupSchema, rangeId: rangeIdSchema, run: ordinalSchema }, closed)),
    ...planVersions,
  },
  closed,
);
export type RangePlanned = Type.Static<typeof plannedSchema>;
export type PlannedRange = Type.Static<typeof plannedRange>;

const onlyRange = (d: RangePlanned): PlannedRange | null => (d.ranges.length === 1 ? d.ranges[0]! : null);

export const rangePlanned = jsonEvent({
  type: 'range.planned',
  version: 1,
  stream: 'RANGES',
  schema: plannedSchema,
  // Live plans of a backbone share one subject, whether they carry one group or many: it is what fences two coordinators.
  subject: (d) => ({
    verb: 'range.planned',
    lane: d.lane,
    backbone: d.backbone,
    group: d.lane === 'live' ? MANY_GROUPS : (onlyRange(d)?.group ?? MANY_GROUPS),
  }),
  // The first range names the plan: no range is planned twice with one run.
  about: (d) => `${runOf({ backbone: d.backbone, ...d.ranges[0]! })}/${d.ranges.length}`,
});

const batchRef = Type.Object(
  {
    /** Sequence in OVERVIEW. */
    sequence: Type.Integer({ minimum: 1 }),
    lo: numberSchema,
    hi: numberSchema,
    lines: countSchema,
    rawBytes: countSchema,
  },
  closed,
);
export type BatchRef = Type.Static<typeof batchRef>;

const fetchedSchema = Type.Object(
  {
    ...rangeFields,
    ...planVersions,
    /** In order of numbers; together they cover lo..hi without gap or overlap. */
    batches: Type.Array(batchRef, { maxItems: 20_000 }),
    lines: countSchema,
    rawBytes: countSchema,
    firstAt: nullable(timeSchema),
    lastAt: nullable(timeSchema),
    /** Numbers of the range for which the server sent no line. */
    missing: Type.Array(intervalSchema, { maxItems: 200_000 }),
  },
  closed,
);
export type RangeFetched = Type.Static<typeof fetchedSchema>;

export const rangeFetched = jsonEvent({
  type: 'range.fetched',
  version: 1,
  stream: 'RANGES',
  schema: fetchedSchema,
  subject: (d) => ({ verb: 'range.fetched', lane: d.lane, backbone: d.backbone, group: d.group }),
  about: runOf,
});

const parsedSchema = Type.Object(
  {
    ...rangeFields,
    pass: ordinalSchema,
    lines: countSchema,
    kept: countSchema,
    /** Lines that went nowhere, by reason; lines = kept + the sum of these. */
    skipped: Type.Record(Type.String({ maxLength: 60 }), countSchema),
    releases: countSchema,
    files: countSchema,
    segments: countSchema,
    missing: Type.Array(intervalSchema, { maxItems: 200_000 }),
    /** The last events of this pass: RELEASES and CHUNKS are complete for it once projected past these. */
    releasesPosition: positionSchema,
    chunksPosition: positionSchema,
  },
  closed,
);
export type RangeParsed = Type.Static<typeof parsedSchema>;

export const rangeParsed = jsonEvent({
  type: 'range.parsed',
  version: 1,
  stream: 'RANGES',
  schema: parsedSchema,
  subject: (d) => ({ verb: 'range.parsed', lane: d.lane, backbone: d.backbone, group: d.group }),
  about: (d) => `${runOf(d)}/${d.pass}`,
});

/** error: gave up after its retry; unavailable: the group or its numbers are gone; quarantined: it breaks the parser. */
export const FAILURE_CLASSES = ['error', 'unavailable', 'quarantined'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

const failedSchema = Type.Object(
  {
    origin: serviceKindSchema,
    ...rangeFields,
    stage: Type.Union([Type.Literal('fetch'), Type.Literal('parse')]),
    class: Type.Unsafe<FailureClass>(Type.Union(FAILURE_CLASSES.map((c) => Type.Literal(c)))),
    /** The catalogue's code and its sentence; never a credential. */
    code: Type.String({ maxLength: 80 }),
    message: Type.String({ maxLength: 1000 }),
  },
  closed,
);
export type RangeFailed = Type.Static<typeof failedSchema>;

export const rangeFailed = jsonEvent({
  type: 'range.failed',
  version: 1,
  stream: 'RANGES',
  schema: failedSchema,
  subject: (d) => ({ verb: 'range.failed', origin: d.origin, lane: d.lane, backbone: d.backbone, group: d.group }),
  about: (d) => `${runOf(d)}/${d.stage}`,
});

const retiredSchema = Type.Object(
  {
    ...rangeFields,
    reason: Type.Union([Type.Literal('group removed'), Type.Literal('below the low mark'), Type.Literal('superseded')]),
  },
  closed,
);
export type RangeRetired = Type.Static<typeof retiredSchema>;

export const rangeRetired = jsonEvent({
  type: 'range.retired',
  version: 1,
  stream: 'RANGES',
  schema: retiredSchema,
  subject: (d) => ({ verb: 'range.retired', lane: d.lane, backbone: d.backbone, group: d.group }),
  about: runOf,
});

const markSchema = Type.Object(
  { group: groupSchema, epoch: epochSchema, low: numberSchema, high: numberSchema },
  closed,
);
const marksSchema = Type.Object(
  {
    backbone: backboneSchema,
    /** The marks that changed; the time of the event is the time of the reading and holds for all groups polled. */
    marks: Type.Array(markSchema, { maxItems: 20_000 }),
  },
  closed,
);
export type RangeMarks = Type.Static<typeof marksSchema>;
export type GroupMark = Type.Static<typeof markSchema>;

/** One poll of a backbone: which marks moved. */
export const rangeMarks = jsonEvent({
  type: 'range.marks',
  version: 1,
  stream: 'RANGES',
  schema: marksSchema,
  subject: (d) => ({ verb: 'range.marks', backbone: d.backbone }),
  about: (d, at) => `${d.backbone}/${at}`,
});

const runRef = Type.Object({ group: groupSchema, rangeId: rangeIdSchema, run: ordinalSchema }, closed);

const retriedSchema = Type.Object(
  {
    origin: serviceKindSchema,
    backbone: backboneSchema,
    /** Failed runs: each is to be planned again as run + 1. */
    runs: Type.Array(runRef, { minItems: 1, maxItems: 2000 }),
  },
  closed,
);
export type RangeRetried = Type.Static<typeof retriedSchema>;

/** Somebody wants failed ranges tried again; the coordinator plans them when there is room. */
export const rangeRetried = jsonEvent({
  type: 'range.retried',
  version: 1,
  stream: 'RANGES',
  schema: retriedSchema,
  subject: (d) => ({ verb: 'range.retried', origin: d.origin, backbone: d.backbone }),
  about: (d) => `${runOf({ backbone: d.backbone, ...d.runs[0]! })}/${d.runs.length}`,
});

const windowSchema = Type.Object(
  { group: groupSchema, epoch: epochSchema, lo: numberSchema, hi: numberSchema },
  closed,
);

const wantedSchema = Type.Object(
  {
    origin: serviceKindSchema,
    backbone: backboneSchema,
    /** What asks: tells one wish from another of the same origin. */
    request: Type.String({ pattern: '^[A-Za-z0-9/_.:-]{1,120}$' }),
    windows: Type.Array(windowSchema, { minItems: 1, maxItems: 2000 }),
  },
  closed,
);
export type RangeWanted = Type.Static<typeof wantedSchema>;

/** Numbers that are to be parsed soon: what of them no range covers becomes ranges of lane `scan`. */
export const rangeWanted = jsonEvent({
  type: 'range.wanted',
  version: 1,
  stream: 'RANGES',
  schema: wantedSchema,
  subject: (d) => ({ verb: 'range.wanted', origin: d.origin, backbone: d.backbone }),
  about: (d) => `${d.origin}/${d.backbone}/${d.request}`,
});
