import { describe, expect, it } from 'vitest';
import { controlGarbage } from '../../../streams/events/control.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { rangeRetried, rangeWanted } from '../../../streams/events/ranges.ts';
import { ArticleNumber, Backbone, Epoch, Group } from '../../../streams/ids.ts';
import type { Interval } from '../../../streams/records.ts';
import {
  calm,
  HOUR,
  ids,
  now,
  patient,
  planned,
  plans,
  put,
  range,
  retired,
  settings,
  spans,
  start,
} from '../../kit/coordinatorWorld.ts';
import { MemoryProvider, overviewLine } from '../../kit/memoryArticles.ts';
import { listEntry, processorWorld, putList } from '../../kit/processorWorld.ts';
import { pass, passUntil } from '../../kit/timePasses.ts';

/** What happens to ranges and groups after they were planned: resets, expiry, removal, second tries. */

/** A world with one group of 50,000 articles whose backfill is planned. */
async function backfilled(own = settings) {
  const world = processorWorld();
  const provider = new MemoryProvider();
  const group = provider.add('a.b', 1, 50_000);
  await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
  const loop = start(world, [provider], own);
  await passUntil(world.clock, 'backfill', () => planned(world).length === 3, own === calm ? patient : {});
  return { world, provider, group, loop };
}

describe('a number reset', () => {
  it('ends the old span at its last high mark and goes on live from the head, and says so', async () => {
    const { world, group, loop } = await backfilled(calm);
    await put.parsed(world, range(world, '0-1-20000'));
    Object.assign(group, { low: 1, high: 70 });
    await passUntil(world.clock, 'the new span', async () => (await spans(world)).length === 2, patient);
    expect(await spans(world)).toMatchObject([
      { epoch: 0, from: 1, liveFrom: 50_001, to: 50_000 },
      { epoch: 1, from: 70, liveFrom: 71, to: null },
    ]);
    expect(world.conditions.open.get('epoch/main/a.b')).toMatchObject({ code: 'GROUP_RENUMBERED' });
    const marks = world.events.events('RANGES', 'range.marks').flatMap(({ data }) => data.marks);
    expect(marks.map((m) => [m.epoch, m.high])).toEqual([
      [0, 50_000],
      [1, 70],
    ]);
    await passUntil(world.clock, 'the old ranges to be retired', () => retired(world).length === 2, patient);
    expect(retired(world)).toEqual(['0-20001-40000 superseded', '0-40001-50000 superseded']);
    group.high = 95;
    await passUntil(world.clock, 'live', () => planned(world).some(({ lane }) => lane === 'live'), patient);
    expect(ids(world).slice(3)).toEqual(['1-70-70/1', '1-71-95/1']);
    await pass(world.clock, 25 * HOUR, HOUR / 4);
    expect(world.conditions.open.size).toBe(0);
    expect((await spans(world)).length).toBe(2);
    await loop.stop();
  });

  it('is found out by a process that was not there when it happened', async () => {
    const { world, provider, group, loop } = await backfilled();
    await loop.stop();
    Object.assign(group, { low: 1_000_000, high: 1_000_500 });
    const next = start(world, [provider]);
    await passUntil(world.clock, 'the new span', async () => (await spans(world)).length === 2);
    expect((await spans(world))[1]).toMatchObject({ epoch: 1, from: 1_000_500, liveFrom: 1_000_501 });
    await next.stop();
  });

  it('is none when marks are stale once, and nothing is planned with such marks', async () => {
    const { world, group, loop } = await backfilled();
    group.high = 100;
    await pass(world.clock, 15_000, 500);
    group.high = 50_700;
    await passUntil(world.clock, 'live', () => planned(world).length === 4);
    expect(ids(world).at(-1)).toBe('0-50001-50700/1');
    expect((await spans(world)).length).toBe(1);
    expect(world.conditions.open.size).toBe(0);
    await loop.stop();
  });

  it('takes up live where two coordinators found it out at once, without planning a number twice', async () => {
    const { world, provider, group, loop } = await backfilled();
    const second = start(world, [provider]);
    await pass(world.clock, 20_000, 500);
    Object.assign(group, { low: 1, high: 70 });
    await passUntil(world.clock, 'the new span', async () => (await spans(world)).length === 2);
    group.high = 30_000;
    await passUntil(world.clock, 'live', () => planned(world).some(({ lane }) => lane === 'live'));
    await pass(world.clock, 60_000, 500);
    expect((await spans(world)).length).toBe(2);
    expect(new Set(ids(world)).size).toBe(ids(world).length);
    await Promise.all([loop.stop(), second.stop()]);
  });
});

describe('a group of which articles go', () => {
  it('has the ranges retired that lie below its low mark, unless they are being fetched; nothing is planned again', async () => {
    const { world, group, loop } = await backfilled();
    await put.fetched(world, range(world, '0-1-20000'));
    group.low = 45_000;
    await passUntil(world.clock, 'the retirement', () => retired(world).length > 0);
    expect(retired(world)).toEqual(['0-20001-40000 below the low mark']);
    for (let low = 46_001; low <= 50_001; low += 1000) {
      group.low = low;
      await pass(world.clock, 16_000, 500);
    }
    await pass(world.clock, 31_000, 500);
    expect(retired(world)).toEqual(['0-20001-40000 below the low mark', '0-40001-50000 below the low mark']);
    expect(planned(world)).toHaveLength(3);
    await loop.stop();
  });

  it('is not believed for a low mark that one reading alone had', async () => {
    const { world, group, loop } = await backfilled();
    group.low = 49_000;
    await pass(world.clock, 15_000, 500);
    group.low = 1;
    await pass(world.clock, 60_000, 500);
    expect(retired(world)).toEqual([]);
    await loop.stop();
  });

  it('has its waiting ranges retired when it is removed', async () => {
    const { world, loop } = await backfilled();
    await put.fetched(world, range(world, '0-1-20000'));
    const { entries } = (await world.groupLists.current())!;
    await putList(
      world,
      entries.map((entry) => ({ ...entry, removed: true })),
    );
    await passUntil(world.clock, 'the retirement', () => retired(world).length === 2);
    expect(retired(world)).toEqual(['0-20001-40000 group removed', '0-40001-50000 group removed']);
    await loop.stop();
  });
});

describe('a second try', () => {
  it('asks for missing numbers once, 24 hours after the range was parsed', async () => {
    const { world, loop } = await backfilled(calm);
    const missing: Interval[] = [
      [5, 9],
      [100, 100],
    ];
    for (const r of planned(world)) await put.parsed(world, r, r.lo === 1 ? missing : []);
    await pass(world.clock, 23.9 * HOUR, HOUR / 10);
    expect(planned(world)).toHaveLength(3);
    await passUntil(world.clock, 'the re-asking', () => planned(world).length === 5, patient);
    expect(plans(world).at(-1)).toMatchObject({
      lane: 'backfill',
      reasks: { group: 'a.b', rangeId: '0-1-20000', run: 1 },
    });
    expect(ids(world).slice(3)).toEqual(['0-5-9/1', '0-100-100/1']);
    for (const r of planned(world).slice(3)) await put.parsed(world, r, [[r.lo, r.hi]]);
    await pass(world.clock, 30 * HOUR, HOUR / 4);
    expect(planned(world)).toHaveLength(5);
    await loop.stop();
  });

  it('plans a failed range as its next run when somebody wishes it, and lost batches once by itself', async () => {
    const { world, loop } = await backfilled();
    const [one, two, three] = planned(world);
    await put.failed(world, one!);
    await put.fetched(world, two!);
    await put.failed(world, two!, 'parse');
    await passUntil(world.clock, 'the retry', () => planned(world).length === 4);
    expect(ids(world).at(-1)).toBe('0-20001-40000/2');
    const again = range(world, two!.rangeId);
    await put.fetched(world, again);
    await put.failed(world, again, 'parse');
    await pass(world.clock, 60_000, 1000);
    expect(planned(world)).toHaveLength(4);
    const { backbone } = one!;
    const runs = [one!, again, three!].map(({ group, rangeId, run }) => ({ group, rangeId, run }));
    await world.events.append(makeEvent(rangeRetried, now(world), { origin: 'operator' as const, backbone, runs }));
    await passUntil(world.clock, 'the wished retries', () => planned(world).length === 6);
    expect(ids(world).slice(4)).toEqual(['0-1-20000/2', '0-20001-40000/3']);
    await pass(world.clock, 60_000, 1000);
    expect(planned(world)).toHaveLength(6);
    await loop.stop();
  });

  it('says when a failed range is too large for OVERVIEW as it is now (RANGE_TOO_LARGE)', async () => {
    const { world, provider, loop } = await backfilled();
    const [one] = planned(world);
    await put.failed(world, one!);
    await loop.stop();
    const small = { ...settings, plan: { ...settings.plan, rangeNumbers: 1000, outstandingFullRanges: 10 } };
    const next = start(world, [provider], small);
    const runs = [{ group: one!.group, rangeId: one!.rangeId, run: 1 }];
    const wish = { origin: 'operator' as const, backbone: one!.backbone, runs };
    for (const r of planned(world).slice(1)) await put.parsed(world, r);
    await world.events.append(makeEvent(rangeRetried, now(world), wish));
    await passUntil(world.clock, 'the report', () => world.conditions.open.has('retry/main'));
    expect(world.conditions.open.get('retry/main')).toMatchObject({ code: 'RANGE_TOO_LARGE' });
    expect(planned(world)).toHaveLength(3);
    await next.stop();
  });
});

describe('wanted windows', () => {
  it('become ranges of lane scan where nothing covers them, and those above the high mark wait', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const group = provider.add('a.b', 1, 50_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'none' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await spans(world)).length === 1);
    const want = (request: string, lo: number, hi: number) => {
      const window = { group: Group('a.b'), epoch: Epoch(0), lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
      const data = { origin: 'scan' as const, backbone: Backbone('main'), request, windows: [window] };
      return world.events.append(makeEvent(rangeWanted, now(world), data));
    };
    await want('one', 49_000, 50_050);
    await passUntil(world.clock, 'the scan', () => planned(world).length === 1);
    const at = world.clock.now();
    await want('two', 48_000, 49_500);
    await want('three', 47_500, 48_100);
    await passUntil(world.clock, 'the second scan', () => planned(world).length === 2);
    expect(world.clock.now() - at).toBeGreaterThanOrEqual(59_000);
    expect(planned(world).map(({ lane, rangeId }) => `${lane} ${rangeId}`)).toEqual([
      'scan 0-49000-50000',
      'scan 0-47500-48999',
    ]);
    group.high = 50_020;
    await passUntil(world.clock, 'live', () => planned(world).length === 3, { limitMs: 200_000 });
    expect(ids(world).at(-1)).toBe('0-50001-50020/1');
    await loop.stop();
  });

  it('are never planned twice by two coordinators, one planning backfill of the same numbers', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 400_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const slow = { ...settings, plan: { ...settings.plan, outstandingRanges: 4 } };
    const both = [start(world, [provider], slow), start(world, [provider], slow)];
    for (let i = 0; i < 12; i++) {
      const window = { group: Group('a.b'), epoch: Epoch(0), lo: ArticleNumber(i * 30_000 + 1) };
      const windows = [{ ...window, hi: ArticleNumber(i * 30_000 + 25_000) }];
      const data = { origin: 'scan' as const, backbone: Backbone('main'), request: `${i}`, windows };
      await world.events.append(makeEvent(rangeWanted, now(world), data));
      await pass(world.clock, 61_000, 500);
      for (const r of planned(world)) await put.parsed(world, r);
    }
    const sorted = [...planned(world)].sort((a, b) => a.lo - b.lo);
    for (const [i, r] of sorted.entries()) expect(r.lo).toBeGreaterThan(sorted[i - 1]?.hi ?? 0);
    expect(sorted.some(({ lane }) => lane === 'scan')).toBe(true);
    expect(sorted.some(({ lane }) => lane === 'backfill')).toBe(true);
    await Promise.all(both.map((loop) => loop.stop()));
  });
});

describe('eras', () => {
  it('are put on the list once, and backfill goes by them over all groups', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const old = provider.add('a.old', 1, 40_000);
    const young = provider.add('b.young', 1, 40_000);
    old.line = (n) => overviewLine(n, 'a.old', Date.UTC(n <= 25_000 ? 2010 : 2023, 5, 1));
    young.line = (n) => overviewLine(n, 'b.young', Date.UTC(2015, 5, 1));
    await putList(world, [listEntry('b.young', 1, { kind: 'all' }), listEntry('a.old', 2, { kind: 'all' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world).length >= 4);
    const { entries } = (await world.groupLists.current())!;
    expect(entries.map((e) => e.spans[0]!.eras!.map(({ year }) => year))).toEqual([[2015], [2010, 2023]]);
    expect(planned(world).map(({ group, lo }) => `${group} ${lo}`)).toEqual([
      ...['a.old 1', 'a.old 20001', 'b.young 1', 'b.young 20001'],
    ]);
    const asked = provider.spans.length;
    const { listVersion } = (await world.groupLists.current())!;
    await pass(world.clock, 120_000, 1000);
    expect(provider.spans.length).toBe(asked);
    expect((await world.groupLists.current())!.listVersion).toBe(listVersion);
    await loop.stop();
  });

  it('hold backfill up no longer than a few tries when dates cannot be read', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10);
    provider.onOver = () => {
      throw provider.closed();
    };
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 1);
    expect((await spans(world))[0]!.eras).toEqual([]);
    await loop.stop();
  });
});

describe('the marks of a backbone', () => {
  it('are told as read every ten minutes also when none moves', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10);
    await putList(world, [listEntry('a.b', 1, { kind: 'none' })]);
    const loop = start(world, [provider], calm);
    await pass(world.clock, HOUR, 60_000);
    const told = world.events.events('RANGES', 'range.marks');
    expect(told.length).toBeGreaterThanOrEqual(6);
    expect(told.length).toBeLessThanOrEqual(7);
    expect(told.slice(1).every(({ data }) => data.marks.length === 0)).toBe(true);
    provider.goDown();
    await pass(world.clock, HOUR, 60_000);
    expect(world.events.events('RANGES', 'range.marks')).toHaveLength(told.length);
    await loop.stop();
  });
});

describe('a plan', () => {
  it('names the newest garbage table', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const group = provider.add('a.b', 1, 10);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 1);
    const table = { origin: 'operator' as const, garbageVersion: 3, signatures: [] };
    await world.events.append(makeEvent(controlGarbage, now(world), table));
    group.high = 20;
    await passUntil(world.clock, 'live', () => planned(world).length === 2);
    expect(plans(world).map(({ garbageVersion }) => garbageVersion)).toEqual([0, 3]);
    await loop.stop();
  });
});
