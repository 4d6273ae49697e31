import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../infra/processes/exitCodes.ts';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { describeWith } from '../kit/describeWith.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { fillStore } from './ballast.ts';
import {
  conditionShown,
  expectClear,
  expectNothingLost,
  lasted,
  pidsOf,
  QUICK,
  restarts,
  setConfig,
  untilCounted,
  untilWell,
  warningsOf,
  watch,
} from './observing.ts';
import { moveToSmallDisk, whyNoSmallDisk } from './smallDisk.ts';

const LINES = 40_000;
const FULL = 'alt.binaries.full';
const DISK = 'alt.binaries.disk';

describeWith(['inn2'], 'NATS without room', () => {
  let inn: Inn;
  let hw: Headwater;
  beforeAll(async () => {
    inn = await startInn({ groups: [FULL, DISK] });
    for (const group of [FULL, DISK]) {
      const lines = generateOverview({ lines: LINES, group, first: 1, crossGroups: [] });
      await inn.overchan(overviewForInn(group, lines));
    }
    const providers = [{ name: 'rig', host: inn.host, port: inn.port, tls: false, connections: 2 }];
    const nats = { overviewMaxMiB: 64, embeddedMaxGiB: 0.1 };
    hw = await startHeadwater({ config: { providers, indexing: QUICK, nats } });
  });
  afterAll(async () => {
    await hw?.dispose();
    await inn?.dispose();
  });

  test('a store at its limit holds up the work, says so, and nothing is lost when there is room', async () => {
    const before = await hw.look();
    const ballast = await fillStore(hw);
    onTestFinished(() => ballast.remove());
    await watch(hw, FULL);
    // Whoever appends next is refused: the store has one limit for all streams.
    const condition = await conditionShown(hw, /^stream\/(OVERVIEW|RANGES|RELEASES)$/, 'STREAM_FULL');
    expectClear(condition, [condition.about.replace('stream/', 'stream ')]);
    const during = await lasted(hw, condition, 6000);
    expect(pidsOf(during)).toEqual(pidsOf(before));
    expect(during.services.filter((s) => s.state !== 'ready')).toEqual([]);
    // At most two lines each for the stream of its events and for that of the incidents.
    for (const name of ['coordinator', 'fetch', 'headers']) {
      expect(warningsOf(hw, name, 'STREAM_FULL').length).toBeLessThanOrEqual(4);
    }
    const refused = await hw.cli(['groups', 'add', 'alt.binaries.more']);
    expect(refused.code).toBe(EXIT.failed);
    expect(refused.stderr).toContain('STREAM_FULL');
    await ballast.remove();
    await untilCounted(hw, FULL, LINES);
    const after = await untilWell(hw);
    await expectNothingLost(hw);
    expect(after.ranges).toMatchObject({ failed: 0 });
    expect(pidsOf(after)).toEqual(pidsOf(before));
    expect(restarts(hw)).toEqual([]);
  });

  const why = whyNoSmallDisk();
  describe.skipIf(why !== null)(`on a small disk${why === null ? '' : ` [skipped: ${why}]`}`, () => {
    test('a full disk holds up the work, says so, and nothing is lost when there is room', async () => {
      expect(await hw.stop()).toBe(EXIT.ok);
      const disk = moveToSmallDisk(join(hw.dataDir, 'nats'), 64);
      onTestFinished(async () => {
        await hw.kill();
        disk.unmount();
      });
      // A limit that lies beyond the disk: it is the disk that gives out.
      setConfig(hw, { nats: { overviewMaxMiB: 64, embeddedMaxGiB: 1 } });
      await hw.start();
      const before = await hw.look();
      disk.fill(1 << 20);
      await watch(hw, DISK);
      const condition = await conditionShown(hw, 'store/nats', 'EMBEDDED_STORE_UNWRITABLE');
      expectClear(condition, ['nats-server', 'no space left on device', join(hw.dataDir, 'nats')]);
      expect(warningsOf(hw, 'up', 'EMBEDDED_STORE_UNWRITABLE').length).toBe(1);
      const during = await lasted(hw, condition, 6000);
      expect(pidsOf(during)).toEqual(pidsOf(before));
      disk.makeRoom();
      await untilCounted(hw, DISK, LINES);
      const after = await untilWell(hw);
      await expectNothingLost(hw);
      expect(after.ranges).toMatchObject({ failed: 0 });
      expect(pidsOf(after)).toEqual(pidsOf(before));
      expect(restarts(hw)).toEqual([expect.stringContaining('the service nats ended (its store could not be written')]);
    });
  });
});
