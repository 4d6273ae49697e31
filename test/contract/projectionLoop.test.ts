import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { catalog } from '../../projections/catalog/index.ts';
import { chunks } from '../../projections/chunks/index.ts';
import type { Database, EventLog } from '../../projections/ports.ts';
import type { Projection } from '../../projections/projection.ts';
import { encodeEvent, TYPE_HEADER } from '../../streams/envelope.ts';
import { MemoryEvents } from '../kit/memoryEvents.ts';
import { caughtUp, openDatabase, type RunningProjection, startProjection } from '../kit/projections.ts';
import { contribution, opened, seen } from '../kit/releaseEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

let services: Services;
let db: ClosableDatabase;
let events: MemoryEvents;
let running: RunningProjection[] = [];

beforeAll(async () => {
  services = await startServices({ nats: false });
});
afterAll(() => services?.stop());
beforeEach(async () => {
  db = await openDatabase(await services.freshDatabase());
  events = new MemoryEvents();
});
afterEach(async () => {
  for (const projection of running) await projection.stop();
  running = [];
  await db.close();
});

function start(projection: Projection = catalog, log: EventLog = events.log, database: Database = db) {
  const started = startProjection(projection, database, log);
  running.push(started);
  return started;
}

const append = async (name: string, lo: number) => {
  await events.append(opened({ lo, hi: lo + 9 }));
  await events.append(seen({ lo, hi: lo + 9 }, [contribution(name)]));
};
const names = async () =>
  (await db.query<{ name: string }>('select name from catalog.release order by name collate "C"')).map((r) => r.name);
const conditionOf = (projection: RunningProjection, name = 'catalog') =>
  projection.conditions.current().get(`projection/${name}`);

describe('the projection loop', () => {
  it('takes what is there and what comes, and goes on from where it stood', async () => {
    await append('One', 1);
    const first = start();
    await caughtUp(db, catalog, events.log);
    await append('Two', 11);
    await caughtUp(db, catalog, events.log);
    expect(await names()).toEqual(['One', 'Two']);
    await first.stop();
    await append('Three', 21);
    start();
    await caughtUp(db, catalog, events.log);
    expect(await names()).toEqual(['One', 'Three', 'Two']);
  });

  it('moves its position past events that are not for it', async () => {
    const log: EventLog = { ...events.log, state: (family) => events.log.state(family) };
    start({ ...catalog, subjects: ['release.opened.none.>'] }, log);
    await append('One', 1);
    await caughtUp(db, catalog, events.log);
    expect(await names()).toEqual([]);
  });

  it.each(['the rows', 'the merge', 'the end'])(
    'commits rows and position together or not at all: a failure after %s',
    async (where) => {
      await append('One', 1);
      let failures = 3;
      const fail = () => {
        if (failures-- > 0) throw new Error('injected');
      };
      const failing: Database = {
        ...bound(db),
        transaction: (use) =>
          db.transaction((tx) =>
            use({
              ...bound(tx),
              copy: async (table, columns, rows) => {
                const n = await tx.copy(table, columns, rows);
                if (where === 'the rows' && table.includes('contribution')) fail();
                return n;
              },
              script: async (text) => {
                await tx.script(text);
                if (where === 'the merge' && text === catalog.mergeSql) fail();
              },
            }).then((result) => {
              if (where === 'the end' && failures < 99) fail();
              return result;
            }),
          ),
      };
      const projection = start(catalog, events.log, failing);
      await until('the failure to be seen', () => projection.conditions.history().length > 0);
      await caughtUp(db, catalog, events.log);
      expect(await names()).toEqual(['One']);
      const [sums] = await db.query('select segments from catalog.release');
      expect(sums).toEqual({ segments: 10 });
      await until('the condition to be cleared', () => projection.conditions.current().size === 0);
      expect(projection.conditions.history()).toContain('projection/catalog PROJECTION_FAILED');
    },
  );

  it('is taken over by a second runner; the first one can commit no more and says so', async () => {
    await append('One', 1);
    const first = start();
    await caughtUp(db, catalog, events.log);
    const second = start();
    await until('the second to take over', async () => {
      const [row] = await db.query<{ epoch: number }>('select epoch from projection_position');
      return row?.epoch === 2;
    });
    await append('Two', 11);
    const error = await first.ended.catch((e: unknown) => e);
    expect(isHeadwaterError(error, 'PROJECTION_FENCED')).toBe(true);
    expect(conditionOf(first)).toBe('PROJECTION_FENCED');
    await caughtUp(db, catalog, events.log);
    expect(await names()).toEqual(['One', 'Two']);
    expect(conditionOf(second)).toBeUndefined();
  });

  /** Two releases are read, then the projection is stopped. */
  async function readBefore(): Promise<void> {
    await append('One', 1);
    await append('Two', 11);
    const before = start();
    await caughtUp(db, catalog, events.log);
    await before.stop();
  }

  /** Whatever the stream looks like now: the refusal holds, also over a restart, until the schema is dropped. */
  async function expectHeld(first: RunningProjection, code: string, log: EventLog): Promise<void> {
    const [row] = await db.query<{ refused: { code: string } }>('select refused from projection_position');
    expect(row?.refused.code).toBe(code);
    expect(conditionOf(first)).toBe(code);
    await first.stop();
    const again = start(catalog, log);
    await until('the refusal after a restart', () => conditionOf(again) === code);
    expect(await names()).toEqual(['One', 'Two']);
    await db.script('drop schema catalog cascade');
    await caughtUp(db, catalog, log);
    await until('the condition to be cleared', () => conditionOf(again) === undefined);
    const [fresh] = await db.query('select refused from projection_position');
    expect(fresh).toEqual({ refused: null });
  }

  it('refuses a stream that lost its beginning until its schema is dropped', async () => {
    await append('One', 1);
    let first = 2;
    const log: EventLog = {
      read: events.log.read.bind(events.log),
      state: async (family) => ({ ...(await events.log.state(family)), first: { number: 1, sequence: first } }),
    };
    const projection = start(catalog, log);
    await until('the refusal', () => conditionOf(projection) === 'PROJECTION_GAP');
    expect(await names()).toEqual([]);
    first = 1;
    await append('Two', 11);
    await projection.stop();
    const again = start(catalog, log);
    await until('the refusal', () => conditionOf(again) === 'PROJECTION_GAP');
    expect(await names()).toEqual([]);
    // What the hint tells a person to do when the stream is back whole.
    await db.script('update projection_position set refused = null');
    await caughtUp(db, catalog, log);
    expect(await names()).toEqual(['One', 'Two']);
  });

  it('refuses a stream that lost its end, also once it has grown past the position', async () => {
    await readBefore();
    const createdAt = events.stream('RELEASES').createdAt;
    const shorter = new MemoryEvents({ clock: { now: () => createdAt, sleep: noSleep } });
    await shorter.append(opened({ lo: 1, hi: 10 }));
    const projection = start(catalog, shorter.log);
    await until('the refusal', () => conditionOf(projection) === 'PROJECTION_AHEAD');
    for (let i = 0; i < 9; i++) await shorter.append(opened({ lo: 101 + i * 10, hi: 110 + i * 10 }));
    await expectHeld(projection, 'PROJECTION_AHEAD', shorter.log);
    expect(await names()).toEqual([]);
  });

  it('refuses a stream of the same name that was created anew', async () => {
    await readBefore();
    const other = new MemoryEvents({ clock: { now: () => 1_000, sleep: noSleep } });
    for (let pass = 1; pass <= 9; pass++) await other.append(opened({ pass }));
    const projection = start(catalog, other.log);
    await until('the refusal', () => conditionOf(projection) === 'PROJECTION_STREAM_REPLACED');
    await expectHeld(projection, 'PROJECTION_STREAM_REPLACED', other.log);
    expect(await names()).toEqual([]);
  });

  it.each([
    ['version', { [TYPE_HEADER]: 'release.seen/99' }, 'EVENT_UNKNOWN_VERSION'],
    ['type', { [TYPE_HEADER]: 'release.invented/1' }, 'EVENT_UNKNOWN_TYPE'],
    ['shape', { 'Nats-Msg-Id': 'something else' }, 'EVENT_MALFORMED'],
  ])(
    'stops before an event of unknown %s, commits what is before it, and takes it when it can',
    async (_, headers, code) => {
      await append('One', 1);
      await events.append(opened({ lo: 11, hi: 20 }));
      const good = encodeEvent(seen({ lo: 11, hi: 20 }, [contribution('Two')]));
      const bad = { ...good, headers: { ...good.headers, ...headers } };
      events.putRaw('RELEASES', bad);
      await append('Three', 21);
      const projection = start();
      await until('the stop', () => conditionOf(projection) === code);
      expect(await names()).toEqual(['One']);
      const [row] = await db.query('select sequence from projection_position');
      expect(row).toEqual({ sequence: 3 });
      expect(projection.conditions.history()).not.toContain('projection/catalog PROJECTION_FAILED');
      // The upgrade: the same message can be read now.
      Object.assign(bad.headers, good.headers);
      await caughtUp(db, catalog, events.log);
      expect(await names()).toEqual(['One', 'Three', 'Two']);
      await until('the condition to be cleared', () => conditionOf(projection) === undefined);
    },
  );

  it('stops right before the event that its merge cannot take', async () => {
    await append('One', 1);
    await append('Two', 11);
    const projection = start({
      ...catalog,
      project(all, state) {
        const bad = all.some((e) => e.event.type === 'release.seen' && e.event.data.body.some((c) => c.name === 'Two'));
        if (bad) throw new TypeError('a defect');
        return catalog.project(all, state as never);
      },
    });
    await until('the position to stand before it', async () => {
      const [row] = await db.query<{ sequence: number }>('select sequence from projection_position');
      return row?.sequence === 3;
    });
    expect(await names()).toEqual(['One']);
    await until('the stop', () => conditionOf(projection) === 'PROJECTION_FAILED');
  });

  it('does not run on rows of another version', async () => {
    await append('One', 1);
    const before = start();
    await caughtUp(db, catalog, events.log);
    await before.stop();
    await append('Two', 11);
    const projection = start({ ...catalog, version: 99 });
    await until('the refusal', () => conditionOf(projection) === 'PROJECTION_NEEDS_REBUILD');
    expect(await names()).toEqual(['One']);
  });

  it('begins anew when its schema was dropped, and refuses rows whose position is unknown', async () => {
    await append('One', 1);
    const before = start();
    await caughtUp(db, catalog, events.log);
    await before.stop();
    await db.script('drop schema catalog cascade');
    const again = start();
    await until('the rows to be back', async () => (await names()).includes('One'));
    // Also under a projection that runs.
    await db.script('drop schema catalog cascade');
    await append('Two', 11);
    await until('the rows to be back', async () => (await names()).length === 2);
    await again.stop();
    await db.script('delete from projection_position');
    const refused = start();
    await until('the refusal', () => conditionOf(refused) === 'PROJECTION_NEEDS_REBUILD');
  });

  it('two projections that start at once on an empty database do not clash', async () => {
    await append('One', 1);
    start(catalog);
    start(chunks);
    await caughtUp(db, catalog, events.log);
    await caughtUp(db, chunks, events.log);
    expect(await names()).toEqual(['One']);
  });

  it('waits for a database that goes away and loses nothing', async () => {
    const projection = start();
    for (let i = 0; i < 5; i++) await append(`Before ${i}`, 1 + i * 10);
    await services.killPostgres();
    for (let i = 0; i < 5; i++) await append(`While ${i}`, 101 + i * 10);
    await until('the outage to be reported', () => conditionOf(projection) === 'POSTGRES_UNAVAILABLE');
    await services.startPostgres();
    await caughtUp(db, catalog, events.log);
    expect((await names()).length).toBe(10);
    await until('the condition to be cleared', () => conditionOf(projection) === undefined);
  });
});

const noSleep = () => Promise.resolve();
/** Class instances lose their methods when spread. */
const bound = <T extends Database | Parameters<Parameters<Database['transaction']>[0]>[0]>(sql: T) => ({
  query: sql.query.bind(sql) as Database['query'],
  script: sql.script.bind(sql),
  copy: sql.copy.bind(sql),
});
