import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKey, findKey } from '../../../api/keys.ts';
import type { Sql } from '../../../projections/ports.ts';

const fileOf = (dataDir: string): string => join(dataDir, 'runtime', 'first-key');

function keptKey(dataDir: string): string | null {
  try {
    return readFileSync(fileOf(dataDir), 'utf8').trim();
  } catch {
    return null;
  }
}

/** The key that `up` prints: the same at every start, until it is revoked or the database is a new one. */
export async function firstKey(sql: Sql, dataDir: string): Promise<string> {
  const kept = keptKey(dataDir);
  if (kept && (await findKey(sql, kept))) return kept;
  const { key } = await createKey(sql, { name: 'first', scopes: ['search', 'get'], randomBytes });
  writeFileSync(fileOf(dataDir), `${key}\n`, { mode: 0o600 });
  return key;
}
