import fc from 'fast-check';
import { GARBAGE_FIELDS } from '../../streams/events/control.ts';
import { type EventDefinition, makeEvent } from '../../streams/events/define.ts';
import { type DataOf, EVENTS, type EventType, type HeadwaterEvent } from '../../streams/events/index.ts';
import { FAILURE_CLASSES } from '../../streams/events/ranges.ts';
import type { ReleaseId, ReleaseKey } from '../../streams/ids.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, isGroup, LANES, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { SERVICES } from '../../streams/services.ts';
import type { Subject } from '../../streams/subjects.ts';
import { candidate, contribution, encodedChunk, fragments, hexText, merge, mergedChunks } from './codecArbitraries.ts';

const PLAIN = { noNullPrototype: true } as const;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789-+_'];

const token = fc.oneof(
  fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 12 }),
  fc.constantFrom('a*b', '>x', 'größe', '日本', '$JS', 'x=y'),
);
export const groups: fc.Arbitrary<Group> = fc
  .array(token, { minLength: 1, maxLength: 6 })
  .map((tokens) => tokens.join('.'))
  .filter(isGroup)
  .map(Group);
export const backbones: fc.Arbitrary<Backbone> = fc.stringMatching(/^[a-z0-9-]{1,40}$/).map(Backbone);
export const lanes = fc.constantFrom(...LANES);
export const services = fc.constantFrom(...SERVICES);
const counts = fc.oneof(fc.nat({ max: 1000 }), fc.maxSafeNat());
const numbers = counts.map(ArticleNumber);
const ordinals = fc.integer({ min: 1, max: 999_999_999 });
const times = fc.integer({ min: 0, max: 4_000_000_000_000 }).map(EpochMs);
/** Text as a code or a host name: what travels in ids holds no line breaks. */
const words = fc.stringMatching(/^[A-Za-z0-9/_.:-]{1,60}$/);

export const spans = fc.tuple(fc.nat({ max: 999_999_999 }), numbers, numbers).map(([e, a, b]) => {
  const [epoch, lo, hi] = [Epoch(e), ArticleNumber(Math.min(a, b)), ArticleNumber(Math.max(a, b))];
  return { epoch, lo, hi, rangeId: RangeId.of(epoch, lo, hi) };
});
export const rangeIds = spans.map((span) => span.rangeId);

const runs = fc
  .tuple(spans, fc.record({ backbone: backbones, group: groups, run: ordinals }, PLAIN))
  .map(([span, rest]) => ({ ...span, ...rest }));
const ranges = fc.tuple(runs, lanes).map(([run, lane]) => ({ ...run, lane }));
const intervals: fc.Arbitrary<Interval[]> = fc.array(fc.tuple(numbers, numbers), { maxLength: 5 });
const versions = fc.record({ listVersion: counts, garbageVersion: counts }, PLAIN);
const positions = fc.record({ number: counts, sequence: counts }, PLAIN);
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const merged = <A extends object, B extends object>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>): fc.Arbitrary<A & B> =>
  fc.tuple(a, b).map(([x, y]) => ({ ...x, ...y }));
const record = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, PLAIN) as fc.Arbitrary<T>;

const backfill = fc.oneof(
  record({ kind: fc.constantFrom('none' as const, 'all' as const) }),
  record({ kind: fc.constant('days' as const), days: fc.integer({ min: 1, max: 20_000 }) }),
  record({ kind: fc.constant('since' as const), since: times }),
  record({ kind: fc.constant('number' as const), from: numbers }),
) as fc.Arbitrary<DataOf<'control.groups'>['entries'][number]['backfill']>;

const groupEntry = record({
  group: groups,
  rank: ordinals,
  backfill,
  spans: fc.array(
    record({
      backbone: backbones,
      epoch: fc.nat().map(Epoch),
      from: numbers,
      liveFrom: numbers,
      to: nullable(numbers),
    }),
    { maxLength: 3 },
  ),
  removed: fc.boolean(),
});

const plannedRange = runs.map(({ backbone: _, ...range }) => range);
const passes = merged(runs, record({ pass: ordinals }));
const passNames = passes.map(({ lo: _lo, hi: _hi, ...named }) => named);
/** Decoded bytes are views of the message's buffer. */
const travelledChunk = encodedChunk.map((chunk) => ({ ...chunk, payload: Buffer.from(chunk.payload) as Uint8Array }));
const incident = record({
  origin: services,
  class: fc.stringMatching(/^[A-Z][A-Z0-9_]{2,40}$/),
  about: words,
});

const mergeNames = record({
  backbone: backbones,
  group: groups,
  epoch: fc.nat({ max: 999_999_999 }).map(Epoch),
  revision: positions,
  digest: hexText(32),
});
const settlement = record({
  releaseId: hexText(32) as fc.Arbitrary<ReleaseId>,
  key: hexText(32) as fc.Arbitrary<ReleaseKey>,
  setHash: hexText(32),
  firstAt: times,
  lastAt: times,
  files: counts,
  filesComplete: counts,
  segments: counts,
  segmentsTotal: counts,
  bytes: counts,
  par2Files: counts,
  par2Segments: counts,
  par2SegmentsTotal: counts,
  par2Bytes: counts,
});

/** The data of every type of event: a type without one here does not compile. */
const DATA: { readonly [T in EventType]: fc.Arbitrary<DataOf<T>> } = {
  'control.groups': record({
    origin: services,
    listVersion: ordinals,
    entries: fc.array(groupEntry, { maxLength: 4 }),
  }),
  'control.garbage': record({
    origin: services,
    garbageVersion: ordinals,
    signatures: fc.array(
      record({
        signature: fc.stringMatching(/^[a-z0-9_-]{1,40}$/),
        field: fc.constantFrom(...GARBAGE_FIELDS),
        pattern: fc.string({ minLength: 1, maxLength: 80 }),
      }),
      { maxLength: 4 },
    ),
  }),
  'range.planned': merged(
    record({ lane: lanes, backbone: backbones, ranges: fc.array(plannedRange, { minLength: 1, maxLength: 4 }) }),
    versions,
  ),
  'range.fetched': merged(
    merged(ranges, versions),
    record({
      batches: fc.array(record({ sequence: ordinals, lo: numbers, hi: numbers, lines: counts, rawBytes: counts }), {
        maxLength: 4,
      }),
      lines: counts,
      rawBytes: counts,
      firstAt: nullable(times),
      lastAt: nullable(times),
      missing: intervals,
    }),
  ),
  'range.parsed': merged(
    ranges,
    record({
      pass: ordinals,
      lines: counts,
      kept: counts,
      skipped: fc.dictionary(words, counts, { maxKeys: 4, noNullPrototype: true }),
      releases: counts,
      files: counts,
      segments: counts,
      missing: intervals,
      releasesPosition: positions,
      chunksPosition: positions,
    }),
  ),
  'range.failed': merged(
    ranges,
    record({
      origin: services,
      stage: fc.constantFrom('fetch' as const, 'parse' as const),
      class: fc.constantFrom(...FAILURE_CLASSES),
      code: fc.string({ maxLength: 80 }),
      message: fc.string({ unit: 'grapheme', maxLength: 80 }),
    }),
  ),
  'range.retired': merged(
    ranges,
    record({ reason: fc.constantFrom('group removed' as const, 'below the low mark' as const, 'superseded' as const) }),
  ),
  'range.retried': record({
    origin: services,
    backbone: backbones,
    runs: fc.array(record({ group: groups, rangeId: rangeIds, run: ordinals }), { minLength: 1, maxLength: 4 }),
  }),
  'range.wanted': record({
    origin: services,
    backbone: backbones,
    request: words,
    windows: fc.array(record({ group: groups, epoch: fc.nat().map(Epoch), lo: numbers, hi: numbers }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  'range.marks': record({
    backbone: backbones,
    marks: fc.array(record({ group: groups, epoch: fc.nat().map(Epoch), low: numbers, high: numbers }), {
      maxLength: 4,
    }),
  }),
  'overview.batch': merged(
    runs.map(({ epoch: _, ...named }) => named),
    record({ body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes) as Uint8Array) }),
  ),
  'release.opened': passes,
  'release.seen': merged(
    passNames,
    record({ origin: services, k: counts, body: fc.array(contribution, { maxLength: 3 }) }),
  ),
  'release.fragments': merged(passNames, record({ k: counts, body: fragments })),
  'release.merged': merged(mergeNames, record({ body: fc.array(merge, { maxLength: 3 }) })),
  'release.settled': record({ digest: hexText(32), releases: fc.array(settlement, { minLength: 1, maxLength: 3 }) }),
  'probe.candidates': merged(passNames, record({ k: counts, body: fc.array(candidate, { maxLength: 3 }) })),
  'chunks.opened': passes,
  'chunks.written': merged(passNames, record({ k: counts, body: fc.array(travelledChunk, { maxLength: 3 }) })),
  'chunks.merged': merged(mergeNames, record({ body: fc.array(mergedChunks, { maxLength: 3 }) })),
  'ops.service': record({
    service: services,
    instance: words,
    state: fc.constantFrom('started' as const, 'ready' as const, 'stopped' as const),
    build: fc.string({ maxLength: 80 }),
  }),
  'ops.incident.opened': merged(
    incident,
    record({ message: fc.string({ maxLength: 200 }), hint: fc.string({ maxLength: 200 }) }),
  ),
  'ops.incident.closed': merged(incident, record({ openedAt: times })),
};

/** Any event of a type. */
export const eventOf = <T extends EventType>(type: T): fc.Arbitrary<HeadwaterEvent<T>> =>
  fc.tuple(times, DATA[type]).map(([at, data]) => {
    const definition = EVENTS[type] as unknown as EventDefinition<T, DataOf<T>>;
    return makeEvent(definition, at, data) as unknown as HeadwaterEvent<T>;
  });

export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];
export const anyEvent: fc.Arbitrary<HeadwaterEvent> = fc.constantFrom(...EVENT_TYPES).chain((type) => eventOf(type));

const inGroup = { backbone: backbones, group: groups };
const inLane = { lane: lanes, ...inGroup };
/** Any subject, every shape alike. */
export const subjects: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({ verb: fc.constantFrom('control.groups' as const, 'control.garbage' as const), origin: services }, PLAIN),
  fc.record(
    { verb: fc.constantFrom('range.retried' as const, 'range.wanted' as const), origin: services, backbone: backbones },
    PLAIN,
  ),
  fc.record({ verb: fc.constant('release.settled' as const) }, PLAIN),
  fc.record(
    {
      verb: fc.constantFrom(
        'range.planned' as const,
        'range.fetched' as const,
        'range.parsed' as const,
        'range.retired' as const,
      ),
      ...inLane,
    },
    PLAIN,
  ),
  fc.record({ verb: fc.constant('range.failed' as const), origin: services, ...inLane }, PLAIN),
  fc.record({ verb: fc.constant('range.marks' as const), backbone: backbones }, PLAIN),
  fc.record({ verb: fc.constant('overview' as const), rangeId: rangeIds, run: ordinals, ...inGroup }, PLAIN),
  fc.record(
    {
      verb: fc.constantFrom(
        'release.opened' as const,
        'release.fragments' as const,
        'release.merged' as const,
        'probe.candidates' as const,
        'chunks.opened' as const,
        'chunks.written' as const,
        'chunks.merged' as const,
      ),
      ...inGroup,
    },
    PLAIN,
  ),
  fc.record({ verb: fc.constant('release.seen' as const), origin: services, ...inGroup }, PLAIN),
  fc.record({ verb: fc.constant('ops.service' as const), service: services }, PLAIN),
  fc.record(
    { verb: fc.constantFrom('ops.incident.opened' as const, 'ops.incident.closed' as const), origin: services },
    PLAIN,
  ),
);
