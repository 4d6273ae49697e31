import { beforeAll, describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import type { Resolution, ResolvedNumbers } from '../../../processors/resolution.ts';
import { DEFAULT_SETTLE_SETTINGS, type SettleSettings } from '../../../processors/settle/settings.ts';
import { runSettle } from '../../../processors/settle/settleProcessor.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import { CorruptPayload } from '../../../streams/codec/errors.ts';
import type { Position } from '../../../streams/ids.ts';
import { nameOfContribution, setHashOf } from '../../../streams/merges.ts';
import { chunkFile, type DueOptions, dueRelease, holds, MemoryChunks } from '../../kit/dueReleases.ts';
import { MemorySettleCatalog } from '../../kit/memorySettleCatalog.ts';
import { processorWorld, running } from '../../kit/processorWorld.ts';
import { opened } from '../../kit/releaseEvents.ts';
import { pass, passUntil } from '../../kit/timePasses.ts';

beforeAll(initCompression);

const HOUR = 3_600_000;
const EVERYTHING: Resolution = { resolved: [[0, Number.MAX_SAFE_INTEGER]], high: null, highReadAt: null };
const NOTHING: Resolution = { resolved: [], high: null, highReadAt: null };

/** What is resolved, by `<backbone>/<group>/<epoch>`; everything where nothing else is said. */
class MemoryNumbers implements ResolvedNumbers {
  readonly said = new Map<string, Resolution>();
  readonly asked: { readonly name: string; readonly projected: Position }[] = [];
  async of(backbone: string, group: string, epoch: number, projected: Position): Promise<Resolution> {
    const name = `${backbone}/${group}/${epoch}`;
    this.asked.push({ name, projected });
    return this.said.get(name) ?? EVERYTHING;
  }
}

function settleWorld() {
  const world = processorWorld();
  const catalog = new MemorySettleCatalog(world.events);
  const numbers = new MemoryNumbers();
  const chunks = new MemoryChunks();
  return { ...world, catalog, numbers, chunks, now: world.clock.now() };
}
type World = ReturnType<typeof settleWorld>;

const start = (world: World, settings: Partial<SettleSettings> = {}) =>
  running((signal) => runSettle(world, signal, { ...DEFAULT_SETTLE_SETTINGS, ...settings }));

const messages = (world: World) => world.events.events('RELEASES', 'release.settled');
const settled = (world: World) => messages(world).flatMap(({ data }) => data.releases);
const keys = (world: World) => settled(world).map((r) => r.key);

const files = (hash: string, segments = 2) => [
  chunkFile({ hash, total: 2, parts: [[1, 10] as const, [2, 10] as const].slice(0, segments) }),
];
/** A release of one contribution, due since an hour. */
function release(world: World, name: string, o: DueOptions & { readonly due?: number } = {}) {
  const held = [holds(files(name), o)];
  world.chunks.add(held);
  return dueRelease(name, held, o.due ?? world.now - HOUR);
}

describe('settling', () => {
  it('says the figures of all that is due and resolved, once, in messages of a bounded size', async () => {
    const world = settleWorld();
    const names = ['a', 'b', 'c', 'd', 'e'];
    world.catalog.releases = names.map((name, i) => release(world, name, { due: world.now - HOUR + i }));
    const loop = start(world, { pageReleases: 2, messageReleases: 3 });
    await passUntil(world.clock, 'all to be settled', () => settled(world).length === 5);
    expect(messages(world).map(({ data }) => data.releases.length)).toEqual([3, 2]);
    expect(keys(world)).toEqual(world.catalog.releases.map((r) => r.key));
    expect(settled(world)[0]).toMatchObject({ files: 1, filesComplete: 1, segments: 2, bytes: 20 });
    await pass(world.clock, 10 * HOUR, HOUR / 4);
    expect(settled(world).length).toBe(5);
    await loop.stop();
  });

  it('waits until a release is due, and for the numbers around every contribution', async () => {
    const world = settleWorld();
    const late = release(world, 'late', { due: world.now + HOUR });
    const open = release(world, 'open', { group: 'alt.open', lastNumber: 1000 });
    world.catalog.releases = [late, open];
    world.numbers.said.set('bb/alt.open/0', { resolved: [[0, 50_999]], high: 60_000, highReadAt: 0 });
    const loop = start(world);
    await pass(world.clock, HOUR / 2, 60_000);
    expect(keys(world)).toEqual([]);
    await passUntil(world.clock, 'the late one', () => settled(world).length === 1, { limitMs: HOUR, stepMs: 30_000 });
    expect(keys(world)).toEqual([late.key]);
    world.numbers.said.set('bb/alt.open/0', { resolved: [[0, 51_000]], high: 60_000, highReadAt: 0 });
    await passUntil(world.clock, 'the open one', () => settled(world).length === 2);
    await loop.stop();
  });

  it('takes the high mark for the end when it was read 6 h after the last article of the release', async () => {
    const world = settleWorld();
    const lastAt = world.now - 30 * HOUR;
    const early = holds(files('x'), { group: 'alt.one', lastNumber: 1000, firstAt: lastAt - HOUR });
    const last = holds(files('y'), { group: 'alt.two', firstAt: lastAt });
    world.catalog.releases = [dueRelease('a', [early, last], world.now)];
    const one = (highReadAt: number): Resolution => ({ resolved: [[0, 1200]], high: 1200, highReadAt });
    // Late enough for its own articles, not for those in the other group.
    world.numbers.said.set('bb/alt.one/0', one(lastAt + 5.5 * HOUR));
    const loop = start(world);
    await pass(world.clock, HOUR / 4, 30_000);
    expect(keys(world)).toEqual([]);
    world.numbers.said.set('bb/alt.one/0', one(lastAt + 6 * HOUR));
    await passUntil(world.clock, 'it to be settled', () => settled(world).length === 1);
    await loop.stop();
  });

  it('reads chunks where files are shared, and says the union', async () => {
    const world = settleWorld();
    const held = [holds(files('x', 2)), holds(files('x', 1), { backbone: 'other' })];
    world.chunks.add(held);
    world.catalog.releases = [dueRelease('a', held, world.now)];
    const loop = start(world);
    await passUntil(world.clock, 'it to be settled', () => settled(world).length === 1);
    expect(settled(world)[0]).toMatchObject({
      ...{ files: 1, segments: 2, segmentsTotal: 2, bytes: 20 },
      setHash: setHashOf(held.map((h) => h.contribution.name)),
    });
    expect(world.chunks.reads).toBe(2);
    await loop.stop();
  });

  it('says the largest sum of one backbone where the shared files are too large to be joined', async () => {
    const world = settleWorld();
    const held = [holds(files('x', 2)), holds(files('x', 1), { backbone: 'other' })];
    world.chunks.add(held);
    world.catalog.releases = [dueRelease('a', held, world.now)];
    const loop = start(world, { segmentsHeld: 1 });
    await passUntil(world.clock, 'it to be settled', () => settled(world).length === 1);
    expect(settled(world)[0]).toMatchObject({ files: 1, segments: 2, bytes: 20 });
    await loop.stop();
  });
});

describe('a release that cannot be settled now', () => {
  it('never keeps the others from it, however many such stand before them', async () => {
    const world = settleWorld();
    const open = Array.from({ length: 9 }, (_, i) => {
      return release(world, `open${i}`, { group: 'alt.open', due: world.now - 2 * HOUR + i });
    });
    const last = release(world, 'last');
    world.catalog.releases = [...open, last];
    world.numbers.said.set('bb/alt.open/0', NOTHING);
    const loop = start(world, { pageReleases: 2, pagesPerRound: 1 });
    await passUntil(world.clock, 'the last one', () => settled(world).length === 1, { limitMs: 60_000 });
    expect(keys(world)).toEqual([last.key]);
    // What is resolved is asked once a round, not once a release.
    expect(world.numbers.asked.length).toBeLessThanOrEqual(6);
    await loop.stop();
  });

  it.each([
    ['whose chunks are not all there', new HeadwaterError('CHUNKS_NOT_READY', { range: 'r', found: 0, expected: 1 })],
    ['of which a chunk is damaged', new CorruptPayload('chunk', 'checksum', 'flipped')],
  ])('%s, is looked at again later', async (_, error) => {
    const world = settleWorld();
    const held = [holds(files('x')), holds(files('x'), { range: 1 })];
    world.chunks.add(held);
    const broken = nameOfContribution(held[0]!.contribution.name);
    world.chunks.broken.set(broken, error);
    const other = release(world, 'other', { range: 5 });
    world.catalog.releases = [dueRelease('a', held, world.now - 2 * HOUR), other];
    const loop = start(world);
    await passUntil(world.clock, 'the other', () => settled(world).length === 1);
    expect(keys(world)).toEqual([other.key]);
    world.chunks.broken.clear();
    await passUntil(world.clock, 'the first', () => settled(world).length === 2);
    await loop.stop();
  });
});

describe('the catalog that lags', () => {
  it('is waited for before the same releases are looked at again', async () => {
    const world = settleWorld();
    world.catalog.releases = [release(world, 'a')];
    world.catalog.lagging = 0;
    const loop = start(world);
    await passUntil(world.clock, 'it to be settled', () => settled(world).length === 1);
    const reads = world.catalog.reads.length;
    await pass(world.clock, HOUR, 60_000);
    expect(world.catalog.reads.length).toBe(reads);
    world.catalog.lagging = null;
    await pass(world.clock, HOUR, 60_000);
    expect(world.catalog.reads.length).toBeGreaterThan(reads);
    expect(settled(world).length).toBe(1);
    await loop.stop();
  });

  it('is waited for at the start: an earlier process may have settled what still looks due', async () => {
    const world = settleWorld();
    world.catalog.releases = [release(world, 'a')];
    const first = start(world);
    await passUntil(world.clock, 'it to be settled', () => settled(world).length === 1);
    await first.stop();
    world.catalog.lagging = 0;
    const second = start(world);
    await pass(world.clock, HOUR, 60_000);
    expect(settled(world).length).toBe(1);
    await second.stop();
  });

  it('tells what the asker has seen of the ranges: nothing beyond its position counts as resolved', async () => {
    const world = settleWorld();
    await world.events.append(opened());
    world.catalog.releases = [release(world, 'a')];
    const loop = start(world);
    await passUntil(world.clock, 'it to be settled', () => settled(world).length === 1);
    expect(world.numbers.asked[0]?.projected).toEqual({ number: 1, sequence: 1 });
    await loop.stop();
  });

  it('and does not take what is said hears it again hours later, not every minute', async () => {
    const world = settleWorld();
    world.catalog.releases = [release(world, 'a')];
    world.catalog.stubborn = true;
    const loop = start(world);
    await pass(world.clock, 5 * HOUR, 60_000);
    expect(settled(world).length).toBe(1);
    await pass(world.clock, 2 * HOUR, 60_000);
    expect(settled(world).length).toBe(2);
    await loop.stop();
  });
});

describe('trouble', () => {
  it('of the database is a condition while it lasts, and nothing is left out', async () => {
    const world = settleWorld();
    world.catalog.releases = [release(world, 'a'), release(world, 'b', { range: 1 })];
    const away = () => new HeadwaterError('POSTGRES_UNAVAILABLE', { server: 's', reason: 'r' });
    world.catalog.failures.push(away(), away());
    const loop = start(world, { pageReleases: 1 });
    await passUntil(world.clock, 'both to be settled', () => settled(world).length === 2);
    expect(world.conditions.reports).toEqual(['settling', 'settling']);
    expect(world.conditions.open.size).toBe(0);
    await loop.stop();
  });

  it('in the middle of a round lets the next one begin where it began', async () => {
    const world = settleWorld();
    world.catalog.releases = [release(world, 'a'), release(world, 'b', { range: 1, due: world.now })];
    const loop = start(world, { pageReleases: 1 });
    world.events.failNext(
      new HeadwaterError('POSTGRES_UNAVAILABLE', { server: 's', reason: 'r' }),
      1,
      'release.settled',
    );
    await passUntil(world.clock, 'both to be settled', () => settled(world).length === 2);
    expect(messages(world).length).toBe(1);
    await loop.stop();
  });

  it('is none when an append is repeated, or when two processes settle the same', async () => {
    const world = settleWorld();
    world.catalog.releases = [release(world, 'a')];
    world.events.failNext('lost ack', 1, 'release.settled');
    const loops = [start(world), start(world)];
    await pass(world.clock, HOUR, 60_000);
    expect(settled(world).length).toBe(1);
    for (const loop of loops) await loop.stop();
  });

  it('that is a defect ends it', async () => {
    const world = settleWorld();
    world.catalog.failures.push(new TypeError('a defect'));
    const loop = start(world);
    await passUntil(world.clock, 'the end', () => loop.failure() !== undefined);
    await expect(loop.stop()).rejects.toThrow('a defect');
  });
});
