import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { rangesOf, watch } from '../fault/observing.ts';
import { type CountingProxy, startCountingProxy } from '../kit/countingProxy.ts';
import { describeWith } from '../kit/describeWith.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { differences, type IndexedState, indexedState } from '../kit/indexedState.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';

const FULL = process.env.HEADWATER_TEST_FULL === '1';
const LINES = FULL ? 1_000_000 : 20_000;
const RANGE_NUMBERS = FULL ? 20_000 : 2000;
const GROUP = 'alt.binaries.example';
const SMALL = 'alt.binaries.small';
const SMALL_LINES = 8000;

describeWith(['inn2'], `${LINES} lines in INN`, () => {
  let inn: Inn;
  const proxies: CountingProxy[] = [];

  async function proxied(connections: number, more: object) {
    const proxy = await startCountingProxy({ host: inn.host, port: inn.port });
    proxies.push(proxy);
    return { proxy, provider: { host: proxy.host, port: proxy.port, tls: false, connections, ...more } };
  }

  const start = (providers: readonly object[], rangeNumbers = RANGE_NUMBERS): Promise<Headwater> => {
    const indexing = { backfillRangeNumbers: rangeNumbers, pollSeconds: 2, lateSeconds: 5 };
    return startHeadwater({ config: { providers: [...providers], indexing } });
  };

  beforeAll(async () => {
    inn = await startInn({ groups: [GROUP, SMALL] });
    const own = { seed: 31, first: 1, crossGroups: [], volumeScale: 0.05 };
    await inn.overchan(overviewForInn(GROUP, generateOverview({ ...own, lines: LINES, group: GROUP })));
    await inn.overchan(overviewForInn(SMALL, generateOverview({ ...own, lines: SMALL_LINES, group: SMALL })));
  }, 600_000);
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop();
    await inn?.dispose();
  });

  /** Indexes the whole group through one form of transfer; what there is afterwards. */
  async function indexed(compression: 'deflate' | 'none'): Promise<IndexedState> {
    const { proxy, provider } = await proxied(8, { name: 'inn', compression });
    const hw = await start([provider]);
    try {
      await watch(hw, GROUP);
      const total = Math.ceil(LINES / RANGE_NUMBERS);
      const done = (view: Awaited<ReturnType<Headwater['look']>>) =>
        (view.ranges?.parsed ?? 0) + (view.ranges?.short ?? 0) >= total;
      const started = performance.now();
      await hw.untilIdle({ done, deadlineMs: FULL ? 1_200_000 : 200_000 });
      console.log(`${compression}: ${LINES} lines in ${Math.round((performance.now() - started) / 1000)} s`);
      const ranges = await rangesOf(hw, GROUP);
      expect(ranges.reduce((sum, r) => sum + r.lines, 0)).toBe(LINES);
      expect(proxy.openings.some((text) => text.includes('COMPRESS DEFLATE'))).toBe(compression === 'deflate');
      expect(proxy.connections.most).toBeLessThanOrEqual(8);
      return await indexedState(hw);
    } finally {
      await hw.dispose();
    }
  }

  test(
    'give one and the same catalog through COMPRESS DEFLATE and through plain',
    async () => {
      const deflated = await indexed('deflate');
      const plain = await indexed('none');
      expect(plain.nzbs.size).toBeGreaterThan(LINES / 1000);
      expect(differences(plain, deflated)).toEqual([]);
    },
    FULL ? 3_000_000 : 600_000,
  );

  test('are read over 1, 8 and 50 connections, and never over more', async () => {
    const all = [];
    for (const n of [1, 8, 50]) all.push({ n, ...(await proxied(n, { name: `inn${n}` })) });
    const hw = await start(
      all.map(({ provider }) => provider),
      1000,
    );
    try {
      await watch(hw, SMALL);
      const total = 3 * (SMALL_LINES / 1000);
      await hw.untilIdle({
        done: (v) => (v.ranges?.parsed ?? 0) + (v.ranges?.short ?? 0) >= total,
        deadlineMs: 200_000,
      });
      const ranges = await rangesOf(hw, SMALL);
      expect(ranges.reduce((sum, r) => sum + r.lines, 0)).toBe(3 * SMALL_LINES);
      for (const { n, proxy } of all) {
        console.log(`${n} allowed: ${proxy.connections.most} at once, ${proxy.connections.total} in all`);
        expect(proxy.connections.most).toBeLessThanOrEqual(n);
        expect(proxy.connections.total).toBeGreaterThan(0);
      }
      expect(all.at(-1)?.proxy.connections.most).toBeGreaterThan(2);
    } finally {
      await hw.dispose();
    }
  }, 400_000);
});
