import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import type { FailureClass, RangeRetired } from '../../streams/events/ranges.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, type Lane, RangeId } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';

/** Made-up events of RANGES, short to write in tests. */
export interface RangeOptions {
  readonly lane?: Lane;
  readonly backbone?: string;
  readonly group?: string;
  readonly epoch?: number;
  readonly lo?: number;
  readonly hi?: number;
  readonly run?: number;
}

const NOW = Date.UTC(2024, 0, 10);

function fields(o: RangeOptions) {
  const epoch = Epoch(o.epoch ?? 0);
  const [lo, hi] = [ArticleNumber(o.lo ?? 1), ArticleNumber(o.hi ?? 1000)];
  const place = { backbone: Backbone(o.backbone ?? 'bb'), group: Group(o.group ?? 'alt.binaries.test'), epoch };
  return { lane: o.lane ?? 'backfill', ...place, rangeId: RangeId.of(epoch, lo, hi), lo, hi, run: o.run ?? 1 };
}

function runRef(o: RangeOptions) {
  const { group, rangeId, run } = fields(o);
  return { group, rangeId, run };
}

/** `reasks`: the short run whose missing numbers the ranges ask for. */
export const plannedMany = (all: readonly RangeOptions[], at = NOW, reasks?: RangeOptions): HeadwaterEvent => {
  const [first] = all.map(fields);
  const ranges = all.map((o) => {
    const { group, epoch, rangeId, lo, hi, run } = fields(o);
    return { group, epoch, rangeId, lo, hi, run };
  });
  const { lane, backbone } = first!;
  const versions = { listVersion: 1, garbageVersion: 0 };
  const again = reasks ? { reasks: runRef(reasks) } : {};
  return makeEvent(EVENTS['range.planned'], EpochMs(at), { lane, backbone, ranges, ...again, ...versions });
};
export const planned = (o: RangeOptions = {}, at = NOW): HeadwaterEvent => plannedMany([o], at);

export const fetched = (o: RangeOptions = {}, missing: Interval[] = [], at = NOW): HeadwaterEvent =>
  makeEvent(EVENTS['range.fetched'], EpochMs(at), {
    ...fields(o),
    listVersion: 1,
    garbageVersion: 0,
    batches: [{ sequence: 1, lo: fields(o).lo, hi: fields(o).hi, lines: 900, rawBytes: 90_000 }],
    lines: 900,
    rawBytes: 90_000,
    firstAt: EpochMs(NOW),
    lastAt: EpochMs(NOW + 1),
    missing,
  });

export const parsed = (o: RangeOptions & { pass?: number; kept?: number } = {}, missing: Interval[] = [], at = NOW) =>
  makeEvent(EVENTS['range.parsed'], EpochMs(at), {
    ...fields(o),
    pass: o.pass ?? 1,
    lines: 900,
    kept: o.kept ?? 800,
    skipped: { text: 900 - (o.kept ?? 800) },
    releases: 3,
    files: 9,
    segments: 700,
    missing,
    releasesPosition: { number: 2, sequence: 77 },
    chunksPosition: { number: 1, sequence: 88 },
  });

export const failed = (
  o: RangeOptions & { failureClass?: FailureClass } = {},
  stage: 'fetch' | 'parse' = 'fetch',
  at = NOW,
): HeadwaterEvent =>
  makeEvent(EVENTS['range.failed'], EpochMs(at), {
    ...fields(o),
    origin: stage === 'fetch' ? ('fetch' as const) : ('headers' as const),
    stage,
    class: o.failureClass ?? 'error',
    code: 'NNTP_TIMEOUT',
    message: 'silent',
  });

export const retired = (
  o: RangeOptions = {},
  at = NOW,
  reason: RangeRetired['reason'] = 'superseded',
): HeadwaterEvent => makeEvent(EVENTS['range.retired'], EpochMs(at), { ...fields(o), reason });

export const marks = (
  all: readonly { group: string; epoch?: number; low: number; high: number }[],
  at = NOW,
  backbone = 'bb',
): HeadwaterEvent =>
  makeEvent(EVENTS['range.marks'], EpochMs(at), {
    backbone: Backbone(backbone),
    marks: all.map(({ group, epoch, low, high }) => {
      return { group: Group(group), epoch: Epoch(epoch ?? 0), low: ArticleNumber(low), high: ArticleNumber(high) };
    }),
  });

/** Somebody wants failed runs of one backbone tried again. */
export const retried = (all: readonly RangeOptions[], at = NOW): HeadwaterEvent =>
  makeEvent(EVENTS['range.retried'], EpochMs(at), {
    origin: 'operator' as const,
    backbone: fields(all[0] ?? {}).backbone,
    runs: all.map(runRef),
  });

/** Windows of one backbone that somebody wants parsed soon. */
export const wanted = (all: readonly RangeOptions[], request = 'test', at = NOW): HeadwaterEvent =>
  makeEvent(EVENTS['range.wanted'], EpochMs(at), {
    origin: 'scan' as const,
    backbone: fields(all[0] ?? {}).backbone,
    request,
    windows: all.map((o) => {
      const { group, epoch, lo, hi } = fields(o);
      return { group, epoch, lo, hi };
    }),
  });
