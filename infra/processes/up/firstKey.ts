import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKey, findKey, listKeys } from '../../../api/keys.ts';
import type { Database, Sql } from '../../../projections/ports.ts';

const fileOf = (dataDir: string): string => join(dataDir, 'runtime', 'first-key');

function keptKey(dataDir: string): string | null {
  try {
    return readFileSync(fileOf(dataDir), 'utf8').trim();
  } catch {
    return null;
  }
}

/** `first`, or `first-2` and so on while a key whose text was lost still has the name. */
async function freeName(sql: Sql): Promise<string> {
  const valid = (await listKeys(sql)).filter((k) => k.revokedAt === null);
  const taken = new Set(valid.map((k) => k.name));
  for (let n = 1; ; n++) {
    const name = n === 1 ? 'first' : `first-${n}`;
    if (!taken.has(name)) return name;
  }
}

/** The key that `up` prints: the same at every start, until it is revoked or the database is a new one. */
export async function firstKey(db: Database, dataDir: string): Promise<string> {
  const kept = keptKey(dataDir);
  if (kept && (await findKey(db, kept))) return kept;
  const { key } = await createKey(db, { name: await freeName(db), scopes: ['search', 'get'], randomBytes });
  writeFileSync(fileOf(dataDir), `${key}\n`, { mode: 0o600 });
  return key;
}
