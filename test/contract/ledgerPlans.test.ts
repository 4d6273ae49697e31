import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { applyBatch } from '../../projections/apply.ts';
import { control } from '../../projections/control/index.ts';
import { currentGarbage, garbageVersion, groupLists } from '../../projections/control/rows.ts';
import { fragments } from '../../projections/fragments/index.ts';
import { openUnits } from '../../projections/fragments/rows.ts';
import type { Sql } from '../../projections/ports.ts';
import { claimProjection } from '../../projections/position.ts';
import { probes } from '../../projections/probes/index.ts';
import { probeCounts } from '../../projections/probes/rows.ts';
import type { Projection } from '../../projections/projection.ts';
import { ranges } from '../../projections/ranges/index.ts';
import { resolvedNumbers } from '../../projections/ranges/resolved.ts';
import { rangeLedger } from '../../projections/ranges/rows.ts';
import { initCompression } from '../../streams/codec/compression.ts';
import { packLone } from '../../streams/codec/fragments.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../streams/events/index.ts';
import { Backbone, Epoch, type EpochMs, Group, RangeId, type ReleaseKey } from '../../streams/ids.ts';
import { readEndToEnd } from '../kit/bigCatalog.ts';
import {
  BIG_GROUPS,
  bigFileHash,
  bigGroup,
  bigProbeKey,
  bigRange,
  bigRangesOf,
  fillBigLedgers,
} from '../kit/bigLedgers.ts';
import { fragmentsOf, lonePiece, mergedOf, piece } from '../kit/fragmentHistories.ts';
import { candidate, candidates, settledAs, settlement } from '../kit/probeEvents.ts';
import { openDatabase } from '../kit/projections.ts';
import { failed, fetched, marks, parsed, plannedMany, retired, retried, wanted } from '../kit/rangeEvents.ts';
import { opened, stored } from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

const RANGES = process.env.HEADWATER_TEST_FULL ? 400_000 : 40_000;

/**
 * Tables that may be read from end to end, and why. Not asked here are `listRanges`, `rangeCounts` and `coverage`: they show a
 * person the whole ledger, once for each command; and it has a row for 20,000 articles or more.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  'ranges.numbering': 'a row a group, backbone and epoch',
  'ranges.poll': 'a row a backbone',
  'fragments.numbering': 'a row a group, backbone and epoch',
  'probes.group_name': 'a row a group',
  'probes.backbone_name': 'a row a backbone',
  'control.group_entry': 'a row a group',
};

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  await initCompression();
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
  await fillBigLedgers(db, RANGES);
}, 900_000);
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

const SCHEMAS = ['ranges', 'fragments', 'probes', 'control'];
const growing = async (work: (tx: Sql) => Promise<unknown>) =>
  (await readEndToEnd(db, SCHEMAS, work)).filter((name) => !(name in BOUNDED));

async function apply(tx: Sql, projection: Projection, events: readonly HeadwaterEvent[]): Promise<void> {
  const claim = await claimProjection({ ...db, ...tx, transaction: (use) => use(tx) }, projection, projection.name);
  const batch = stored(events, claim.position.sequence + 1);
  await applyBatch(tx, projection, claim, { events: batch, upTo: batch.at(-1)!.position });
  // What a commit does.
  await tx.script(`truncate ${projection.staging.map(({ name }) => `pg_temp.${name}`).join(', ')}`);
}

/** A value that SQL made, in lower-case hex. */
async function made(expressions: readonly string[]): Promise<readonly string[]> {
  const rows = await db.query<{ v: string }>(`select unnest(array[${expressions.join(', ')}])::text as v`);
  return rows.map(({ v }) => v.replaceAll('-', ''));
}

const BB = Backbone('bb');
const [LARGE, SMALL] = [0, 7];
const last = (n: number) => bigRangesOf(n, RANGES) - 1;
/** So many stored ranges, spread over all groups. */
const old = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    group: bigGroup(i % BIG_GROUPS),
    ...bigRange(Math.floor(i / BIG_GROUPS)),
  }));
/** So many ranges that are not stored yet, behind the last ones. */
const fresh = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    return { group: bigGroup(i % BIG_GROUPS), ...bigRange(last(i % BIG_GROUPS) + 1 + Math.floor(i / BIG_GROUPS)) };
  });
const both = (count: number) => [...old(count), ...fresh(count)];

describe('in a large range ledger, no table that grows is read from end to end', () => {
  const ledger = (tx: Sql) => rangeLedger(tx);
  const asks: Readonly<Record<string, (tx: Sql) => Promise<unknown>>> = {
    'what is planned': (tx) => ledger(tx).planned(BB, Group(bigGroup(LARGE)), Epoch(0)),
    'how much is outstanding': (tx) => ledger(tx).outstanding(),
    'the marks of all groups': (tx) => ledger(tx).marks(BB),
    'the last high mark': (tx) => ledger(tx).lastHigh(BB, Group(bigGroup(LARGE)), Epoch(0)),
    'what is not fetched': (tx) => ledger(tx).unfetched(BB),
    'what is short': (tx) =>
      ledger(tx).short(BB, { parsedUpTo: Number.MAX_SAFE_INTEGER as EpochMs, runs: 50, intervals: 1000 }),
    'what is to be tried again': (tx) => ledger(tx).toRetry(BB, 50),
    'what returns with its group': (tx) => {
      const open = Array.from({ length: BIG_GROUPS }, (_, n) => {
        return { group: Group(bigGroup(n)), epoch: Epoch(0), from: 1 };
      });
      return ledger(tx).returned(BB, open, 50);
    },
    'what is wanted': (tx) => ledger(tx).wanted(BB),
    'the state of a run': (tx) => {
      const { lo, hi } = bigRange(9);
      const rangeId = RangeId.of(Epoch(0), lo as never, hi as never);
      return ledger(tx).stateOf({ backbone: BB, group: Group(bigGroup(SMALL)), rangeId, run: 1 });
    },
  };
  it.each(Object.entries(asks))('when somebody asks for %s', async (_, ask) => {
    expect(
      await growing(async (tx) => {
        const answer = await ask(tx);
        expect(answer).not.toBeNull();
        expect(answer).not.toEqual([]);
      }),
    ).toEqual([]);
  });

  it.each([LARGE, SMALL])('when fragments and settle ask which numbers of group %i are resolved', async (n) => {
    const projected = { number: 1, sequence: 10 };
    const ask = async (tx: Sql) => {
      const { resolved } = await resolvedNumbers(tx).of(BB, Group(bigGroup(n)), Epoch(0), projected);
      expect(resolved.length).toBeGreaterThan(0);
    };
    expect(await growing(ask)).toEqual([]);
  });

  const batches: Readonly<Record<string, readonly HeadwaterEvent[]>> = {
    'of plans': [plannedMany(fresh(1000)), ...fresh(500).map((o) => plannedMany([{ ...o, run: 2 }]))],
    'of fetched ranges': both(500).map((o) => fetched({ ...o, run: 2 }, [[o.lo, o.lo + 3]])),
    'of parsed ranges': both(500).map((o) => parsed({ ...o, pass: 2 })),
    'of what failed, was tried again and was retired': [
      ...both(300).map((o) => failed(o)),
      retried(old(300)),
      ...both(300).map((o) => retired(o)),
    ],
    'of one event': [parsed({ group: bigGroup(SMALL), ...bigRange(3), pass: 2 })],
    'of marks and wishes': [
      marks(Array.from({ length: BIG_GROUPS }, (_, n) => ({ group: bigGroup(n), low: 1, high: 10 ** 9 }))),
      wanted(both(300)),
    ],
  };
  it.each(Object.entries(batches))('by a batch %s', async (_, events) => {
    expect(await growing((tx) => apply(tx, ranges, events))).toEqual([]);
  });
});

describe('in large fragments, no table that grows is read from end to end', () => {
  const pieceAt = (fileHash: string, number: number, name = fileHash) => ({ ...piece(name, number), fileHash });

  it('by a batch of new ranges, and of ranges that were parsed before', async () => {
    // Half of the pieces are of files that are stored, the others of new ones; lone parts in each range.
    const all = [...old(200).map((o) => ({ ...o, run: 2 })), ...fresh(200)];
    const hashes = await made(all.map((_, i) => bigFileHash(i % BIG_GROUPS, Math.floor(i / BIG_GROUPS))));
    const events = all.flatMap((o, i) => {
      const pieces = [pieceAt(hashes[i]!, o.hi), piece(`new ${i}`, o.lo)];
      const lone = Array.from({ length: 50 }, (_, n) => lonePiece(`lone ${i} ${n}`, o.hi - n, 1));
      return [opened(o), fragmentsOf(o, { pieces, lone: [packLone(lone)] })];
    });
    expect(await growing((tx) => apply(tx, fragments, events))).toEqual([]);
  });

  it('by pages of open units, the pieces of some and a batch of their merges', async () => {
    const o = { group: bigGroup(SMALL), ...bigRange(last(SMALL) + 1) };
    const pieces = Array.from({ length: 300 }, (_, i) => piece(`unit ${i}`, o.hi - i, { parts: [[1, 3]] }));
    const work = async (tx: Sql) => {
      const open = await openUnits(tx).page(false, 500, null);
      expect(open.units).toHaveLength(500);
      expect((await openUnits(tx).page(false, 500, open.next)).units).toHaveLength(500);
      await apply(tx, fragments, [opened(o), fragmentsOf(o, { pieces })]);
      const { units, revision } = await openUnits(tx).page(true, 500, null);
      const found = await openUnits(tx).pieces(units.map((u) => u.mergeId));
      expect(found.size).toBe(300);
      const merges = units.map((u) => {
        const of = found.get(u.mergeId)!.map(({ source, piece: p }) => ({ ...p, ...source }));
        return mergedOf(o, revision, [{ mergeId: u.mergeId, fileHash: u.fileHash, pieces: of as never }]);
      });
      await apply(tx, fragments, merges);
      expect((await openUnits(tx).page(true, 500, null)).units).toEqual([]);
    };
    expect(await growing(work)).toEqual([]);
  });
});

describe('in a large probe queue, no table that grows is read from end to end', () => {
  it('by a batch of candidates and settlements, and of ranges that were parsed before', async () => {
    const keys = await made(Array.from({ length: 400 }, (_, i) => bigProbeKey(i)));
    const all = [...old(200).map((o) => ({ ...o, run: 2 })), ...fresh(200)];
    const events = all.flatMap((o, i) => {
      const known = candidate(`known.${i}`, { key: keys[i] as ReleaseKey });
      return [opened(o), candidates(o, [known, candidate(`new.${i}`)])];
    });
    const settlements = keys.map((key) => ({ ...settlement('known'), key: key as ReleaseKey }));
    expect(await growing((tx) => apply(tx, probes, [...events, settledAs(settlements)]))).toEqual([]);
    expect(await growing((tx) => apply(tx, probes, events.slice(0, 2)))).toEqual([]);
  });

  it('by counting what is due', async () => {
    const count = async (tx: Sql) => expect((await probeCounts(tx)).due).toBeGreaterThan(RANGES);
    expect(await growing(count)).toEqual([]);
  });
});

describe('in many versions of the lists, no table that grows is read from end to end', () => {
  it('by those who want one, and by a batch of new ones', async () => {
    const work = async (tx: Sql) => {
      expect((await groupLists(tx).current())?.listVersion).toBe(5000);
      expect((await groupLists(tx).version(17))?.listVersion).toBe(17);
      expect((await currentGarbage(tx))?.garbageVersion).toBe(5000);
      expect((await garbageVersion(tx, 17))?.garbageVersion).toBe(17);
      const list = { origin: 'operator' as const, listVersion: 5001, entries: [] };
      await apply(tx, control, [makeEvent(EVENTS['control.groups'], 1 as EpochMs, list)]);
    };
    expect(await growing(work)).toEqual([]);
  });
});

it('would be seen if one were', async () => {
  expect(await growing((tx) => tx.query('select count(*) from ranges.range where lines = 5'))).toEqual([
    'ranges.range',
  ]);
});
