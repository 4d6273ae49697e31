import { runCoordinator } from '../../processors/coordinator/coordinator.ts';
import {
  type CoordinatorSettings,
  DEFAULT_COORDINATOR_SETTINGS,
  DEFAULT_PLAN_SETTINGS,
} from '../../processors/coordinator/settings.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { rangeFailed, rangeFetched, rangeParsed } from '../../streams/events/ranges.ts';
import { EpochMs } from '../../streams/ids.ts';
import type { Interval, RangeRef } from '../../streams/records.ts';
import type { MemoryProvider } from './memoryArticles.ts';
import { type ProcessorWorld, running } from './processorWorld.ts';

/** The coordinator in a world in memory: how it is run, what it planned, and what others say of its ranges. */

export const HOUR = 3_600_000;
export const settings: CoordinatorSettings = {
  ...DEFAULT_COORDINATOR_SETTINGS,
  plan: { ...DEFAULT_PLAN_SETTINGS, rangeNumbers: 20_000, outstandingFullRanges: 1000 },
};
export const start = (world: ProcessorWorld, pools: readonly MemoryProvider[], own = settings) =>
  running((signal) => runCoordinator({ ...world, pools }, signal, own));

export const plans = (world: ProcessorWorld) => world.events.events('RANGES', 'range.planned').map(({ data }) => data);
export const planned = (world: ProcessorWorld): readonly RangeRef[] =>
  plans(world).flatMap(({ lane, backbone, ranges }) => ranges.map((r) => ({ ...r, lane, backbone })));
export const ids = (world: ProcessorWorld) => planned(world).map(({ rangeId, run }) => `${rangeId}/${run}`);
export const retired = (world: ProcessorWorld) =>
  world.events.events('RANGES', 'range.retired').map(({ data }) => `${data.rangeId} ${data.reason}`);
export const spans = async (world: ProcessorWorld) => (await world.groupLists.current())!.entries[0]!.spans;
export const range = (world: ProcessorWorld, rangeId: string): RangeRef =>
  planned(world).findLast((r) => r.rangeId === rangeId)!;

export const now = (world: ProcessorWorld) => EpochMs(world.clock.now());
const versions = { listVersion: 1, garbageVersion: 0 };
export const put = {
  fetched: (world: ProcessorWorld, r: RangeRef, missing: Interval[] = []) =>
    world.events.append(
      makeEvent(rangeFetched, now(world), {
        ...{ ...r, ...versions, batches: [], lines: 0, rawBytes: 0, firstAt: null, lastAt: null, missing },
      }),
    ),
  parsed: (world: ProcessorWorld, r: RangeRef, missing: Interval[] = []) =>
    world.events.append(
      makeEvent(rangeParsed, now(world), {
        ...{ ...r, pass: 1, lines: 0, kept: 0, skipped: {}, releases: 0, files: 0, segments: 0, missing },
        ...{ releasesPosition: { number: 1, sequence: 1 }, chunksPosition: { number: 1, sequence: 1 } },
      }),
    ),
  failed: (world: ProcessorWorld, r: RangeRef, stage: 'fetch' | 'parse' = 'fetch') =>
    world.events.append(
      makeEvent(rangeFailed, now(world), {
        ...{ ...r, origin: stage === 'fetch' ? ('fetch' as const) : ('headers' as const), stage },
        ...{ class: 'error' as const, code: 'X', message: 'test' },
      }),
    ),
};

/** So that a day passes in a few hundred rounds. */
export const calm: CoordinatorSettings = { ...settings, tickMs: 300_000, pollMs: 300_000, purgeMs: 300_000 };
export const patient = { stepMs: 20_000, limitMs: 2 * HOUR };
