import { describe, expect, it } from 'vitest';
import { runFetch } from '../../../processors/fetch/fetchService.ts';
import { openFrame } from '../../../processors/fetch/frame.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { overviewBatch } from '../../../streams/events/overview.ts';
import { ArticleNumber, EpochMs } from '../../../streams/ids.ts';
import { fetchConsumer } from '../../../streams/topology.ts';
import { backbone, failures, fetched, plan, range, settings, start, unfinished } from '../../kit/fetchWorld.ts';
import { MemoryProvider } from '../../kit/memoryArticles.ts';
import { type ProcessorWorld, processorWorld, running } from '../../kit/processorWorld.ts';
import { pass, passUntil, settle } from '../../kit/timePasses.ts';

/** The lines of OVERVIEW as a parser would get them: the listed batches of a fetched range in order. */
const linesOf = (world: ProcessorWorld, index = 0): string => {
  const { batches } = fetched(world)[index]!;
  const stored = new Map(world.events.stream('OVERVIEW').messages.map((m) => [m.sequence, m]));
  const all = world.events.events('OVERVIEW', 'overview.batch');
  const bodies = new Map([...stored.keys()].map((sequence, i) => [sequence, all[i]!.data.body]));
  return batches.map(({ sequence }) => openFrame(bodies.get(sequence)!).raw.toString('latin1')).join('');
};
const expected = (provider: MemoryProvider, lo: number, hi: number, group = 'a.b'): string => {
  let text = '';
  for (let n = lo; n <= hi; n++) {
    const line = provider.groups.get(group)!.line(n);
    if (line !== null) text += `${line}\r\n`;
  }
  return text;
};
const expectTiled = (world: ProcessorWorld, index = 0) => {
  const { batches, lo, hi } = fetched(world)[index]!;
  expect(batches[0]!.lo).toBe(lo);
  expect(batches.at(-1)!.hi).toBe(hi);
  batches.slice(1).forEach((batch, i) => {
    expect(batch.lo).toBe(batches[i]!.hi + 1);
  });
};

describe('fetching a range', () => {
  it('stores every line in batches that tile the range, and reports what was missing', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10_000, (n) => n % 100 === 0 || (n > 2000 && n <= 4000));
    await plan(world, [range(101, 7777)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1);
    expect(linesOf(world)).toBe(expected(provider, 101, 7777));
    expectTiled(world);
    const [data] = fetched(world);
    expect(data!.batches.length).toBe(6);
    expect(data).toMatchObject({ lane: 'backfill', listVersion: 3, run: 1, lines: 5621 });
    expect(data!.lines).toBe(expected(provider, 101, 7777).split('\r\n').length - 1);
    expect(data!.missing[0]).toEqual([200, 200]);
    expect(data!.missing).toContainEqual([2000, 4000]);
    expect(data!.firstAt).toBe(Date.UTC(2024, 0, 1));
    expect(unfinished(world)).toBe(0);
    await loop.stop();
  });

  it('answers for an empty range with one batch without lines', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10_000, () => true);
    await plan(world, [range(1, 5000)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1);
    expect(fetched(world)[0]).toMatchObject({ lines: 0, missing: [[1, 5000]], firstAt: null, lastAt: null });
    expect(fetched(world)[0]!.batches).toMatchObject([{ lo: 1, hi: 5000, lines: 0 }]);
    await loop.stop();
  });

  it('works with article numbers beyond 2^32', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const lo = 2 ** 32 + 5;
    provider.add('a.b', lo, lo + 2999, (n) => n === lo + 7);
    await plan(world, [range(lo, lo + 2999)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1);
    expect(linesOf(world)).toBe(expected(provider, lo, lo + 2999));
    expect(fetched(world)[0]!.missing).toEqual([[lo + 7, lo + 7]]);
    await loop.stop();
  });

  it('does the ranges of one plan one after the other', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const groups = ['g.1', 'g.2', 'g.3'];
    for (const group of groups) provider.add(group, 1, 100);
    await plan(
      world,
      groups.map((group) => range(1, 100, group)),
      'live',
    );
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the ranges', () => fetched(world).length === 3);
    expect(fetched(world).map(({ group, lane }) => [group, lane])).toEqual(groups.map((group) => [group, 'live']));
    expect(provider.busiest).toBe(1);
    await loop.stop();
  });

  it('leaves alone what the ledger knows as fetched or failed', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 200);
    await plan(world, [range(1, 100)]);
    await plan(world, [range(101, 200, 'g.gone')]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the first ranges', () => fetched(world).length + failures(world).length === 2);
    provider.add('g.gone', 1, 200);
    await plan(world, [range(1, 100), range(101, 200, 'g.gone'), range(101, 200)]);
    await passUntil(world.clock, 'the third', () => fetched(world).length === 2);
    expect(provider.spans).toEqual([
      [1, 100],
      [101, 200],
    ]);
    expect(failures(world)).toHaveLength(1);
    expect(unfinished(world)).toBe(0);
    await loop.stop();
  });
});

describe('crashes and races', () => {
  /** What an undisturbed fetch of the same range gives. */
  const calm = async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10_000, (n) => n % 7 === 0);
    await plan(world, [range(1, 6000)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1);
    await loop.stop();
    return { lines: linesOf(world), data: fetched(world)[0]! };
  };

  it('resumes behind the last stored batch, wherever it died, and ends with the same events', async () => {
    const undisturbed = await calm();
    for (let crashAt = 0; crashAt <= undisturbed.data.batches.length; crashAt++) {
      const world = processorWorld();
      const provider = new MemoryProvider();
      provider.add('a.b', 1, 10_000, (n) => n % 7 === 0);
      await plan(world, [range(1, 6000)]);
      const type = crashAt === undisturbed.data.batches.length ? 'range.fetched' : 'overview.batch';
      const crash = new Error('the process dies here');
      const append = world.events.append.bind(world.events);
      let left = crashAt;
      const sink = {
        append: async (...[event, options]: Parameters<typeof append>) => {
          if (event.type === type && (type === 'range.fetched' || left-- === 0)) throw crash;
          return await append(event, options);
        },
      };
      const dying = running((signal) => runFetch([provider], { ...world, sink }, signal, settings));
      await passUntil(world.clock, 'the crash', () => dying.failure() !== undefined);
      await expect(dying.stop()).rejects.toThrow('the process dies here');
      expect(world.events.events('OVERVIEW')).toHaveLength(crashAt);
      const asked = provider.spans.length;
      const loop = start(world, [provider]);
      await passUntil(world.clock, 'the range', () => fetched(world).length === 1);
      await loop.stop();
      expect(fetched(world)[0]).toEqual(undisturbed.data);
      expect(linesOf(world)).toBe(undisturbed.lines);
      const again = provider.spans.slice(asked);
      if (crashAt === undisturbed.data.batches.length) expect(again).toEqual([]);
      else expect(again[0]![0]).toBe(undisturbed.data.batches[crashAt]!.lo);
    }
  });

  it('lets one of two workers win that hold the same lease', async () => {
    const undisturbed = await calm();
    const world = processorWorld();
    const slow = new MemoryProvider('slow');
    const fast = new MemoryProvider('fast');
    for (const provider of [slow, fast]) provider.add('a.b', 1, 10_000, (n) => n % 7 === 0);
    let release = () => {};
    const stalled = new Promise<void>((resolve) => {
      release = resolve;
    });
    let spans = 0;
    slow.onOver = async () => {
      if (++spans === 4) await stalled;
    };
    await plan(world, [range(1, 6000)]);
    const zombie = start(world, [slow]);
    await passUntil(world.clock, 'the stall', () => spans === 4);
    world.events.consumer(fetchConsumer('backfill', backbone)).expire();
    const winner = start(world, [fast]);
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1);
    release();
    await pass(world.clock, 60_000);
    expect(zombie.failure()).toBeUndefined();
    expect(fetched(world)).toEqual([undisturbed.data]);
    expect(failures(world)).toEqual([]);
    expect(linesOf(world)).toBe(undisturbed.lines);
    expect(world.events.events('OVERVIEW')).toHaveLength(undisturbed.data.batches.length);
    await Promise.all([zombie.stop(), winner.stop()]);
  });

  it('takes a batch whose acknowledgement got lost for its own', async () => {
    const undisturbed = await calm();
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10_000, (n) => n % 7 === 0);
    world.events.failNext('lost ack', 2, 'overview.batch');
    world.events.failNext('lost ack', 1, 'range.fetched');
    await plan(world, [range(1, 6000)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the range', () => unfinished(world) === 0);
    expect(fetched(world)).toEqual([undisturbed.data]);
    expect(linesOf(world)).toBe(undisturbed.lines);
    await loop.stop();
  });

  it('fails the range with RANGE_FORMAT_CHANGED when the fields changed under a half fetched one', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10_000);
    let spans = 0;
    provider.onOver = () => {
      if (++spans === 5) {
        provider.fields = ['from:', 'subject:', ...provider.fields.slice(2)];
        throw provider.closed();
      }
    };
    await plan(world, [range(1, 6000)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the failure', () => failures(world).length === 1);
    expect(failures(world)[0]).toMatchObject({ class: 'error', stage: 'fetch', code: 'RANGE_FORMAT_CHANGED' });
    expect(unfinished(world)).toBe(0);
    await loop.stop();
  });

  it('fails the range with RANGE_BATCHES_BROKEN when what is stored of it cannot be read', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 10_000);
    await plan(world, [range(1, 6000)]);
    const { group, rangeId, run, lo } = range(1, 6000);
    const data = { backbone, group, rangeId, run, lo, hi: ArticleNumber(900), body: Buffer.from('damaged') };
    await world.events.append(makeEvent(overviewBatch, EpochMs(0), data));
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the failure', () => failures(world).length === 1);
    expect(failures(world)[0]).toMatchObject({ class: 'error', code: 'RANGE_BATCHES_BROKEN' });
    await loop.stop();
  });
});

describe('trouble with providers', () => {
  it('waits while the provider is down, says so, and goes on when it is back, without failing anything', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 1000);
    provider.goDown();
    await plan(world, [range(1, 1000)]);
    const loop = start(world, [provider]);
    await pass(world.clock, 3_600_000, 5000);
    expect([...world.conditions.open]).toMatchObject([['provider/news', { code: 'NNTP_CONNECT_FAILED' }]]);
    expect(failures(world)).toEqual([]);
    expect(provider.connects).toBeLessThan(20);
    provider.down = null;
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1, { limitMs: 320_000 });
    expect(world.conditions.open.size).toBe(0);
    await loop.stop();
  });

  it('goes on over another provider of the backbone when one dies in the middle of a range', async () => {
    const world = processorWorld();
    const [first, second] = [new MemoryProvider('first'), new MemoryProvider('second')];
    for (const provider of [first, second]) provider.add('a.b', 1, 10_000);
    first.onOver = ([lo]) => {
      if (lo < 3000) return;
      first.goDown();
      throw first.closed();
    };
    await plan(world, [range(1, 10_000)]);
    const loop = start(world, [first, second]);
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1, { limitMs: 200_000 });
    expect(linesOf(world)).toBe(expected(second, 1, 10_000));
    expect(second.spans[0]![0]).toBeGreaterThan(1000);
    await loop.stop();
  });

  it('gives a range that fails by itself one retry after 5 min, then reports it failed', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 1000);
    provider.onOver = () => {
      throw provider.closed();
    };
    await plan(world, [range(1, 1000)]);
    const loop = start(world, [provider]);
    await pass(world.clock, 299_000, 1000);
    expect(provider.connects).toBe(1);
    await passUntil(world.clock, 'the failure', () => failures(world).length === 1, { limitMs: 10_000 });
    expect(failures(world)[0]).toMatchObject({ class: 'error', code: 'NNTP_CONNECTION_CLOSED', origin: 'fetch' });
    expect(unfinished(world)).toBe(0);
    await loop.stop();
  });

  it('calls a range unavailable whose group is gone, and does the others of the plan', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('g.2', 1, 100);
    await plan(world, [range(1, 100, 'g.1'), range(1, 100, 'g.2')], 'live');
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'both', () => fetched(world).length + failures(world).length === 2);
    expect(failures(world)[0]).toMatchObject({ group: 'g.1', class: 'unavailable', code: 'NNTP_NO_SUCH_GROUP' });
    expect(fetched(world)[0]).toMatchObject({ group: 'g.2' });
    await loop.stop();
  });
});

describe('lanes', () => {
  it('never uses more connections than there are, and keeps a share of them for live', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider('p', 'main', 4);
    provider.add('a.b', 1, 1_000_000);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    provider.onOver = () => gate;
    for (let i = 0; i < 10; i++) await plan(world, [range(i * 100 + 1, i * 100 + 100)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'backfill to start', () => provider.busy === 3);
    await pass(world.clock, 10_000);
    expect(provider.busy).toBe(3);
    await plan(world, [range(5001, 5100)], 'live');
    await passUntil(world.clock, 'live to start', () => provider.busy === 4);
    open();
    await passUntil(world.clock, 'all', () => fetched(world).length === 11);
    expect(provider.busiest).toBe(4);
    await loop.stop();
  });

  it('takes live before scan before backfill when connections are short', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider('p', 'main', 1);
    provider.add('a.b', 1, 1_000_000);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    provider.onOver = () => gate;
    await plan(world, [range(1, 10)]);
    const loop = start(world, [provider]);
    await passUntil(world.clock, 'the first', () => provider.busy === 1);
    await plan(world, [range(11, 20)]);
    await settle();
    await plan(world, [range(21, 30)], 'scan');
    await settle();
    await plan(world, [range(31, 40)], 'live');
    await settle();
    open();
    await passUntil(world.clock, 'all', () => fetched(world).length === 4);
    expect(fetched(world).map(({ lane }) => lane)).toEqual(['backfill', 'live', 'scan', 'backfill']);
    await loop.stop();
  });
});
