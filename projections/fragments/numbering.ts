/** The fragments of one counting of article numbers as a state machine: what passes, pieces and merges make of it. */
import { decodePieces } from '../../streams/codec/fragments.ts';
import type { Position, RangeId } from '../../streams/ids.ts';
import type { Fragments, Interval, MergeRef, MergeSource, Piece } from '../../streams/records.ts';
import { comparePositions } from '../../streams/topology.ts';
import {
  blobNear,
  comparePairs,
  type HeldBlob,
  type HeldFile,
  type HeldPiece,
  heldPiece,
  type Pair,
  type Place,
  piecesNear,
  samePiece,
} from './held.ts';
import { countOfHashes, hashAt, hashBytes, placesOf, repeatedHashes, sharedHashes } from './loneHashes.ts';

/** What is known of a numbering before some events; for a part of it, all that those events may touch. */
export interface LoadedNumbering {
  readonly place: Place;
  readonly pairs: ReadonlyMap<RangeId, Pair>;
  readonly files: ReadonlyMap<string, HeldFile>;
  readonly blobs: readonly HeldBlob[];
}

export interface PassRef extends Pair {
  readonly rangeId: RangeId;
}

const EMPTY: HeldFile = { pieces: [], merges: [] };

/** Lone pieces that have another piece of the file near stay; nearness is mutual, so one look is enough. */
const joined = (pieces: readonly HeldPiece[]): readonly HeldPiece[] =>
  pieces.filter((p) => !p.lone || pieces.some((other) => other !== p && piecesNear(p, other)));

export class NumberingState {
  readonly place: Place;
  /** The highest pair that was opened, by range. */
  readonly pairs: Map<RangeId, Pair>;
  /** Files that hold a piece or a live merge, by hash. */
  readonly files: Map<string, HeldFile>;
  readonly blobs = new Map<RangeId, HeldBlob[]>();
  /** Files that may hold a piece of the range, or a merge that names it. */
  readonly #filesOf = new Map<RangeId, Set<string>>();
  readonly #unpacked = new WeakMap<HeldBlob, readonly Piece[]>();

  constructor({ place, pairs, files, blobs }: LoadedNumbering) {
    this.place = place;
    this.pairs = new Map(pairs);
    this.files = new Map(files);
    for (const blob of blobs) this.#addBlob(blob);
    for (const [hash, file] of files) this.#remember(hash, file);
  }

  /** False when the message is a zombie's. A higher pair than the last withdraws what the range gave before. */
  accept(pass: PassRef): boolean {
    const before = this.pairs.get(pass.rangeId);
    const order = before ? comparePairs(pass, before) : 1;
    if (order < 0) return false;
    if (order > 0) {
      this.pairs.set(pass.rangeId, { run: pass.run, pass: pass.pass });
      if (before) this.#withdraw(pass.rangeId);
    }
    return true;
  }

  fragments(pass: PassRef, k: number, { pieces, lone }: Fragments): void {
    for (const piece of pieces) this.#addPiece(piece.fileHash, heldPiece(pass, piece, false));
    for (const [i, blob] of lone.entries()) this.#addLone({ ...pass, k, i, blob });
  }

  /** A merge counts when all of its sources are the newest and no live merge that shares a piece is as new. */
  merged(revision: Position, merge: MergeRef): void {
    const { mergeId, fileHash, sources } = merge;
    const file = this.files.get(fileHash) ?? EMPTY;
    if (!sources.every((s) => this.#isNewest(s)) || file.merges.some((m) => m.mergeId === mergeId)) return;
    const shares = (other: MergeRef['sources']) => other.some((a) => sources.some((b) => samePiece(a, b)));
    const replaced = file.merges.filter((m) => shares(m.sources));
    if (replaced.some((m) => comparePositions(m.revision, revision) >= 0)) return;
    const kept = file.merges.filter((m) => !replaced.includes(m));
    this.#put(fileHash, { pieces: file.pieces, merges: [...kept, { mergeId, revision, sources }] });
  }

  #isNewest(source: MergeSource): boolean {
    const pair = this.pairs.get(source.rangeId);
    return pair !== undefined && comparePairs(source, pair) === 0;
  }

  #withdraw(rangeId: RangeId): void {
    this.blobs.delete(rangeId);
    const hashes = this.#filesOf.get(rangeId) ?? [];
    this.#filesOf.delete(rangeId);
    for (const hash of hashes) {
      const file = this.files.get(hash);
      if (!file) continue;
      const pieces = joined(file.pieces.filter((p) => p.rangeId !== rangeId));
      const merges = file.merges.filter((m) => m.sources.every((s) => s.rangeId !== rangeId));
      this.#put(hash, { pieces, merges });
    }
  }

  #addPiece(hash: string, piece: HeldPiece): void {
    const file = this.files.get(hash) ?? EMPTY;
    if (file.pieces.some((p) => samePiece(p, piece))) return;
    this.#put(hash, { ...file, pieces: [...file.pieces, piece] });
    this.#joinLone(hash, [piece.firstNumber, piece.lastNumber]);
  }

  #addLone(arrived: HeldBlob): void {
    if (this.blobs.get(arrived.rangeId)?.some((b) => b.k === arrived.k && b.i === arrived.i)) return;
    const { hashes, firstNumber, lastNumber } = arrived.blob;
    const span: Interval = [firstNumber, lastNumber];
    const wanted = new Set(repeatedHashes(hashes));
    for (const near of this.#blobsNear(span)) {
      for (const hash of sharedHashes(hashes, near.blob.hashes)) wanted.add(hash);
    }
    for (let i = 0; i < countOfHashes(hashes); i++) {
      const hash = hashAt(hashes, i);
      if (this.files.has(hash)) wanted.add(hash);
    }
    this.#addBlob(arrived);
    for (const hash of wanted) this.#joinLone(hash, span);
  }

  /** Takes the lone pieces of a file around the span that have another piece near, and are not held yet. */
  #joinLone(hash: string, span: Interval): void {
    const file = this.files.get(hash) ?? EMPTY;
    const packed = this.#lonePieces(hash, span).filter((p) => !file.pieces.some((held) => samePiece(held, p)));
    if (packed.length === 0) return;
    const all = [...file.pieces, ...packed];
    const added = packed.filter((p) => all.some((other) => other !== p && piecesNear(p, other)));
    if (added.length > 0) this.#put(hash, { ...file, pieces: [...file.pieces, ...added] });
  }

  #lonePieces(hash: string, span: Interval): HeldPiece[] {
    const bytes = hashBytes(hash);
    const found: HeldPiece[] = [];
    for (const near of this.#blobsNear(span)) {
      const [from, to] = placesOf(near.blob.hashes, bytes);
      for (let i = from; i < to; i++) found.push(heldPiece(near, this.#unpack(near)[i]!, true));
    }
    return found;
  }

  *#blobsNear(span: Interval): Generator<HeldBlob> {
    for (const blobs of this.blobs.values()) for (const blob of blobs) if (blobNear(blob, span)) yield blob;
  }

  #unpack(held: HeldBlob): readonly Piece[] {
    const known = this.#unpacked.get(held);
    if (known) return known;
    if (held.blob.payload === null)
      throw new TypeError(`the blob ${held.k}/${held.i} of ${held.rangeId} was not loaded`);
    const pieces = decodePieces(held.blob.payload);
    this.#unpacked.set(held, pieces);
    return pieces;
  }

  #addBlob(held: HeldBlob): void {
    const blobs = this.blobs.get(held.rangeId);
    if (blobs) blobs.push(held);
    else this.blobs.set(held.rangeId, [held]);
  }

  #put(hash: string, file: HeldFile): void {
    if (file.pieces.length === 0 && file.merges.length === 0) this.files.delete(hash);
    else this.files.set(hash, file);
    this.#remember(hash, file);
  }

  #remember(hash: string, { pieces, merges }: HeldFile): void {
    for (const { rangeId } of [...pieces, ...merges.flatMap((m) => m.sources)]) {
      const hashes = this.#filesOf.get(rangeId);
      if (hashes) hashes.add(hash);
      else this.#filesOf.set(rangeId, new Set([hash]));
    }
  }
}
