import { ArticleNumber, type EpochMs, type Group, type ReleaseKey } from '../ids.ts';
import type { Fragments, Interval, LoneBlob, Piece } from '../records.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { MAX_CHUNK_PAYLOAD } from './chunksWritten.ts';
import {
  decodeSealed,
  encodeSealed,
  hexBytes,
  hexOf,
  MAX_NAME_BYTES,
  readList,
  SharedTextReader,
  SharedTextWriter,
} from './rows.ts';
import { sliceList } from './sliceList.ts';

/** Version 1: see `encodeSealed`. Pieces as rows that share posters and groups; lone blobs as blocks. */
const VERSION = 1;
const CODEC = 'fragments';
const MAX_PIECES = 1 << 18;
const MAX_INTERVALS = 1 << 20;
const HASH_BYTES = 8;
/** Bytes of the lone pieces of one edge, unpacked ones included. */
const MAX_BLOB = 32 * 1024 * 1024;

const OBFUSCATED = 1;
const PAR2 = 2;
const NFO = 4;
const LONE = 8;
const HAS_TOTAL = 16;

const flagsOf = (p: Piece): number =>
  (p.obfuscated ? OBFUSCATED : 0) |
  (p.par2 ? PAR2 : 0) |
  (p.nfo ? NFO : 0) |
  (p.lone ? LONE : 0) |
  (p.filesTotal === null ? 0 : HAS_TOTAL);

/** Ascending intervals as distances; RangeError when they are not ascending. */
const writeIntervals = (out: ByteWriter, intervals: readonly Interval[]): void => {
  out.varint(intervals.length);
  let last = 0;
  for (const [lo, hi] of intervals) {
    out.varint(lo - last);
    out.varint(hi - lo);
    last = hi;
  }
};

const readIntervals = (source: ByteReader): Interval[] => {
  let last = 0;
  return readList(source, MAX_INTERVALS, () => {
    const lo = last + source.varint();
    last = lo + source.varint();
    return [lo, last] as const;
  });
};

const writeTimes = (out: ByteWriter, p: Piece): void => {
  out.zigzag(p.firstAt);
  out.zigzag(p.lastAt - p.firstAt);
  out.zigzag(p.postingFirstAt - p.firstAt);
  out.zigzag(p.postingLastAt - p.lastAt);
};

const readTimes = (source: ByteReader) => {
  const firstAt = source.zigzag() as EpochMs;
  const lastAt = (firstAt + source.zigzag()) as EpochMs;
  const postingFirstAt = (firstAt + source.zigzag()) as EpochMs;
  return { firstAt, lastAt, postingFirstAt, postingLastAt: (lastAt + source.zigzag()) as EpochMs };
};

const writePiece = (out: ByteWriter, p: Piece, texts: SharedTextWriter): void => {
  out.raw(hexBytes(p.key, 16));
  out.raw(hexBytes(p.fileHash, HASH_BYTES));
  out.varint(p.posting);
  out.text(p.name);
  out.u8(flagsOf(p));
  if (p.filesTotal !== null) out.varint(p.filesTotal);
  texts.write(out, p.poster);
  out.varint(p.groups.length);
  for (const group of p.groups) texts.write(out, group);
  out.varint(p.firstNumber);
  out.varint(p.lastNumber);
  writeTimes(out, p);
  writeIntervals(out, p.parts);
  out.varint(p.totals.length);
  for (const [total, segments] of p.totals) {
    out.varint(total);
    out.varint(segments);
  }
  out.varint(p.segments);
  out.varint(p.bytes);
  out.block(p.payload);
};

const readPiece = (source: ByteReader, texts: SharedTextReader): Piece => {
  const key = hexOf(source.raw(16)) as ReleaseKey;
  const fileHash = hexOf(source.raw(HASH_BYTES));
  const posting = source.varint();
  const name = source.text(MAX_NAME_BYTES);
  const flags = source.u8();
  const filesTotal = flags & HAS_TOTAL ? source.varint() : null;
  const poster = texts.read(source);
  const groups = readList(source, MAX_INTERVALS, () => texts.read(source) as Group);
  const firstNumber = source.varint() as ArticleNumber;
  const lastNumber = source.varint() as ArticleNumber;
  const times = readTimes(source);
  const parts = readIntervals(source);
  const totals = readList(source, MAX_INTERVALS, () => [source.varint(), source.varint()] as const);
  const counts = { segments: source.varint(), bytes: source.varint() };
  const payload = source.block(MAX_CHUNK_PAYLOAD);
  const has = (flag: number) => (flags & flag) !== 0;
  const roles = { obfuscated: has(OBFUSCATED), par2: has(PAR2), nfo: has(NFO), lone: has(LONE) };
  const named = { key, fileHash, posting, name, poster, filesTotal, groups, firstNumber, lastNumber };
  return { ...named, ...times, ...roles, parts, totals, ...counts, payload };
};

/** Encodes pieces alone: the payload of a lone blob, and what the fragments projection keeps of one. */
export const encodePieces = (pieces: readonly Piece[]): Uint8Array => {
  if (pieces.length > MAX_PIECES) throw new RangeError(`${pieces.length} pieces in a list`);
  return encodeSealed(VERSION, (out) => {
    const texts = new SharedTextWriter();
    out.varint(pieces.length);
    for (const piece of pieces) writePiece(out, piece, texts);
  });
};

/** The pieces that `encodePieces` wrote, payloads as views into the bytes; `CorruptPayload` on anything else. */
export const decodePieces = (bytes: Uint8Array): Piece[] =>
  decodeSealed(CODEC, VERSION, bytes, (source) => {
    const texts = new SharedTextReader();
    return readList(source, MAX_PIECES, () => readPiece(source, texts));
  });

const compareHashes = (a: Piece, b: Piece): number =>
  a.fileHash < b.fileHash ? -1 : Number(a.fileHash > b.fileHash) || a.posting - b.posting;

const extreme = (numbers: readonly number[], of: (a: number, b: number) => number): ArticleNumber =>
  ArticleNumber(numbers.reduce((a, b) => of(a, b)));

/** Packs the lone pieces of an edge. RangeError without any. */
export const packLone = (pieces: readonly Piece[]): LoneBlob => {
  if (pieces.length === 0) throw new RangeError('no lone piece to pack');
  const sorted = [...pieces].sort(compareHashes);
  return {
    firstNumber: extreme(
      sorted.map((p) => p.firstNumber),
      Math.min,
    ),
    lastNumber: extreme(
      sorted.map((p) => p.lastNumber),
      Math.max,
    ),
    hashes: Buffer.concat(sorted.map((p) => hexBytes(p.fileHash, HASH_BYTES))),
    payload: encodePieces(sorted),
  };
};

/** Encodes the body of one `release.fragments`. */
export const encodeFragments = ({ pieces, lone }: Fragments): Uint8Array =>
  encodeSealed(VERSION, (out) => {
    const texts = new SharedTextWriter();
    out.varint(pieces.length);
    for (const piece of pieces) writePiece(out, piece, texts);
    out.varint(lone.length);
    for (const blob of lone) {
      out.varint(blob.firstNumber);
      out.varint(blob.lastNumber);
      out.block(blob.hashes);
      out.block(blob.payload);
    }
  });

const readBlob = (source: ByteReader): LoneBlob => ({
  firstNumber: source.varint() as ArticleNumber,
  lastNumber: source.varint() as ArticleNumber,
  hashes: source.block(MAX_BLOB),
  payload: source.block(MAX_BLOB),
});

/** The body of one `release.fragments`; `CorruptPayload` on anything else. */
export const decodeFragments = (bytes: Uint8Array): Fragments =>
  decodeSealed(CODEC, VERSION, bytes, (source) => {
    const texts = new SharedTextReader();
    const pieces = readList(source, MAX_PIECES, () => readPiece(source, texts));
    return { pieces, lone: readList(source, MAX_PIECES, () => readBlob(source)) };
  });

const pieceSize = (p: Piece): number => {
  const texts = Buffer.byteLength(p.name) + Buffer.byteLength(p.poster) + p.groups.join(' ').length;
  return 160 + texts + 8 * p.groups.length + 10 * (p.parts.length + p.totals.length) + p.payload.length;
};

/** Cuts pieces so that every slice encodes to at most `limit` bytes, in order; a larger piece is a slice of its own. */
export const slicePieces = (pieces: readonly Piece[], limit = 1_000_000): Piece[][] =>
  sliceList(pieces, limit, pieceSize);
