import { silentLog } from '../../infra/base/log.ts';
import { createDatabase } from '../../infra/postgres/index.ts';
import type { Sql } from '../../projections/ports.ts';
import { initCompression } from '../../streams/codec/compression.ts';
import { catalogDump } from './catalogDump.ts';
import type { Headwater } from './headwater.ts';

/** What a running Headwater has indexed, in a form in which two of them can be compared. */
export interface IndexedState {
  /** One line a row, sorted. */
  readonly catalog: readonly string[];
  /** The NZB of every release, by what identifies it apart from ids: key and time. */
  readonly nzbs: ReadonlyMap<string, string>;
}

/** NZBs asked for at once. */
const CONCURRENCY = 6;

export async function withDatabaseOf<T>(headwater: Headwater, use: (sql: Sql) => Promise<T>): Promise<T> {
  const db = createDatabase({
    url: headwater.databaseUrl(),
    connectionsMax: 2,
    log: silentLog,
    applicationName: 'headwater test',
  });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

async function everyNzb(headwater: Headwater, sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ id: string; key: string; first: number }>(
    `select release_id as id, key, first_at as first from catalog.release order by key, first_at`,
  );
  const nzbs = new Map<string, string>();
  const left = [...rows];
  const worker = async () => {
    for (let row = left.shift(); row; row = left.shift()) {
      nzbs.set(`${row.key}/${row.first}`, await headwater.get(row.id.replaceAll('-', '')));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return nzbs;
}

/** Reads catalog, chunks and, through the API, every NZB. Headwater must be idle. */
export async function indexedState(headwater: Headwater): Promise<IndexedState> {
  await initCompression();
  return withDatabaseOf(headwater, async (sql) => ({
    catalog: (await catalogDump(sql)).split('\n'),
    nzbs: await everyNzb(headwater, sql),
  }));
}

const DIFFERENCES_SHOWN = 5;
const shown = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)} ...` : text);

/** What one has and the other has not, a few of each; empty when both are equal. */
export function differences(expected: IndexedState, actual: IndexedState): readonly string[] {
  const [before, after] = [new Set(expected.catalog), new Set(actual.catalog)];
  const missing = expected.catalog.filter((line) => !after.has(line)).map((line) => `missing: ${shown(line)}`);
  const added = actual.catalog.filter((line) => !before.has(line)).map((line) => `added: ${shown(line)}`);
  const keys = new Set([...expected.nzbs.keys(), ...actual.nzbs.keys()]);
  const nzbs = [...keys].filter((key) => expected.nzbs.get(key) !== actual.nzbs.get(key));
  const count = expected.catalog.length === actual.catalog.length ? [] : ['the number of rows differs'];
  return [missing, added, nzbs.map((key) => `another NZB: ${key}`), count].flatMap((list) =>
    list.slice(0, DIFFERENCES_SHOWN),
  );
}
