import { appendList, newestList } from '../../../processors/coordinator/groupListLog.ts';
import type { Backfill, GroupEntry, GroupList } from '../../../streams/events/control.ts';
import { ArticleNumber, EpochMs, Group, isGroup } from '../../../streams/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, type NatsClient, withNats } from './client.ts';
import { grouped, tableLines } from './table.ts';

/** The wish for a group's past, as the options of `groups add` say it. */
export interface BackfillOptions {
  readonly days?: string;
  readonly since?: string;
  readonly fromNumber?: string;
  readonly liveOnly?: boolean;
}

/** Throws USAGE_WRONG_VALUE. */
export const refuse = (option: string, takes: string, value: string): never => {
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option, takes, value });
};

function wholeNumber(option: string, text: string, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= 1 && value <= max ? value : refuse(option, `a whole number from 1 to ${max}`, text);
}

/** The wish that the options express; without any of them everything that the server still has. */
export function backfillOf(options: BackfillOptions): Backfill {
  const { days, since, fromNumber, liveOnly } = options;
  const given = Object.entries({ '--days': days, '--since': since, '--from': fromNumber, '--live-only': liveOnly });
  const [, second] = given.filter(([, value]) => value !== undefined && value !== false);
  if (second) refuse(second[0], 'no other of --days, --since, --from, --live-only beside it', `${second[1]}`);
  if (liveOnly) return { kind: 'none' };
  if (days !== undefined) return { kind: 'days', days: wholeNumber('--days', days, 20_000) };
  if (fromNumber !== undefined) {
    return { kind: 'number', from: ArticleNumber(wholeNumber('--from', fromNumber, Number.MAX_SAFE_INTEGER)) };
  }
  if (since === undefined) return { kind: 'all' };
  const at = Date.parse(since);
  return Number.isNaN(at)
    ? refuse('--since', 'a date such as 2024-01-31', since)
    : { kind: 'since', since: EpochMs(at) };
}

export const groupOf = (name: string): Group =>
  isGroup(name) ? Group(name) : refuse('the group', 'a newsgroup name such as alt.binaries.linux.iso', name);

const nextVersion = (list: GroupList | null, entries: readonly GroupEntry[]): GroupList => ({
  origin: 'operator',
  listVersion: (list?.listVersion ?? 0) + 1,
  entries: [...entries],
});

/** The list with the groups on it; null when all of them are on it already. A group that left keeps its rank when it returns. */
export function withAdded(list: GroupList | null, groups: readonly Group[], backfill: Backfill): GroupList | null {
  const entries = [...(list?.entries ?? [])];
  let rank = Math.max(0, ...entries.map((e) => e.rank));
  let changed = false;
  for (const group of groups) {
    const at = entries.findIndex((e) => e.group === group);
    const known = entries[at];
    if (known && !known.removed) continue;
    changed = true;
    if (known)
      entries[at] = { ...known, backfill, removed: false, spans: known.spans.map((s) => ({ ...s, to: null })) };
    else entries.push({ group, rank: ++rank, backfill, spans: [], removed: false });
  }
  return changed ? nextVersion(list, entries) : null;
}

/**
 * The list without the groups; null when none of them is on it. The entry of a group that covered numbers stays, for they
 * are still its own; one that never began anywhere goes.
 */
export function withRemoved(list: GroupList | null, groups: readonly Group[]): GroupList | null {
  const gone = new Set<string>(groups);
  const kept = list?.entries.filter((e) => !gone.has(e.group) || e.spans.length > 0) ?? [];
  const entries = kept.map((e) => (gone.has(e.group) ? { ...e, removed: true } : e));
  const leaves = list?.entries.some((e) => gone.has(e.group) && (!e.removed || e.spans.length === 0));
  return list && leaves ? nextVersion(list, entries) : null;
}

/** Reads the newest list, changes it, appends it as the next version; again when somebody else was first. */
export async function changeList(
  { sink, reader }: NatsClient,
  signal: AbortSignal,
  step: (list: GroupList | null) => GroupList | null,
): Promise<boolean> {
  for (;;) {
    const newest = await newestList(reader);
    const next = step(newest.list);
    if (next === null) return false;
    if (await appendList(sink, newest, next, systemClock.now(), signal)) return true;
  }
}

export const addGroups = (
  context: CommandContext,
  names: readonly string[],
  options: BackfillOptions,
): Promise<ExitCode> => {
  const groups = names.map(groupOf);
  const backfill = backfillOf(options);
  return withNats(context, async (client) => {
    const changed = await changeList(client, context.signal, (list) => withAdded(list, groups, backfill));
    context.print(changed ? `added: ${groups.join(', ')}` : 'nothing to do: the list holds them already');
    return EXIT.ok;
  });
};

export const removeGroups = (context: CommandContext, names: readonly string[]): Promise<ExitCode> => {
  const groups = names.map(groupOf);
  return withNats(context, async (client) => {
    const changed = await changeList(client, context.signal, (list) => withRemoved(list, groups));
    context.print(changed ? `removed: ${groups.join(', ')} (what is indexed stays)` : 'none of them is on the list');
    return changed ? EXIT.ok : EXIT.failed;
  });
};

const wishText = (b: Backfill): string => {
  switch (b.kind) {
    case 'none':
      return 'live only';
    case 'all':
      return 'all';
    case 'days':
      return `${b.days} days`;
    case 'since':
      return `since ${new Date(b.since).toISOString().slice(0, 10)}`;
    case 'number':
      return `from ${grouped(b.from)}`;
    default:
      return b satisfies never;
  }
};

export const listGroups = (context: CommandContext, json: boolean): Promise<ExitCode> =>
  withNats(context, async ({ reader }) => {
    const { list } = await newestList(reader);
    if (json) {
      context.print(JSON.stringify(list ?? { listVersion: 0, entries: [] }, null, 2));
      return EXIT.ok;
    }
    const rows = (list?.entries ?? []).flatMap((e) =>
      (e.spans.length > 0 ? e.spans : [null]).map((span) => [
        e.rank,
        e.group,
        e.removed ? 'off' : wishText(e.backfill),
        span?.backbone ?? 'not read yet',
        span?.from ?? null,
        span?.liveFrom ?? null,
        span?.to ?? null,
      ]),
    );
    for (const line of tableLines(['rank', 'group', 'backfill', 'backbone', 'from', 'live from', 'to'], rows)) {
      context.print(line);
    }
    return EXIT.ok;
  });
