import { describe, expect, it } from 'vitest';
import { runCoordinator } from '../../../processors/coordinator/coordinator.ts';
import { appendList, newestList } from '../../../processors/coordinator/groupListLog.ts';
import {
  type CoordinatorSettings,
  DEFAULT_COORDINATOR_SETTINGS,
  DEFAULT_PLAN_SETTINGS,
} from '../../../processors/coordinator/settings.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { overviewBatch } from '../../../streams/events/overview.ts';
import { rangeFailed, rangeFetched } from '../../../streams/events/ranges.ts';
import { Backbone, EpochMs } from '../../../streams/ids.ts';
import type { RangeRef } from '../../../streams/records.ts';
import { MemoryProvider, overviewLine } from '../../kit/memoryArticles.ts';
import { listEntry, type ProcessorWorld, processorWorld, putList, running } from '../../kit/processorWorld.ts';
import { pass, passUntil, settle } from '../../kit/timePasses.ts';

const DAY = 86_400_000;
const settings: CoordinatorSettings = {
  ...DEFAULT_COORDINATOR_SETTINGS,
  plan: { ...DEFAULT_PLAN_SETTINGS, rangeNumbers: 20_000, outstandingFullRanges: 1000 },
};

const start = (world: ProcessorWorld, pools: readonly MemoryProvider[], own = settings) =>
  running((signal) => runCoordinator({ ...world, pools }, signal, own));

const planned = (world: ProcessorWorld, lane?: string): readonly RangeRef[] =>
  world.events
    .events('RANGES', 'range.planned')
    .filter(({ data }) => lane === undefined || data.lane === lane)
    .flatMap(({ data }) => data.ranges.map((r) => ({ ...r, lane: data.lane, backbone: data.backbone })));
const spans = (world: ProcessorWorld, lane?: string) =>
  planned(world, lane).map(({ group, lo, hi }) => [group, lo, hi]);
const newest = async (world: ProcessorWorld) => (await world.groupLists.current())!;

/** No number may be in two ranges of a group. */
const expectDisjoint = (world: ProcessorWorld) => {
  const seen = new Map<string, number>();
  for (const r of [...planned(world)].sort((a, b) => a.lo - b.lo)) {
    const name = `${r.backbone}/${r.group}/${r.epoch}`;
    expect(r.lo).toBeGreaterThan(seen.get(name) ?? 0);
    seen.set(name, r.hi);
  }
};

describe('joining', () => {
  it('gives every listed group a span once its marks are read, from the number that its wish says', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    for (const name of ['g.none', 'g.all', 'g.number', 'g.late']) provider.add(name, 101, 1000);
    await putList(world, [
      listEntry('g.none', 1, { kind: 'none' }),
      listEntry('g.all', 2, { kind: 'all' }),
      listEntry('g.number', 3, { kind: 'number', from: 500 as never }),
      listEntry('g.late', 4, { kind: 'number', from: 5000 as never }),
    ]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    const list = await newest(world);
    expect(list.origin).toBe('coordinator');
    expect(list.entries.map(({ spans: [span] }) => [span?.from, span?.liveFrom, span?.to, span?.epoch])).toEqual([
      [1001, 1001, null, 0],
      [101, 1001, null, 0],
      [500, 1001, null, 0],
      [1001, 1001, null, 0],
    ]);
    await loop.stop();
  });

  it('joins an empty group at its first number', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('g.empty', 1, 0);
    await putList(world, [listEntry('g.empty', 1, { kind: 'days', days: 10 })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    expect((await newest(world)).entries[0]!.spans[0]).toMatchObject({ from: 1, liveFrom: 1 });
    await loop.stop();
  });

  it('finds the first number of a wish in days by bisecting dates, with holes and odd clocks in the way', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const now = world.clock.now();
    const group = provider.add('g.dated', 1, 2_000_000);
    const hole = (n: number) => n % 7 === 0 || (n > 700_000 && n < 760_000);
    // One article a second up to now; one in a hundred has a clock that is years off.
    group.line = (n) => {
      const at = n % 100 === 0 ? now - 4000 * DAY : now - (2_000_000 - n) * 1000;
      return hole(n) ? null : overviewLine(n, 'g.dated', at);
    };
    await putList(world, [listEntry('g.dated', 1, { kind: 'days', days: 10 })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    const from = (await newest(world)).entries[0]!.spans[0]!.from;
    const exact = 2_000_000 - 10 * 86_400;
    expect(Math.abs(from - exact)).toBeLessThan(30);
    const read = provider.spans.reduce((sum, [lo, hi]) => sum + hi - lo + 1, 0);
    expect(read).toBeLessThan(10_000);
    await loop.stop();
  });

  it('keeps what the operator adds at the same time: a lost race for the list is run again', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('g.one', 1, 10);
    provider.add('g.two', 1, 10);
    await putList(world, [listEntry('g.one', 1, { kind: 'none' })]);
    world.events.failNext('conflict', 1, 'control.groups');
    const loop = start(world, [provider]);
    await settle();
    const old = await newest(world);
    await putList(world, [...old.entries, listEntry('g.two', 2, { kind: 'none' })]);
    await passUntil(world.clock, 'both to join', async () => {
      return (await newest(world)).entries.filter(({ spans: s }) => s.length === 1).length === 2;
    });
    await loop.stop();
  });

  it('closes the span of a removed group at the high mark, and plans nothing of it any more', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const group = provider.add('g.gone', 1, 1000);
    await putList(world, [listEntry('g.gone', 1, { kind: 'none' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    await putList(
      world,
      (await newest(world)).entries.map((entry) => ({ ...entry, removed: true })),
    );
    group.high = 50_000;
    await passUntil(world.clock, 'the closing', async () => (await newest(world)).listVersion === 4);
    expect((await newest(world)).entries[0]!.spans[0]!.to).toBe(50_000);
    await pass(world.clock, 600_000);
    expect(planned(world)).toEqual([]);
    await loop.stop();
  });
});

describe('watching marks', () => {
  it('appends marks only when they change, with the time of the reading', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const group = provider.add('a.b', 1, 10);
    await putList(world, [listEntry('a.b', 1, { kind: 'none' })]);
    const loop = start(world, [provider]);
    await pass(world.clock, 100_000);
    expect(world.events.events('RANGES', 'range.marks')).toHaveLength(1);
    group.high = 12;
    await pass(world.clock, 100_000);
    const marks = world.events.events('RANGES', 'range.marks');
    expect(marks.map(({ data }) => data.marks[0]!.high)).toEqual([10, 12]);
    await loop.stop();
  });

  it('reports a group that the backbone lacks and goes on with the others; the report ends when it appears', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('b.there', 1, 10);
    await putList(world, [listEntry('a.missing', 1, { kind: 'none' }), listEntry('b.there', 2, { kind: 'none' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    expect([...world.conditions.open]).toMatchObject([['group/main/a.missing', { code: 'NNTP_NO_SUCH_GROUP' }]]);
    provider.add('a.missing', 1, 5);
    await passUntil(world.clock, 'the other to join', async () => (await newest(world)).listVersion === 3);
    expect(world.conditions.open.size).toBe(0);
    await loop.stop();
  });

  it('lets go of what it said about a missing group once that leaves the list', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('b.there', 1, 10);
    await putList(world, [listEntry('a.missing', 1, { kind: 'none' }), listEntry('b.there', 2, { kind: 'none' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    expect(world.conditions.open.has('group/main/a.missing')).toBe(true);
    const { list, lastInStream } = await newestList(world.events);
    const entries = list!.entries.filter((e) => e.group !== 'a.missing');
    const next = { ...list!, listVersion: 3, origin: 'operator' as const, entries };
    await appendList(world.events, { list, lastInStream }, next, world.clock.now(), new AbortController().signal);
    await passUntil(world.clock, 'the report to end', () => Promise.resolve(world.conditions.open.size === 0));
    await loop.stop();
  });

  it('reports a provider that is down, plans on when it is back, and asks another of the backbone meanwhile', async () => {
    const world = processorWorld();
    const first = new MemoryProvider('first');
    const second = new MemoryProvider('second');
    for (const provider of [first, second]) provider.add('a.b', 1, 10);
    first.goDown();
    await putList(world, [listEntry('a.b', 1, { kind: 'none' })]);
    const loop = start(world, [first, second]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    expect([...world.conditions.open.keys()]).toEqual(['provider/first']);
    second.goDown();
    await passUntil(world.clock, 'the report', () => world.conditions.open.size === 2);
    first.down = null;
    for (const provider of [first, second]) provider.add('a.b', 1, 30_000);
    await passUntil(world.clock, 'live to go on', () => spans(world, 'live').length > 0);
    expect([...world.conditions.open.keys()]).toEqual(['provider/second']);
    await loop.stop();
  });
});

describe('planning', () => {
  it('plans live above the joining mark only after the hold-back, and all backfill oldest first', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const group = provider.add('a.b', 1, 50_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world, 'backfill').length === 3);
    expect(spans(world, 'backfill')).toEqual([
      ['a.b', 1, 20_000],
      ['a.b', 20_001, 40_000],
      ['a.b', 40_001, 50_000],
    ]);
    const grown = world.clock.now();
    group.high = 70_000;
    await passUntil(world.clock, 'live', () => planned(world, 'live').length > 0);
    expect(spans(world, 'live')).toEqual([['a.b', 50_001, 70_000]]);
    const [event] = world.events.events('RANGES', 'range.planned').filter(({ data }) => data.lane === 'live');
    expect(event!.at - grown).toBeGreaterThanOrEqual(120_000);
    expect(event!.at - grown).toBeLessThan(150_000);
    expectDisjoint(world);
    await loop.stop();
  });

  it('jumps to the head when it was away for long, and fills the gap', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const group = provider.add('a.b', 1, 100);
    await putList(world, [listEntry('a.b', 1, { kind: 'none' })]);
    const before = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    await before.stop();
    group.high = 90_100;
    await pass(world.clock, 3_600_000, 600_000);
    const after = start(world, [provider]);
    await passUntil(world.clock, 'the gap to be planned', () => planned(world, 'backfill').length >= 4);
    expect(spans(world, 'live')).toEqual([['a.b', 70_101, 90_100]]);
    expect(spans(world, 'backfill')).toEqual([
      ['a.b', 101, 20_100],
      ['a.b', 20_101, 40_100],
      ['a.b', 40_101, 60_100],
      ['a.b', 60_101, 70_100],
    ]);
    expectDisjoint(world);
    await after.stop();
  });

  it('carries the due groups of a backbone in one plan', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const names = ['g.1', 'g.2', 'g.3'];
    for (const name of names) provider.add(name, 1, 5);
    await putList(
      world,
      names.map((name, i) => listEntry(name, i + 1, { kind: 'none' })),
    );
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the joining', async () => (await newest(world)).listVersion === 2);
    for (const group of provider.groups.values()) group.high = 9;
    await passUntil(world.clock, 'live', () => planned(world, 'live').length > 0);
    const [event, ...more] = world.events.events('RANGES', 'range.planned');
    expect(more).toEqual([]);
    expect(event!.data.ranges.map(({ group, lo, hi }) => [group, lo, hi])).toEqual(names.map((name) => [name, 6, 9]));
    await loop.stop();
  });

  it('decides nothing while the ledger lags behind what it appended itself', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 200_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const small = { ...settings, plan: { ...settings.plan, outstandingRanges: 2 } };
    const loop = start(world, [provider], small);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 2);
    world.ledger.freeze();
    for (const range of planned(world)) await world.events.append(failedOf(range));
    await pass(world.clock, 300_000);
    expect(planned(world)).toHaveLength(2);
    world.ledger.lagging = null;
    await passUntil(world.clock, 'more backfill', () => planned(world).length === 4);
    expectDisjoint(world);
    await loop.stop();
  });

  it('waits at its start for the ledger to reach the end of the stream: a crash plans nothing twice', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 100_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const first = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 5);
    await first.stop();
    world.ledger.lagging = 1;
    const second = start(world, [provider]);
    await pass(world.clock, 300_000);
    expect(planned(world)).toHaveLength(5);
    world.ledger.lagging = null;
    await pass(world.clock, 300_000);
    expect(planned(world)).toHaveLength(5);
    await second.stop();
  });

  it('never plans a number twice with two coordinators at work', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider('p', 'main', 8);
    const groups = ['g.1', 'g.2'].map((name) => provider.add(name, 1, 100_000));
    await putList(
      world,
      ['g.1', 'g.2'].map((name, i) => listEntry(name, i + 1, { kind: 'all' })),
    );
    const both = [start(world, [provider]), start(world, [provider])];
    await passUntil(world.clock, 'backfill', () => planned(world, 'backfill').length === 10);
    for (let i = 0; i < 6; i++) {
      for (const [g, group] of groups.entries()) group.high += g === 0 ? 25_000 : 300;
      await pass(world.clock, 200_000, 1000);
    }
    expectDisjoint(world);
    expect(planned(world, 'live').length).toBeGreaterThan(6);
    for (const group of ['g.1', 'g.2']) {
      const own = planned(world).filter((r) => r.group === group);
      const total = own.reduce((sum, { lo, hi }) => sum + hi - lo + 1, 0);
      expect(total).toBe(Math.max(...own.map((r) => r.hi)));
    }
    await Promise.all(both.map((loop) => loop.stop()));
  });

  it('shares the room between backbones', async () => {
    const world = processorWorld();
    const pools = ['one', 'two'].map((backbone) => new MemoryProvider(backbone, backbone));
    for (const pool of pools) pool.add('a.b', 1, 1_000_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const loop = start(world, pools, { ...settings, plan: { ...settings.plan, outstandingRanges: 4 } });
    await passUntil(world.clock, 'the first ranges', () => planned(world).length === 4);
    for (let i = 0; i < 10; i++) {
      for (const range of planned(world)) await world.events.append(failedOf(range));
      await pass(world.clock, 5000, 500);
    }
    const of = (backbone: string) => planned(world).filter((r) => r.backbone === Backbone(backbone)).length;
    expect(of('one')).toBeGreaterThan(10);
    expect(of('two')).toBeGreaterThan(10);
    await loop.stop();
  });
});

const failedOf = (range: RangeRef) =>
  makeEvent(rangeFailed, EpochMs(0), {
    ...{ origin: 'fetch' as const, stage: 'fetch' as const, class: 'error' as const, code: 'X', message: 'test' },
    ...range,
  });

describe('retention', () => {
  it('purges the batches of finished ranges, and leaves those of open and unknown ones', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 40_000);
    await putList(world, [listEntry('a.b', 1, { kind: 'all' })]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 2);
    const [one, two] = planned(world);
    const unknown = { ...one!, run: 7 };
    for (const { backbone, group, rangeId, run, lo, hi } of [one!, two!, unknown]) {
      const data = { backbone, group, rangeId, run, lo, hi, body: new Uint8Array(10) };
      await world.events.append(makeEvent(overviewBatch, EpochMs(0), data));
    }
    await world.events.append(failedOf(one!));
    const fetched = {
      listVersion: 1,
      garbageVersion: 0,
      batches: [],
      lines: 0,
      rawBytes: 0,
      firstAt: null,
      lastAt: null,
    };
    await world.events.append(makeEvent(rangeFetched, EpochMs(0), { ...two!, ...fetched, missing: [] }));
    await passUntil(world.clock, 'the purge', async () => (await world.events.held()).length === 2);
    await pass(world.clock, 60_000);
    expect((await world.events.held()).map(({ rangeId, run }) => [rangeId, run])).toEqual([
      [two!.rangeId, 1],
      [unknown.rangeId, 7],
    ]);
    await loop.stop();
  });
});
