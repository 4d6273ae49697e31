import { newestList } from '../../../processors/coordinator/groupListLog.ts';
import type { Backfill, GroupList } from '../../../streams/events/control.ts';
import type { Group, ProviderName } from '../../../streams/ids.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { type Provider, providersOf } from '../../config/index.ts';
import type { ActiveGroup } from '../../nntp/index.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, withNats } from './client.ts';
import { matchesGlob } from './glob.ts';
import { type BackfillOptions, backfillOf, changeList, refuse, withAdded } from './groups.ts';
import { type Asking, withAccounts, withProvider } from './providerPool.ts';
import { countText, tableLines } from './table.ts';

export interface PlanOptions extends BackfillOptions {
  readonly top: string;
  readonly match: string;
  readonly provider?: string;
  readonly apply: boolean;
  readonly dryRun: boolean;
}

/** A group of a server's list, with the articles that its marks leave room for. */
export interface SizedGroup {
  readonly group: Group;
  readonly articles: number;
  readonly provider: ProviderName;
}

/** What a provider's LIST ACTIVE gave: the groups that fit, and how many lines named no usable group. */
export interface ActiveReading {
  readonly groups: readonly SizedGroup[];
  readonly odd: number;
}

/** How long it waits for a connection that the services leave it. */
const WAIT_MS = 60_000;
/** As many as one version of the list holds. */
const GROUPS_MAX = 20_000;
const PATTERN_MAX = 200;
/** Groups that keep no articles of their own: not carried, filed as junk, another name of a group. */
const WITHOUT_ARTICLES = /^[xj=]/;

/** The group with its size; null when the pattern does not fit or it can hold nothing. */
export function sized(active: ActiveGroup, pattern: string, provider: ProviderName): SizedGroup | null {
  const { group, high, low, status } = active;
  if (high < low || WITHOUT_ARTICLES.test(status) || !matchesGlob(pattern, group)) return null;
  return { group, articles: high - low + 1, provider };
}

/**
 * The `top` largest groups, largest first, each once: where providers differ the larger size counts. Groups of equal size
 * follow their names, so that the same replies give the same list.
 */
export function largestGroups(groups: readonly SizedGroup[], top: number): readonly SizedGroup[] {
  const byName = new Map<Group, SizedGroup>();
  for (const found of groups) {
    const known = byName.get(found.group);
    if (!known || known.articles < found.articles) byName.set(found.group, found);
  }
  const all = [...byName.values()];
  all.sort((a, b) => b.articles - a.articles || (a.group < b.group ? -1 : 1));
  return all.slice(0, top);
}

export interface GroupsPlan {
  /** What would join, largest first, with the rank that it would get. */
  readonly add: readonly (SizedGroup & { readonly rank: number })[];
  /** How many of the largest are on the list. */
  readonly listed: number;
  /** Those that have left the list: only `groups add` brings them back. */
  readonly left: readonly Group[];
}

/** What of the largest groups the list lacks. The list is extended, never ranked anew. */
export function planOf(list: GroupList | null, largest: readonly SizedGroup[]): GroupsPlan {
  const entries = new Map(list?.entries.map((entry) => [entry.group, entry]));
  let rank = Math.max(0, ...[...entries.values()].map((entry) => entry.rank));
  const add = largest.filter(({ group }) => !entries.has(group)).map((found) => ({ ...found, rank: ++rank }));
  const left = largest.filter(({ group }) => entries.get(group)?.removed).map(({ group }) => group);
  return { add, listed: largest.length - add.length - left.length, left };
}

async function readActive(provider: Provider, pattern: string, asking: Asking): Promise<ActiveReading> {
  const groups: SizedGroup[] = [];
  const onGroups = (lines: readonly ActiveGroup[]): void => {
    for (const line of lines) {
      const found = sized(line, pattern, provider.name);
      if (found) groups.push(found);
    }
  };
  const { odd } = await withProvider(provider, asking, (connection) => connection.listActive({ onGroups }));
  return { groups, odd };
}

/**
 * LIST ACTIVE of every provider given. One that does not answer fails it all: ranks are for good, so they are not drawn from
 * half of the sizes.
 */
export async function readGroups(
  providers: readonly Provider[],
  pattern: string,
  asking: Asking,
): Promise<ActiveReading> {
  const readings = await Promise.all(providers.map((provider) => readActive(provider, pattern, asking)));
  return { groups: readings.flatMap((r) => r.groups), odd: readings.reduce((sum, r) => sum + r.odd, 0) };
}

function askedProviders(context: CommandContext, name: string | undefined): readonly Provider[] {
  const all = providersOf(context.config);
  if (all.length === 0) throw new HeadwaterError('PROVIDERS_NONE', { file: context.configFile ?? 'headwater.yaml' });
  if (name === undefined) return all;
  const found = all.filter((provider) => provider.name === name);
  return found.length > 0 ? found : refuse('--provider', all.map((provider) => provider.name).join(', '), name);
}

function topOf(text: string): number {
  const top = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return top >= 1 && top <= GROUPS_MAX ? top : refuse('--top', `a whole number from 1 to ${GROUPS_MAX}`, text);
}

interface Outcome extends GroupsPlan {
  readonly applied: boolean;
  readonly odd: number;
}

function printPlan(context: CommandContext, { add, listed, left, odd, applied }: Outcome): void {
  const rows = add.map(({ rank, group, articles, provider }) => [rank, group, articles, provider]);
  if (rows.length > 0) {
    for (const line of tableLines(['rank', 'group', 'articles', 'provider'], rows)) context.print(line);
  }
  if (listed > 0) context.print(`${countText(listed, 'group')} of that size are on the list already`);
  if (left.length > 0) context.print(`left the list, \`groups add\` brings them back: ${left.join(', ')}`);
  if (odd > 0) context.print(`${countText(odd, 'line')} of LIST ACTIVE named no usable group`);
  if (add.length === 0) context.print('nothing to add');
  else if (applied) context.print(`added: ${countText(add.length, 'group')}`);
  else context.print(`would add ${countText(add.length, 'group')}; nothing is changed without --apply`);
}

/** `groups plan`: shows which of the largest groups the list lacks; with `--apply` they join it in the order of their size. */
export function planGroups(context: CommandContext, options: PlanOptions, json: boolean): Promise<ExitCode> {
  const { match } = options;
  const top = topOf(options.top);
  const backfill: Backfill = backfillOf(options);
  if (options.apply && options.dryRun)
    throw new HeadwaterError('USAGE_CONTRADICTION', { options: '--apply and --dry-run' });
  if (match === '' || match.length > PATTERN_MAX)
    refuse('--match', `a pattern of 1 to ${PATTERN_MAX} characters`, match);
  const providers = askedProviders(context, options.provider);
  return withNats(context, async (client) => {
    const { groups, odd } = await withAccounts(context, (accounts) =>
      readGroups(providers, match, { accounts, waitMs: WAIT_MS, signal: context.signal }),
    );
    const largest = largestGroups(groups, top);
    let plan = planOf((await newestList(client.reader)).list, largest);
    let applied = false;
    if (options.apply && plan.add.length > 0) {
      applied = await changeList(client, context.signal, (list) => {
        plan = planOf(list, largest);
        const joining = plan.add.map(({ group }) => group);
        const room = GROUPS_MAX - (list?.entries.length ?? 0);
        if (joining.length > room)
          refuse('--top', `at most ${room} groups more: a list holds ${GROUPS_MAX}`, options.top);
        return withAdded(list, joining, backfill);
      });
    }
    if (json) context.print(JSON.stringify({ ...plan, odd, applied }, null, 2));
    else printPlan(context, { ...plan, odd, applied });
    return EXIT.ok;
  });
}
