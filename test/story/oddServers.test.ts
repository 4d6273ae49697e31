import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RangeRow } from '../../projections/ranges/rows.ts';
import { observing, QUICK, rangesOf, untilFound, watch } from '../fault/observing.ts';
import type { ReplyForm } from '../kit/compressedReply.ts';
import type { FakeCompression } from '../kit/fakeCompression.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { type FakeNntp, startFakeNntp } from '../kit/nntpServer.ts';
import { ChangingNews, oddGroup, oddName } from '../kit/oddNews.ts';
import { until } from '../kit/until.ts';

/** What INN cannot be made to do: a scripted server does it, and the range ledger must tell the truth about it. */

const DIALECTS = 'alt.binaries.dialects';
const DIALECT_LINES = 3000;
const SPOILT = 'alt.binaries.spoilt';
const PACKED = '224 data follows [COMPRESS=GZIP]\r\n';

/** What servers were seen to send; all forms there can be are the contract test's. */
const XZVER: readonly ReplyForm[] = ['highwinds', 'diablo', 'astraweb'];
const XFEATURE: readonly ReplyForm[] = ['gzip outside', 'zlib outside', 'gzip inside'];

const offers: Readonly<Record<string, FakeCompression>> = {
  deflate: { deflate: true },
  ...Object.fromEntries(XZVER.map((form) => [slug('xzver', form), { xzver: form }])),
  ...Object.fromEntries(XFEATURE.map((form) => [slug('xf', form), { xfeature: { plain: form } }])),
  'xf-terminator': { xfeature: { terminator: 'highwinds' } },
};

function slug(prefix: string, form: ReplyForm): string {
  return `${prefix}-${form.replaceAll(' ', '-')}`;
}

const servers: FakeNntp[] = [];
const news = new ChangingNews();
let odd: FakeNntp;
let spoilt: FakeNntp;
let hw: Headwater;

async function fake(options: Parameters<typeof startFakeNntp>[0]): Promise<FakeNntp> {
  const server = await startFakeNntp(options);
  servers.push(server);
  return server;
}

const provider = (name: string, { host, port }: FakeNntp, more: object = {}) => {
  return { name, host, port, tls: false, connections: 3, ...more };
};

const numbersIn = (intervals: readonly (readonly [number, number])[]): number =>
  intervals.reduce((sum, [lo, hi]) => sum + hi - lo + 1, 0);
const sizeOf = ({ rangeId }: RangeRow): number => {
  const [, lo = 0, hi = 0] = rangeId.split('-').map(Number);
  return hi - lo + 1;
};

/** Waits until every range of the group on a backbone has ended and they hold `lines` lines together. */
function untilRead(group: string, lines: number, backbone = 'odd', deadlineMs = 120_000): Promise<readonly RangeRow[]> {
  return observing(hw, `${lines} lines of ${group} on ${backbone}`, deadlineMs, async () => {
    const own = (await rangesOf(hw, group)).filter((r) => r.backbone === backbone);
    const open = own.filter((r) => r.state === 'planned' || r.state === 'fetched');
    const held = own.reduce((sum, r) => sum + r.lines, 0);
    if (open.length > 0 || held !== lines) throw new Error(JSON.stringify(own.slice(-5)));
    return own;
  });
}

/** Every number that a range planned is a line, missing, or in a range that says why it is not there. */
function expectTruth(ranges: readonly RangeRow[]): void {
  for (const range of ranges) {
    if (range.state !== 'parsed' && range.state !== 'short') continue;
    expect(range.lines + numbersIn(range.missing), JSON.stringify(range)).toBe(sizeOf(range));
  }
}

describe('a scripted news server', () => {
  beforeAll(async () => {
    odd = await fake({ news });
    const dialects = await Promise.all(
      Object.entries(offers).map(async ([name, compression]) => {
        const group = oddGroup(DIALECTS, 1000, 1000 + DIALECT_LINES - 1);
        return provider(name, await fake({ news: { groups: [group] }, compression }), { connections: 1 });
      }),
    );
    spoilt = await fake({
      news: { groups: [oddGroup(SPOILT, 500_000, 500_999)] },
      compression: { xzver: 'highwinds' },
      rules: [
        { on: /^XZVER 50/, act: { do: 'cut', bytes: `${PACKED}x\x9c` }, times: 1 },
        { on: /^XZVER 50/, act: { do: 'send', bytes: `${PACKED}x\x9cbroken` }, times: 1 },
      ],
    });
    news.set(oddGroup('alt.binaries.above31', 2 ** 31 - 508, 2 ** 31 + 491));
    news.set(oddGroup('alt.binaries.above32', 2 ** 32 - 506, 2 ** 32 + 493));
    hw = await startHeadwater({
      config: { providers: [provider('odd', odd), provider('spoilt', spoilt), ...dialects], indexing: QUICK },
    });
  });
  afterAll(async () => {
    await hw?.dispose();
    for (const server of servers) await server.stop();
  });

  test('that compresses in any dialect gives what a plain one gives', async () => {
    await watch(hw, DIALECTS);
    for (const name of Object.keys(offers)) expectTruth(await untilRead(DIALECTS, DIALECT_LINES, name));
    await untilFound(hw, oddName(1500, DIALECTS));
  });

  test.each(['alt.binaries.above31', 'alt.binaries.above32'])('with numbers beyond %s is read whole', async (group) => {
    await watch(hw, group);
    expectTruth(await untilRead(group, 1000));
    await untilFound(hw, oddName(news.get(group).high, group));
  });

  // Each has a group of its own and mostly waits: for a time-out, a retry, the next look at the marks.
  describe.concurrent('at the same time', () => {
    test('whose compressed reply is cut off, or corrupt, is read plain: no line is lost', async () => {
      await watch(hw, SPOILT);
      expectTruth(await untilRead(SPOILT, 1000, 'spoilt'));
      expect(spoilt.commands.some((c) => /^X?OVER 50/.test(c))).toBe(true);
    });

    test('that stalls in the middle of a reply is left, and what was stored is kept', async () => {
      const group = 'alt.binaries.stall';
      news.set(oddGroup(group, 600_000, 600_999));
      const half = `224 overview follows\r\n${[...news.get(group).overview.values()].slice(0, 400).join('\r\n')}\r\n`;
      odd.rule({ on: /^X?OVER 600\d\d\d/, act: { do: 'stall', bytes: half }, times: 1 });
      await watch(hw, group);
      const ranges = await untilRead(group, 1000);
      expectTruth(ranges);
      expect(ranges.every((r) => r.run === 1)).toBe(true);
    });

    test('whose numbers begin again is read on in a new epoch, and the old releases stay', async () => {
      const group = 'alt.binaries.again';
      news.set(oddGroup(group, 700_000, 700_499));
      await watch(hw, group);
      await untilRead(group, 500);
      news.set(oddGroup(group, 1, 19));
      await until('the new epoch', async () => (await epochsOf(group)).includes(1), {
        deadlineMs: 120_000,
        everyMs: 500,
      });
      news.set(oddGroup(group, 1, 59));
      await untilFound(hw, oddName(30, group));
      await untilFound(hw, oddName(700_200, group));
      expectTruth(await rangesOf(hw, group));
    });

    test('that renumbers upwards is read on in a new epoch', async () => {
      const group = 'alt.binaries.upwards';
      news.set(oddGroup(group, 800_000, 800_499));
      await watch(hw, group);
      await untilRead(group, 500);
      news.set(oddGroup(group, 5_000_000, 5_000_009));
      await until('the new epoch', async () => (await epochsOf(group)).includes(1), {
        deadlineMs: 120_000,
        everyMs: 500,
      });
      news.set(oddGroup(group, 5_000_000, 5_000_059));
      await untilFound(hw, oddName(5_000_030, group));
      expectTruth(await rangesOf(hw, group));
    });

    test('whose low mark runs away during backfill loses nothing silently', async () => {
      const group = 'alt.binaries.runaway';
      const all = oddGroup(group, 900_000, 909_999);
      news.set(all);
      let low = 900_000;
      odd.rule({
        on: /^GROUP alt\.binaries\.runaway$/,
        act: () => {
          low = Math.min(low + 700, 908_000);
          const overview = new Map([...all.overview].filter(([n]) => n >= low));
          news.set({ ...all, low, overview });
          return { do: 'hold', until: Promise.resolve() };
        },
      });
      await watch(hw, group);
      const last = await observing(hw, 'the end of the backfill', 120_000, async () => {
        const ranges = await rangesOf(hw, group);
        const open = ranges.some((r) => r.state === 'planned' || r.state === 'fetched');
        return !open && ranges.some((r) => r.rangeId.endsWith('-909999')) && ranges;
      });
      expectTruth(last);
      await untilFound(hw, oddName(909_990, group));
      for (const range of last) expect(['parsed', 'short', 'retired', 'failed']).toContain(range.state);
    });
  });

  const epochsOf = async (group: string) => (await rangesOf(hw, group)).map((r) => Number(r.rangeId.split('-')[0]));
});
