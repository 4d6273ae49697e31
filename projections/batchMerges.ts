import type { StoredEvent } from '../streams/envelope.ts';
import type { ChunksMerged } from '../streams/events/chunks.ts';
import type { ReleaseMerged } from '../streams/events/releases.ts';
import { type Backbone, type Epoch, type Group, RangeId } from '../streams/ids.ts';
import type { MergeRef, MergeSource } from '../streams/records.ts';
import { type BatchSources, type Pair, rangeKey } from './batchSources.ts';
import type { Sql, SqlRow, SqlValue } from './ports.ts';
import { packPosition } from './position.ts';

interface Place {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
}

interface LiveMerge extends MergeRef {
  readonly place: Place;
  /** A packed position. */
  readonly revision: number;
  /** Its row, null for a merge of this batch. */
  readonly storedId: number | null;
  /** Its number in this batch, negative where those of ranges are not; 0 for a stored one. */
  readonly n: number;
  replaced: boolean;
}

/** What is stored about the ranges and files of a batch's merges. */
export interface StoredMerges {
  readonly pairs: ReadonlyMap<string, Pair>;
  readonly merges: readonly Omit<LiveMerge, 'n' | 'replaced'>[];
}
export const NO_MERGES: StoredMerges = { pairs: new Map(), merges: [] };

const fileKey = ({ backbone, group, epoch }: Place, fileHash: string): string =>
  `${backbone}/${group}/${epoch}/${fileHash}`;

const isSame = (a: Pair, b: Pair): boolean => a.run === b.run && a.pass === b.pass;
const higher = (a: Pair, b: Pair): Pair => (a.run > b.run || (a.run === b.run && a.pass > b.pass) ? a : b);
const NEVER: Pair = { run: 0, pass: 0 };

const samePiece = (a: MergeSource, b: MergeSource): boolean => a.rangeId === b.rangeId && a.posting === b.posting;
const sharePiece = (a: MergeRef, b: MergeRef): boolean => a.sources.some((x) => b.sources.some((y) => samePiece(x, y)));

/**
 * The merges of a batch, folded in their order. A merge is accepted when all of its pieces are of the highest opened pairs of their
 * ranges and no live merge that shares a piece has as high a revision; it replaces those that share one. Whether a
 * stored merge died because a range of it was opened again is left to merge.sql, which sees all of them.
 */
export class BatchMerges {
  readonly #pairs: ReadonlyMap<string, Pair>;
  readonly #sources: BatchSources;
  readonly #byFile = new Map<string, LiveMerge[]>();
  readonly #accepted: LiveMerge[] = [];

  constructor(stored: StoredMerges, sources: BatchSources) {
    this.#pairs = stored.pairs;
    this.#sources = sources;
    for (const merge of stored.merges) this.#add({ ...merge, n: 0, replaced: false });
  }

  /** The number of the merge in this batch; null when it is not accepted, or there already. */
  accept(message: Place & Pick<ReleaseMerged, 'revision'>, ref: MergeRef): number | null {
    const { backbone, group, epoch } = message;
    const { mergeId, fileHash, sources } = ref;
    const n = -1 - this.#accepted.length;
    const revision = packPosition(message.revision);
    const place = { backbone, group, epoch };
    const merge = { mergeId, fileHash, sources, place, revision, storedId: null, n, replaced: false };
    if (sources.length === 0 || !this.#isOfHighestPairs(merge)) return null;
    const alike = (this.#byFile.get(fileKey(place, fileHash)) ?? []).filter((m) => this.#isLive(m));
    if (alike.some((m) => m.mergeId === mergeId)) return null;
    const rivals = alike.filter((m) => sharePiece(m, merge));
    if (rivals.some((m) => m.revision >= revision)) return null;
    for (const rival of rivals) rival.replaced = true;
    this.#add(merge);
    this.#accepted.push(merge);
    return n;
  }

  /** Rows of MERGE_COLUMNS: every merge that was accepted when it came. */
  rows(): readonly (readonly SqlValue[])[] {
    return this.#accepted.map((m) => [
      ...[m.n, m.place.backbone, m.place.group, m.place.epoch, m.mergeId, Buffer.from(m.fileHash, 'hex')],
      ...[m.revision, this.#isLive(m)],
    ]);
  }

  /** Rows of PIECE_COLUMNS: the pieces of those that live on. */
  pieceRows(): readonly (readonly SqlValue[])[] {
    const live = this.#accepted.filter((m) => this.#isLive(m));
    return live.flatMap((m) =>
      m.sources.map(({ rangeId, posting }) => {
        const { lo, hi } = RangeId.parse(rangeId);
        return [m.n, lo, hi, posting];
      }),
    );
  }

  /** Rows of REPLACED_COLUMNS: stored merges that others replaced. */
  replacedRows(): readonly (readonly SqlValue[])[] {
    const stored = [...this.#byFile.values()].flat().filter((m) => m.replaced && m.storedId !== null);
    return stored.map((m) => [m.storedId]);
  }

  #add(merge: LiveMerge): void {
    const key = fileKey(merge.place, merge.fileHash);
    const alike = this.#byFile.get(key);
    if (alike) alike.push(merge);
    else this.#byFile.set(key, [merge]);
  }

  #isLive(merge: LiveMerge): boolean {
    return !merge.replaced && this.#isOfHighestPairs(merge);
  }

  #isOfHighestPairs({ place, sources }: LiveMerge): boolean {
    return sources.every((source) => {
      const key = rangeKey({ ...place, rangeId: source.rangeId });
      return isSame(source, higher(this.#pairs.get(key) ?? NEVER, this.#sources.pairOf(key) ?? NEVER));
    });
  }
}

export const MERGE_COLUMNS =
  'n int4, backbone text, group_name text, epoch int4, merge_id uuid, file_hash bytea, revision int8, live bool';
export const PIECE_COLUMNS = 'n int4, lo int8, hi int8, posting int4';
export const REPLACED_COLUMNS = 'source_id int4';

interface RangeRow extends SqlRow {
  readonly n: number;
  readonly id: number;
  readonly run: number;
  readonly pass: number;
}

const RANGES = `
  select r.n::int4 as n, s.id, s.run, s.pass
    from unnest($1::text[], $2::text[], $3::int4[], $4::int8[], $5::int8[])
         with ordinality as r (backbone, group_name, epoch, lo, hi, n)
    join backbone_name b on b.name = r.backbone
    join group_name g on g.name = r.group_name
    join source s on (s.group_id, s.backbone_id, s.epoch, s.lo, s.hi) = (g.id, b.id, r.epoch, r.lo, r.hi)`;

interface PieceRow extends SqlRow, Place {
  readonly id: number;
  readonly merge_id: string;
  readonly file_hash: string;
  readonly revision: number;
  readonly lo: number;
  readonly hi: number;
  readonly run: number;
  readonly pass: number;
  readonly posting: number;
}

/** All pieces of the live merges that have one of these. */
const SHARING = `
  with found as (
    select distinct m.merge_source as id
      from unnest($1::int4[], $2::text[], $3::int4[]) as p (source_id, file_hash, posting)
      join merge_piece m on (m.source_id, m.file_hash, m.posting) = (p.source_id, decode(p.file_hash, 'hex'), p.posting))
  select m.id, m.merge_id::text, encode(m.file_hash, 'hex') as file_hash, m.revision, b.name as backbone,
         g.name as "group", m.epoch, s.lo, s.hi, s.run, s.pass, p.posting
    from found f
    join source m on m.id = f.id
    join backbone_name b on b.id = m.backbone_id
    join group_name g on g.id = m.group_id
    join merge_piece p on p.merge_source = m.id
    join source s on s.id = p.source_id
   order by m.id`;

function mergesOf(rows: readonly PieceRow[]): StoredMerges['merges'] {
  const byId = new Map<number, { merge: StoredMerges['merges'][number]; sources: MergeSource[] }>();
  for (const row of rows) {
    const { id, revision, backbone, group, epoch, run, pass, posting } = row;
    let known = byId.get(id);
    if (!known) {
      const sources: MergeSource[] = [];
      const mergeId = row.merge_id.replaceAll('-', '') as MergeRef['mergeId'];
      const place = { backbone, group, epoch };
      known = { merge: { mergeId, fileHash: row.file_hash, place, revision, storedId: id, sources }, sources };
      byId.set(id, known);
    }
    known.sources.push({ rangeId: RangeId.of(epoch, row.lo as never, row.hi as never), run, pass, posting });
  }
  return [...byId.values()].map(({ merge }) => merge);
}

interface Wanted {
  readonly fileHash: string;
  readonly posting: number;
  readonly key: string;
  readonly place: readonly SqlValue[];
}

function wantedBy(messages: readonly (ReleaseMerged | ChunksMerged)[]): readonly Wanted[] {
  return messages.flatMap((message) => {
    const { backbone, group, epoch, body } = message;
    const refs: readonly MergeRef[] = body;
    return refs.flatMap(({ fileHash, sources }) =>
      sources.map(({ rangeId, posting }) => {
        const { lo, hi } = RangeId.parse(rangeId);
        const key = rangeKey({ backbone, group, rangeId });
        return { fileHash, posting, key, place: [backbone, group, epoch, lo, hi] };
      }),
    );
  });
}

async function load(tx: Sql, wanted: readonly Wanted[]): Promise<StoredMerges> {
  const ranges = [...new Map(wanted.map(({ key, place }) => [key, place]))];
  const column = (i: number): SqlValue[] => ranges.map(([, place]) => place[i]!);
  const rows = await tx.query<RangeRow>(RANGES, [0, 1, 2, 3, 4].map(column));
  const stored = new Map(rows.map((row) => [ranges[row.n - 1]![0], row]));
  const pieces = wanted.flatMap(({ key, ...w }) => (stored.has(key) ? [{ ...w, id: stored.get(key)!.id }] : []));
  const sharing = await tx.query<PieceRow>(SHARING, [
    pieces.map((p) => p.id),
    pieces.map((p) => p.fileHash),
    pieces.map((p) => p.posting),
  ]);
  const merges = mergesOf(sharing);
  const pairs = new Map<string, Pair>(rows.map((row) => [ranges[row.n - 1]![0], row]));
  // A live merge is of the stored pairs of all of its ranges, else it would not live.
  for (const { place, sources } of merges) {
    for (const source of sources) pairs.set(rangeKey({ ...place, rangeId: source.rangeId }), source);
  }
  return { pairs, merges };
}

/**
 * Reads what `BatchMerges` has to know for these events; nothing is read for a batch without merges. The schema's tables
 * `source` and `merge_piece` are those of catalog and chunks alike.
 */
export async function loadMerges(tx: Sql, events: readonly StoredEvent[]): Promise<StoredMerges> {
  const messages = events.flatMap(({ event }) =>
    event.type === 'release.merged' || event.type === 'chunks.merged' ? [event.data] : [],
  );
  const wanted = wantedBy(messages);
  if (wanted.length === 0) return NO_MERGES;
  // By index only: the planner cannot know how few these are beside the tables.
  await tx.script('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const stored = await load(tx, wanted);
  await tx.script('set local enable_hashjoin = on; set local enable_mergejoin = on');
  return stored;
}
