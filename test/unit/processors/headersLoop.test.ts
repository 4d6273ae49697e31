import { afterAll, describe, expect, it } from 'vitest';
import { type HeadersPorts, headersProcessor } from '../../../processors/headers/headersProcessor.ts';
import { WorkerPool } from '../../../processors/headers/workerPool.ts';
import { importOverview } from '../../../processors/import/overviewFile.ts';
import { DEFAULT_IMPORT_SETTINGS } from '../../../processors/import/settings.ts';
import { runProcessor } from '../../../processors/run.ts';
import { decodeChunk } from '../../../streams/codec/chunk.ts';
import { decodePieces } from '../../../streams/codec/fragments.ts';
import { controlGarbage } from '../../../streams/events/control.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { overviewBatch } from '../../../streams/events/overview.ts';
import { rangeFetched } from '../../../streams/events/ranges.ts';
import { Backbone, EpochMs, Group } from '../../../streams/ids.ts';
import { headersConsumer } from '../../../streams/topology.ts';
import { overviewLine } from '../../kit/memoryArticles.ts';
import { type ProcessorWorld, processorWorld, running } from '../../kit/processorWorld.ts';
import { settle } from '../../kit/timePasses.ts';
import { until } from '../../kit/until.ts';

const group = Group('a.b');
const workers = new WorkerPool(1);
afterAll(() => workers.close());

const file = (from: number, to: number) => {
  let text = '';
  for (let n = from; n <= to; n++) text += `${overviewLine(n, 'a.b')}\r\n`;
  return Buffer.from(text, 'latin1');
};
async function* once(bytes: Buffer) {
  yield bytes;
}
/** Puts fetched ranges into the world: what the headers loop starts from. */
const load = (world: ProcessorWorld, lines = 200, own = { rangeLines: 250_000, batchLines: 50 }) =>
  loadFile(world, file(1, lines), own);
const loadFile = async (world: ProcessorWorld, lines: Buffer, own = { rangeLines: 250_000, batchLines: 50 }) => {
  const settings = {
    ...DEFAULT_IMPORT_SETTINGS,
    rangeLines: own.rangeLines,
    batch: { lines: own.batchLines, rawBytes: 3_000_000 },
  };
  const request = { bytes: once(lines), group, backbone: Backbone('local') };
  await importOverview(request, world, new AbortController().signal, settings);
};
const start = (world: ProcessorWorld, change: Partial<HeadersPorts> = {}) =>
  running((signal) => runProcessor(headersProcessor({ ...world, workers, seed: () => 7, ...change }), world, signal));
const parsed = (world: ProcessorWorld) => world.events.events('RANGES', 'range.parsed').map(({ data }) => data);
const failures = (world: ProcessorWorld) => world.events.events('RANGES', 'range.failed').map(({ data }) => data);
const unfinished = (world: ProcessorWorld) => world.events.consumer(headersConsumer).unfinished;
/** Time stands still; the worker thread takes real time. */
const soon = (what: string, probe: () => boolean) => until(what, probe, { deadlineMs: 60_000, everyMs: 5 });

/** What the highest pass says, decoded and without what a pass may differ in. */
const content = (world: ProcessorWorld) => {
  const pass = Math.max(...world.events.events('RELEASES', 'release.opened').map(({ data }) => data.pass));
  const seen = world.events.events('RELEASES', 'release.seen').filter(({ data }) => data.pass === pass);
  const written = world.events.events('CHUNKS', 'chunks.written').filter(({ data }) => data.pass === pass);
  return {
    contributions: seen.flatMap(({ data }) => data.body.map(({ chunksPosition: _, ...rest }) => rest)),
    chunks: written.flatMap(({ data }) =>
      data.body.map(({ payload, ...head }) => ({ ...head, files: decodeChunk(payload) })),
    ),
    k: [seen.map(({ data }) => data.k), written.map(({ data }) => data.k)],
  };
};

// Worker threads start slowly on a busy machine.
describe('the headers loop', { timeout: 120_000 }, () => {
  it('turns a fetched range into opened, chunks, contributions and parsed, in that order', async () => {
    const world = processorWorld();
    await load(world);
    const loop = start(world);
    await soon('the range', () => unfinished(world) === 0 && parsed(world).length === 1);
    const [data] = parsed(world);
    expect(data).toMatchObject({
      lane: 'import',
      pass: 1,
      lines: 200,
      kept: 200,
      skipped: {},
      releases: 100,
      files: 100,
    });
    expect(data!.segments).toBe(200);
    expect(data!.missing).toEqual([]);
    const releases = world.events.events('RELEASES');
    const chunks = world.events.events('CHUNKS');
    expect(releases[0]!.type).toBe('release.opened');
    expect(chunks[0]!.type).toBe('chunks.opened');
    expect(data!.releasesPosition).toEqual({ number: 1, sequence: releases.length });
    expect(data!.chunksPosition).toEqual({ number: 1, sequence: chunks.length });
    const { contributions, chunks: stored } = content(world);
    expect(contributions).toHaveLength(100);
    expect(stored.flatMap((c) => c.files).flatMap((f) => f.segments)).toHaveLength(200);
    const seen = world.events.events('RELEASES', 'release.seen').flatMap(({ data: d }) => d.body);
    expect(seen.every((c) => c.chunksPosition.sequence >= 2 && c.chunksPosition.sequence <= chunks.length)).toBe(true);
    await loop.stop();
  });

  it('gives a redelivery after a crash a higher pass with the same content, wherever the crash was', async () => {
    const calm = processorWorld();
    await load(calm);
    const undisturbed = start(calm);
    await soon('the range', () => parsed(calm).length === 1);
    await undisturbed.stop();
    for (const type of ['release.opened', 'chunks.opened', 'chunks.written', 'release.seen', 'range.parsed'] as const) {
      const world = processorWorld();
      await load(world);
      world.events.failNext(new Error('the process dies here'), 1, type);
      const dying = start(world);
      await soon('the crash', () => dying.failure() !== undefined);
      await expect(dying.stop()).rejects.toThrow('the process dies here');
      expect(parsed(world)).toEqual([]);
      const loop = start(world);
      await soon('the range', () => parsed(world).length === 1);
      await loop.stop();
      const { pass, chunksPosition, releasesPosition, ...rest } = parsed(world)[0]!;
      expect(pass).toBe(2);
      expect(rest).toEqual(
        (({ pass: _, chunksPosition: c, releasesPosition: r, ...other }) => other)(parsed(calm)[0]!),
      );
      expect(content(world)).toEqual(content(calm));
    }
  });

  it('opens a pass above any that another worker opened and the catalog does not know yet', async () => {
    const world = processorWorld();
    await load(world);
    const first = start(world);
    await soon('the range', () => parsed(world).length === 1);
    await first.stop();
    world.ledger.lagging = world.events.stream('RANGES').last - 1;
    await redeliver(world);
    const second = start(world, { passes: { highestPass: async () => 0 } });
    await soon('the second pass', () => parsed(world).length === 2);
    expect(parsed(world).map(({ pass }) => pass)).toEqual([1, 2]);
    await second.stop();
  });

  it('opens nothing for a range that is parsed already, nor for one whose batches are purged', async () => {
    const world = processorWorld();
    await load(world);
    const first = start(world);
    await soon('the range', () => parsed(world).length === 1);
    await first.stop();
    const [event] = world.events.events('RANGES', 'range.fetched');
    await redeliver(world);
    const second = start(world);
    await soon('the acknowledgement', () => unfinished(world) === 0);
    expect(world.events.events('RELEASES', 'release.opened')).toHaveLength(1);
    // Now as a ledger sees it that is being rebuilt: it does not know yet that the range is parsed.
    await world.events.purge(event!.data);
    world.ledger.lagging = 2;
    await redeliver(world);
    await settle();
    expect(unfinished(world)).toBe(1);
    expect(world.events.events('RELEASES', 'release.opened')).toHaveLength(1);
    world.ledger.lagging = null;
    await world.clock.advance(1000);
    await soon('the acknowledgement', () => unfinished(world) === 0);
    expect(world.events.events('RELEASES', 'release.opened')).toHaveLength(1);
    expect(failures(world)).toEqual([]);
    await second.stop();
  });

  it('fails a range with RANGE_BATCH_GONE when its batches were lost', async () => {
    const world = processorWorld();
    await load(world);
    const [event] = world.events.events('RANGES', 'range.fetched');
    await world.events.purge(event!.data);
    const loop = start(world);
    await soon('the failure', () => failures(world).length === 1);
    expect(failures(world)[0]).toMatchObject({
      origin: 'headers',
      stage: 'parse',
      class: 'error',
      code: 'RANGE_BATCH_GONE',
    });
    await soon('the end', () => unfinished(world) === 0);
    await loop.stop();
  });

  it('sets a range aside that breaks the parser, and parses the others', async () => {
    const world = processorWorld();
    await load(world, 200, { rangeLines: 100, batchLines: 50 });
    const [first] = world.events.events('RANGES', 'range.fetched');
    // The first range once more with a batch that is no frame: its run 1 is replaced.
    const run = { ...first!.data, run: 2 };
    const { backbone, rangeId, lo, hi } = run;
    const data = { backbone, group, rangeId, run: 2, lo, hi, body: Buffer.from('damaged') };
    const stored = await world.events.append(makeEvent(overviewBatch, EpochMs(0), data));
    const sequence = stored.kind === 'stored' ? stored.position.sequence : 0;
    const batches = [{ sequence, lo, hi, lines: 1, rawBytes: 10 }];
    await world.events.append(makeEvent(rangeFetched, EpochMs(0), { ...run, batches }));
    const loop = start(world);
    await soon('all', () => unfinished(world) === 0 && parsed(world).length === 1);
    expect(failures(world)).toMatchObject([
      { class: 'quarantined', stage: 'parse', code: 'RANGE_BREAKS_PARSER', run: 2 },
    ]);
    await loop.stop();
  });

  it('tells of pieces, lone parts and probe candidates behind the contributions, before it calls the range parsed', async () => {
    const world = processorWorld();
    const line = (n: number, subject: string) =>
      `${n}\t${subject}\tposter <p@x.y>\tMon, 01 Jan 2024 00:00:00 GMT\t<id${n}@x>\t\t1000\t8\tXref: h a.b:${n}\r\n`;
    const subjects = [
      '"Some.Title.rar" yEnc (1/1)',
      '"Some.Other.Title.part1.rar" yEnc (1/3)',
      '"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc (2/9)',
    ];
    await loadFile(world, Buffer.from(subjects.map((subject, i) => line(i + 1, subject)).join('')));
    const loop = start(world);
    await soon('the range', () => parsed(world).length === 1);
    await loop.stop();
    const releases = world.events.events('RELEASES');
    expect(releases.map(({ type }) => type)).toEqual([
      'release.opened',
      'release.seen',
      'release.fragments',
      'probe.candidates',
    ]);
    expect(parsed(world)[0]).toMatchObject({ kept: 2, skipped: { random: 1 }, releases: 1, segments: 1 });
    expect(parsed(world)[0]!.releasesPosition.sequence).toBe(4);
    const [fragments] = world.events.events('RELEASES', 'release.fragments').map(({ data }) => data);
    expect(fragments).toMatchObject({ k: 0, pass: 1 });
    expect(fragments!.body.pieces.map((p) => [p.name, decodeChunk(p.payload)[0]!.segments[0]!.messageId])).toEqual([
      ['Some.Other.Title', 'id2@x'],
    ]);
    expect(fragments!.body.lone.flatMap(({ payload }) => decodePieces(payload)).map((p) => p.name)).toEqual([
      '9ciQK4R3mMmKGyhEXWTqlk',
    ]);
    const [candidates] = world.events.events('RELEASES', 'probe.candidates').map(({ data }) => data);
    expect(candidates!.body.map((c) => [c.kind, c.messageId]).sort()).toEqual([
      ['archive', 'id1@x'],
      ['archive', 'id2@x'],
    ]);
  });

  it('waits for the version of the garbage table that the range was planned with, and drops by it', async () => {
    const world = processorWorld();
    const line =
      '1\t"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc (1/1)\tflood\tMon, 01 Jan 2024 00:00:00 GMT\t<a@x>\t\t9\t8\t\r\n';
    await loadFile(world, Buffer.from(line));
    const found = world.events.events('RANGES', 'range.fetched')[0]!.data;
    const planned = { ...found, garbageVersion: 3, run: 2 };
    const body = world.events.events('OVERVIEW', 'overview.batch')[0]!.data.body;
    const { backbone, rangeId, lo, hi } = planned;
    const data = { backbone, group, rangeId, run: 2, lo, hi, body };
    const stored = await world.events.append(makeEvent(overviewBatch, EpochMs(0), data));
    const sequence = stored.kind === 'stored' ? stored.position.sequence : 0;
    const batches = planned.batches.map((batch) => ({ ...batch, sequence }));
    await world.events.append(makeEvent(rangeFetched, EpochMs(0), { ...planned, batches }));
    const loop = start(world);
    await settle();
    expect(world.events.events('RELEASES')).toEqual([]);
    const signatures = [{ signature: 'flood', field: 'poster' as const, pattern: 'flood' }];
    await world.events.append(
      makeEvent(controlGarbage, EpochMs(0), { origin: 'operator' as const, garbageVersion: 3, signatures }),
    );
    await world.clock.advance(1000);
    await soon('the range', () => parsed(world).length === 1);
    expect(parsed(world)[0]).toMatchObject({ run: 2, lines: 1, kept: 0, skipped: { garbage_flood: 1 } });
    await loop.stop();
  });

  it('waits for the version of the group list that the range was planned with', async () => {
    const world = processorWorld();
    await load(world);
    let list: Awaited<ReturnType<typeof world.groupLists.version>> = null;
    const loop = start(world, {
      groupLists: { ...world.groupLists, version: async () => list, current: async () => list },
    });
    await settle();
    expect(world.events.events('RELEASES')).toEqual([]);
    list = await world.groupLists.current();
    await world.clock.advance(1000);
    await soon('the range', () => parsed(world).length === 1);
    await loop.stop();
  });

  it('retries a range whose worker died, and sets it aside the third time (HEADERS_WORKER_DIED)', async () => {
    const world = processorWorld();
    await load(world);
    const dying = new WorkerPool(1);
    const withThread: WorkerPool['withThread'] = (use) =>
      WorkerPool.prototype.withThread.call(dying, async (thread) => {
        await thread.close();
        return await use(thread as never);
      }) as never;
    const pool = Object.assign(Object.create(dying), { withThread }) as WorkerPool;
    const loop = start(world, {
      workers: new Proxy(dying, { get: (t, k) => (k === 'withThread' ? pool.withThread : Reflect.get(t, k, t)) }),
    });
    await soon('the report', () => world.conditions.open.size === 1);
    expect([...world.conditions.open]).toMatchObject([['consumer/headers', { code: 'HEADERS_WORKER_DIED' }]]);
    await world.clock.advance(5000);
    await soon('the second death', () => world.conditions.reports.length === 2);
    await world.clock.advance(5000);
    await soon('the failure', () => failures(world).length === 1);
    expect(failures(world)[0]).toMatchObject({ class: 'quarantined', code: 'RANGE_BREAKS_PARSER' });
    await loop.stop();
  });
});

/** The stream's window for repeats has passed: the first fetched range lies there twice and is delivered anew. */
async function redeliver(world: ProcessorWorld): Promise<void> {
  const found = world.events.stream('RANGES').messages.find((m) => m.wire.subject.startsWith('range.fetched.'));
  world.events.putRaw('RANGES', found!.wire);
}
