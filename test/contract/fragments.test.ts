import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { runFragments } from '../../processors/fragments/fragmentsProcessor.ts';
import { DEFAULT_FRAGMENTS_SETTINGS } from '../../processors/fragments/settings.ts';
import { control } from '../../projections/control/index.ts';
import { fragments } from '../../projections/fragments/index.ts';
import { openUnits } from '../../projections/fragments/rows.ts';
import { FragmentsState } from '../../projections/fragments/step.ts';
import type { Sql } from '../../projections/ports.ts';
import { unpackPosition } from '../../projections/position.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { resolvedNumbers } from '../../projections/ranges/resolved.ts';
import { initCompression } from '../../streams/codec/compression.ts';
import { packLone } from '../../streams/codec/fragments.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { mergeIdOf } from '../../streams/merges.ts';
import { recordedConditions } from '../kit/conditions.ts';
import { pieceOfArticles } from '../kit/filePieces.ts';
import {
  fragmentHistory,
  fragmentMoves,
  fragmentsDump,
  fragmentsOf,
  lonePiece,
  mergedOf,
  piece,
} from '../kit/fragmentHistories.ts';
import { MemoryEvents } from '../kit/memoryEvents.ts';
import { caughtUp, openDatabase, projectAll, startProjection } from '../kit/projections.ts';
import { propertyRuns } from '../kit/propertyRuns.ts';
import { parsed, planned } from '../kit/rangeEvents.ts';
import { opened, type PassOptions, stored } from '../kit/releaseEvents.ts';
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

const project = (events: readonly HeadwaterEvent[], sizes?: readonly number[]) =>
  projectAll(db, fragments, stored(events), sizes);
const inMemory = (events: readonly HeadwaterEvent[]): FragmentsState => {
  const state = new FragmentsState();
  for (const event of events) state.apply(event);
  return state;
};

/** The rows as `fragmentsDump` writes the state. */
async function rowsDump(sql: Sql): Promise<string> {
  const at = `n.backbone || '/' || n.group_name || '/' || n.epoch`;
  const range = (t: string) => `n.epoch || '-' || ${t}.lo || '-' || ${t}.hi`;
  const numbering = (t: string) => `join fragments.numbering n on n.id = ${t}.numbering_id`;
  const merges = await sql.query<{ line: string; revision: number; sources: string[] }>(
    `select 'merge ' || ${at} || ' ' || encode(m.file_hash, 'hex') || ' ' || replace(m.merge_id::text, '-', '') as line,
            m.revision,
            array(select ${range('s')} || '/' || s.run || '/' || s.pass || '/' || s.posting
                    from fragments.merge_source s where s.merge_id = m.merge_id) as sources
       from fragments.merge m ${numbering('m')}`,
  );
  const rows = await sql.query<{ line: string }>(
    `select 'source ' || ${at} || ' ' || ${range('s')} || ' ' || s.run || ' ' || s.pass as line
       from fragments.source s ${numbering('s')}
     union all
     select concat_ws(' ', 'piece', ${at}, encode(p.file_hash, 'hex'), ${range('p')}, p.run, p.pass, p.posting,
                      p.lone::text, p.first_number, p.last_number, p.last_at, p.posting_first_at, p.posting_last_at,
                      array_to_string(p.parts, ','), array_to_string(p.totals, ','))
       from fragments.piece p ${numbering('p')}
     union all
     select concat_ws(' ', 'blob', ${at}, ${range('b')}, b.k, b.i, b.first_number, b.last_number, encode(b.hashes, 'hex'))
       from fragments.lone_blob b ${numbering('b')}
     union all
     select concat_ws(' ', 'unit', encode(u.file_hash, 'hex'), replace(u.merge_id::text, '-', ''), u.first_number,
                      u.last_number, u.posting_first_at, u.posting_last_at, u.last_at, u.pieces, u.mergeable::text,
                      u.complete::text, u.open::text)
       from fragments.unit u`,
  );
  const mergeLines = merges.map(({ line, revision, sources }) => {
    const { number, sequence } = unpackPosition(revision);
    return `${line} ${number}/${sequence} ${sources.sort().join(' ')}`;
  });
  return [...rows.map((r) => r.line), ...mergeLines].sort().join('\n');
}

const LEFT: PassOptions = { lo: 1, hi: 100_000 };
const RIGHT: PassOptions = { lo: 100_001, hi: 200_000 };

describe('fragments in Postgres', () => {
  it('are what the state machine says, however the events are cut into batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fragmentMoves,
        fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1 }),
        async (moves, sizes) => {
          const events = fragmentHistory(moves);
          await project(events, sizes);
          expect(await rowsDump(db)).toBe(fragmentsDump(inMemory(events)));
        },
      ),
      { numRuns: propertyRuns(20) },
    );
  });

  it('have no row for a lone part that nothing joined', async () => {
    const lone = Array.from({ length: 2000 }, (_, i) => lonePiece(`n${i}`, 60_000 + i, 1));
    await project([opened(LEFT), fragmentsOf(LEFT, { lone: [packLone(lone)] })]);
    const counts = await db.query(
      `select (select count(*) from fragments.piece) as pieces, (select count(*) from fragments.lone_blob) as blobs,
              (select count(*) from fragments.unit) as units`,
    );
    expect(counts).toEqual([{ pieces: 0, blobs: 1, units: 0 }]);
  });

  it('are found open page by page, with the position of their moment', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const whole = names.map((name) => piece(name, 99_990, { parts: [[1, 3]] }));
    const events = [
      ...[opened(LEFT), fragmentsOf(LEFT, { pieces: [...whole, piece('part', 99_999)] })],
      ...[opened({ ...LEFT, group: 'z.z' }), fragmentsOf({ ...LEFT, group: 'z.z' }, { pieces: whole })],
    ];
    await project(events);
    const port = openUnits(db);
    const found: string[] = [];
    let after: Awaited<ReturnType<typeof port.page>>['next'] = null;
    do {
      const page = await port.page(true, 3, after);
      expect(page.revision).toEqual({ number: 1, sequence: 4 });
      found.push(...page.units.map((u) => `${u.group} ${u.mergeId}`));
      after = page.next;
    } while (after);
    expect(new Set(found).size).toBe(10);
    const rest = await port.page(false, 100, null);
    expect(rest.units).toMatchObject([
      {
        backbone: 'bb',
        group: 'alt.binaries.test',
        epoch: 0,
        firstNumber: 99_999,
        lastNumber: 99_999,
        complete: false,
      },
    ]);
    expect(rest.next).toBeNull();
  });

  it('give no page of units but still their position when there are none', async () => {
    await project([opened(LEFT)]);
    expect(await openUnits(db).page(true, 3, null)).toEqual({
      revision: { number: 1, sequence: 1 },
      units: [],
      next: null,
    });
  });

  it('give back the pieces of a unit whole, those of other postings of the file left out', async () => {
    const a = piece('file', 99_990, { parts: [[1, 2]], payload: Buffer.from('left') });
    const lone = lonePiece('file', 100_010, 3, { payload: Buffer.from('right') });
    const late = piece('file', 150_000, { day: 9, posting: 1 });
    const events = [
      ...[opened(LEFT), fragmentsOf(LEFT, { pieces: [a] })],
      ...[opened(RIGHT), fragmentsOf(RIGHT, { lone: [packLone([lone])], pieces: [late] })],
    ];
    await project(events, [1]);
    const port = openUnits(db);
    const [unit] = (await port.page(true, 10, null)).units;
    const pieces = (await port.pieces([unit!.mergeId])).get(unit!.mergeId)!;
    expect(pieces.map((p) => p.piece)).toEqual(expect.arrayContaining([a, lone]));
    expect(pieces).toHaveLength(2);
    const sources = pieces.map((p) => p.source);
    expect(mergeIdOf(unit!, unit!.fileHash, sources)).toBe(unit!.mergeId);
    const sizes = await db.query('select sum(octet_length(payload)) as bytes from fragments.piece where posting = 0');
    expect(unit!.payloadBytes).toBe(Number(sizes[0]!.bytes));
    expect(await port.pieces([unit!.fileHash.repeat(2) as never])).toEqual(new Map());
  });

  it('are closed by their merge and opened again by a re-run', async () => {
    const events = [
      ...[opened(LEFT), fragmentsOf(LEFT, { pieces: [piece('file', 99_990, { parts: [[1, 2]] })] })],
      ...[opened(RIGHT), fragmentsOf(RIGHT, { pieces: [piece('file', 100_010, { parts: [[3, 3]] })] })],
    ];
    const [unit] = inMemory(events).units();
    const merged = mergedOf({}, { number: 1, sequence: 4 }, [unit!]);
    const port = openUnits(db);
    await project([...events, merged], [2]);
    expect((await port.page(true, 10, null)).units).toEqual([]);
    await project([...events, merged, opened({ ...RIGHT, run: 2 })], [4, 1]);
    expect((await port.page(false, 10, null)).units).toMatchObject([{ lastNumber: 99_990 }]);
  });

  it('are merged by the processor once the ledger says that nothing more is to come', async () => {
    for (const { name } of [fragments, ranges, control]) await db.script(`drop schema if exists "${name}" cascade`);
    await db.script('delete from projection_position');
    const events = new MemoryEvents();
    const running = [fragments, ranges, control].map((projection) => startProjection(projection, db, events.log));
    const stop = new AbortController();
    const clock = systemClock;
    const conditions = recordedConditions();
    const ports = { sink: events, reader: events, clock, conditions, log: silentLog, metrics: noMetrics };
    const rows = { units: openUnits(db), resolved: resolvedNumbers(db) };
    for (const projection of [fragments, ranges, control]) await caughtUp(db, projection, events.log);
    const ended = runFragments({ ...ports, ...rows }, stop.signal, { ...DEFAULT_FRAGMENTS_SETTINGS, roundMs: 20 });
    const articles = [1, 2].map((part) => {
      return { number: 99_990 + part, part, total: 3, bytes: 700, second: 0, poster: 'a@b' };
    });
    await events.append(opened(LEFT));
    await events.append(fragmentsOf(LEFT, { pieces: [pieceOfArticles('file', articles)] }));
    await caughtUp(db, fragments, events.log);
    // Nobody reads marks here: what no range covers is resolved, the range itself once it is parsed.
    await events.append(planned(LEFT));
    const done = parsed(LEFT);
    const releasesPosition = { number: 1, sequence: 2 };
    await events.append(makeEvent(EVENTS['range.parsed'], done.at, { ...done.data, releasesPosition }));
    await until('the unit to be closed', async () => {
      const [unit] = await db.query<{ open: boolean }>('select open from fragments.unit');
      return unit?.open === false;
    });
    stop.abort(new Error('test over'));
    await ended;
    for (const projection of running) await projection.stop();
    const merges = events.events('RELEASES', 'release.merged');
    expect(merges.map((m) => m.data.body.map((b) => b.contribution.segments))).toEqual([[2]]);
    expect(conditions.history()).toEqual([]);
  });

  it('reads what grows by its indexes alone', async () => {
    await project([opened(LEFT)]);
    await db.transaction(async (tx) => {
      await tx.script('set local enable_seqscan = off');
      const [plan] = await tx.query<{ 'QUERY PLAN': unknown }>(
        `explain (format json) select * from fragments.unit
          where open and mergeable and complete = true and (numbering_id, merge_id) > (1, '${'0'.repeat(32)}'::uuid)
          order by numbering_id, merge_id limit 10`,
      );
      expect(JSON.stringify(plan)).toContain('unit_open');
      expect(JSON.stringify(plan)).not.toContain('Seq Scan');
      expect(JSON.stringify(plan)).not.toContain('"Sort"');
    });
  });
});
