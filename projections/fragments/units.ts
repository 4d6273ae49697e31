/** Units: the pieces of one file that belong to one posting, and what can be said of them together. Pure. */
import type { MergeId } from '../../streams/ids.ts';
import { mergeIdOf } from '../../streams/merges.ts';
import type { Interval } from '../../streams/records.ts';
import { POSTING_GAP_MS } from '../../streams/rules.ts';
import type { HeldFile, HeldPiece, Place } from './held.ts';

export interface Unit {
  /** The id that a merge of just these pieces has. */
  readonly mergeId: MergeId;
  readonly pieces: readonly HeldPiece[];
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly postingFirstAt: number;
  readonly postingLastAt: number;
  /** Time of its newest article. */
  readonly lastAt: number;
  /** One lone part alone is a random post. */
  readonly mergeable: boolean;
  /** The parts that its articles promise are all there. Without a promise: false, the highest part may still come. */
  readonly complete: boolean;
  /** No live merge has exactly its pieces. */
  readonly open: boolean;
}

/** Pieces whose postings are less than 3 days apart, connected. */
function postings(pieces: readonly HeldPiece[]): HeldPiece[][] {
  const groups: HeldPiece[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const piece of [...pieces].sort((a, b) => a.postingFirstAt - b.postingFirstAt)) {
    if (piece.postingFirstAt - end >= POSTING_GAP_MS || groups.length === 0) groups.push([]);
    groups.at(-1)!.push(piece);
    end = Math.max(end, piece.postingLastAt);
  }
  return groups;
}

/** The total that most segments state, of two as frequent the larger; 0 when none states any. */
function statedTotal(pieces: readonly HeldPiece[]): number {
  const votes = new Map<number, number>();
  for (const [total, segments] of pieces.flatMap((p) => p.totals)) {
    if (total > 0 && segments > 0) votes.set(total, (votes.get(total) ?? 0) + segments);
  }
  return [...votes].sort(([a, m], [b, n]) => n - m || b - a)[0]?.[0] ?? 0;
}

/** Whether the intervals, in any order, hold every number from 1 to n. */
function hold(intervals: readonly Interval[], n: number): boolean {
  let next = 1;
  for (const [lo, hi] of [...intervals].sort((a, b) => a[0] - b[0])) {
    if (lo > next) break;
    next = Math.max(next, hi + 1);
  }
  return next > n;
}

function isMergeable(pieces: readonly HeldPiece[]): boolean {
  if (pieces.some((p) => !p.lone)) return true;
  return new Set(pieces.flatMap((p) => p.parts.map(([part]) => part))).size > 1;
}

function unitOf(place: Place, fileHash: string, file: HeldFile, pieces: readonly HeldPiece[]): Unit {
  const mergeId = mergeIdOf(place, fileHash, pieces);
  const total = statedTotal(pieces);
  const parts = pieces.flatMap((p) => p.parts);
  const least = (of: (p: HeldPiece) => number) => pieces.reduce((a, p) => Math.min(a, of(p)), Number.MAX_SAFE_INTEGER);
  const most = (of: (p: HeldPiece) => number) => pieces.reduce((a, p) => Math.max(a, of(p)), Number.MIN_SAFE_INTEGER);
  return {
    mergeId,
    pieces,
    firstNumber: least((p) => p.firstNumber),
    lastNumber: most((p) => p.lastNumber),
    postingFirstAt: least((p) => p.postingFirstAt),
    postingLastAt: most((p) => p.postingLastAt),
    lastAt: most((p) => p.lastAt),
    mergeable: isMergeable(pieces),
    complete: total > 0 && hold(parts, total),
    open: !file.merges.some((m) => m.mergeId === mergeId),
  };
}

/** The units of one file. */
export const unitsOf = (place: Place, fileHash: string, file: HeldFile): readonly Unit[] =>
  postings(file.pieces).map((pieces) => unitOf(place, fileHash, file, pieces));
