import { appendList, newestList } from '../../../processors/coordinator/groupListLog.ts';
import { type Backfill, END_UNREAD, type GroupEntry, type GroupList } from '../../../streams/events/control.ts';
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

/** Milliseconds of the start of that day in UTC. A day that its month does not have is none. */
function dayOf(option: string, text: string): EpochMs {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  const isDay = at >= 0 && new Date(at).toISOString().startsWith(text);
  return isDay ? EpochMs(at) : refuse(option, 'a date such as 2024-01-31', text);
}

/**
 * The wish that the options express; null without any of them. Throws USAGE_WRONG_VALUE, and USAGE_CONTRADICTION for two
 * options at once.
 */
export function wishOf({ days, since, fromNumber, liveOnly }: BackfillOptions): Backfill | null {
  const given = [
    ...(days === undefined ? [] : ['--days']),
    ...(since === undefined ? [] : ['--since']),
    ...(fromNumber === undefined ? [] : ['--from']),
    ...(liveOnly ? ['--live-only'] : []),
  ];
  if (given.length > 1) throw new HeadwaterError('USAGE_CONTRADICTION', { options: given.join(' and ') });
  if (liveOnly) return { kind: 'none' };
  if (days !== undefined) return { kind: 'days', days: wholeNumber('--days', days, 20_000) };
  if (fromNumber !== undefined) {
    return { kind: 'number', from: ArticleNumber(wholeNumber('--from', fromNumber, Number.MAX_SAFE_INTEGER)) };
  }
  return since === undefined ? null : { kind: 'since', since: dayOf('--since', since) };
}

/** As `wishOf`; without any option everything that the server still has. */
export const backfillOf = (options: BackfillOptions): Backfill => wishOf(options) ?? { kind: 'all' };

/** A shell that does not know quotes hands them on; no server has a group of such a name. */
const QUOTED = /^["'`]|["'`]$/;

export const groupOf = (name: string): Group =>
  isGroup(name) && !QUOTED.test(name)
    ? Group(name)
    : refuse('the group', 'a newsgroup name such as alt.binaries.linux.iso', name);

const nextVersion = (list: GroupList | null, entries: readonly GroupEntry[]): GroupList => ({
  origin: 'operator',
  listVersion: (list?.listVersion ?? 0) + 1,
  entries: [...entries],
});

/**
 * A group that returns keeps its rank and the spans that are ended; the coordinator begins new ones for the wish. Spans that
 * nobody has ended since it was removed go on, but with another wish: then they end where the new ones begin.
 */
function returning(entry: GroupEntry, backfill: Backfill): GroupEntry {
  const same = wishText(entry.backfill) === wishText(backfill);
  const spans = entry.spans.map((span) => (span.to === null && !same ? { ...span, to: END_UNREAD } : span));
  return { ...entry, backfill, removed: false, spans };
}

/** The list with the groups on it; null when all of them are on it already. */
export function withAdded(list: GroupList | null, groups: readonly Group[], backfill: Backfill): GroupList | null {
  const entries = [...(list?.entries ?? [])];
  let rank = Math.max(0, ...entries.map((e) => e.rank));
  let changed = false;
  for (const group of groups) {
    const at = entries.findIndex((e) => e.group === group);
    const known = entries[at];
    if (known && !known.removed) continue;
    changed = true;
    if (known) entries[at] = returning(known, backfill);
    else entries.push({ group, rank: ++rank, backfill, spans: [], removed: false });
  }
  return changed ? nextVersion(list, entries) : null;
}

/** Of the groups, those on the list. */
const listed = (list: GroupList | null, groups: readonly Group[]): readonly GroupEntry[] =>
  (list?.entries ?? []).filter((e) => !e.removed && groups.includes(e.group));

/** Throws GROUP_WISH_DIFFERS when a group is on the list with another wish than the options say (null: they say nothing). */
export function checkWishes(list: GroupList | null, groups: readonly Group[], wish: Backfill | null): void {
  if (wish === null) return;
  const other = listed(list, groups).find((e) => wishText(e.backfill) !== wishText(wish));
  if (!other) return;
  const fields = { group: other.group, listed: wishText(other.backfill), asked: wishText(wish) };
  throw new HeadwaterError('GROUP_WISH_DIFFERS', fields);
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
  { sink, reader }: Pick<NatsClient, 'sink' | 'reader'>,
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

/** What a change of the list takes of a command. */
type ListClient = Pick<NatsClient, 'sink' | 'reader'>;
type Surroundings = Pick<CommandContext, 'print' | 'signal'>;

const entryText = (e: GroupEntry): string => `${e.group} (${wishText(e.backfill)})`;

/** Adds those that are not on the list, and names the others with what the list says of them. */
export async function addTo(
  client: ListClient,
  { print, signal }: Surroundings,
  groups: readonly Group[],
  wish: Backfill | null,
): Promise<ExitCode> {
  let known: readonly GroupEntry[] = [];
  const changed = await changeList(client, signal, (list) => {
    checkWishes(list, groups, wish);
    known = listed(list, groups);
    return withAdded(list, groups, wish ?? { kind: 'all' });
  });
  const fresh = groups.filter((group) => !known.some((e) => e.group === group));
  if (changed) print(`added: ${fresh.join(', ')}`);
  if (known.length > 0) print(`on the list already: ${known.map(entryText).join(', ')}`);
  if (!changed) print('nothing to do');
  return EXIT.ok;
}

/** Removes those that are on the list and names the others; the exit code says whether there were any. */
export async function removeFrom(
  client: ListClient,
  { print, signal }: Surroundings,
  groups: readonly Group[],
): Promise<ExitCode> {
  let gone: readonly Group[] = [];
  await changeList(client, signal, (list) => {
    gone = listed(list, groups).map((e) => e.group);
    return withRemoved(list, groups);
  });
  const absent = groups.filter((group) => !gone.includes(group));
  if (gone.length > 0) print(`removed: ${gone.join(', ')} (what is indexed stays)`);
  if (absent.length > 0) print(`not on the list: ${absent.join(', ')}`);
  return absent.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Each group once. Throws USAGE_WRONG_VALUE. */
const groupsOf = (names: readonly string[]): readonly Group[] => [...new Set(names.map(groupOf))];

export function addGroups(
  context: CommandContext,
  names: readonly string[],
  options: BackfillOptions,
): Promise<ExitCode> {
  const [groups, wish] = [groupsOf(names), wishOf(options)];
  return withNats(context, (client) => addTo(client, context, groups, wish));
}

export function removeGroups(context: CommandContext, names: readonly string[]): Promise<ExitCode> {
  const groups = groupsOf(names);
  return withNats(context, (client) => removeFrom(client, context, groups));
}

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
        // What is over was read for a wish that may have been another.
        e.removed ? 'off' : span !== null && span.to !== null ? 'ended' : wishText(e.backfill),
        span?.backbone ?? 'not read yet',
        span?.from ?? null,
        span?.liveFrom ?? null,
        span?.to === END_UNREAD ? null : (span?.to ?? null),
      ]),
    );
    for (const line of tableLines(['rank', 'group', 'backfill', 'backbone', 'from', 'live from', 'to'], rows)) {
      context.print(line);
    }
    return EXIT.ok;
  });
