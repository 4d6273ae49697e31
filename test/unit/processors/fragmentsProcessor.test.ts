import { beforeAll, describe, expect, it } from 'vitest';
import { HeadwaterError, isHeadwaterError } from '../../../infra/base/errors/index.ts';
import { runFragments } from '../../../processors/fragments/fragmentsProcessor.ts';
import type { FragmentsPorts, OpenUnits } from '../../../processors/fragments/ports.ts';
import { DEFAULT_FRAGMENTS_SETTINGS, type FragmentsSettings } from '../../../processors/fragments/settings.ts';
import type { Conditions } from '../../../processors/ports.ts';
import type { Resolution } from '../../../processors/resolution.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import type { HeadwaterEvent } from '../../../streams/events/index.ts';
import type { Position } from '../../../streams/ids.ts';
import type { Piece } from '../../../streams/records.ts';
import { type FileArticle, pieceOfArticles } from '../../kit/filePieces.ts';
import { fragmentsOf } from '../../kit/fragmentHistories.ts';
import { MemoryOpenUnits } from '../../kit/memoryOpenUnits.ts';
import { OpenConditions, processorWorld, running } from '../../kit/processorWorld.ts';
import { opened, type PassOptions, T0 } from '../../kit/releaseEvents.ts';
import { pass, passUntil } from '../../kit/timePasses.ts';

beforeAll(initCompression);

const LEFT: PassOptions = { lo: 1, hi: 100_000 };
const RIGHT: PassOptions = { lo: 100_001, hi: 200_000 };
const THIRD: PassOptions = { lo: 200_001, hi: 300_000 };
const NOTHING: Resolution = { resolved: [], high: null, highReadAt: null };
const ALL: Resolution = { ...NOTHING, resolved: [[0, Number.MAX_SAFE_INTEGER]] };

function fragmentsWorld() {
  const { clock, events, log, metrics } = processorWorld();
  const conditions = new OpenConditions();
  const units = new MemoryOpenUnits(events);
  const asked: Position[] = [];
  const world = { resolution: NOTHING };
  const resolved = {
    of: async (_b: unknown, _g: unknown, _e: unknown, projected: Position) => {
      asked.push(projected);
      return world.resolution;
    },
  };
  const ports: FragmentsPorts = { sink: events, reader: events, clock, log, metrics, conditions, units, resolved };
  return Object.assign(world, { clock, events, conditions, units, asked, ports });
}
type World = ReturnType<typeof fragmentsWorld>;

const say = async (w: World, ...events: readonly HeadwaterEvent[]) => {
  for (const event of events) await w.events.append(event);
};
const file = (name: string, number: number, parts: readonly number[], o: Partial<FileArticle> = {}): Piece =>
  pieceOfArticles(
    name,
    parts.map((part, i) => ({ number: number + i, part, total: 3, bytes: 700, second: 0, poster: 'a@b', ...o })),
  );
const passWith = (range: PassOptions, pieces: readonly Piece[]) => [opened(range), fragmentsOf(range, { pieces })];
const whole = [...passWith(LEFT, [file('file', 99_990, [1, 2])]), ...passWith(RIGHT, [file('file', 100_010, [3])])];

const start = (w: World, settings: Partial<FragmentsSettings> = {}, ports: Partial<FragmentsPorts> = {}) =>
  running((signal) => runFragments({ ...w.ports, ...ports }, signal, { ...DEFAULT_FRAGMENTS_SETTINGS, ...settings }));
/** Runs the processor for some rounds. */
async function rounds(
  w: World,
  settings: Partial<FragmentsSettings> = {},
  ports: Partial<FragmentsPorts> = {},
): Promise<void> {
  const loop = start(w, settings, ports);
  await pass(w.clock, 10_000, 1_000);
  await loop.stop();
}
const merged = (w: World) => w.events.events('RELEASES', 'release.merged');
const listed = (w: World) => w.events.events('CHUNKS', 'chunks.merged');
const mergedFiles = (w: World) => merged(w).flatMap((e) => e.data.body.map((m) => m.sources.length));

describe('the fragments processor', () => {
  it('merges a file that is whole at once, its segment lists first', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    await rounds(w);
    expect(listed(w)).toHaveLength(1);
    expect(merged(w)).toHaveLength(1);
    const [chunks, release] = [listed(w)[0]!.data, merged(w)[0]!.data];
    expect(release.revision).toEqual({ number: 1, sequence: 4 });
    expect(chunks.revision).toEqual(release.revision);
    const [merge] = release.body;
    expect(merge!.contribution).toMatchObject({ segments: 3, filesComplete: 1, chunks: 1 });
    expect(merge!.contribution.chunksPosition).toEqual({ number: 1, sequence: 1 });
    expect(chunks.body[0]).toMatchObject({
      mergeId: merge!.mergeId,
      sources: merge!.sources,
      chunks: [{ segments: 3 }],
    });
    expect([...w.units.state().units()].map((u) => u.open)).toEqual([false]);
  });

  it('waits with the others until nothing more is to come, and asks for what its own projection has seen', async () => {
    const w = fragmentsWorld();
    await say(w, ...passWith(LEFT, [file('file', 99_990, [1, 2])]));
    const loop = start(w);
    await pass(w.clock, 10_000, 1_000);
    expect(merged(w)).toEqual([]);
    w.resolution = ALL;
    await passUntil(w.clock, 'the merge', () => merged(w).length > 0);
    await loop.stop();
    expect(w.asked.at(0)).toEqual({ number: 1, sequence: 2 });
    expect(merged(w)[0]!.data.body[0]!.contribution).toMatchObject({ segments: 2, filesComplete: 0, segmentsTotal: 3 });
  });

  it('makes the next revision when a further piece comes', async () => {
    const w = fragmentsWorld();
    w.resolution = ALL;
    const loop = start(w);
    await say(w, ...passWith(LEFT, [file('file', 99_990, [1])]));
    await passUntil(w.clock, 'the first merge', () => merged(w).length === 1);
    await say(w, ...passWith(RIGHT, [file('file', 100_010, [2])]));
    await passUntil(w.clock, 'the second merge', () => merged(w).length === 2);
    await pass(w.clock, 5_000, 1_000);
    await loop.stop();
    expect(mergedFiles(w)).toEqual([1, 2]);
    expect([...w.units.state().units()].map((u) => u.open)).toEqual([false]);
  });

  it('says nothing again before the projection has seen what it said', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    w.units.freeze();
    const loop = start(w);
    await passUntil(w.clock, 'the merge', () => merged(w).length === 1);
    const pages = w.units.asked.complete;
    await pass(w.clock, 10_000, 1_000);
    expect(w.units.asked.complete).toBe(pages);
    expect(merged(w)).toHaveLength(1);
    w.units.lagging = null;
    await pass(w.clock, 3_000, 1_000);
    expect(w.units.asked.complete).toBeGreaterThan(pages);
    await loop.stop();
    expect(merged(w)).toHaveLength(1);
    expect(listed(w)).toHaveLength(1);
  });

  it('decides nothing at its start before the projection has seen what the stream held', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    w.units.freeze();
    await rounds(w);
    const before = merged(w).length;
    // Another process; the projection has not seen the merge of the first one.
    await rounds(w);
    expect([before, merged(w).length]).toEqual([1, 1]);
  });

  it('takes all complete units in a round, page by page, and some of the others in turn', async () => {
    const w = fragmentsWorld();
    const names = Array.from({ length: 7 }, (_, i) => `f${i}`);
    const complete = names.map((name, i) => file(name, 99_000 + 10 * i, [1, 2, 3]));
    const rest = names.map((name, i) => file(`${name}x`, 99_500 + 10 * i, [1, 2]));
    await say(w, ...passWith(LEFT, [...complete, ...rest]));
    const loop = start(w, { completeUnits: 3, otherUnits: 2, batchBytes: 1 });
    await passUntil(w.clock, 'the complete ones', () => mergedFiles(w).length === 7);
    expect(merged(w).flatMap((e) => e.data.body.map((m) => m.contribution.filesComplete))).toEqual(Array(7).fill(1));
    w.resolution = ALL;
    await passUntil(w.clock, 'the others', () => mergedFiles(w).length === 14);
    await pass(w.clock, 5_000, 1_000);
    await loop.stop();
    expect(mergedFiles(w)).toHaveLength(14);
  });

  it('puts merges of one numbering into one message each, and keeps numberings apart', async () => {
    const w = fragmentsWorld();
    const pieces = [file('one', 99_990, [1, 2, 3]), file('two', 99_980, [1, 2, 3])];
    await say(
      w,
      ...passWith(LEFT, pieces),
      ...passWith({ ...LEFT, group: 'a.b' }, pieces),
      ...passWith({ ...LEFT, backbone: 'zz' }, pieces),
    );
    await rounds(w);
    expect(
      merged(w)
        .map((e) => `${e.data.backbone} ${e.data.group} ${e.data.body.length}`)
        .sort(),
    ).toEqual(['bb a.b 2', 'bb alt.binaries.test 2', 'zz alt.binaries.test 2']);
  });

  it('leaves a unit alone whose pieces changed since the page was read', async () => {
    const w = fragmentsWorld();
    w.resolution = ALL;
    await say(w, ...passWith(LEFT, [file('file', 99_990, [1])]));
    const changing: OpenUnits = {
      position: () => w.units.position(),
      page: (...args) => w.units.page(...args),
      pieces: async (ids) => {
        if (w.events.events('RELEASES').length === 2) await say(w, ...passWith(RIGHT, [file('file', 100_010, [2])]));
        return w.units.pieces(ids);
      },
    };
    await rounds(w, {}, { units: changing });
    expect(mergedFiles(w)).toEqual([2]);
  });

  it('reports a file that no message can hold and goes on with the others', async () => {
    const w = fragmentsWorld();
    const large = file('large', 99_000, [1, 2, 3]);
    await say(w, ...passWith(LEFT, [{ ...large, payload: Buffer.alloc(7_100_000) }, file('small', 99_500, [1, 2, 3])]));
    await rounds(w);
    expect(mergedFiles(w)).toEqual([1]);
    const error = w.conditions.open.get('fragments/too-large');
    expect(isHeadwaterError(error, 'FRAGMENTS_MERGE_TOO_LARGE')).toBe(true);
    expect(error?.message).toContain(large.fileHash);
  });

  it.each([
    ['complete', [1, 2, 3]],
    ['not complete', [1, 2]],
  ])('says that it is over once no file is too large any more (%s)', async (_, parts) => {
    const w = fragmentsWorld();
    const large = { ...file('large', 99_000, parts), payload: Buffer.alloc(7_100_000) };
    const others = ['a', 'b', 'c'].map((name, i) => file(name, 99_100 + i, [1]));
    await say(w, ...passWith(LEFT, [large, ...others]));
    // Several rounds for a walk through the others: a page without the large one must not end it.
    const cleared: string[] = [];
    const conditions: Conditions = {
      report: (about, error) => w.conditions.report(about, error),
      clear: (about) => {
        if (w.conditions.open.has(about)) cleared.push(about);
        w.conditions.clear(about);
      },
    };
    const loop = start(w, { otherUnits: 1 }, { conditions });
    await passUntil(w.clock, 'the condition', () => w.conditions.open.has('fragments/too-large'));
    await pass(w.clock, 10_000, 1_000);
    expect(cleared).toEqual([]);
    await say(w, ...passWith({ ...LEFT, run: 2 }, others));
    await passUntil(w.clock, 'its end', () => !w.conditions.open.has('fragments/too-large'));
    await loop.stop();
  });
});

describe('trouble of the fragments processor', () => {
  it('a crash between the two messages is made good by the next process', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    w.events.failNext(new TypeError('crash'), 1, 'release.merged');
    const loop = start(w);
    await pass(w.clock, 3_000, 1_000);
    await expect(loop.stop()).rejects.toThrow('crash');
    expect([listed(w).length, merged(w).length]).toEqual([1, 0]);
    // Something else happened meanwhile, so that the next decision has another revision.
    await say(w, ...passWith(THIRD, []));
    await rounds(w);
    expect(merged(w)).toHaveLength(1);
    expect(merged(w)[0]!.data.body[0]!.contribution.chunksPosition).toEqual({ number: 1, sequence: 2 });
    expect(listed(w).map((e) => e.data.body[0]!.mergeId)).toEqual(Array(2).fill(merged(w)[0]!.data.body[0]!.mergeId));
    // The same bytes: of two that are stored, either may stay.
    expect(listed(w)[0]!.data.body[0]!.chunks).toEqual(listed(w)[1]!.data.body[0]!.chunks);
  });

  it('a crash between them that is made good at the same revision says the first one once', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    w.events.failNext(new TypeError('crash'), 1, 'release.merged');
    const loop = start(w);
    await pass(w.clock, 3_000, 1_000);
    await expect(loop.stop()).rejects.toThrow('crash');
    await rounds(w);
    expect([listed(w).length, merged(w).length]).toEqual([1, 1]);
  });

  it.each(['outage', 'lost ack', 'duplicate'] as const)('appends once through "%s"', async (failure) => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    w.events.failNext(failure, 1, 'chunks.merged');
    w.events.failNext(failure, 1, 'release.merged');
    await rounds(w);
    expect([listed(w).length, merged(w).length]).toEqual([1, 1]);
    expect(merged(w)[0]!.data.body[0]!.contribution.chunksPosition).toEqual({ number: 1, sequence: 1 });
  });

  it('two of them that decide on the same moment say it once', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    const loops = [start(w), start(w)];
    await pass(w.clock, 3_000, 1_000);
    await Promise.all(loops.map((loop) => loop.stop()));
    expect([listed(w).length, merged(w).length]).toEqual([1, 1]);
  });

  it('one that lags behind another, and closes less, changes nothing', async () => {
    const w = fragmentsWorld();
    await say(w, ...passWith(LEFT, [file('file', 99_990, [1, 2])]));
    const old = new MemoryOpenUnits(w.events);
    old.freeze();
    let resolution = NOTHING;
    const loops = [start(w), start(w, {}, { units: old, resolved: { of: async () => resolution } })];
    await pass(w.clock, 3_000, 1_000);
    await say(w, ...passWith(RIGHT, [file('file', 100_010, [3])]));
    await passUntil(w.clock, 'the merge of both pieces', () => merged(w).length === 1);
    resolution = ALL;
    await passUntil(w.clock, 'that of the one that lags', () => merged(w).length === 2);
    old.lagging = null;
    await pass(w.clock, 5_000, 1_000);
    await Promise.all(loops.map((loop) => loop.stop()));
    expect(merged(w).map((e) => [e.data.revision.sequence, e.data.body[0]!.sources.length])).toEqual([
      [4, 2],
      [2, 1],
    ]);
    const [unit, ...more] = [...w.units.state().units()];
    expect(more).toEqual([]);
    expect([unit!.pieces.length, unit!.open]).toEqual([2, false]);
  });

  it('a re-run of one of its ranges withdraws a merge, and what is there then is merged anew', async () => {
    const w = fragmentsWorld();
    w.resolution = ALL;
    const loop = start(w);
    await say(w, ...whole);
    await passUntil(w.clock, 'the first merge', () => merged(w).length === 1);
    await say(w, ...passWith({ ...RIGHT, run: 2 }, [file('file', 100_020, [3], { bytes: 999 })]));
    await passUntil(w.clock, 'the second merge', () => merged(w).length === 2);
    // A zombie of the first run publishes late.
    await say(w, fragmentsOf(RIGHT, { pieces: [file('file', 100_030, [2])] }, 7));
    await pass(w.clock, 5_000, 1_000);
    await loop.stop();
    const last = merged(w).at(-1)!.data.body[0]!;
    expect(last.sources.map((s) => s.run)).toEqual([1, 2]);
    expect(last.contribution).toMatchObject({ bytes: 700 + 700 + 999, lastNumber: 100_020, firstAt: T0 });
    expect(merged(w)).toHaveLength(2);
  });

  it('a database that is away is a condition while it lasts', async () => {
    const w = fragmentsWorld();
    await say(w, ...whole);
    let away = true;
    const units: OpenUnits = {
      position: () => w.units.position(),
      page: async (...args) => {
        if (away) throw new HeadwaterError('NATS_UNAVAILABLE', { stream: 'RELEASES' });
        return w.units.page(...args);
      },
      pieces: (ids) => w.units.pieces(ids),
    };
    const loop = start(w, {}, { units });
    await pass(w.clock, 3_000, 1_000);
    expect([...w.conditions.open.keys()]).toEqual(['fragments']);
    away = false;
    await passUntil(w.clock, 'the merge', () => merged(w).length === 1);
    await pass(w.clock, 2_000, 1_000);
    expect([...w.conditions.open.keys()]).toEqual([]);
    await loop.stop();
  });
});
