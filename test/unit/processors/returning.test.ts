import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withAdded, withRemoved } from '../../../infra/processes/commands/groups.ts';
import { countNumbers, mergeIntervals } from '../../../processors/intervals.ts';
import { type Backfill, controlGroups, type GroupList } from '../../../streams/events/control.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { ArticleNumber, Group } from '../../../streams/ids.ts';
import type { Interval } from '../../../streams/records.ts';
import {
  calm,
  HOUR,
  ids,
  now,
  patient,
  planned,
  put,
  range,
  retired,
  settings,
  spans,
  start,
} from '../../kit/coordinatorWorld.ts';
import { MemoryProvider } from '../../kit/memoryArticles.ts';
import { listEntry, type ProcessorWorld, processorWorld, putList } from '../../kit/processorWorld.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { pass, passUntil } from '../../kit/timePasses.ts';

/** Groups that are removed and added again, and groups whose dates cannot be read. */

const ALL: Backfill = { kind: 'all' };
const NONE: Backfill = { kind: 'none' };
const from = (number: number): Backfill => ({ kind: 'number', from: ArticleNumber(number) });
const NAME = Group('a.b');

async function change(world: ProcessorWorld, step: (list: GroupList | null) => GroupList | null) {
  const next = step(await world.groupLists.current());
  if (next) await world.events.append(makeEvent(controlGroups, now(world), next));
}
const remove = (world: ProcessorWorld) => change(world, (list) => withRemoved(list, [NAME]));
const add = (world: ProcessorWorld, wish: Backfill) => change(world, (list) => withAdded(list, [NAME], wish));
const isOpen = async (world: ProcessorWorld) => (await spans(world)).at(-1)?.to === null;
const ended = (world: ProcessorWorld) =>
  passUntil(world.clock, 'the spans to end', async () => (await spans(world)).every(({ to }) => to !== null));
const joined = (world: ProcessorWorld) => passUntil(world.clock, 'the joining', () => isOpen(world));

/** A world with one group of 50,000 articles that joined with a wish, `ranges` of which are planned. */
async function world50(wish: Backfill, ranges: number, own = settings) {
  const world = processorWorld();
  const provider = new MemoryProvider();
  const group = provider.add(NAME, 1, 50_000);
  await add(world, wish);
  const loop = start(world, [provider], own);
  await passUntil(world.clock, 'the joining', () => isOpen(world), own === calm ? patient : {});
  await passUntil(world.clock, 'backfill', () => planned(world).length === ranges, own === calm ? patient : {});
  return { world, provider, group, loop };
}

describe('a group that returns', () => {
  it('has planned anew what was retired when it was removed, what came meanwhile, and nothing that was fetched', async () => {
    const { world, group, loop } = await world50(ALL, 3);
    await put.parsed(world, range(world, '0-1-20000'), [[7, 9]]);
    await put.fetched(world, range(world, '0-20001-40000'));
    await remove(world);
    await passUntil(world.clock, 'the retirement', () => retired(world).length === 1);
    await ended(world);
    group.high = 55_000;
    await pass(world.clock, 60_000, 500);
    expect(ids(world)).toHaveLength(3);
    await add(world, ALL);
    await passUntil(world.clock, 'the planning', () => planned(world).length === 5);
    expect(ids(world).slice(3).sort()).toEqual(['0-40001-50000/2', '0-50001-55000/1']);
    expect(await spans(world)).toMatchObject([
      { epoch: 0, from: 1, liveFrom: 50_001, to: 50_000 },
      { epoch: 0, from: 1, liveFrom: 55_001, to: null },
    ]);
    group.high = 56_000;
    await passUntil(world.clock, 'live', () => planned(world).length === 6);
    expect(ids(world).at(-1)).toBe('0-55001-56000/1');
    await pass(world.clock, 180_000, 1000);
    expect(planned(world)).toHaveLength(6);
    expect(retired(world)).toHaveLength(1);
    await loop.stop();
  });

  it('goes on where it was when it is added again with the same wish before anybody ended it', async () => {
    const { world, group, loop } = await world50(ALL, 3);
    await loop.stop();
    const before = await spans(world);
    await remove(world);
    await add(world, ALL);
    const provider = new MemoryProvider();
    provider.groups.set(NAME, group);
    const next = start(world, [provider]);
    await pass(world.clock, 60_000, 500);
    expect(await spans(world)).toEqual(before);
    expect(planned(world)).toHaveLength(3);
    await next.stop();
  });

  it('with another wish ends the span of before where the new one begins, also when nobody saw it leave', async () => {
    const { world, group, loop } = await world50(NONE, 0);
    group.high = 50_700;
    await passUntil(world.clock, 'live', () => planned(world).length === 1);
    await remove(world);
    await add(world, from(30_001));
    await joined(world);
    expect(await spans(world)).toMatchObject([
      { from: 50_001, to: 50_700 },
      { from: 30_001, liveFrom: 50_701, to: null },
    ]);
    await passUntil(world.clock, 'the older numbers', () => planned(world).length === 2);
    expect(ids(world).at(-1)).toBe('0-30001-50000/1');
    await loop.stop();
  });

  it('plans the older numbers that a wider wish asks for', async () => {
    const { world, loop } = await world50(from(30_001), 1);
    await put.parsed(world, range(world, '0-30001-50000'));
    await remove(world);
    await ended(world);
    await add(world, ALL);
    await passUntil(world.clock, 'the older numbers', () => planned(world).length === 3);
    await pass(world.clock, 60_000, 500);
    expect(ids(world).slice(1)).toEqual(['0-1-20000/1', '0-20001-30000/1']);
    await loop.stop();
  });

  it('retires nothing that is parsed for a narrower wish, plans nothing below it, and keeps what it covered', async () => {
    const few = { ...settings, plan: { ...settings.plan, outstandingRanges: 2 } };
    const { world, loop } = await world50(ALL, 2, few);
    await put.parsed(world, range(world, '0-1-20000'));
    await passUntil(world.clock, 'the last range', () => planned(world).length === 3);
    await remove(world);
    await passUntil(world.clock, 'the retirement', () => retired(world).length === 2);
    await ended(world);
    await add(world, from(45_001));
    await passUntil(world.clock, 'the planning', () => planned(world).length === 4);
    await pass(world.clock, 120_000, 500);
    // The range that the wish cuts is run again as it was; the one below it stays retired.
    expect(ids(world).slice(3)).toEqual(['0-40001-50000/2']);
    expect(await world.ledger.stateOf(range(world, '0-1-20000'))).toBe('parsed');
    expect((await spans(world))[0]).toMatchObject({ from: 1, to: 50_000 });
    expect(retired(world)).toHaveLength(2);
    await loop.stop();
  });

  it('opens nothing in the epochs before: they stay ended, and what was retired of them is not planned again', async () => {
    const { world, group, loop } = await world50(ALL, 3, calm);
    Object.assign(group, { low: 1, high: 70 });
    await passUntil(world.clock, 'the new span', async () => (await spans(world)).length === 2, patient);
    await remove(world);
    await passUntil(world.clock, 'the end', async () => (await spans(world)).every((s) => s.to !== null), patient);
    await add(world, ALL);
    await passUntil(world.clock, 'the joining', () => isOpen(world), patient);
    expect((await spans(world)).map(({ epoch, to }) => [epoch, to])).toEqual([
      [0, 50_000],
      [1, 70],
      [1, null],
    ]);
    await passUntil(world.clock, 'backfill', () => planned(world).some(({ epoch }) => epoch === 1), patient);
    await pass(world.clock, HOUR, 60_000);
    expect(ids(world).slice(3)).toEqual(['1-1-70/1']);
    await loop.stop();
  });

  it('joins anew with its wish where its numbers were reset while it was away', async () => {
    const { world, group, loop } = await world50(ALL, 3);
    await remove(world);
    await ended(world);
    Object.assign(group, { low: 1, high: 900 });
    await pass(world.clock, 60_000, 500);
    await add(world, ALL);
    await joined(world);
    expect((await spans(world)).map(({ epoch, from: first, to }) => [epoch, first, to])).toEqual([
      [0, 1, 50_000],
      [1, 1, null],
    ]);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 4);
    expect(ids(world).at(-1)).toBe('1-1-900/1');
    await loop.stop();
  });

  it('has nothing fetched of which the articles are gone by then, once two readings say so', async () => {
    const { world, group, loop } = await world50(ALL, 3);
    await remove(world);
    await passUntil(world.clock, 'the retirement', () => retired(world).length === 3);
    await ended(world);
    group.low = 40_001;
    await pass(world.clock, 60_000, 500);
    await add(world, ALL);
    await passUntil(world.clock, 'the retirement', () => retired(world).length === 5);
    await pass(world.clock, 180_000, 500);
    expect(retired(world).slice(3)).toEqual(['0-1-20000 below the low mark', '0-20001-40000 below the low mark']);
    expect(ids(world).slice(3).sort()).toEqual(['0-1-20000/2', '0-20001-40000/2', '0-40001-50000/2']);
    expect(await world.ledger.stateOf(range(world, '0-40001-50000'))).toBe('planned');
    await loop.stop();
  });

  it('leaves no number unread and reads none twice, however often it leaves and returns', async () => {
    const step = fc.constantFrom('parse', 'fetch', 'remove', 'all', 'some', 'none', 'grow', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 16 }), async (steps) => {
        const world = processorWorld();
        const provider = new MemoryProvider();
        const group = provider.add(NAME, 1, 50_000);
        const few = { ...settings, plan: { ...settings.plan, outstandingRanges: 2 } };
        await add(world, ALL);
        const loop = start(world, [provider], few);
        const states = async (state: string) => {
          const runs = planned(world).map(async (r) => ((await world.ledger.stateOf(r)) === state ? [r] : []));
          return (await Promise.all(runs)).flat();
        };
        const moves = {
          parse: async () => {
            for (const r of (await states('fetched')).slice(0, 1)) await put.parsed(world, r);
          },
          fetch: async () => {
            for (const r of (await states('planned')).slice(0, 1)) await put.fetched(world, r);
          },
          remove: () => remove(world),
          all: () => add(world, ALL),
          some: () => add(world, from(25_001)),
          none: () => add(world, NONE),
          grow: async () => {
            group.high += 7000;
          },
          wait: () => pass(world.clock, 20_000, 1000),
        };
        for (const move of steps) {
          await moves[move]();
          await pass(world.clock, 3000, 500);
        }
        await remove(world);
        await add(world, ALL);
        const read = () =>
          world.events.events('RANGES', 'range.parsed').map(({ data }): Interval => [data.lo, data.hi]);
        const whole = () => JSON.stringify(mergeIntervals(read())) === JSON.stringify([[1, group.high]]);
        const everything = async () => {
          await moves.fetch();
          await moves.parse();
          return whole();
        };
        await passUntil(world.clock, 'all to be read', everything, { limitMs: HOUR, stepMs: 5000 });
        expect(countNumbers(read())).toBe(group.high);
        await loop.stop();
      }),
      { numRuns: propertyRuns(12) },
    );
  });
});

describe('dates that cannot be read', () => {
  it('keep a group from joining, ask ever more seldom, and hold up no other group', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.undatable', 1, 1000);
    provider.add('b.other', 1, 10);
    provider.onOver = () => {
      throw provider.closed();
    };
    const wish: Backfill = { kind: 'days', days: 20_000 };
    await putList(world, [listEntry('a.undatable', 1, wish), listEntry('b.other', 2, NONE)]);
    const loop = start(world, [provider]);
    const list = async () => (await world.groupLists.current())!.entries.map((e) => e.spans.length);
    await passUntil(world.clock, 'the other to join', async () => (await list())[1] === 1);
    await pass(world.clock, 2 * HOUR, 30_000);
    expect(await list()).toEqual([0, 1]);
    expect(provider.spans.length).toBeLessThan(12);
    expect(world.events.events('RANGES', 'range.marks').length).toBeGreaterThan(10);
    provider.onOver = async () => {};
    await passUntil(world.clock, 'it to join', async () => (await list())[0] === 1, { limitMs: HOUR, stepMs: 15_000 });
    await loop.stop();
  });

  it('because no article has one are asked for once', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add(NAME, 1, 50_000).line = (n) => `${n}\tsubject\tposter\tno date\t<${n}@x.test>\t\t1\t1\t`;
    await add(world, ALL);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill', () => planned(world).length === 3);
    expect((await spans(world))[0]!.eras).toEqual([]);
    const asked = provider.spans.length;
    expect(asked).toBeLessThanOrEqual(6);
    await pass(world.clock, 120_000, 1000);
    expect(provider.spans.length).toBe(asked);
    await loop.stop();
  });
});

describe('a group that leaves while its marks are in doubt', () => {
  it('holds up no telling of readings: that of the other groups goes on', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const odd = provider.add(NAME, 1, 50_000);
    provider.add('b.other', 1, 10);
    await putList(world, [listEntry(NAME, 1, NONE), listEntry('b.other', 2, NONE)]);
    const loop = start(world, [provider], calm);
    await passUntil(world.clock, 'the joining', () => isOpen(world), patient);
    // Each reading is another numbering, so that the doubt lasts; then the group is gone from the list.
    for (const low of [1_000_000, 5_000_000, 9_000_000]) {
      Object.assign(odd, { low, high: low + 10 });
      await pass(world.clock, 300_000, 60_000);
    }
    const { listVersion, entries } = (await world.groupLists.current())!;
    const others = entries.filter(({ group }) => group !== NAME);
    const list = { origin: 'operator' as const, listVersion: listVersion + 1, entries: others };
    await world.events.append(makeEvent(controlGroups, now(world), list));
    const told = world.events.events('RANGES', 'range.marks').length;
    await pass(world.clock, HOUR, 60_000);
    expect(world.events.events('RANGES', 'range.marks').length).toBeGreaterThanOrEqual(told + 4);
    await loop.stop();
  });
});
