/** Small events with chosen fields, for tests that care where an event lies and not what it says. */
import { makeEvent } from '../../streams/events/define.ts';
import { EVENTS, type HeadwaterEvent } from '../../streams/events/index.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, type Lane, RangeId, ReleaseKey } from '../../streams/ids.ts';

export const SAMPLE_TIME = EpochMs(1_700_000_000_000);
export const sampleBackbone = Backbone('bb');

const span = (lo: number, hi: number) => {
  const [epoch, from, to] = [Epoch(0), ArticleNumber(lo), ArticleNumber(hi)];
  return { epoch, lo: from, hi: to, rangeId: RangeId.of(epoch, from, to) };
};

export interface SampleRun {
  readonly group: string;
  readonly backbone?: string;
  /** First and last number of the range; 1 to 1,000. */
  readonly lo?: number;
  readonly hi?: number;
  readonly run?: number;
}

export const sampleRun = (r: SampleRun) => ({
  backbone: r.backbone === undefined ? sampleBackbone : Backbone(r.backbone),
  group: Group(r.group),
  ...span(r.lo ?? 1, r.hi ?? 1000),
  run: r.run ?? 1,
});

/** A batch of a run whose body is `body`: bytes that nobody looks into. */
export function sampleBatch(r: SampleRun, lo: number, body: Uint8Array): HeadwaterEvent<'overview.batch'> {
  const { epoch: _, lo: from, hi: to, ...named } = sampleRun(r);
  const data = { ...named, lo: ArticleNumber(from + lo), hi: to, body };
  return makeEvent(EVENTS['overview.batch'], SAMPLE_TIME, data);
}

/** Lane backfill: a live plan does not lie on a subject of its group. */
export function samplePlanned(r: SampleRun, lane: Lane = 'backfill'): HeadwaterEvent<'range.planned'> {
  const { backbone, ...range } = sampleRun(r);
  return makeEvent(EVENTS['range.planned'], SAMPLE_TIME, {
    lane,
    backbone,
    ranges: [range],
    listVersion: 1,
    garbageVersion: 0,
  });
}

export function sampleRetired(r: SampleRun, at = SAMPLE_TIME): HeadwaterEvent<'range.retired'> {
  return makeEvent(EVENTS['range.retired'], at, { lane: 'live', ...sampleRun(r), reason: 'superseded' });
}

/** A range.failed: its text is no part of its identity. */
export function sampleFailed(r: SampleRun, message: string): HeadwaterEvent<'range.failed'> {
  return makeEvent(EVENTS['range.failed'], SAMPLE_TIME, {
    origin: 'fetch',
    lane: 'live',
    ...sampleRun(r),
    stage: 'fetch',
    class: 'error',
    code: 'X',
    message,
  });
}

/** One chunk whose payload is `payload`: bytes that nobody looks into. */
export function sampleWritten(r: SampleRun, k: number, payload: Uint8Array): HeadwaterEvent<'chunks.written'> {
  const { lo: _lo, hi: _hi, ...named } = sampleRun(r);
  const chunk = { key: ReleaseKey('0'.repeat(32)), posting: 0, k: 0, firstAt: SAMPLE_TIME, lastAt: SAMPLE_TIME };
  const body = [{ ...chunk, segments: 1, payload }];
  return makeEvent(EVENTS['chunks.written'], SAMPLE_TIME, { ...named, pass: 1, k, body });
}

export function sampleGroups(listVersion: number): HeadwaterEvent<'control.groups'> {
  return makeEvent(EVENTS['control.groups'], SAMPLE_TIME, { origin: 'operator', listVersion, entries: [] });
}

export function sampleOpened(r: SampleRun, pass = 1): HeadwaterEvent<'release.opened'> {
  return makeEvent(EVENTS['release.opened'], SAMPLE_TIME, { ...sampleRun(r), pass });
}
