import { appendFirst } from '../../../processors/appendFirst.ts';
import type { EventSink } from '../../../processors/ports.ts';
import { currentGroupList } from '../../../projections/control/rows.ts';
import type { Sql } from '../../../projections/ports.ts';
import { listRanges, type RangeRow } from '../../../projections/ranges/rows.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { type RangeRetried, rangeRetried } from '../../../streams/events/ranges.ts';
import { type Backbone, EpochMs, RangeId } from '../../../streams/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, withDatabase, withNats } from './client.ts';
import { groupOf, refuse } from './groups.ts';
import { countText } from './table.ts';

export interface RetryOptions {
  readonly group?: string;
  readonly state?: string;
}

/** Which failed ranges are meant: those named, of all groups or one. */
export interface RetryWish {
  readonly group: string | undefined;
  /** Empty: all of them. */
  readonly ranges: readonly RangeId[];
}

const RUNS_A_MESSAGE = 2000;
const ROWS_A_PAGE = 10_000;

function rangeOf(text: string): RangeId {
  try {
    RangeId.parse(text);
    return text as RangeId;
  } catch {
    return refuse('the range', 'what `ranges list` shows, such as 0-1000-2999', text);
  }
}

/** What the words of the call ask for. All failed ranges have to be asked for by name: `--state failed`. */
export function retryWish(ranges: readonly string[], { group, state }: RetryOptions): RetryWish {
  if (state !== undefined && state !== 'failed') refuse('--state', 'failed: nothing else is tried again', state);
  if (ranges.length === 0 && group === undefined && state === undefined) {
    const needs = 'names of ranges, --group or --state failed';
    throw new HeadwaterError('USAGE_MISSING', { command: 'ranges retry', needs });
  }
  return { group: group === undefined ? undefined : groupOf(group), ranges: ranges.map(rangeOf) };
}

/** Every failed range that is meant, and the names that no failed range has. */
export async function failedRanges(
  sql: Sql,
  wish: RetryWish,
): Promise<{ readonly found: readonly RangeRow[]; readonly unknown: readonly RangeId[] }> {
  const named = new Set(wish.ranges);
  const found: RangeRow[] = [];
  for (let offset = 0; ; offset += ROWS_A_PAGE) {
    const page = await listRanges(sql, { group: wish.group, state: 'failed', limit: ROWS_A_PAGE, offset });
    found.push(...page.filter((row) => named.size === 0 || named.has(row.rangeId)));
    if (page.length < ROWS_A_PAGE) break;
  }
  const known = new Set(found.map((row) => row.rangeId));
  return { found, unknown: wish.ranges.filter((rangeId) => !known.has(rangeId)) };
}

/** A misspelt group would look like one of which nothing failed. Throws GROUP_UNKNOWN. */
export async function refuseUnknownGroup(sql: Sql, group: string): Promise<void> {
  if ((await listRanges(sql, { group, limit: 1, offset: 0 })).length > 0) return;
  const list = await currentGroupList(sql);
  if (!list?.entries.some((entry) => entry.group === group)) throw new HeadwaterError('GROUP_UNKNOWN', { group });
}

/** Appends the wish that these runs of a backbone be tried again. */
async function appendRetried(
  sink: EventSink,
  backbone: Backbone,
  runs: RangeRetried['runs'],
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const event = makeEvent(rangeRetried, EpochMs(now), { origin: 'operator' as const, backbone, runs });
  const stored = await appendFirst(sink, event, { signal });
  // A wish is named by its first run and its size: another one may have that name, then each run wishes for itself.
  if (stored === null && runs.length > 1) {
    for (const run of runs) await appendRetried(sink, backbone, [run], now, signal);
  }
}

/** Asks for the runs again, at most 2,000 a message; the coordinator plans them. */
export async function askAgain(
  sink: EventSink,
  rows: readonly RangeRow[],
  now: number,
  signal: AbortSignal,
): Promise<void> {
  for (const backbone of new Set(rows.map((row) => row.backbone))) {
    const runs = rows.filter((row) => row.backbone === backbone);
    for (let at = 0; at < runs.length; at += RUNS_A_MESSAGE) {
      const some = runs.slice(at, at + RUNS_A_MESSAGE).map(({ group, rangeId, run }) => ({ group, rangeId, run }));
      await appendRetried(sink, backbone, some, now, signal);
    }
  }
}

/** `ranges retry`: failed ranges are fetched again as soon as there is room; those of files have to be imported again. */
export function retryRanges(
  context: CommandContext,
  ranges: readonly string[],
  options: RetryOptions,
): Promise<ExitCode> {
  const wish = retryWish(ranges, options);
  return withNats(context, ({ sink }) =>
    withDatabase(context, async (db) => {
      if (wish.group !== undefined) await refuseUnknownGroup(db, wish.group);
      const { found, unknown } = await failedRanges(db, wish);
      const again = found.filter((row) => row.lane !== 'import');
      await askAgain(sink, again, systemClock.now(), context.signal);
      const imported = found.length - again.length;
      if (imported > 0) context.print(`${countText(imported, 'range')} came from files: import these again`);
      for (const rangeId of unknown) context.print(`no failed range is called ${rangeId}`);
      context.print(`${countText(again.length, 'range')} will be planned again`);
      return unknown.length > 0 ? EXIT.failed : EXIT.ok;
    }),
  );
}
