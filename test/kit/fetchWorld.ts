/** Fetching in memory: ranges that are planned, and what became of them. */
import { runFetch } from '../../processors/fetch/fetchService.ts';
import { DEFAULT_FETCH_SETTINGS, type FetchSettings } from '../../processors/fetch/settings.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { type PlannedRange, rangePlanned } from '../../streams/events/ranges.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, type FetchLane, Group, RangeId } from '../../streams/ids.ts';
import { fetchConsumer } from '../../streams/topology.ts';
import type { MemoryProvider } from './memoryArticles.ts';
import { type ProcessorWorld, running } from './processorWorld.ts';

export const backbone = Backbone('main');
export const settings: FetchSettings = {
  ...DEFAULT_FETCH_SETTINGS,
  batch: { lines: 1000, rawBytes: 3_000_000 },
  spanNumbers: 700,
};

export const range = (lo: number, hi: number, group = 'a.b', run = 1): PlannedRange => {
  const ends = { lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
  return { group: Group(group), epoch: Epoch(0), rangeId: RangeId.of(Epoch(0), ends.lo, ends.hi), ...ends, run };
};
export const plan = async (world: ProcessorWorld, ranges: PlannedRange[], lane: FetchLane = 'backfill') => {
  const data = { lane, backbone, ranges, listVersion: 3, garbageVersion: 0 };
  await world.events.append(makeEvent(rangePlanned, EpochMs(world.clock.now()), data));
};
export const start = (world: ProcessorWorld, pools: readonly MemoryProvider[], own = settings) =>
  running((signal) => runFetch(pools, world, signal, own));
export const fetched = (world: ProcessorWorld) =>
  world.events.events('RANGES', 'range.fetched').map(({ data }) => data);
export const failures = (world: ProcessorWorld) =>
  world.events.events('RANGES', 'range.failed').map(({ data }) => data);
export const unfinished = (world: ProcessorWorld, lane: FetchLane = 'backfill') =>
  world.events.consumer(fetchConsumer(lane, backbone)).unfinished;
