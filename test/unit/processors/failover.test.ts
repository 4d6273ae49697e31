import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { firstNumberSince } from '../../../processors/coordinator/bisect.ts';
import { failureKind } from '../../../processors/failover/failureKind.ts';
import { DEFAULT_DENIED_MS, Providers, pausesFrom } from '../../../processors/failover/providers.ts';
import { LaneSlots } from '../../../processors/fetch/laneSlots.ts';
import type { FetchLane } from '../../../streams/ids.ts';
import { MemoryProvider } from '../../kit/memoryArticles.ts';
import { processorWorld } from '../../kit/processorWorld.ts';
import { settle } from '../../kit/timePasses.ts';

const signal = new AbortController().signal;

describe('what an error of a connection says', () => {
  it.each([
    ['NNTP_CONNECT_FAILED', 'provider'],
    ['NNTP_TLS_UNTRUSTED', 'provider'],
    ['NNTP_AUTH_REJECTED', 'provider'],
    ['NNTP_TOO_MANY_CONNECTIONS', 'provider'],
    ['NNTP_SERVICE_UNAVAILABLE', 'provider'],
    ['NNTP_NO_SUCH_GROUP', 'group gone'],
    ['NNTP_TIMEOUT', 'work'],
    ['NNTP_CONNECTION_CLOSED', 'work'],
    ['NNTP_UNEXPECTED_REPLY', 'work'],
    ['EVENT_MALFORMED', 'other'],
  ] as const)('%s is a matter of: %s', (code, kind) => {
    expect(failureKind(new HeadwaterError(code), true)).toBe(kind);
  });

  it('blames the provider for whatever happens before the connection stands', () => {
    expect(failureKind(new HeadwaterError('NNTP_CONNECTION_CLOSED'), false)).toBe('provider');
    expect(failureKind(new HeadwaterError('NNTP_TIMEOUT'), false)).toBe('provider');
    expect(failureKind(new TypeError('a defect'), false)).toBe('other');
  });
});

describe('the providers of a backbone', () => {
  it('leaves one that is down alone, longer each time, and tries it by one caller at a time', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.goDown();
    const providers = new Providers([provider], world);
    const waits: number[] = [];
    for (let i = 0; i < 6; i++) {
      const results = await Promise.all([1, 2, 3].map(() => providers.use(async () => 1, signal)));
      const [first] = results;
      if (first?.kind === 'cooling') waits.push(first.delayMs);
      await world.clock.advance(first?.kind === 'cooling' ? first.delayMs : 0);
    }
    expect(waits).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
    // The first time nobody knew that it was down; after that one trial at a time.
    expect(provider.connects).toBeLessThanOrEqual(3 + 5);
    provider.down = null;
    expect(await providers.use(async () => 'back', signal)).toMatchObject({ kind: 'used', value: 'back' });
    expect(world.conditions.open.size).toBe(0);
  });

  it('tries a login that was rejected after 30 s at the earliest, however often others are tried', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.down = new HeadwaterError('NNTP_AUTH_REJECTED', { class: 'denied' });
    const cooling = { firstMs: 1000, maxMs: 2000, denied: pausesFrom(DEFAULT_DENIED_MS) };
    const providers = new Providers([provider], world, cooling);
    const tries: number[] = [];
    const startedAt = world.clock.now();
    for (let known = 0; world.clock.now() - startedAt < 1_000_000; known = provider.connects) {
      await providers.use(async () => 1, signal);
      if (provider.connects > known) tries.push((world.clock.now() - startedAt) / 1000);
      await world.clock.advance(1000);
    }
    expect(tries).toEqual([0, 30, 90, 210, 450, 750]);
    provider.down = null;
    // A restart knows nothing of it: it tries at once.
    expect(await new Providers([provider], world, cooling).use(async () => 1, signal)).toMatchObject({ kind: 'used' });
  });

  it('takes the one with most room, and one that failed the work only if there is no other', async () => {
    const world = processorWorld();
    const [a, b] = [new MemoryProvider('a', 'main', 1), new MemoryProvider('b', 'main', 1)];
    const providers = new Providers([a, b], world);
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const first = providers.use(async (_, name) => held.then(() => name), signal);
    await settle();
    expect(await providers.use(async (_, name) => name, signal)).toMatchObject({ value: 'b' });
    free();
    expect(await first).toMatchObject({ value: 'a' });
    expect(await providers.use(async (_, name) => name, signal, new Set([a.provider]))).toMatchObject({ value: 'b' });
    b.goDown();
    expect(await providers.use(async (_, name) => name, signal, new Set([a.provider]))).toMatchObject({ value: 'a' });
  });

  it('keeps a report open while sessions stand but end in the provider refusing', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    const providers = new Providers([provider], world);
    const refuses = async () => {
      throw new HeadwaterError('NNTP_SERVICE_UNAVAILABLE', { class: 'transient' });
    };
    await providers.use(refuses, signal);
    await world.clock.advance(30_000);
    await providers.use(refuses, signal);
    expect([...world.conditions.open.keys()]).toEqual(['provider/news']);
    await world.clock.advance(60_000);
    await providers.use(async () => 1, signal);
    expect(world.conditions.open.size).toBe(0);
  });
});

describe('the slots of the lanes', () => {
  it('gives waiting live the next slot, and never lets the others into its share', async () => {
    const slots = new LaneSlots(4, 0.25);
    const held = await Promise.all(Array.from({ length: 3 }, () => slots.acquire('backfill', signal)));
    const order: FetchLane[] = [];
    const wait = (lane: FetchLane) => slots.acquire(lane, signal).then(() => order.push(lane));
    void wait('backfill');
    void wait('scan');
    void wait('live');
    await settle();
    expect(order).toEqual(['live']);
    void wait('live');
    held[0]?.();
    held[0]?.();
    await settle();
    expect(order).toEqual(['live', 'live']);
    held[1]?.();
    await settle();
    expect(order).toEqual(['live', 'live', 'scan']);
    expect(slots.taken).toBe(4);
  });

  it('lets a single connection serve every lane', async () => {
    const slots = new LaneSlots(1, 0.25);
    (await slots.acquire('backfill', signal))();
    (await slots.acquire('live', signal))();
    expect(slots.taken).toBe(0);
  });

  it('forgets who stops waiting', async () => {
    const slots = new LaneSlots(1, 0.25);
    const release = await slots.acquire('live', signal);
    const gone = new AbortController();
    const waiting = expect(slots.acquire('live', gone.signal)).rejects.toThrow('gone');
    gone.abort(new Error('gone'));
    await waiting;
    release();
    expect(slots.taken).toBe(0);
  });
});

describe('bisecting dates', () => {
  const group = (has: (n: number) => boolean) => {
    let questions = 0;
    const probe = async (from: number, to: number) => {
      questions++;
      for (let n = from; n <= to; n++) if (has(n)) return { number: n, date: n * 10 };
      return null;
    };
    return { probe, questions: () => questions };
  };

  it('finds the first number of a time in a logarithm of questions, also with every third number missing', async () => {
    for (const has of [() => true, (n: number) => n % 3 === 0]) {
      const { probe, questions } = group(has);
      const from = await firstNumberSince(4_567_890, 1, 1_000_000, probe);
      expect(from).toBeGreaterThan(456_780);
      expect(from).toBeLessThanOrEqual(456_789);
      expect(questions()).toBeLessThan(50);
    }
  });

  it('wants everything of a younger group and nothing of an older one', async () => {
    const { probe } = group(() => true);
    expect(await firstNumberSince(0, 101, 5000, probe)).toBe(101);
    expect(await firstNumberSince(1e9, 101, 5000, probe)).toBe(5001);
  });

  it('wants too much rather than too little where a long hole hides the dates', async () => {
    const { probe } = group((n) => n < 1000 || n > 900_000);
    const from = await firstNumberSince(9_500_000, 1, 1_000_000, probe);
    expect(from).toBeLessThanOrEqual(950_000);
    expect(await firstNumberSince(5000, 1, 1_000_000, probe)).toBe(500);
  });
});
