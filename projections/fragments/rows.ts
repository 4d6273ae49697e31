/** What others read of fragments. */

import { decodePieces } from '../../streams/codec/fragments.ts';
import {
  ArticleNumber,
  type Backbone,
  type Epoch,
  type Group,
  MergeId,
  type Position,
  RangeId,
} from '../../streams/ids.ts';
import type { MergeSource, Piece } from '../../streams/records.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { positionOf } from '../position.ts';

/** A mergeable unit that no live merge stands for. */
export interface OpenUnitRow {
  /** The id that a merge of its pieces has. */
  readonly mergeId: MergeId;
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly fileHash: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** Time of its newest article. */
  readonly lastAt: number;
  readonly complete: boolean;
  readonly payloadBytes: number;
}

/** Where a page ended; the next one begins behind it. */
export interface OpenUnitCursor {
  readonly numbering: number;
  readonly mergeId: MergeId;
}

export interface OpenUnitPage {
  /** The RELEASES position at which the units were as they are here. */
  readonly revision: Position;
  readonly units: readonly OpenUnitRow[];
  /** Null when nothing lies behind. */
  readonly next: OpenUnitCursor | null;
}

const HEX = (column: string) => `replace(${column}::text, '-', '')`;

// One statement, so that position and units are of one moment.
const PAGE = `
  select p.stream_number as number, p.sequence, u.*
    from (select 1) one
    left join public.projection_position p on p.name = 'fragments'
    left join lateral (
      select ${HEX('u.merge_id')} as "mergeId", n.backbone, n.group_name as "group", n.epoch, u.numbering_id as numbering,
             encode(u.file_hash, 'hex') as "fileHash", u.first_number as "firstNumber", u.last_number as "lastNumber",
             u.last_at as "lastAt", u.complete, u.payload_bytes as "payloadBytes"
        from (select * from fragments.unit
               where open and mergeable and complete = $1 and (numbering_id, merge_id) > ($2, $3::uuid)
               order by numbering_id, merge_id limit $4) u
        join fragments.numbering n on n.id = u.numbering_id
       order by u.numbering_id, u.merge_id) u on true`;

const FIRST: OpenUnitCursor = { numbering: -1, mergeId: MergeId('0'.repeat(32)) };

type PageRow = SqlRow & { number: number | null; sequence: number | null; mergeId: string | null; numbering: number };

async function page(sql: Sql, complete: boolean, limit: number, after: OpenUnitCursor | null): Promise<OpenUnitPage> {
  const from = after ?? FIRST;
  const rows = await sql.query<PageRow & OpenUnitRow>(PAGE, [complete, from.numbering, from.mergeId, limit]);
  const [first] = rows;
  const revision = { number: first?.number ?? 1, sequence: first?.sequence ?? 0 };
  const found = rows.filter((row) => row.mergeId !== null);
  const last = found.at(-1);
  const next = last && found.length === limit ? { numbering: last.numbering, mergeId: last.mergeId } : null;
  const units = found.map(({ number: _number, sequence: _sequence, numbering: _numbering, ...unit }) => unit);
  return { revision, units: units as unknown as readonly OpenUnitRow[], next };
}

/** A piece and which one of its range it is. */
export interface StoredPiece {
  readonly source: MergeSource;
  readonly piece: Piece;
}

// The postings of a file's units lie apart: a piece is of the one that its posting begins in.
const PIECES = `
  select ${HEX('u.merge_id')} as "mergeId", n.epoch, p.lo, p.hi, p.run, p.pass, p.posting, p.payload
    from unnest($1::uuid[]) as wanted (merge_id)
    join fragments.unit u on u.merge_id = wanted.merge_id
    join fragments.numbering n on n.id = u.numbering_id
    join fragments.piece p on p.numbering_id = u.numbering_id and p.file_hash = u.file_hash
                          and p.posting_first_at between u.posting_first_at and u.posting_last_at`;

type PieceRow = SqlRow &
  Omit<MergeSource, 'rangeId'> & { mergeId: MergeId; epoch: Epoch; lo: number; hi: number; payload: Buffer };

/** The pieces of these units as they are now; a unit that is no more is left out. */
async function pieces(sql: Sql, units: readonly MergeId[]): Promise<ReadonlyMap<MergeId, readonly StoredPiece[]>> {
  const found = new Map<MergeId, StoredPiece[]>();
  if (units.length === 0) return found;
  for (const row of await sql.query<PieceRow>(PIECES, [units])) {
    const { mergeId, epoch, lo, hi, run, pass, posting, payload } = row;
    const source = { rangeId: RangeId.of(epoch, ArticleNumber(lo), ArticleNumber(hi)), run, pass, posting };
    const list = found.get(mergeId) ?? [];
    list.push({ source, piece: decodePieces(payload)[0]! });
    found.set(mergeId, list);
  }
  return found;
}

/** Implements `OpenUnits` of processors/fragments/ports.ts. */
export const openUnits = (sql: Sql) => ({
  position: (): Promise<Position> => positionOf(sql, 'fragments'),
  page: (complete: boolean, limit: number, after: OpenUnitCursor | null) => page(sql, complete, limit, after),
  pieces: (units: readonly MergeId[]) => pieces(sql, units),
});
