import { afterAll, beforeAll, type ExpectStatic, expect, it } from 'vitest';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { Random } from '../bench/random.ts';
import { describeWith } from '../kit/describeWith.ts';
import { briefly, type Headwater, startHeadwater } from '../kit/headwater.ts';
import { differences, type IndexedState, indexedState } from '../kit/indexedState.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { isSameRunning, killAll, type ProcessInfo, processInfo, processTree } from '../kit/processTree.ts';
import { until } from '../kit/until.ts';

const FULL = process.env.HEADWATER_TEST_FULL === '1';
const LINES = FULL ? 200_000 : 40_000;
/** Small, so that at any moment many steps are under way. */
const RANGE_NUMBERS = FULL ? 5000 : 1000;
const [GROUP, OTHER] = ['alt.binaries.example', 'alt.binaries.boneless'] as const;
const SEED = 20_240_501;

type Victim = 'fetch' | 'headers' | 'project' | 'coordinator' | 'api' | 'nats' | 'postgres' | 'everything';

/** Each run is killed in its first, second, ... part. In full one victim a run; else fewer runs. */
const RUNS: readonly (readonly Victim[])[] = FULL
  ? [['fetch'], ['headers'], ['project'], ['coordinator'], ['api'], ['nats'], ['postgres'], ['everything']]
  : [
      ['fetch', 'coordinator', 'project'],
      ['headers', 'postgres', 'api'],
      ['nats', 'everything'],
    ];

/** Kills fall into this share of the work: something is done before them and something is left after them. */
const [FROM, TO] = [0.1, 0.7] as const;

function victimsOf(headwater: Headwater, victim: Victim): readonly ProcessInfo[] {
  if (victim === 'everything') return headwater.processes();
  // A server is killed with its children: a crash of the machine would spare none either.
  if (victim === 'nats') return processTree(headwater.natsPid());
  if (victim === 'postgres') return processTree(headwater.postgresPid());
  const info = processInfo(headwater.servicePid(victim));
  return info ? [info] : [];
}

const finished = (ranges: Readonly<Record<string, number>> | null): number =>
  (ranges?.parsed ?? 0) + (ranges?.short ?? 0);

describeWith(['inn2'], `kill -9 in the middle of indexing ${LINES} lines`, () => {
  let inn: Inn;
  let total = 0;
  let undisturbed: IndexedState;

  /** A Headwater that reads the group in INN; it is given the group once it runs. */
  async function begin(): Promise<Headwater> {
    const provider = { name: 'inn', host: inn.host, port: inn.port, tls: false, connections: 4 };
    const indexing = {
      backfillRangeNumbers: RANGE_NUMBERS,
      outstandingRangesMax: 8,
      pollSeconds: 2,
      jobRetrySeconds: 5,
      lateSeconds: 5,
    };
    const headwater = await startHeadwater({ config: { providers: [provider], indexing } });
    const added = await headwater.cli(['groups', 'add', GROUP, OTHER]);
    if (added.code !== 0) throw new Error(`groups add: ${added.stdout}${added.stderr}`);
    return headwater;
  }

  /** Waits until everything is indexed and nothing is wrong any more. */
  async function finish(headwater: Headwater, expected: ExpectStatic): Promise<IndexedState> {
    const view = await headwater.untilIdle({ done: (v) => finished(v.ranges) >= total, deadlineMs: 420_000 });
    expected(view.ranges?.failed ?? 0).toBe(0);
    expected(finished(view.ranges)).toBe(total);
    const well = async () => (await headwater.look()).conditions.length === 0;
    await until('nothing to need attention any more', well, { deadlineMs: 120_000, everyMs: 500 });
    const { stdout } = await headwater.cli(['ranges', 'list', '--json', '--limit', '100000']);
    const ranges = JSON.parse(stdout) as readonly { readonly run: number; readonly pass: number }[];
    console.log(`${ranges.filter((r) => r.run > 1 || r.pass > 1).length} of ${total} ranges were done more than once`);
    return indexedState(headwater);
  }

  /** Kills when `share` of the ranges is done; proves that work was under way and that the victim was another afterwards. */
  async function killAt(headwater: Headwater, victim: Victim, share: number, expected: ExpectStatic): Promise<void> {
    const enough = async () => {
      const view = await headwater.look();
      if (finished(view.ranges) < share * total) throw new Error(briefly(view));
      return view;
    };
    const view = await until(`${Math.round(share * 100)} % to be parsed`, enough, { deadlineMs: 300_000, everyMs: 20 });
    const killed = victimsOf(headwater, victim);
    killAll(killed);
    const report = `${victim} at ${finished(view.ranges)} of ${total} ranges`;
    console.log(`killed ${report}`);
    expected(killed.length, report).toBeGreaterThan(0);
    expected(finished(view.ranges), report).toBeLessThan(total);
    await until(`${victim} to be gone`, () => !killed.some(isSameRunning));
    if (victim === 'everything') await headwater.start();
    const back = () => victimsOf(headwater, victim).length > 0;
    await until(`${victim} to run again`, back, { deadlineMs: 120_000 });
  }

  beforeAll(async () => {
    inn = await startInn({ groups: [GROUP, OTHER] });
    const options = { lines: LINES, seed: SEED, group: GROUP, first: 1, crossGroups: [OTHER], crossFirst: 1 };
    const lines = [...generateOverview({ ...options, volumeScale: 0.05 })];
    await inn.overchan(overviewForInn(GROUP, lines));
    const inOther = lines.map((line) => Number(/ alt\.binaries\.boneless:(\d+)/.exec(line)?.[1] ?? 0));
    const highest = inOther.reduce((a, b) => Math.max(a, b), 0);
    total = Math.ceil(LINES / RANGE_NUMBERS) + Math.ceil(highest / RANGE_NUMBERS);
    const headwater = await begin();
    try {
      undisturbed = await finish(headwater, expect);
    } finally {
      await headwater.dispose();
    }
  }, 600_000);
  afterAll(() => inn?.dispose());

  it('has, undisturbed, many releases with an NZB each', () => {
    expect(undisturbed.nzbs.size).toBeGreaterThan(LINES / 500);
    expect(differences(undisturbed, undisturbed)).toEqual([]);
  });

  for (const [run, victims] of RUNS.entries()) {
    it(`of ${victims.join(', then ')} leaves the catalog and every NZB as if nothing had been`, async ({
      expect: expected,
    }) => {
      const random = new Random(SEED + run);
      const step = (TO - FROM) / victims.length;
      const headwater = await begin();
      try {
        for (const [i, victim] of victims.entries()) {
          await killAt(headwater, victim, FROM + step * (i + random.next()), expected);
        }
        expected(differences(undisturbed, await finish(headwater, expected))).toEqual([]);
      } catch (error) {
        console.log(await headwater.diagnostics());
        throw error;
      } finally {
        await headwater.dispose();
      }
    }, 900_000);
  }
});
