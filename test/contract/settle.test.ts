import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { ServiceContext } from '../../infra/processes/service.ts';
import { settleService } from '../../infra/processes/services/settle.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { chunks } from '../../projections/chunks/index.ts';
import { control } from '../../projections/control/index.ts';
import { probes } from '../../projections/probes/index.ts';
import { probeCounts } from '../../projections/probes/rows.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { encodeChunk } from '../../streams/codec/chunk.ts';
import { initCompression } from '../../streams/codec/compression.ts';
import { EVENTS, makeEvent } from '../../streams/events/index.ts';
import { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { chunkFile, countedFigures } from '../kit/dueReleases.ts';
import { candidate, candidates } from '../kit/probeEvents.ts';
import { processorWorld, running } from '../kit/processorWorld.ts';
import { caughtUp, openDatabase, startProjection } from '../kit/projections.ts';
import { parsed, planned } from '../kit/rangeEvents.ts';
import {
  chunksOpened,
  contribution,
  DAY,
  encodedChunk,
  opened,
  type PassOptions,
  seen,
  written,
} from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  await initCompression();
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

/** The service as it runs, on projections that run as they do; only streams and clock are the test's. */
function settleWorld() {
  const world = processorWorld();
  const all = [control, ranges, chunks, catalog, probes];
  const projections = all.map((projection) => startProjection(projection, db, world.events.log));
  const config = { indexing: { lateSeconds: 21_600 } };
  const context = { ...world, config, db, log: silentLog, metrics: noMetrics } as unknown as ServiceContext;
  const start = () => running((signal) => settleService.run(context, () => {}, signal));
  const stop = async () => {
    for (const projection of projections) await projection.stop();
  };
  const projected = () => Promise.all(all.map((projection) => caughtUp(db, projection, world.events.log)));
  return { ...world, start, stop, projected };
}
type World = ReturnType<typeof settleWorld>;

/** A range is planned, and its pass says what it holds of the release. */
async function contribute(world: World, o: PassOptions, files: readonly ChunkFile[]): Promise<void> {
  const at = world.clock.now();
  const said = contribution('name', {
    ...countedFigures(files),
    fileHashes: files.map((f) => f.fileHash).sort(),
    firstNumber: ArticleNumber((o.lo ?? 1) + 5),
    chunks: files.length,
  });
  const payloads = files.map((file, k) => encodedChunk('name', '', { k, payload: encodeChunk([file]) }));
  const events = [
    planned({ lane: 'import', ...o }, at),
    ...[chunksOpened(o), written(o, payloads), opened(o, at), seen(o, [said], 0, at)],
    candidates(o, [candidate('name', { id: `${o.backbone}.${o.lo}@x` })], 0, at),
  ];
  for (const event of events) await world.events.append(event);
}

async function parse(world: World, o: PassOptions): Promise<void> {
  const data = parsed({ lane: 'import', ...o }).data;
  const releasesPosition = { number: 1, sequence: world.events.stream('RELEASES').last };
  await world.events.append(
    makeEvent(EVENTS['range.parsed'], EpochMs(world.clock.now()), { ...data, releasesPosition }),
  );
  await world.projected();
}

const shown = async () => {
  const [row] = await db.query(
    'select provisional, files, files_complete as complete, segments, segments_total as total, bytes from catalog.release',
  );
  return row;
};
const days = async (world: World, count: number) => {
  await world.clock.advance(count * DAY);
  await until('the round to end', () => world.clock.sleeping > 0);
  await world.projected();
};

describe('settling on Postgres', () => {
  it('shows the union once all numbers are resolved, again after what comes late, and moves its probes up', async () => {
    const world = settleWorld();
    const part = (from: number, to: number) => {
      const parts = [1, 2, 3, 4, 5].slice(from, to).map((n) => [n, 10 * n] as const);
      return chunkFile({ hash: 'a', total: 5, parts });
    };
    const [one, other] = [
      { backbone: 'one', lo: 1, hi: 1000 },
      { backbone: 'other', lo: 1, hi: 1000 },
    ];
    await contribute(world, one, [part(0, 4), chunkFile({ hash: 'b', total: 1, parts: [[1, 7]] })]);
    await contribute(world, other, [part(2, 5)]);
    await parse(world, one);
    const loop = world.start();
    await days(world, 1.5);
    await days(world, 1.5);
    expect(await shown()).toMatchObject({ provisional: true, segments: 5 });
    await parse(world, other);
    await until('the release to be settled', async () => {
      await days(world, 0.1);
      return (await shown())?.provisional === false;
    });
    const union = { files: 2, complete: 2, segments: 6, total: 6, bytes: 157 };
    expect(await shown()).toEqual({ provisional: false, ...union });
    expect(await probeCounts(db)).toMatchObject({ due: 1, dueSettled: 1 });

    const late = { backbone: 'one', lo: 1001, hi: 2000 };
    await contribute(world, late, [chunkFile({ hash: 'c', total: 2, parts: [[1, 3]] })]);
    await parse(world, late);
    await days(world, 0.9);
    expect(await shown()).toMatchObject({ provisional: true, segments: 6, files: 3 });
    expect(await probeCounts(db)).toMatchObject({ due: 1, dueSettled: 0 });
    await until('the release to be settled again', async () => {
      await days(world, 0.1);
      return (await shown())?.provisional === false;
    });
    expect(await shown()).toEqual({ provisional: false, files: 3, complete: 2, segments: 7, total: 8, bytes: 160 });
    expect(await probeCounts(db)).toMatchObject({ due: 1, dueSettled: 1 });

    // Nothing is said again of what is settled.
    await days(world, 10);
    expect(world.events.events('RELEASES', 'release.settled').length).toBe(2);
    expect(world.conditions.reports).toEqual([]);
    await loop.stop();
    await world.stop();
  });
});
