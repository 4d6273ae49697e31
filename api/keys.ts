/** API keys: made once, shown once, kept as a hash. They are the api's own table, not a projection. */
import { createHash } from 'node:crypto';
import { HeadwaterError } from '../infra/base/errors/index.ts';
import type { Database, Sql } from '../projections/ports.ts';

export const SCOPES = ['search', 'get', 'ops'] as const;
export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  readonly id: number;
  readonly name: string;
  /** The first characters, so that an operator can tell keys apart. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A key has 160 bits of randomness, so a plain hash is enough: there is nothing to guess. */
const hashOf = (key: string): Buffer => createHash('sha256').update(key, 'utf8').digest();

const COLUMNS = `id, name, key_prefix AS prefix, scopes, created_at AS "createdAt", revoked_at AS "revokedAt",
  last_used_at AS "lastUsedAt"`;

/** 1 to 100 characters, none of them a control character, and no space at its ends. */
export const isKeyName = (name: string): boolean => /^(?! )[^\p{Cc}]{1,100}(?<! )$/u.test(name);

/**
 * Makes a key; the returned text is the only place where it can be read. Throws KEY_NAME_TAKEN when a valid key has the
 * name: nobody could tell the two apart.
 */
export async function createKey(
  db: Database,
  options: { name: string; scopes: readonly Scope[]; randomBytes: (n: number) => Buffer },
): Promise<{ key: string; record: ApiKey }> {
  const { name, scopes } = options;
  const key = options.randomBytes(20).toString('hex');
  return db.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`headwater api key ${name}`]);
    const taken = await tx.query<{ id: number }>('SELECT id FROM api_key WHERE name = $1 AND revoked_at IS NULL', [
      name,
    ]);
    if (taken[0]) throw new HeadwaterError('KEY_NAME_TAKEN', { name, id: taken[0].id });
    const rows = await tx.query<ApiKey & Record<string, unknown>>(
      `INSERT INTO api_key (name, key_hash, key_prefix, scopes) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
      [name, hashOf(key), key.slice(0, 6), scopes],
    );
    return { key, record: rows[0]! };
  });
}

export const listKeys = (sql: Sql): Promise<readonly ApiKey[]> =>
  sql.query<ApiKey & Record<string, unknown>>(`SELECT ${COLUMNS} FROM api_key ORDER BY id`);

/** Revokes the key with that id or prefix; returns it, or null when there is none that is still valid. */
export async function revokeKey(sql: Sql, idOrPrefix: string): Promise<ApiKey | null> {
  const rows = await sql.query<ApiKey & Record<string, unknown>>(
    `UPDATE api_key SET revoked_at = now() WHERE revoked_at IS NULL AND (id::text = $1 OR key_prefix = $1)
     RETURNING ${COLUMNS}`,
    [idOrPrefix],
  );
  return rows[0] ?? null;
}

/** The valid key that `key` is, or null. The look-up is by hash: no comparison depends on the secret's own bytes. */
export async function findKey(sql: Sql, key: string): Promise<ApiKey | null> {
  const rows = await sql.query<ApiKey & Record<string, unknown>>(
    `SELECT ${COLUMNS} FROM api_key WHERE key_hash = $1 AND revoked_at IS NULL`,
    [hashOf(key)],
  );
  return rows[0] ?? null;
}

/** Remembers the use, at most once a minute a key. */
export async function touchKey(sql: Sql, id: number): Promise<void> {
  await sql.query(
    `UPDATE api_key SET last_used_at = now()
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [id],
  );
}
