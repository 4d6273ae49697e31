import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { failures, fetched, plan, range, settings, start, unfinished } from '../../kit/fetchWorld.ts';
import { MemoryProvider } from '../../kit/memoryArticles.ts';
import { processorWorld } from '../../kit/processorWorld.ts';
import { pass, passUntil } from '../../kit/timePasses.ts';

describe('a provider that answers but refuses to read', () => {
  it('fails a range that the provider refuses to read twice, and reads the others meanwhile', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 6000);
    const refusal = {
      host: 'news.test',
      port: 119,
      command: 'OVER',
      reply: 403,
      text: 'internal fault',
      class: 'transient',
    };
    provider.onOver = ([lo]) => {
      if (lo <= 2000 || lo > 5000) throw new HeadwaterError('NNTP_SERVICE_UNAVAILABLE', refusal);
    };
    for (let lo = 1; lo < 6000; lo += 1000) await plan(world, [range(lo, lo + 999)]);
    const loop = start(world, [provider], { ...settings, connections: 1 });
    await passUntil(world.clock, 'the others', () => fetched(world).length === 3, { limitMs: 600_000 });
    expect(world.conditions.reports).toContain('provider/news');
    await passUntil(world.clock, 'the failures', () => failures(world).length === 3, { limitMs: 1_800_000 });
    expect(
      failures(world)
        .map(({ lo }) => lo)
        .sort((a, b) => a - b),
    ).toEqual([1, 1001, 5001]);
    expect(failures(world)[0]).toMatchObject({ class: 'error', code: 'NNTP_UNEXPECTED_REPLY', origin: 'fetch' });
    expect(unfinished(world)).toBe(0);
    await loop.stop();
  });

  it('fails next to nothing while a provider refuses everything for an hour', async () => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 2000);
    let well = false;
    provider.onOver = () => {
      if (!well) throw new HeadwaterError('NNTP_SERVICE_UNAVAILABLE', { reply: 403, class: 'transient' });
    };
    for (let lo = 1; lo < 2000; lo += 50) await plan(world, [range(lo, lo + 49)]);
    const loop = start(world, [provider]);
    await pass(world.clock, 3_600_000, 15_000);
    const failed = failures(world).length;
    expect(failed).toBeLessThan(15);
    well = true;
    await passUntil(world.clock, 'the others', () => fetched(world).length + failures(world).length === 40, {
      limitMs: 3_600_000,
      stepMs: 15_000,
    });
    expect(failures(world).length).toBe(failed);
    await loop.stop();
  });

  it.each([400, 502])('blames no range for a server that takes leave with %i', async (reply) => {
    const world = processorWorld();
    const provider = new MemoryProvider();
    provider.add('a.b', 1, 1000);
    let well = false;
    provider.onOver = () => {
      if (!well) throw new HeadwaterError('NNTP_SERVICE_UNAVAILABLE', { reply, class: 'transient' });
    };
    await plan(world, [range(1, 1000)]);
    const loop = start(world, [provider]);
    await pass(world.clock, 3_600_000, 5000);
    expect(failures(world)).toEqual([]);
    well = true;
    await passUntil(world.clock, 'the range', () => fetched(world).length === 1, { limitMs: 320_000 });
    await loop.stop();
  });
});
