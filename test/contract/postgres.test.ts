import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import { silentLog } from '../../infra/base/log.ts';
import { migrate } from '../../infra/migrations/index.ts';
import { type ClosableDatabase, createDatabase, waitForDatabase } from '../../infra/postgres/index.ts';
import type { SqlValue } from '../../projections/ports.ts';
import { recordedConditions } from '../kit/conditions.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

let services: Services;
let url: string;
let db: ClosableDatabase;
const open = (settings: Partial<Parameters<typeof createDatabase>[0]> = {}) =>
  createDatabase({ url, connectionsMax: 3, log: silentLog, applicationName: 'test', ...settings });

beforeAll(async () => {
  services = await startServices({ nats: false });
  url = await services.freshDatabase();
  db = open();
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});

describe('the database adapter', () => {
  it('copies every supported type in and reads it back', async () => {
    await db.script(`create table kinds (a int2, b int4, c int8, d float8, e bool, f text, g bytea, h uuid,
      i timestamptz, j jsonb, k int8[], l text[], m uuid[])`);
    const uuid = '00112233-4455-6677-8899-aabbccddeeff';
    const scalars: SqlValue[] = [
      -2,
      2_000_000_000,
      2 ** 53 - 1,
      0.5,
      true,
      'a\tb\n\\N é€𝄞',
      Buffer.from([0, 255, 92]),
      uuid,
    ];
    const others: SqlValue[] = [new Date(1_700_000_000_123), '{"x": [1, "y"]}', [1, -5, 2 ** 52], ['', 'x,"y"', null]];
    const rows: SqlValue[][] = [
      [...scalars, ...others, [uuid]],
      Array<SqlValue>(13).fill(null),
      [0, 0, 0, 0, false, '', Buffer.alloc(0), uuid.replaceAll('-', ''), new Date(0), '[]', [], [], []],
    ];
    const names = [...'abcdefghijklm'];
    expect(await db.copy('kinds', names, rows)).toBe(3);
    const back = await db.query('select * from kinds');
    const read = [new Date(1_700_000_000_123), { x: [1, 'y'] }, [1, -5, 2 ** 52], ['', 'x,"y"', null], [uuid]];
    expect(Object.values(back[0]!)).toEqual([...scalars, ...read]);
    expect(Object.values(back[1]!).every((v) => v === null)).toBe(true);
    expect(back[2]).toMatchObject({ h: uuid, f: '', g: Buffer.alloc(0), k: [], l: [] });
  });

  it('copies more than one piece, whatever its rows hold', async () => {
    await db.script('create table many (n int8, payload bytea)');
    const payload = Buffer.alloc(9_000, 7);
    const rows = function* () {
      for (let n = 0; n < 500; n++) yield [n, payload];
    };
    expect(await db.copy('many', ['n', 'payload'], rows())).toBe(500);
    const [sum] = await db.query('select sum(length(payload))::int8 as bytes, count(*) as n from many');
    expect(sum).toEqual({ bytes: 500 * 9_000, n: 500 });
  });

  it('replaces NUL, which no text column can hold', async () => {
    await db.script('create table nul (t text)');
    await db.copy('nul', ['t'], [['a\0b']]);
    expect(await db.query('select t from nul')).toEqual([{ t: 'a\ufffdb' }]);
  });

  it('refuses a value that does not fit its column and leaves the connection usable', async () => {
    await db.script('create table strict (n int4)');
    await expect(db.copy('strict', ['n'], [['1']])).rejects.toThrow(/no value for a column of type int4/);
    await expect(db.copy('strict', ['n'], [[2 ** 31]])).rejects.toThrow();
    await expect(db.copy('strict', ['nope'], [[1]])).rejects.toThrow(/no column nope/);
    expect(await db.query('select count(*) as n from strict')).toEqual([{ n: 0 }]);
  });

  it('refuses an int8 that a number cannot hold instead of rounding it', async () => {
    await expect(db.query('select 9007199254740993::int8 as n')).rejects.toThrow(/does not fit/);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('commits a transaction whole or not at all', async () => {
    await db.script('create table whole (n int4)');
    const failing = db.transaction(async (tx) => {
      await tx.query('insert into whole values (1)');
      throw new Error('injected');
    });
    await expect(failing).rejects.toThrow('injected');
    await db.transaction((tx) => tx.query('insert into whole values (2)'));
    expect(await db.query('select n from whole')).toEqual([{ n: 2 }]);
  });
});

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (isHeadwaterError(error) ? error.code : String(error)),
  );

describe('errors of the server', () => {
  it('names a wrong password POSTGRES_WRONG_CREDENTIALS and never shows it', async () => {
    const wrong = new URL(url);
    wrong.password = 'not-the-password';
    const other = open({ url: wrong.toString() });
    const error = await other.query('select 1').catch((e: unknown) => e);
    expect(isHeadwaterError(error, 'POSTGRES_WRONG_CREDENTIALS')).toBe(true);
    expect(String(error)).not.toContain('not-the-password');
    await other.close();
  });

  it('names an unknown database, a refused port, a read-only transaction and a time-out', async () => {
    const none = new URL(url);
    none.pathname = '/no_such_database';
    const port = new URL(url);
    port.port = '1';
    const [a, b, c] = [
      open({ url: none.toString() }),
      open({ url: port.toString() }),
      open({ statementTimeoutMs: 50 }),
    ];
    expect(await codeOf(a.query('select 1'))).toBe('POSTGRES_NO_DATABASE');
    expect(await codeOf(b.query('select 1'))).toBe('POSTGRES_UNAVAILABLE');
    expect(await codeOf(c.query('select pg_sleep(5)'))).toBe('POSTGRES_BUSY');
    const readOnly = db.transaction(async (tx) => {
      await tx.query('set transaction read only');
      await tx.query('create table never (n int4)');
    });
    expect(await codeOf(readOnly)).toBe('POSTGRES_READ_ONLY');
    await Promise.all([a.close(), b.close(), c.close()]);
  });

  it('names a full disk and a missing right, as the server reports them', async () => {
    const raise = (state: string) => db.script(`do $$ begin raise exception 'x' using errcode = '${state}'; end $$`);
    expect(await codeOf(raise('53100'))).toBe('POSTGRES_DISK_FULL');
    expect(await codeOf(raise('42501'))).toBe('POSTGRES_FORBIDDEN');
  });

  it('lets a defect of ours through as it is', async () => {
    expect(await codeOf(db.query('selct 1'))).toMatch(/syntax error/);
  });

  it('survives a server that dies under idle and busy connections, and waits for its return', async () => {
    const other = open();
    await other.query('select 1');
    const busy = codeOf(other.query('select pg_sleep(60)'));
    await until('the statement to run', async () => {
      const rows = await db.query(`select 1 from pg_stat_activity where query like 'select pg_sleep(60)%'`);
      return rows.length > 0;
    });
    await services.killPostgres();
    expect(await busy).toBe('POSTGRES_UNAVAILABLE');
    const conditions = recordedConditions();
    const waiting = waitForDatabase(other, { clock: systemClock, signal: AbortSignal.timeout(60_000), conditions });
    await until('the outage to be reported', () => conditions.current().get('postgres') === 'POSTGRES_UNAVAILABLE');
    await services.startPostgres();
    await waiting;
    expect(conditions.current().size).toBe(0);
    expect(await other.query('select 2 as two')).toEqual([{ two: 2 }]);
    await other.close();
  });

  it('gives a statement up where the server froze under it, when somebody waits for the answer', async () => {
    const other = open({ answerTimeoutMs: 300, connectionsMax: 1 });
    const [backend] = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
    process.kill(backend!.pid, 'SIGSTOP');
    try {
      const frozen = codeOf(other.query('select 1'));
      expect(await frozen).toBe('POSTGRES_UNAVAILABLE');
      // The connection is not used again: the next statement gets another one.
      expect(await other.query('select 2 as two')).toEqual([{ two: 2 }]);
    } finally {
      process.kill(backend!.pid, 'SIGCONT');
    }
    await other.close();
  });
});

describe('migrations', () => {
  it('may be started by several services at once and again later', async () => {
    const fresh = await services.freshDatabase();
    await Promise.all([1, 2, 3].map(() => migrate(fresh, silentLog)));
    await migrate(fresh, silentLog);
    const client = new Client({ connectionString: fresh });
    await client.connect();
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public' order by 1`);
    expect(rows.map((row) => row.tablename)).toEqual(['api_key', 'migration', 'projection_position']);
    await client.end();
  });

  it('says that the server is away when it is', async () => {
    const away = new URL(url);
    away.port = '1';
    expect(await codeOf(migrate(away.toString(), silentLog))).toBe('POSTGRES_UNAVAILABLE');
  });
});
