import { encodePieces } from '../../streams/codec/fragments.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import { RangeId } from '../../streams/ids.ts';
import type { SqlValue } from '../ports.ts';
import { packPosition } from '../position.ts';
import type { StagedRows } from '../projection.ts';
import { comparePairs, type HeldBlob, type HeldFile, type HeldPiece, type LiveMerge, placeText } from './held.ts';
import { hashBytes } from './loneHashes.ts';
import type { LoadedNumbering, NumberingState } from './numbering.ts';
import { FragmentsState } from './step.ts';
import { type Unit, unitsOf } from './units.ts';

type Row = readonly SqlValue[];

const NOTHING: HeldFile = { pieces: [], merges: [] };
const boundsOf = (rangeId: RangeId): readonly [lo: number, hi: number] => {
  const { lo, hi } = RangeId.parse(rangeId);
  return [lo, hi];
};

const pieceRow = (n: number, hash: Buffer, p: HeldPiece): Row => {
  if (p.piece === null) throw new TypeError(`a piece of ${p.rangeId} that is stored would be stored again`);
  return [
    ...[n, hash, ...boundsOf(p.rangeId), p.posting, p.run, p.pass, p.lone, p.firstNumber, p.lastNumber, p.lastAt],
    ...[p.postingFirstAt, p.postingLastAt, p.parts.flat(), p.totals.flat(), encodePieces([p.piece])],
  ];
};

const unitRow = (n: number, hash: Buffer, u: Unit): Row => [
  ...[n, hash, u.mergeId, u.firstNumber, u.lastNumber, u.postingFirstAt, u.postingLastAt, u.lastAt],
  ...[u.pieces.length, u.mergeable, u.complete, u.open],
];

/** Staged rows of all numberings that a batch touches. */
class Changes {
  readonly #places: Row[] = [];
  readonly #sources: Row[] = [];
  readonly #gone: Row[] = [];
  readonly #pieces: Row[] = [];
  readonly #blobs: Row[] = [];
  readonly #unmerged: Row[] = [];
  readonly #merges: Row[] = [];
  readonly #mergeSources: Row[] = [];
  readonly #files: Row[] = [];
  readonly #units: Row[] = [];

  /** What the batch made of a numbering, against what was loaded of it. */
  numbering(after: NumberingState, before: LoadedNumbering | undefined): void {
    const n = this.#places.length;
    const { backbone, group, epoch } = after.place;
    this.#places.push([n, backbone, group, epoch]);
    for (const [rangeId, pair] of after.pairs) {
      const old = before?.pairs.get(rangeId);
      if (old && comparePairs(old, pair) === 0) continue;
      this.#sources.push([n, ...boundsOf(rangeId), pair.run, pair.pass, old !== undefined]);
    }
    const stored = new Set(before?.blobs);
    for (const blob of [...after.blobs.values()].flat()) if (!stored.has(blob)) this.#blob(n, blob);
    const hashes = new Set([...(before?.files.keys() ?? []), ...after.files.keys()]);
    for (const hash of hashes) {
      const was = before?.files.get(hash) ?? NOTHING;
      const is = after.files.get(hash) ?? NOTHING;
      if (was !== is) this.#file(n, after, hash, was, is);
    }
  }

  rows(): StagedRows {
    return {
      stage_fragments_place: this.#places,
      stage_fragments_source: this.#sources,
      stage_fragments_gone: this.#gone,
      stage_fragments_piece: this.#pieces,
      stage_fragments_blob: this.#blobs,
      stage_fragments_unmerged: this.#unmerged,
      stage_fragments_merge: this.#merges,
      stage_fragments_merge_source: this.#mergeSources,
      stage_fragments_file: this.#files,
      stage_fragments_unit: this.#units,
    };
  }

  #blob(n: number, { rangeId, k, i, blob }: HeldBlob): void {
    const { firstNumber, lastNumber, hashes, payload } = blob;
    if (payload === null) throw new TypeError(`a blob of ${rangeId} that is stored would be stored again`);
    this.#blobs.push([n, ...boundsOf(rangeId), k, i, firstNumber, lastNumber, hashes, payload]);
  }

  #file(n: number, { place }: NumberingState, hash: string, was: HeldFile, is: HeldFile): void {
    const bytes = hashBytes(hash);
    // Records are replaced, never changed: the same object is the same row.
    const gone = was.pieces.filter((p) => !is.pieces.includes(p));
    const added = is.pieces.filter((p) => !was.pieces.includes(p));
    for (const p of gone) this.#gone.push([n, bytes, ...boundsOf(p.rangeId), p.posting]);
    for (const p of added) this.#pieces.push(pieceRow(n, bytes, p));
    for (const m of was.merges) if (!is.merges.includes(m)) this.#unmerged.push([m.mergeId]);
    for (const m of is.merges) if (!was.merges.includes(m)) this.#merge(n, bytes, m);
    this.#files.push([n, bytes]);
    for (const unit of unitsOf(place, hash, is)) this.#units.push(unitRow(n, bytes, unit));
  }

  #merge(n: number, hash: Buffer, { mergeId, revision, sources }: LiveMerge): void {
    this.#merges.push([n, hash, mergeId, packPosition(revision)]);
    for (const s of sources) {
      this.#mergeSources.push([n, mergeId, ...boundsOf(s.rangeId), s.run, s.pass, s.posting]);
    }
  }
}

/** The staged rows of a batch of RELEASES: all that differs from what was loaded. Pure. */
export function projectFragments(events: readonly StoredEvent[], loaded: readonly LoadedNumbering[]): StagedRows {
  const state = new FragmentsState(loaded);
  for (const { event } of events) state.apply(event);
  const before = new Map(loaded.map((numbering) => [placeText(numbering.place), numbering]));
  const changes = new Changes();
  for (const numbering of state.numberings()) changes.numbering(numbering, before.get(placeText(numbering.place)));
  return changes.rows();
}
