/** Where a projection stands, who may move it, and whether that place still exists in the stream. */
import { type ErrorFields, HeadwaterError } from '../infra/base/errors/index.ts';
import type { Position } from '../streams/ids.ts';
import { comparePositions, type StreamFamily, streamName } from '../streams/topology.ts';
import type { Database, LogState, Sql } from './ports.ts';
import { identifier, type Projection } from './projection.ts';

/** The right to move a projection: valid until somebody else takes it. */
export interface Claim {
  /** Schema of the rows and name of the position row. */
  readonly schema: string;
  readonly epoch: number;
  readonly position: Position;
  readonly streamCreatedAt: number | null;
  /** Set once the stream was found not to go on from the position: it holds until the rows are dropped. */
  readonly refused?: Refusal | null;
}

/** Why a projection must not go on. */
export interface Refusal {
  readonly code: 'PROJECTION_AHEAD' | 'PROJECTION_GAP' | 'PROJECTION_STREAM_REPLACED';
  readonly fields: ErrorFields;
}

/** Sequences stay far below 2^40 (a numbered stream is sealed at some 100 GB), numbers below 2^13. */
const SEQUENCES = 2 ** 40;

/** A position as one int8 that sorts as positions do. Throws RangeError where it would not fit. */
export function packPosition(position: Position): number {
  const packed = position.number * SEQUENCES + position.sequence;
  if (position.sequence >= SEQUENCES || !Number.isSafeInteger(packed)) {
    throw new RangeError(`position ${formatPosition(position)} is too large`);
  }
  return packed;
}

/** The position behind `packPosition`. */
export const unpackPosition = (packed: number): Position => ({
  number: Math.floor(packed / SEQUENCES),
  sequence: packed % SEQUENCES,
});

export const formatPosition = (p: Position): string => `${p.number}/${p.sequence}`;
export const START: Position = { number: 1, sequence: 0 };

interface PositionRow extends Record<string, unknown> {
  readonly version: number;
  readonly number: number;
  readonly sequence: number;
  readonly created: number | null;
  readonly epoch: number;
  readonly refused: Refusal | null;
}

const SELECT = `
  select version, stream_number as number, sequence, stream_created_at as created, epoch, refused
    from public.projection_position where name = $1`;

const claimOf = (schema: string, row: PositionRow): Claim => ({
  schema,
  epoch: row.epoch,
  position: { number: row.number, sequence: row.sequence },
  streamCreatedAt: row.created,
  refused: row.refused,
});

/** The position up to which a projection's rows are true; the start when it never ran. */
export async function positionOf(sql: Sql, schema: string): Promise<Position> {
  const [row] = await sql.query<PositionRow>(SELECT, [schema]);
  return row ? { number: row.number, sequence: row.sequence } : START;
}

/** Every projection's place, for status pages. */
export async function allPositions(
  sql: Sql,
): Promise<readonly { name: string; family: StreamFamily; position: Position; version: number }[]> {
  const rows = await sql.query<PositionRow & { name: string; family: StreamFamily }>(
    `select name, stream_family as family, version, stream_number as number, sequence
       from public.projection_position order by name`,
  );
  return rows.map((row) => ({
    name: row.name,
    family: row.family,
    version: row.version,
    position: { number: row.number, sequence: row.sequence },
  }));
}

async function create(tx: Sql, projection: Projection, schema: string): Promise<void> {
  await tx.script(`create schema ${identifier(schema)}`);
  await useSchema(tx, schema);
  await tx.script(projection.schemaSql);
  await tx.query(
    `insert into public.projection_position
       (name, projection, version, stream_family, stream_number, sequence, epoch) values ($1, $2, $3, $4, $5, $6, 0)`,
    [schema, projection.name, projection.version, projection.family, START.number, START.sequence],
  );
}

/** Unqualified names in this transaction mean the projection's tables. */
export const useSchema = (tx: Sql, schema: string): Promise<void> =>
  tx.script(`set local search_path = ${identifier(schema)}, public`);

/** Whether the rows of a projection are there. */
export async function hasSchema(sql: Sql, schema: string): Promise<boolean> {
  const text = 'select to_regnamespace($1) is not null as present';
  const [found] = await sql.query<{ present: boolean }>(text, [identifier(schema)]);
  return found?.present === true;
}

/**
 * Takes a projection over: makes its schema when there is none and counts the epoch up, so that whoever ran it before
 * can commit no more. Throws PROJECTION_NEEDS_REBUILD when the stored rows are of another version, or when there are
 * rows without a position (then nothing says what they hold).
 */
export function claimProjection(db: Database, projection: Projection, schema: string): Promise<Claim> {
  return db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`headwater projection ${schema}`]);
    const present = await hasSchema(tx, schema);
    const [row] = await tx.query<PositionRow>(`${SELECT} for update`, [schema]);
    if (present && row?.version !== projection.version) {
      const stored = row?.version ?? 'unknown';
      const fields = { projection: schema, stored, version: projection.version };
      throw new HeadwaterError('PROJECTION_NEEDS_REBUILD', fields);
    }
    if (!present) {
      // Whoever dropped the rows dropped what the position said about them.
      await tx.query('delete from public.projection_position where name = $1', [schema]);
      await create(tx, projection, schema);
    }
    await tx.query('update public.projection_position set epoch = epoch + 1 where name = $1', [schema]);
    const [claimed] = await tx.query<PositionRow>(SELECT, [schema]);
    return claimOf(schema, claimed!);
  });
}

const fenced = (claim: Claim, found: number | undefined) =>
  new HeadwaterError('PROJECTION_FENCED', { projection: claim.schema, epoch: claim.epoch, found: found ?? 'none' });

/**
 * The claim with the position that is stored now: after a lost connection nobody knows whether the last commit was
 * done. Throws PROJECTION_FENCED when the claim is another process's by now.
 */
export async function resumeClaim(sql: Sql, claim: Claim): Promise<Claim> {
  const [row] = await sql.query<PositionRow>(SELECT, [claim.schema]);
  if (row?.epoch !== claim.epoch) throw fenced(claim, row?.epoch);
  return claimOf(claim.schema, row);
}

/**
 * Moves the position, inside the transaction that changes the rows and before it does: the row lock keeps any other
 * runner out until the commit. Throws PROJECTION_FENCED when epoch or position are not those of the claim.
 */
export async function movePosition(tx: Sql, claim: Claim, to: Position): Promise<void> {
  const moved = await tx.query(
    `update public.projection_position set stream_number = $1, sequence = $2, updated_at = now()
      where name = $3 and epoch = $4 and stream_number = $5 and sequence = $6 returning name`,
    [to.number, to.sequence, claim.schema, claim.epoch, claim.position.number, claim.position.sequence],
  );
  if (moved.length === 1) return;
  const [row] = await tx.query<PositionRow>(SELECT, [claim.schema]);
  throw fenced(claim, row?.epoch);
}

/** Remembers which stream the rows come from, once. */
export async function adoptStream(sql: Sql, claim: Claim, createdAt: number): Promise<Claim> {
  await sql.query(
    `update public.projection_position set stream_created_at = $1
      where name = $2 and epoch = $3 and stream_created_at is null`,
    [createdAt, claim.schema, claim.epoch],
  );
  return { ...claim, streamCreatedAt: createdAt };
}

/** Keeps the refusal over restarts and growth of the stream; the first one stays. */
export async function keepRefusal(sql: Sql, claim: Claim, why: Refusal): Promise<void> {
  await sql.query(
    `update public.projection_position set refused = $1::jsonb
      where name = $2 and epoch = $3 and refused is null`,
    [JSON.stringify(why), claim.schema, claim.epoch],
  );
}

/**
 * Why a projection must not go on from where it stands, or null. JetStream itself would skip what is missing, or wait
 * for ever, without a word.
 */
export function refusal(claim: Claim, family: StreamFamily, state: LogState): Refusal | null {
  if (claim.refused) return claim.refused;
  const { position, schema: projection } = claim;
  const stream = streamName(family, position.number);
  if (claim.streamCreatedAt !== null && claim.streamCreatedAt !== state.createdAt) {
    const created = new Date(state.createdAt).toISOString();
    const expected = new Date(claim.streamCreatedAt).toISOString();
    return { code: 'PROJECTION_STREAM_REPLACED', fields: { projection, stream, created, expected } };
  }
  const at = { projection, stream, position: formatPosition(position) };
  if (comparePositions(position, state.last) > 0) {
    return { code: 'PROJECTION_AHEAD', fields: { ...at, last: formatPosition(state.last) } };
  }
  const next = { number: position.number, sequence: position.sequence + 1 };
  if (comparePositions(state.first, next) > 0) {
    return { code: 'PROJECTION_GAP', fields: { ...at, first: formatPosition(state.first) } };
  }
  return null;
}
