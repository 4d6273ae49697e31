import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { SqlValue } from '../../projections/ports.ts';
import { type CopyColumn, encodeCopy } from './copyBinary.ts';

const COLUMNS = `
  select a.attname as name, t.typname as type, e.typname as element_type, coalesce(e.oid::int8, 0) as element_oid
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
   where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`;

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly element_type: string | null;
  readonly element_oid: number;
}

async function columnsOf(client: ClientBase, table: string, names: readonly string[]): Promise<readonly CopyColumn[]> {
  const { rows } = await client.query<ColumnRow>(COLUMNS, [table]);
  return names.map((name) => {
    const row = rows.find((column) => column.name === name);
    if (!row) throw new TypeError(`table ${table} has no column ${name}`);
    return { type: row.type, elementType: row.element_type, elementOid: row.element_oid };
  });
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** COPY into `table` (may be qualified, is not quoted); the columns' types are asked of the server. */
export async function copyInto(
  client: ClientBase,
  table: string,
  names: readonly string[],
  rows: Iterable<readonly SqlValue[]>,
): Promise<number> {
  const columns = await columnsOf(client, table, names);
  let count = 0;
  const pieces = encodeCopy(columns, rows, () => {
    count += 1;
  });
  const target = client.query(copyFrom(`copy ${table} (${names.map(quoted).join(', ')}) from stdin (format binary)`));
  await pipeline(Readable.from(pieces, { objectMode: true, highWaterMark: 2 }), target);
  return count;
}
