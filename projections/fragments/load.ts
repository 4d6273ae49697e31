/** Reads what a batch touches: pairs of its ranges, files of its pieces and merges, blobs of lone parts around them. */
import type { StoredEvent } from '../../streams/envelope.ts';
import { ArticleNumber, MergeId, RangeId } from '../../streams/ids.ts';
import type { Interval, MergeSource } from '../../streams/records.ts';
import { EDGE_NUMBERS } from '../../streams/rules.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { unpackPosition } from '../position.ts';
import {
  type HeldBlob,
  type HeldFile,
  type HeldPiece,
  type LiveMerge,
  type Pair,
  type Place,
  placeText,
} from './held.ts';
import { countOfHashes, hashAt, hashBytes, placesOf, sharedHashes } from './loneHashes.ts';
import type { LoadedNumbering } from './numbering.ts';

/** What the events of a batch name in one numbering. */
interface Touched {
  readonly place: Place;
  readonly ranges: Set<RangeId>;
  /** Ranges whose passes the batch has messages of, with the highest pair of them. */
  readonly opened: Map<RangeId, Pair>;
  readonly hashes: Set<string>;
  /** Hashes of the blobs that the batch brings. */
  readonly lone: Uint8Array[];
  /** Article numbers of what it brings. */
  readonly spans: Interval[];
}

function touch(all: Map<string, Touched>, { backbone, group, epoch }: Place): Touched {
  const place = { backbone, group, epoch };
  const text = placeText(place);
  const known = all.get(text);
  if (known) return known;
  const fresh = {
    place,
    ranges: new Set<RangeId>(),
    opened: new Map(),
    hashes: new Set<string>(),
    lone: [],
    spans: [],
  };
  all.set(text, fresh);
  return fresh;
}

function touchedBy(events: readonly StoredEvent[]): readonly Touched[] {
  const all = new Map<string, Touched>();
  for (const { event } of events) {
    if (event.type === 'release.merged') {
      const { ranges, hashes } = touch(all, event.data);
      for (const { fileHash, sources } of event.data.body) {
        hashes.add(fileHash);
        for (const source of sources) ranges.add(source.rangeId);
      }
    } else if (event.type === 'release.opened' || event.type === 'release.fragments') {
      const { ranges, opened, hashes, lone, spans } = touch(all, event.data);
      const { rangeId, run, pass } = event.data;
      ranges.add(rangeId);
      const before = opened.get(rangeId);
      if (!before || before.run < run || (before.run === run && before.pass < pass)) opened.set(rangeId, { run, pass });
      if (event.type === 'release.opened') continue;
      for (const piece of event.data.body.pieces) {
        hashes.add(piece.fileHash);
        spans.push([piece.firstNumber, piece.lastNumber]);
      }
      for (const blob of event.data.body.lone) {
        lone.push(blob.hashes);
        spans.push([blob.firstNumber, blob.lastNumber]);
      }
    }
  }
  return [...all.values()];
}

const rangeIdOf = (place: Place, lo: number, hi: number): RangeId =>
  RangeId.of(place.epoch, ArticleNumber(lo), ArticleNumber(hi));

interface BoundsRow extends SqlRow {
  readonly lo: number;
  readonly hi: number;
}
const bounds = (ranges: Iterable<RangeId>): readonly [lows: number[], highs: number[]] => {
  const parsed = [...ranges].map((rangeId) => RangeId.parse(rangeId));
  return [parsed.map((r) => r.lo), parsed.map((r) => r.hi)];
};

/**
 * Reads one numbering. What is looked up is asked for by `cross join lateral (... offset 0)`: a look-up by index for each, which
 * the planner may not turn round into one for each stored row.
 */
class Loader {
  readonly #tx: Sql;
  readonly #id: number;
  readonly #touched: Touched;

  constructor(tx: Sql, id: number, touched: Touched) {
    this.#tx = tx;
    this.#id = id;
    this.#touched = touched;
  }

  async load(): Promise<LoadedNumbering> {
    const pairs = await this.#pairs();
    const hashes = new Set(this.#touched.hashes);
    const replaced = [...this.#touched.opened].filter(([rangeId, pair]) => {
      const old = pairs.get(rangeId);
      return old !== undefined && (old.run < pair.run || (old.run === pair.run && old.pass < pair.pass));
    });
    for (const hash of await this.#hashesOf(replaced.map(([rangeId]) => rangeId))) hashes.add(hash);
    // Hashes of lone parts are many, and few of them are held: only those are asked for that are.
    const lone = new Set(
      this.#touched.lone.flatMap((l) => Array.from({ length: countOfHashes(l) }, (_, i) => hashAt(l, i))),
    );
    const files = await this.#files([...new Set([...hashes, ...lone])]);
    return { place: this.#touched.place, pairs, files, blobs: await this.#blobs() };
  }

  async #pairs(): Promise<Map<RangeId, Pair>> {
    const rows = await this.#tx.query<BoundsRow & Pair>(
      `select s.* from unnest($2::int8[], $3::int8[]) r (lo, hi) cross join lateral (
         select s.lo, s.hi, s.run, s.pass from source s
          where (s.numbering_id, s.lo, s.hi) = ($1, r.lo, r.hi) offset 0) s`,
      [this.#id, ...bounds(this.#touched.ranges)],
    );
    return new Map(rows.map(({ lo, hi, run, pass }) => [rangeIdOf(this.#touched.place, lo, hi), { run, pass }]));
  }

  /** Files that hold a piece of one of these ranges, or a merge that names one. */
  async #hashesOf(ranges: readonly RangeId[]): Promise<readonly string[]> {
    if (ranges.length === 0) return [];
    const rows = await this.#tx.query<{ hash: string }>(
      `with r as (select * from unnest($2::int8[], $3::int8[]) r (lo, hi))
       select encode(p.file_hash, 'hex') as hash
         from r cross join lateral (select p.file_hash from piece p
                                     where (p.numbering_id, p.lo, p.hi) = ($1, r.lo, r.hi) offset 0) p
       union
       select encode(m.file_hash, 'hex')
         from r cross join lateral (select m.file_hash from merge_source s join merge m on m.merge_id = s.merge_id
                                     where (s.numbering_id, s.lo, s.hi) = ($1, r.lo, r.hi) offset 0) m`,
      [this.#id, ...bounds(ranges)],
    );
    return rows.map((row) => row.hash);
  }

  async #files(hashes: readonly string[]): Promise<ReadonlyMap<string, HeldFile>> {
    const files = new Map<string, { pieces: HeldPiece[]; merges: LiveMerge[] }>();
    if (hashes.length === 0) return files;
    const file = (hash: string) => {
      const known = files.get(hash) ?? { pieces: [], merges: [] };
      files.set(hash, known);
      return known;
    };
    const bytes = hashes.map(hashBytes);
    for (const [hash, piece] of await this.#pieces(bytes)) file(hash).pieces.push(piece);
    for (const [hash, merge] of await this.#merges(bytes)) file(hash).merges.push(merge);
    return files;
  }

  async #pieces(hashes: readonly Buffer[]): Promise<readonly (readonly [string, HeldPiece])[]> {
    const rows = await this.#tx.query<
      BoundsRow & HeldPiece & { hash: string; flatParts: number[]; flatTotals: number[] }
    >(
      `select p.* from unnest($2::bytea[]) h (hash) cross join lateral (
         select encode(p.file_hash, 'hex') as hash, p.lo, p.hi, p.run, p.pass, p.posting, p.lone,
                p.first_number as "firstNumber", p.last_number as "lastNumber", p.last_at as "lastAt",
                p.posting_first_at as "postingFirstAt", p.posting_last_at as "postingLastAt",
                p.parts as "flatParts", p.totals as "flatTotals"
           from piece p where (p.numbering_id, p.file_hash) = ($1, h.hash) offset 0) p`,
      [this.#id, hashes],
    );
    return rows.map(({ hash, lo, hi, flatParts, flatTotals, ...rest }) => {
      const rangeId = rangeIdOf(this.#touched.place, lo, hi);
      return [hash, { ...rest, rangeId, parts: pairsOf(flatParts), totals: pairsOf(flatTotals), piece: null }];
    });
  }

  async #merges(hashes: readonly Buffer[]): Promise<readonly (readonly [string, LiveMerge])[]> {
    const rows = await this.#tx.query<BoundsRow & MergeSource & { hash: string; id: string; revision: number }>(
      `select m.* from unnest($2::bytea[]) h (hash) cross join lateral (
         select encode(m.file_hash, 'hex') as hash, replace(m.merge_id::text, '-', '') as id, m.revision,
                s.lo, s.hi, s.run, s.pass, s.posting
           from merge m join merge_source s on s.merge_id = m.merge_id
          where (m.numbering_id, m.file_hash) = ($1, h.hash) offset 0) m`,
      [this.#id, hashes],
    );
    const merges = new Map<string, { hash: string; revision: number; sources: MergeSource[] }>();
    for (const { id, hash, revision, lo, hi, run, pass, posting } of rows) {
      const merge = merges.get(id) ?? { hash, revision, sources: [] };
      merge.sources.push({ rangeId: rangeIdOf(this.#touched.place, lo, hi), run, pass, posting });
      merges.set(id, merge);
    }
    return [...merges].map(([id, { hash, revision, sources }]) => {
      return [hash, { mergeId: MergeId(id), revision: unpackPosition(revision), sources }];
    });
  }

  /** Blobs near to what comes; the payloads only of those that hold a file that comes. */
  async #blobs(): Promise<readonly HeldBlob[]> {
    const { spans, place } = this.#touched;
    if (spans.length === 0) return [];
    const rows = await this.#tx.query<
      BoundsRow & Pair & { k: number; i: number; first: number; last: number; hashes: Buffer }
    >(
      `select b.lo, b.hi, b.k, b.i, s.run, s.pass, b.first_number as first, b.last_number as last, b.hashes
         from (select distinct b.lo, b.hi, b.k, b.i from unnest($2::int8[], $3::int8[]) w (lo, hi)
                 join lone_blob b on b.numbering_id = $1 and b.last_number >= w.lo and b.first_number <= w.hi) near
         join lone_blob b on (b.numbering_id, b.lo, b.hi, b.k, b.i) = ($1, near.lo, near.hi, near.k, near.i)
         join source s on (s.numbering_id, s.lo, s.hi) = ($1, b.lo, b.hi)`,
      [this.#id, ...windows(spans)],
    );
    const asked = rows.filter((row) => this.#holdsTouched(row.hashes));
    const payloads = await this.#payloads(asked);
    return rows.map((row): HeldBlob => {
      const { lo, hi, k, i, run, pass, first, last, hashes } = row;
      const payload = payloads.get(`${lo}/${hi}/${k}/${i}`) ?? null;
      const numbers = { firstNumber: ArticleNumber(first), lastNumber: ArticleNumber(last) };
      return { rangeId: rangeIdOf(place, lo, hi), run, pass, k, i, blob: { ...numbers, hashes, payload } };
    });
  }

  #holdsTouched(hashes: Buffer): boolean {
    for (const hash of this.#touched.hashes) {
      const [from, to] = placesOf(hashes, hashBytes(hash));
      if (to > from) return true;
    }
    return this.#touched.lone.some((lone) => sharedHashes(lone, hashes).length > 0);
  }

  async #payloads(blobs: readonly (BoundsRow & { k: number; i: number })[]): Promise<ReadonlyMap<string, Buffer>> {
    if (blobs.length === 0) return new Map();
    const column = (of: (b: BoundsRow & { k: number; i: number }) => number) => blobs.map(of);
    const rows = await this.#tx.query<BoundsRow & { k: number; i: number; payload: Buffer }>(
      `select b.lo, b.hi, b.k, b.i, b.payload
         from unnest($2::int8[], $3::int8[], $4::int4[], $5::int4[]) w (lo, hi, k, i)
         join lone_blob b on (b.numbering_id, b.lo, b.hi, b.k, b.i) = ($1, w.lo, w.hi, w.k, w.i)`,
      [this.#id, column((b) => b.lo), column((b) => b.hi), column((b) => b.k), column((b) => b.i)],
    );
    return new Map(rows.map((row) => [`${row.lo}/${row.hi}/${row.k}/${row.i}`, row.payload]));
  }
}

const pairsOf = (flat: readonly number[]): (readonly [number, number])[] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!] as const);

/** The spans with an edge around them, those that overlap as one. */
function windows(spans: readonly Interval[]): readonly [lows: number[], highs: number[]] {
  const merged: [number, number][] = [];
  for (const [lo, hi] of [...spans].sort((a, b) => a[0] - b[0])) {
    const [from, to] = [Math.max(0, lo - EDGE_NUMBERS), Math.min(Number.MAX_SAFE_INTEGER, hi + EDGE_NUMBERS)];
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return [merged.map(([lo]) => lo), merged.map(([, hi]) => hi)];
}

/** All that the events may touch of what is stored, by numbering. */
export async function loadFragments(tx: Sql, events: readonly StoredEvent[]): Promise<readonly LoadedNumbering[]> {
  const touched = touchedBy(events);
  const column = <K extends keyof Place>(name: K) => touched.map(({ place }) => place[name]);
  const ids = await tx.query<{ i: number; id: number }>(
    `select p.i, n.id from unnest($1::text[], $2::text[], $3::int4[]) with ordinality p (backbone, group_name, epoch, i)
       join numbering n on (n.backbone, n.group_name, n.epoch) = (p.backbone, p.group_name, p.epoch)`,
    [column('backbone'), column('group'), column('epoch')],
  );
  if (ids.length === 0) return [];
  await tx.script('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const loaded: LoadedNumbering[] = [];
  for (const { i, id } of ids) loaded.push(await new Loader(tx, id, touched[i - 1]!).load());
  return loaded;
}
