/** What pieces of one file make together: a contribution and its segment lists. Pure. */
import { decodeChunk, encodeChunk } from '../../streams/codec/chunk.ts';
import { compareTexts } from '../../streams/compareTexts.ts';
import { ArticleNumber, type Backbone, type Epoch, EpochMs, type Group } from '../../streams/ids.ts';
import { mergeIdOf, sortedSources } from '../../streams/merges.ts';
import type { ChunkFile, Contribution, EncodedChunk, MergeRef, Piece } from '../../streams/records.ts';
import { joinEntries, type UnionFile, unionOf } from '../../streams/union.ts';
import type { SourcePiece } from './ports.ts';

/** A merge before its chunks were appended. */
export interface NewMerge extends MergeRef {
  readonly contribution: Omit<Contribution, 'chunksPosition'>;
  readonly chunks: readonly EncodedChunk[];
}

/** As headers cut them. */
const CHUNK_SEGMENTS = 512;

/** The piece with the earliest article; of equal times the smaller name, then poster. */
function earliest(pieces: readonly Piece[]): Piece {
  const order = (a: Piece, b: Piece) =>
    a.firstAt - b.firstAt || compareTexts(a.name, b.name) || compareTexts(a.poster, b.poster);
  return pieces.reduce((first, p) => (order(p, first) < 0 ? p : first));
}

/** Cuts entries into lists of at most `CHUNK_SEGMENTS` segments; an entry may go on in the next list. */
function sliceEntries(entries: readonly ChunkFile[]): ChunkFile[][] {
  const lists: ChunkFile[][] = [[]];
  let room = CHUNK_SEGMENTS;
  for (const entry of entries) {
    let from = 0;
    do {
      // One that lost all of its parts is kept for its time alone, and needs no room.
      if (room === 0 && entry.segments.length > 0) {
        lists.push([]);
        room = CHUNK_SEGMENTS;
      }
      const segments = entry.segments.slice(from, from + room);
      lists.at(-1)!.push({ ...entry, segments });
      room -= segments.length;
      from += segments.length;
    } while (from < entry.segments.length);
  }
  return lists;
}

const spanOf = (pieces: readonly Piece[]) => ({
  firstNumber: ArticleNumber(pieces.reduce((n, p) => Math.min(n, p.firstNumber), Number.MAX_SAFE_INTEGER)),
  lastNumber: ArticleNumber(pieces.reduce((n, p) => Math.max(n, p.lastNumber), 0)),
  firstAt: EpochMs(pieces.reduce((at, p) => Math.min(at, p.firstAt), Number.MAX_SAFE_INTEGER)),
  lastAt: EpochMs(pieces.reduce((at, p) => Math.max(at, p.lastAt), Number.MIN_SAFE_INTEGER)),
});

function contributionOf(
  group: Group,
  pieces: readonly Piece[],
  file: UnionFile,
  chunks: number,
): NewMerge['contribution'] {
  const first = earliest(pieces);
  const mainGroup = first.groups[0] ?? group;
  const others = [...new Set(pieces.flatMap((p) => p.groups))].filter((g) => g !== mainGroup).sort(compareTexts);
  const par2 = pieces.some((p) => p.par2);
  const segments = file.segments.length;
  return {
    key: first.key,
    posting: 0,
    name: first.name,
    obfuscated: pieces.every((p) => p.obfuscated),
    filesTotal: first.filesTotal,
    poster: first.poster,
    mainGroup,
    groups: [mainGroup, ...others],
    ...spanOf(pieces),
    files: 1,
    filesComplete: Number(file.complete),
    segments,
    segmentsTotal: file.expected,
    bytes: file.bytes,
    par2Files: Number(par2),
    par2Segments: par2 ? segments : 0,
    par2SegmentsTotal: par2 ? file.expected : 0,
    par2Bytes: par2 ? file.bytes : 0,
    hasNfo: pieces.some((p) => p.nfo),
    fileHashes: [file.fileHash],
    chunks,
  };
}

/**
 * Merges the pieces of one unit: the figures are those that headers would give for a range that held all of its articles.
 * The same for any order of the pieces. RangeError without any; CorruptPayload when a payload is no chunk.
 */
export function mergePieces(
  place: { readonly backbone: Backbone; readonly group: Group; readonly epoch: Epoch },
  fileHash: string,
  sourced: readonly SourcePiece[],
): NewMerge {
  if (sourced.length === 0) throw new RangeError(`no piece of ${fileHash} to merge`);
  const sources = sortedSources(sourced.map((s) => s.source));
  const pieces = sourced.map((s) => s.piece);
  const entries = joinEntries(pieces.flatMap((p) => decodeChunk(p.payload)).filter((f) => f.fileHash === fileHash));
  const [file] = unionOf(entries);
  if (!file) throw new RangeError(`the pieces of ${fileHash} hold another file`);
  const lists = sliceEntries(entries);
  const contribution = contributionOf(place.group, pieces, file, lists.length);
  const { key, firstAt, lastAt } = contribution;
  const chunks = lists.map((list, k): EncodedChunk => {
    const segments = list.reduce((sum, entry) => sum + entry.segments.length, 0);
    return { key, posting: 0, k, firstAt, lastAt, segments, payload: encodeChunk(list) };
  });
  return { mergeId: mergeIdOf(place, fileHash, sources), fileHash, sources, contribution, chunks };
}
