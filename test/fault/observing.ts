import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect } from 'vitest';
import type { StatusView } from '../../infra/processes/commands/statusView.ts';
import type { Endpoints } from '../../infra/processes/endpoints.ts';
import { EXIT } from '../../infra/processes/exitCodes.ts';
import { listRanges, type RangeRow } from '../../projections/ranges/rows.ts';
import type { Headwater } from '../kit/headwater.ts';
import { withDatabaseOf } from '../kit/indexedState.ts';
import { until } from '../kit/until.ts';

export type Condition = StatusView['conditions'][number];

/** Looks every second and holds back nothing, so that a test sees in seconds what takes minutes at the defaults. */
export const QUICK = {
  pollSeconds: 1,
  holdBackSeconds: 0,
  jobRetrySeconds: 2,
  deniedRetrySeconds: 1,
  lateSeconds: 2,
} as const;

/** `until` about a running Headwater: a failure shows its status and the ends of its logs. */
export const observing = <T>(hw: Headwater, what: string, deadlineMs: number, probe: () => T | Promise<T>) =>
  until(what, probe, { everyMs: 500, deadlineMs }).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await hw.diagnostics()}`);
  });

const shown = (view: StatusView): string =>
  view.conditions.map((c) => `${c.about} ${c.code}`).join(', ') || 'nothing to need attention';

const isAbout = (about: string | RegExp, c: Condition) =>
  typeof about === 'string' ? c.about === about : about.test(c.about);

/** Waits until a condition with this subject and code is there, then has `headwater status` itself tell it. */
export async function conditionShown(
  hw: Headwater,
  about: string | RegExp,
  code: string,
  deadlineMs = 180_000,
): Promise<Condition> {
  const among = (view: StatusView) => {
    const found = view.conditions.find((c) => isAbout(about, c) && c.code === code);
    if (!found) throw new Error(`status shows ${shown(view)}`);
    return found;
  };
  await observing(hw, `${about} ${code} to be shown`, deadlineMs, async () => among(await hw.look()));
  const { code: exit, view } = await hw.status();
  expect(exit).toBe(EXIT.unhealthy);
  return among(view);
}

/** Waits until nothing needs attention any more and every service is ready; returns that status. */
export const untilWell = (hw: Headwater, deadlineMs = 180_000): Promise<StatusView> =>
  observing(hw, 'nothing to need attention', deadlineMs, async () => {
    const view = await hw.look();
    if (view.conditions.length > 0) throw new Error(`status shows ${shown(view)}`);
    return view.services.every((s) => s.state === 'ready') && view;
  });

/** A sentence that names these and a hint: what a person can act on. */
export function expectClear(condition: Condition, names: readonly string[]): void {
  for (const name of names) expect(condition.message).toContain(name);
  expect(condition.message.length).toBeLessThan(400);
  expect(condition.message).not.toMatch(/\n|undefined|\[object|at .*\.ts:/);
  expect(condition.hint).toMatch(/^[A-Z].*[.)]$/);
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly code?: string;
}

/** Lines of one service's log at warn or error that hold `text` in their message or code. */
export const warningsOf = (hw: Headwater, service: string, text: string): readonly LogLine[] =>
  hw
    .log(service)
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ level }) => level === 'warn' || level === 'error')
    .filter((line) => JSON.stringify(line).includes(text));

/** Pids of all services by name. */
export const pidsOf = (view: StatusView): Readonly<Record<string, number>> =>
  Object.fromEntries(view.services.map((s) => [s.service, s.pid]));

/** What `up` had to start again, as its log tells. */
export const restarts = (hw: Headwater): readonly string[] =>
  warningsOf(hw, 'up', 'SERVICE_DISCONNECTED').map((line) => line.msg);

/** What `ranges list --group` lists, read in this process: cheap enough to poll. */
export async function rangesOf(hw: Headwater, group: string): Promise<readonly RangeRow[]> {
  return withDatabaseOf(hw, (sql) => listRanges(sql, { group, limit: 1000, offset: 0 }));
}

const linesOf = (ranges: readonly RangeRow[]): number => ranges.reduce((sum, r) => sum + r.lines, 0);

/** Waits until every range of the group is parsed and they hold `lines` lines together, neither fewer nor more. */
export async function untilCounted(hw: Headwater, group: string, lines: number, deadlineMs = 180_000): Promise<void> {
  const ranges = await observing(hw, `${lines} lines of ${group} to be parsed`, deadlineMs, async () => {
    const all = await rangesOf(hw, group);
    const unparsed = all.filter((r) => r.state !== 'parsed' && r.state !== 'short');
    if (unparsed.length > 0) throw new Error(`${unparsed.length} of ${all.length} ranges are ${unparsed[0]?.state}`);
    if (linesOf(all) < lines) throw new Error(`${linesOf(all)} so far`);
    return all;
  });
  expect(linesOf(ranges)).toBe(lines);
}

const HELD = `
  select (select sum(releases) from ranges.range)::int8 as "releasesMade",
         (select count(*) from catalog.contribution c join catalog.source s on s.id = c.source_id
           where s.merge_id is null)::int8 as "releasesHeld",
         -- A lone part is counted as random by its range, and held once another part of its file is found.
         (select sum(kept) from ranges.range)::int8
           + (select count(*) from fragments.piece where lone) as "segmentsKept",
         (select sum(segments) from catalog.contribution)::int8 as "segmentsHeld",
         (select sum(segments) from chunks.chunk)::int8 as "segmentsStored"`;

/**
 * Waits until nothing is left to do, and compares what parsing said it made of all ranges with what the projections hold:
 * every release's contribution, every line that was kept in catalog and chunk store (of a range, or of a merge of pieces).
 */
export async function expectNothingLost(hw: Headwater): Promise<void> {
  await hw.untilIdle();
  const client = new Client({ connectionString: hw.databaseUrl() });
  await client.connect();
  try {
    await observing(hw, 'every line that was kept to be in catalog and chunks', 60_000, async () => {
      const [held] = (await client.query(HELD)).rows as [Record<string, string>];
      const { releasesMade, releasesHeld, segmentsKept, segmentsHeld, segmentsStored } = held;
      const all = releasesHeld === releasesMade && segmentsHeld === segmentsKept && segmentsStored === segmentsKept;
      if (!all || Number(segmentsKept) === 0) throw new Error(JSON.stringify(held));
      return true;
    });
  } finally {
    await client.end();
  }
}

/** Puts groups on the list: everything that the server has of them, and what comes. */
export async function watch(hw: Headwater, ...groups: string[]): Promise<void> {
  const { code, stderr } = await hw.cli(['groups', 'add', ...groups]);
  expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: '' });
}

/** Waits until the condition has lasted for `ms`; returns the status of then. It must be the same one all the time. */
export async function lasted(hw: Headwater, condition: Condition, ms: number): Promise<StatusView> {
  const { about, since } = condition;
  const status = await observing(hw, `${about} to last ${ms} ms`, ms + 30_000, async () => {
    const view = await hw.look();
    return view.now - since >= ms && view;
  });
  expect(status.conditions).toContainEqual(expect.objectContaining({ about, since }));
  return status;
}

/** Waits until a search finds a release of that name, once. */
export async function untilFound(hw: Headwater, name: string, deadlineMs = 120_000): Promise<void> {
  const found = await observing(hw, `${name} to be found`, deadlineMs, async () => {
    const items = (await hw.search({ q: name })).items.filter((item) => item.title === name);
    return items.length > 0 && items;
  });
  expect(found.length).toBe(1);
}

/** Changes top-level keys of headwater.yaml; they count from the next start on. */
export function setConfig(hw: Headwater, changes: Readonly<Record<string, unknown>>): void {
  const config = JSON.parse(readFileSync(hw.configFile, 'utf8')) as Record<string, unknown>;
  writeFileSync(hw.configFile, JSON.stringify({ ...config, ...changes }, null, 2));
}

interface Jsz {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly state: { readonly last_seq: number } }[];
  }[];
}

/** How many batches OVERVIEW has ever stored, asked of the embedded server itself: quick enough to catch a fetch at work. */
export async function overviewStored(hw: Headwater): Promise<number> {
  const { nats } = JSON.parse(readFileSync(join(hw.dataDir, 'runtime/endpoints.json'), 'utf8')) as Endpoints;
  const reply = await fetch(`${nats.monitorUrl}/jsz?streams=true`, { signal: AbortSignal.timeout(5000) });
  const { account_details: accounts = [] } = (await reply.json()) as Jsz;
  const streams = accounts.flatMap((account) => account.stream_detail ?? []);
  return streams.find((stream) => stream.name === 'OVERVIEW')?.state.last_seq ?? 0;
}

/** HTTP status of `/readyz`. */
export const readyz = async (hw: Headwater): Promise<number> =>
  (await fetch(`${hw.address}/readyz`, { signal: AbortSignal.timeout(20_000) })).status;
