/** What the fragments projection holds of one counting of article numbers: pieces, merges, and the blobs of lone parts. */
import type { Backbone, Epoch, Group, MergeId, Position, RangeId } from '../../streams/ids.ts';
import type { Interval, LoneBlob, MergeSource, Piece } from '../../streams/records.ts';
import { EDGE_NUMBERS } from '../../streams/rules.ts';

/** One counting of article numbers. */
export interface Place {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
}
export const placeText = (p: Place): string => `${p.backbone}/${p.group}/${p.epoch}`;

export interface Pair {
  readonly run: number;
  readonly pass: number;
}
export const comparePairs = (a: Pair, b: Pair): number => a.run - b.run || a.pass - b.pass;

/** What is decided by, of one piece. Its source names it among the pieces of its file. */
export interface HeldPiece extends MergeSource {
  /** Out of a blob: it is held only while another piece of its file is near. */
  readonly lone: boolean;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly lastAt: number;
  readonly postingFirstAt: number;
  readonly postingLastAt: number;
  readonly parts: readonly Interval[];
  readonly totals: readonly (readonly [total: number, segments: number])[];
  /** All of it; null where it is stored already and was not read again. */
  readonly piece: Piece | null;
}

export const heldPiece = (pass: Pair & { readonly rangeId: RangeId }, piece: Piece, lone: boolean): HeldPiece => ({
  rangeId: pass.rangeId,
  run: pass.run,
  pass: pass.pass,
  posting: piece.posting,
  lone,
  firstNumber: piece.firstNumber,
  lastNumber: Math.max(piece.firstNumber, piece.lastNumber),
  lastAt: Math.max(piece.firstAt, piece.lastAt),
  postingFirstAt: piece.postingFirstAt,
  postingLastAt: Math.max(piece.postingFirstAt, piece.postingLastAt),
  parts: piece.parts,
  totals: piece.totals,
  piece,
});

/** A merge that nothing has replaced or withdrawn. */
export interface LiveMerge {
  readonly mergeId: MergeId;
  readonly revision: Position;
  readonly sources: readonly MergeSource[];
}

/** All that is held of one file; never changed, only replaced. */
export interface HeldFile {
  readonly pieces: readonly HeldPiece[];
  readonly merges: readonly LiveMerge[];
}

/** A blob as one pass of a range sent it: message k, place i in it. */
export interface HeldBlob extends Pair {
  readonly rangeId: RangeId;
  readonly k: number;
  readonly i: number;
  /** The payload is null where it is stored and none of its pieces is asked for. */
  readonly blob: Omit<LoneBlob, 'payload'> & { readonly payload: Uint8Array | null };
}

/** Article numbers between two spans; 0 when they touch or overlap. */
const distance = (a: Interval, b: Interval): number => Math.max(0, a[0] - b[1], b[0] - a[1]);

const numbersOf = (p: HeldPiece | Piece): Interval => [p.firstNumber, Math.max(p.firstNumber, p.lastNumber)];

/** Whether two pieces of one file may be of one posting, by their numbers. */
export const piecesNear = (a: HeldPiece, b: HeldPiece): boolean => distance(numbersOf(a), numbersOf(b)) <= EDGE_NUMBERS;

/** Whether the blob may hold something that is near to the span. */
export const blobNear = ({ blob }: HeldBlob, span: Interval): boolean =>
  distance([blob.firstNumber, blob.lastNumber], span) <= EDGE_NUMBERS;

/** Whether two sources of one file are the same piece of a range, of whatever pass. */
export const samePiece = (a: MergeSource, b: MergeSource): boolean =>
  a.rangeId === b.rangeId && a.posting === b.posting;
