import { listRanges, RANGE_STATES } from '../../../projections/ranges/rows.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, withDatabase } from './client.ts';
import { grouped, tableLines } from './table.ts';

export interface RangeFilter {
  readonly group?: string;
  readonly state?: string;
  readonly era?: string;
  readonly limit: string;
}

const LIMIT_MAX = 100_000;

function limitOf(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option: '--limit', takes: `1 to ${LIMIT_MAX}`, value: text });
}

function stateOf(text: string | undefined): (typeof RANGE_STATES)[number] | undefined {
  if (text === undefined) return undefined;
  const state = RANGE_STATES.find((s) => s === text);
  if (state) return state;
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option: '--state', takes: RANGE_STATES.join(', '), value: text });
}

/** A calendar year in which Usenet had binaries. */
function eraOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const year = /^\d{4}$/.test(text) ? Number(text) : 0;
  if (year >= 1980 && year <= 2200) return year;
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option: '--era', takes: 'a year such as 2024', value: text });
}

/** Reasons with their lines, the most frequent first. */
export const skippedText = (skipped: Readonly<Record<string, number>>): string =>
  Object.entries(skipped)
    .filter(([, lines]) => lines > 0)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([reason, lines]) => `${reason} ${grouped(lines)}`)
    .join(', ');

/** `ranges list`: by group and number; a failed range says why. */
export function listRangesCommand(context: CommandContext, filter: RangeFilter, json: boolean): Promise<ExitCode> {
  const [limit, state, era] = [limitOf(filter.limit), stateOf(filter.state), eraOf(filter.era)];
  return withDatabase(context, async (db) => {
    const ranges = await listRanges(db, { group: filter.group, state, era, limit, offset: 0 });
    if (json) {
      context.print(JSON.stringify(ranges, null, 2));
      return EXIT.ok;
    }
    const rows = ranges.map((r) => [
      r.group,
      r.backbone,
      r.rangeId,
      `${r.run}`,
      r.lane,
      r.state,
      r.era === null ? null : `${r.era}`,
      r.lines,
      r.kept,
      skippedText(r.skipped),
      r.missing.reduce((sum, [lo, hi]) => sum + hi - lo + 1, 0),
      r.failure?.message ?? '',
    ]);
    const head = [
      'group',
      'backbone',
      'range',
      'run',
      'lane',
      'state',
      'era',
      'lines',
      'kept',
      'skipped',
      'missing',
      'failure',
    ];
    for (const line of tableLines(head, rows)) context.print(line);
    if (ranges.length === limit) context.print(`(the first ${limit}; --limit shows more)`);
    return EXIT.ok;
  });
}
