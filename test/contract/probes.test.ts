import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { applyBatch } from '../../projections/apply.ts';
import { resumeClaim } from '../../projections/position.ts';
import { probes } from '../../projections/probes/index.ts';
import { probeCounts } from '../../projections/probes/rows.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { EpochMs } from '../../streams/ids.ts';
import { PROBE_KINDS } from '../../streams/records.ts';
import { candidate, candidates, settledAs, settlement } from '../kit/probeEvents.ts';
import { modelProbes } from '../kit/probeModel.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { propertyRuns } from '../kit/propertyRuns.ts';
import { DAY, opened, type PassOptions, stored, T0 } from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

const project = (events: readonly HeadwaterEvent[], sizes?: readonly number[]) =>
  projectAll(db, probes, stored(events), sizes);
/** Goes on from where the projection stands. */
async function goOn(events: readonly HeadwaterEvent[], from: number): Promise<void> {
  const [row] = await db.query<{ epoch: number }>(`select epoch from public.projection_position where name = 'probes'`);
  const start = { schema: 'probes', epoch: row!.epoch, position: { number: 1, sequence: 0 }, streamCreatedAt: null };
  const claim = await resumeClaim(db, start);
  const batch = stored(events, from);
  await db.transaction((tx) => applyBatch(tx, probes, claim, { events: batch, upTo: batch.at(-1)!.position }));
}

const at = (days: number): EpochMs => (T0 + days * DAY) as EpochMs;
const range = (n: number): PassOptions => ({ lo: n * 1000 + 1, hi: n * 1000 + 1000 });
const queue = () =>
  db.query<{ id: string; priority: number; chosen: boolean; attempts: number }>(
    'select message_id as id, priority, chosen, attempts from probes.probe order by priority, message_id',
  );
const ids = async () => (await queue()).map(({ id }) => id);
const one = (n: number, id: string, o: Parameters<typeof candidate>[1] = {}) => [
  opened(range(n)),
  candidates(range(n), [candidate('a', { id, ...o })]),
];

describe('what is chosen', () => {
  it('is of each release the best per kind over all its contributions', async () => {
    const more = [
      candidate('a', { kind: 'par2', id: 'large@x', rank: 900 }),
      candidate('a', { kind: 'par2', id: 'small@x', rank: 20 }),
      candidate('a', { kind: 'sevenzip_end', id: 'end@x', rank: 0 }),
    ];
    await project([
      ...one(0, 'second@x', { rank: 2 }),
      ...one(1, 'first@x', { rank: 1 }),
      opened(range(2)),
      candidates(range(2), more),
    ]);
    expect(await ids()).toEqual(['first@x', 'small@x', 'end@x']);
  });

  it('is of two as good the lower message-id', async () => {
    await project([...one(0, 'b@x'), ...one(1, 'a@x'), ...one(2, 'Z@x')], [1]);
    expect(await ids()).toEqual(['Z@x']);
  });

  it('is one article for each release of a key: those 3 days apart are two', async () => {
    const days = (gap: number) => [...one(0, 'a@x'), ...one(1, 'b@x', { firstAt: at(gap), lastAt: at(gap) })];
    await project(days(3));
    expect(await ids()).toEqual(['a@x', 'b@x']);
    await project(days(2.99));
    expect(await ids()).toEqual(['a@x']);
  });

  it('is chosen anew when a re-run withdraws it, and a zombie changes nothing', async () => {
    const again = { ...range(0), run: 2 };
    const events = [...one(0, 'a@x'), ...one(1, 'b@x'), opened(again), candidates(range(0), [candidate('a')], 1)];
    await project(events, [2, 1]);
    expect(await ids()).toEqual(['b@x']);
    await project([...events, opened({ ...range(1), pass: 2 })], [4, 1]);
    expect(await ids()).toEqual([]);
  });

  it('is read once when two backbones tell its date differently, 3 days apart', async () => {
    await project([...one(0, 'a@x'), ...one(1, 'a@x', { firstAt: at(9), lastAt: at(9) })]);
    expect(await ids()).toEqual(['a@x']);
  });
});

describe('the order of the queue', () => {
  it('is settled releases first, then random names, then the kind, then the longest waiting', async () => {
    const of = (name: string, o: Parameters<typeof candidate>[1] = {}) => candidate(name, { id: `${name}@x`, ...o });
    await project([
      opened(),
      candidates(
        {},
        [of('late'), of('settled'), of('random', { random: true }), of('par2', { kind: 'par2' })],
        0,
        at(2),
      ),
      candidates({}, [of('early')], 1, at(1)),
      settledAs([settlement('settled')]),
    ]);
    const claim = 'select message_id from probes.probe where chosen and state = $1 order by priority, next_attempt_at';
    const order = (await db.query(claim, ['due'])).map((row) => row.message_id);
    expect(order).toEqual(['settled@x', 'random@x', 'early@x', 'late@x', 'par2@x']);
    expect(await probeCounts(db)).toEqual({ due: 5, dueSettled: 1, exact: true });
  });

  it('is read along an index of just that order', async () => {
    const plan = await db.transaction(async (tx) => {
      await tx.script('set local enable_seqscan = off; set local enable_sort = off');
      return tx.query<{ 'QUERY PLAN': string }>(
        `explain select * from probes.probe where chosen and state = 'due' and next_attempt_at <= 1
          order by priority, next_attempt_at limit 50`,
      );
    });
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('probe_claim');
    expect(text).not.toMatch(/Sort|Seq Scan/);
  });
});

describe('a settlement', () => {
  const priorities = async () => (await queue()).map(({ priority }) => priority);
  const SETTLED = 4;
  const UNSETTLED = 12;

  it.each([[[1]], [[9]], [[3, 1]]])(
    'holds until a candidate comes, and again when that is withdrawn (batches of %j)',
    async (sizes) => {
      const settled = [...one(0, 'a@x'), settledAs([settlement('a')])];
      await project(settled, sizes);
      expect(await priorities()).toEqual([SETTLED]);
      const later = [...settled, ...one(1, 'b@x')];
      await project(later, sizes);
      expect(await priorities()).toEqual([UNSETTLED]);
      await project([...later, opened({ ...range(1), run: 2 })], sizes);
      expect(await priorities()).toEqual([SETTLED]);
      await project([...later, settledAs([settlement('a', T0, at(1))])], sizes);
      expect(await priorities()).toEqual([SETTLED]);
    },
  );

  it('is of the release that its span meets only', async () => {
    const two = [...one(0, 'a@x'), ...one(1, 'b@x', { firstAt: at(9), lastAt: at(9) })];
    await project([...two, settledAs([settlement('a', at(8), at(10))])]);
    expect(await queue()).toMatchObject([
      { id: 'b@x', priority: SETTLED },
      { id: 'a@x', priority: UNSETTLED },
    ]);
  });

  it('that no candidate came before leaves no row', async () => {
    const other = settledAs([settlement('nothing'), settlement('a')]);
    await project([other, ...one(0, 'a@x')], [1]);
    expect(await priorities()).toEqual([UNSETTLED]);
    expect(await db.query('select from probes.settled')).toEqual([]);
  });
});

describe('a row', () => {
  it('keeps its attempts and its lease while its article is not chosen, and goes on when it is again', async () => {
    const first = one(0, 'a@x', { rank: 5 });
    await project(first);
    await db.query(
      `update probes.probe set attempts = 2, error_class = 'absent', failed_providers = '{one,two}', next_attempt_at = 77,
              worker = 'w', leased_until = 99`,
    );
    const better = one(1, 'b@x');
    await goOn(better, 3);
    expect(await queue()).toMatchObject([
      { id: 'a@x', chosen: false, attempts: 2 },
      { id: 'b@x', chosen: true, attempts: 0 },
    ]);
    expect((await probeCounts(db)).due).toBe(1);
    await goOn([opened({ ...range(1), run: 2 })], 5);
    expect(await db.query('select * from probes.probe')).toMatchObject([
      {
        ...{ message_id: 'a@x', chosen: true, state: 'due', attempts: 2, error_class: 'absent' },
        ...{ failed_providers: ['one', 'two'], next_attempt_at: 77, worker: 'w', leased_until: 99 },
      },
    ]);
  });

  it('that is leased keeps its lease when its release is settled', async () => {
    await project(one(0, 'a@x'));
    await db.query(`update probes.probe set worker = 'w', leased_until = 99`);
    await goOn([settledAs([settlement('a')])], 3);
    expect(await db.query('select worker, priority from probes.probe')).toEqual([{ worker: 'w', priority: 4 }]);
  });
});

/** A small world in which passes, ranges, times and settlements collide all the time. */
const worldEvent: fc.Arbitrary<HeadwaterEvent> = fc
  .record({
    what: fc.constantFrom('opened', 'candidates', 'candidates', 'settled'),
    range: fc.integer({ min: 0, max: 2 }),
    run: fc.integer({ min: 1, max: 2 }),
    pass: fc.integer({ min: 1, max: 2 }),
    k: fc.integer({ min: 0, max: 1 }),
    hour: fc.integer({ min: 0, max: 9 }),
    parts: fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b'),
        id: fc.constantFrom('1@x', '2@x', '3@x', 'ä@x'),
        kind: fc.constantFrom(...PROBE_KINDS),
        rank: fc.integer({ min: 0, max: 2 }),
        random: fc.boolean(),
        days: fc.integer({ min: 0, max: 12 }),
        length: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ what, range: n, run, pass, k, hour, parts }) => {
    const o = { ...range(n), run, pass };
    if (what === 'opened') return opened(o);
    const span = (p: (typeof parts)[number]) => [at(p.days), at(p.days + p.length)] as const;
    if (what === 'settled') return settledAs(parts.map((p) => settlement(p.name, ...span(p))));
    const body = parts.map(({ name, ...p }) => {
      // An article has one date, of which its id tells here.
      const days = p.id.charCodeAt(0) % 9;
      const firstAt = at(days);
      // What is said of an article is a function of the article and of its range.
      return candidate(name, { ...p, random: p.id < '3', firstAt, lastAt: at(days + ((n + p.rank) % 4)) });
    });
    return candidates(o, body, k, T0 + hour * 3_600_000);
  });

describe('the queue as a whole', () => {
  it('is what the rules say, however the events are cut into batches', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 });
    const rows = () =>
      db.query(
        `select replace(key::text, '-', '') as key, kind, message_id as id, priority, next_attempt_at as due,
                first_at as "firstAt", last_at as "lastAt" from probes.probe order by key, kind, message_id collate "C"`,
      );
    const kept = () =>
      db.query(
        `select key, position, n, first_at, last_at from probes.settled
          union all select key, position, rank::int4, first_at, last_at from probes.candidate order by 1, 2, 3, 4, 5`,
      );
    await fc.assert(
      fc.asyncProperty(fc.array(worldEvent, { minLength: 1, maxLength: 24 }), cuts, async (events, sizes) => {
        await project(events, sizes);
        expect(await rows()).toEqual(modelProbes(stored(events)));
        const cut = await kept();
        await project(events);
        expect(await rows()).toEqual(modelProbes(stored(events)));
        expect(await kept()).toEqual(cut);
      }),
      { numRuns: propertyRuns(12) },
    );
  });
});
