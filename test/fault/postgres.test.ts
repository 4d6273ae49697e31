import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { StatusView } from '../../infra/processes/commands/statusView.ts';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { describeWith } from '../kit/describeWith.ts';
import { type Headwater, type HeadwaterOptions, startHeadwater } from '../kit/headwater.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { processTree } from '../kit/processTree.ts';
import { startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';
import {
  conditionShown,
  expectClear,
  expectNothingLost,
  lasted,
  pidsOf,
  QUICK,
  rangesOf,
  readyz,
  restarts,
  untilCounted,
  untilWell,
  warningsOf,
  watch,
} from './observing.ts';

const GROUPS = { killed: 'alt.binaries.killed', frozen: 'alt.binaries.frozen', given: 'alt.binaries.given' } as const;
const LINES = 40_000;
const RANGE = 4000;

describeWith(['inn2'], 'PostgreSQL going away and coming back', () => {
  let inn: Inn;
  beforeAll(async () => {
    inn = await startInn({ groups: Object.values(GROUPS) });
    for (const group of Object.values(GROUPS)) {
      const lines = generateOverview({ lines: LINES, group, first: 1, crossGroups: [] });
      await inn.overchan(overviewForInn(group, lines));
    }
  });
  afterAll(() => inn?.dispose());

  /** Small ranges, few at a time: indexing takes a while, so that an outage falls into it. */
  function started(options: HeadwaterOptions = {}): Promise<Headwater> {
    const providers = [{ name: 'rig', host: inn.host, port: inn.port, tls: false, connections: 2 }];
    const slow = { backfillRangeNumbers: RANGE, outstandingRangesMax: 2 };
    return startHeadwater({ ...options, config: { providers, indexing: { ...QUICK, ...slow } } });
  }

  /** Begins to index a group, and waits until its first range is parsed. */
  async function begin(hw: Headwater, group: string): Promise<void> {
    const parsed = async () => (await hw.look()).ranges?.parsed ?? 0;
    const earlier = await parsed();
    await watch(hw, group);
    await until(`the first range of ${group} to be parsed`, async () => (await parsed()) > earlier);
  }

  /** While it is away: 503 for clients, and for whoever asks whether the service is ready; the process itself is well. */
  async function expectUnavailable(hw: Headwater): Promise<void> {
    await until('/readyz to say no', async () => (await readyz(hw)) === 503, { deadlineMs: 120_000 });
    const answer = await until(
      'a search to be refused',
      async () => {
        const got = await hw.request({ t: 'search', q: 'linux' });
        return got.status !== 200 && got;
      },
      { deadlineMs: 90_000 },
    );
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('<error code="910"');
    expect((await hw.request({ t: 'caps' })).status).toBe(200);
    expect((await fetch(`${hw.address}/healthz`)).status).toBe(200);
  }

  async function expectWhole(hw: Headwater, group: string, pids: Readonly<Record<string, number>>): Promise<void> {
    await untilCounted(hw, group, LINES);
    expect((await rangesOf(hw, group)).length).toBe(LINES / RANGE);
    const after = await untilWell(hw);
    await expectNothingLost(hw);
    expect(after.ranges).toMatchObject({ failed: 0 });
    expect(pidsOf(after)).toEqual(pids);
    expect(await readyz(hw)).toBe(200);
    expect((await hw.search()).total).toBeGreaterThan(0);
  }

  describe('an embedded one', () => {
    let hw: Headwater;
    beforeAll(async () => {
      hw = await started();
    });
    afterAll(() => hw?.dispose());

    const serverTrouble = (view: StatusView) => view.conditions.find((c) => c.about === 'server/postgres');

    /** Kills the embedded server once it is up in the eyes of `up` itself, and waits until `up` has noticed. */
    async function killServer(hw: Headwater): Promise<void> {
      const isUp = async () => {
        const view = await hw.look();
        return view.catalog !== null && !serverTrouble(view);
      };
      await until('PostgreSQL to be up', isUp, { deadlineMs: 120_000 });
      process.kill(hw.postgresPid(), 'SIGKILL');
      await until('its end to be noticed', async () => serverTrouble(await hw.look()), { deadlineMs: 120_000 });
    }

    test('that is killed again and again is started each time, and nothing is lost', async () => {
      await begin(hw, GROUPS.killed);
      const pids = pidsOf(await hw.look());
      await killServer(hw);
      await killServer(hw);
      let kills = 2;
      // The waits before a start double, so that an outage soon is long enough for a look by `status`, on any machine.
      const condition = await until(
        'status to run within an outage',
        async () => {
          await killServer(hw);
          kills++;
          const [{ view }] = await Promise.all([hw.status(), expectUnavailable(hw)]);
          return serverTrouble(view);
        },
        { deadlineMs: 120_000 },
      );
      expectClear(condition, ['postgres', 'SIGKILL']);
      await expectWhole(hw, GROUPS.killed, pids);
      const told = restarts(hw);
      expect(told.length).toBe(kills);
      for (const line of told) expect(line).toContain('the service postgres ended');
    });

    test('that stands still is waited for', async () => {
      const earlier = restarts(hw);
      await begin(hw, GROUPS.frozen);
      const pids = pidsOf(await hw.look());
      const frozen = processTree(hw.postgresPid()).map(({ pid }) => pid);
      const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
        for (const pid of frozen) {
          try {
            process.kill(pid, name);
          } catch {
            // A backend that has ended meanwhile.
          }
        }
      };
      onTestFinished(() => signal('SIGCONT'));
      signal('SIGSTOP');
      await expectUnavailable(hw);
      const condition = await conditionShown(hw, 'postgres', 'POSTGRES_UNAVAILABLE', 60_000);
      expectClear(condition, ['PostgreSQL at 127.0.0.1']);
      expect(warningsOf(hw, 'api', 'POSTGRES_UNAVAILABLE').length).toBeGreaterThan(0);
      signal('SIGCONT');
      await expectWhole(hw, GROUPS.frozen, pids);
      expect(restarts(hw)).toEqual(earlier);
    });
  });

  test('a given one that is away is told of by those who need it, and work goes on when it is back', async () => {
    const services = await startServices({ nats: false });
    onTestFinished(() => services.stop());
    const hw = await started({ env: { DATABASE_URL: services.databaseUrl } });
    onTestFinished(() => hw.dispose());
    await begin(hw, GROUPS.given);
    const pids = pidsOf(await hw.look());
    await services.stopPostgres();
    await expectUnavailable(hw);
    const condition = await conditionShown(hw, 'projection/ranges', 'POSTGRES_UNAVAILABLE');
    expectClear(condition, ['PostgreSQL at 127.0.0.1', 'cannot be reached']);
    expect(condition.service).toBe('project');
    const told = warningsOf(hw, 'project', 'POSTGRES_UNAVAILABLE').length;
    expect(told).toBeGreaterThan(0);
    await lasted(hw, condition, 6000);
    // Each of its projections has told its trouble by now; trying again is no news.
    expect(warningsOf(hw, 'project', 'POSTGRES_UNAVAILABLE').length - told).toBeLessThanOrEqual(4);
    await services.startPostgres();
    await expectWhole(hw, GROUPS.given, pids);
    expect(restarts(hw)).toEqual([]);
  });
});
