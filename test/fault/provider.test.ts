import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { StatusView } from '../../infra/processes/commands/statusView.ts';
import { EXIT } from '../../infra/processes/exitCodes.ts';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { describeWith } from '../kit/describeWith.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { post } from '../kit/poster.ts';
import { until } from '../kit/until.ts';
import {
  conditionShown,
  expectClear,
  expectNothingLost,
  lasted,
  overviewStored,
  pidsOf,
  QUICK,
  rangesOf,
  restarts,
  setConfig,
  untilCounted,
  untilFound,
  untilWell,
  warningsOf,
  watch,
} from './observing.ts';

const PARTS = 4;
const LONG_GROUP = 'alt.binaries.long';
const LONG_LINES = 100_000;
const WRONG_PASS = 'wr0ng-Pass-7731';

describeWith(['inn2'], 'a news server in trouble', () => {
  let inn: Inn;
  beforeAll(async () => {
    const groups = ['down', 'login', 'tls', 'here', 'long'].map((name) => `alt.binaries.${name}`);
    inn = await startInn({ groups });
    const lines = generateOverview({ lines: LONG_LINES, group: LONG_GROUP, first: 1, crossGroups: [] });
    await inn.overchan(overviewForInn(LONG_GROUP, lines));
  });
  afterAll(() => inn?.dispose());

  /** One complete release of `PARTS` articles; returns its name. */
  async function posted(group: string, name: string): Promise<string> {
    const file = { name: `${name}.iso`, size: PARTS * 2000 };
    await post({ target: inn, name, files: [file], groups: [group], articleSize: 2000 });
    return name;
  }

  const rig = (more: object = {}) => ({
    ...{ name: 'rig', host: inn.host, port: inn.port, tls: false, connections: 2 },
    ...more,
  });

  async function started(provider: object): Promise<{ hw: Headwater; before: StatusView }> {
    const hw = await startHeadwater({ config: { providers: [provider], indexing: QUICK } });
    onTestFinished(() => hw.dispose());
    return { hw, before: await hw.look() };
  }

  /** The end of every story here: the release is found, nothing was lost or given up, and nothing had to be started again. */
  async function expectWhole(hw: Headwater, before: StatusView, group: string, name: string): Promise<void> {
    await untilFound(hw, name);
    await untilCounted(hw, group, PARTS);
    const after = await untilWell(hw);
    await expectNothingLost(hw);
    expect(after.ranges).toMatchObject({ failed: 0 });
    expect(pidsOf(after)).toEqual(pidsOf(before));
    expect(restarts(hw)).toEqual([]);
  }

  /** One Headwater for the faults that one configuration meets; it is started while the server is down. */
  describe('that one Headwater goes through', () => {
    let hw: Headwater;
    let before: StatusView;
    let calm: string;
    beforeAll(async () => {
      calm = await posted('alt.binaries.down', 'Calm.Harbour.Linux.Disc.2024');
      await inn.stopReaders();
      hw = await startHeadwater({ config: { providers: [rig()], indexing: QUICK } });
      before = await hw.look();
    });
    afterAll(() => hw?.dispose());

    test('one that is down is named in status and log, and is read as soon as it answers', async () => {
      await watch(hw, 'alt.binaries.down');
      const condition = await conditionShown(hw, 'provider/rig', 'NNTP_CONNECT_FAILED');
      expectClear(condition, [`${inn.host}:${inn.port}`, 'ECONNREFUSED']);
      const during = await lasted(hw, condition, 6000);
      expect(during.services.filter((s) => s.state !== 'ready')).toEqual([]);
      // It is looked at every second or two; the log must not say so each time.
      const told = warningsOf(hw, 'coordinator', 'NNTP_CONNECT_FAILED').length;
      expect(told).toBeGreaterThanOrEqual(1);
      expect(told).toBeLessThanOrEqual(2);
      await inn.startReaders();
      await expectWhole(hw, before, 'alt.binaries.down', calm);
    });

    test('one that goes down in the middle of a fetch is gone on with where it stopped', async () => {
      const earlier = await overviewStored(hw);
      await watch(hw, LONG_GROUP);
      await until('the first batch to be stored', async () => (await overviewStored(hw)) > earlier, { everyMs: 10 });
      await inn.stopReaders();
      const condition = await conditionShown(hw, 'provider/rig', 'NNTP_CONNECT_FAILED');
      expectClear(condition, [`${inn.host}:${inn.port}`]);
      const [range, ...others] = await rangesOf(hw, LONG_GROUP);
      expect(others).toEqual([]);
      expect(range?.state).toBe('planned');
      await inn.startReaders();
      await untilCounted(hw, LONG_GROUP, LONG_LINES);
      // Still the first run: the batches of a run follow each other without overlap, so what was stored was kept.
      expect(await rangesOf(hw, LONG_GROUP)).toMatchObject([{ run: 1, state: 'parsed', missing: [] }]);
      const after = await untilWell(hw);
      await expectNothingLost(hw);
      expect(after.ranges).toMatchObject({ failed: 0 });
      expect(pidsOf(after)).toEqual(pidsOf(before));
      expect(restarts(hw)).toEqual([]);
    });

    test('a group that does not exist is named, holds up no other, and is read once the server has it', async () => {
      const here = await posted('alt.binaries.here', 'Early.Lantern.Linux.Disc.2024');
      await watch(hw, 'alt.binaries.absent', 'alt.binaries.here');
      const condition = await conditionShown(hw, 'group/rig/alt.binaries.absent', 'NNTP_NO_SUCH_GROUP');
      expectClear(condition, ['alt.binaries.absent', '411']);
      await untilFound(hw, here);
      await untilCounted(hw, 'alt.binaries.here', PARTS);
      await lasted(hw, condition, 5000);
      expect(warningsOf(hw, 'coordinator', 'NNTP_NO_SUCH_GROUP').length).toBe(1);
      expect((await hw.look()).conditions.map((c) => c.about)).toEqual(['group/rig/alt.binaries.absent']);
      await inn.addGroup('alt.binaries.absent');
      const late = await posted('alt.binaries.absent', 'Slow.Compass.Linux.Disc.2024');
      await expectWhole(hw, before, 'alt.binaries.absent', late);
    });
  });

  test('one that refuses the login is named without the password, and read once it accepts it', async () => {
    const name = await posted('alt.binaries.login', 'Quiet.Meadow.Linux.Disc.2024');
    const user = 'newcomer';
    inn.users({ user, pass: 'another one' }, inn.account);
    const { hw, before } = await started(rig({ port: inn.authPort, user, pass: WRONG_PASS }));
    await watch(hw, 'alt.binaries.login');
    const condition = await conditionShown(hw, 'provider/rig', 'NNTP_AUTH_REJECTED');
    expectClear(condition, [`${inn.host}:${inn.authPort}`, 'AUTHINFO PASS', '481']);
    await lasted(hw, condition, 3000);
    expect(warningsOf(hw, 'coordinator', 'NNTP_AUTH_REJECTED').length).toBeLessThanOrEqual(2);
    const told = [(await hw.cli(['status', '--json'])).stdout, (await hw.cli(['doctor'])).stdout];
    for (const service of [...Object.keys(pidsOf(before)), 'up']) told.push(hw.log(service));
    expect(told.join('\n')).toContain('NNTP_AUTH_REJECTED');
    expect(told.join('\n')).not.toContain(WRONG_PASS);
    inn.users({ user, pass: WRONG_PASS }, inn.account);
    await expectWhole(hw, before, 'alt.binaries.login', name);
  });

  test('one whose certificate is not trusted is named with the reason, and read once its authority is', async () => {
    const name = await posted('alt.binaries.tls', 'Bright.Orchard.Linux.Disc.2024');
    const secure = rig({ port: inn.tlsPort, tls: true });
    const { hw, before } = await started(secure);
    await watch(hw, 'alt.binaries.tls');
    const condition = await conditionShown(hw, 'provider/rig', 'NNTP_TLS_UNTRUSTED');
    expectClear(condition, [`${inn.host}:${inn.tlsPort}`, 'self-signed certificate']);
    expect(condition.hint).toContain('`ca`');
    await lasted(hw, condition, 3000);
    expect(warningsOf(hw, 'coordinator', 'NNTP_TLS_UNTRUSTED').length).toBeLessThanOrEqual(2);
    expect(restarts(hw)).toEqual([]);
    expect(pidsOf(await hw.look())).toEqual(pidsOf(before));
    expect(await hw.stop()).toBe(EXIT.ok);
    setConfig(hw, { providers: [{ ...secure, ca: inn.ca }] });
    await hw.start();
    await expectWhole(hw, await hw.look(), 'alt.binaries.tls', name);
  });
});
