import type { ArticleNumber, EpochMs, Group, ReleaseKey } from '../ids.ts';
import type { Contribution } from '../records.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { seal, unseal } from './checksum.ts';
import { compressFrame, expandFrame } from './compression.ts';
import { sliceList } from './sliceList.ts';

/**
 * Version 1: version byte, compression frame of the rows, CRC-32. A row refers to posters and group lists that stood in an
 * earlier row by number; a new one follows its number at once.
 */
const VERSION = 1;
const CODEC = 'contributions';
const MAX_CONTRIBUTIONS = 1 << 18;
const MAX_HASHES = 1 << 20;
const MAX_NAME_BYTES = 64 * 1024;
const MAX_RAW = 64 * 1024 * 1024;

const OBFUSCATED = 1;
const HAS_NFO = 2;
const HAS_TOTAL = 4;

/** The counters of a row, in the order in which they are written. Part of the format. */
const COUNTERS = [
  'posting',
  'files',
  'filesComplete',
  'segments',
  'segmentsTotal',
  'bytes',
  'par2Files',
  'par2Segments',
  'par2SegmentsTotal',
  'par2Bytes',
  'chunks',
] as const satisfies readonly (keyof Contribution)[];
type Counters = Record<(typeof COUNTERS)[number], number>;

/** Bytes from hex digits of just that many bytes; RangeError on anything else, since it could not be given back. */
export const hexBytes = (hex: string, length: number): Uint8Array => {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length !== length || bytes.toString('hex') !== hex)
    throw new RangeError(`not ${length} bytes of hex: ${hex}`);
  return bytes;
};
export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

const writeShared = (out: ByteWriter, table: Map<string, number>, text: string): void => {
  const known = table.get(text);
  out.varint(known ?? table.size);
  if (known !== undefined) return;
  table.set(text, table.size);
  out.text(text);
};

const readShared = (source: ByteReader, table: string[]): string => {
  const number = source.count(table.length, 'as text number');
  if (number === table.length) table.push(source.text(MAX_NAME_BYTES));
  return table[number]!;
};

const writeRow = (out: ByteWriter, c: Contribution, texts: Map<string, number>): void => {
  out.raw(hexBytes(c.key, 16));
  out.text(c.name);
  out.u8((c.obfuscated ? OBFUSCATED : 0) | (c.hasNfo ? HAS_NFO : 0) | (c.filesTotal === null ? 0 : HAS_TOTAL));
  if (c.filesTotal !== null) out.varint(c.filesTotal);
  writeShared(out, texts, c.poster);
  writeShared(out, texts, c.mainGroup);
  out.varint(c.groups.length);
  for (const group of c.groups) writeShared(out, texts, group);
  out.varint(c.firstNumber);
  out.varint(c.lastNumber);
  out.zigzag(c.firstAt);
  out.zigzag(c.lastAt - c.firstAt);
  for (const counter of COUNTERS) out.varint(c[counter]);
  out.varint(c.fileHashes.length);
  for (const hash of c.fileHashes) out.raw(hexBytes(hash, 8));
  out.varint(c.chunksPosition.number);
  out.varint(c.chunksPosition.sequence);
};

const readCounters = (source: ByteReader): Counters => {
  const counters = {} as Counters;
  for (const counter of COUNTERS) counters[counter] = source.varint();
  return counters;
};

const readList = <T>(source: ByteReader, limit: number, read: () => T): T[] => {
  const list: T[] = [];
  for (let n = source.count(limit, 'items'); n > 0; n--) list.push(read());
  return list;
};

const readRow = (source: ByteReader, texts: string[]): Contribution => {
  const key = hexOf(source.raw(16)) as ReleaseKey;
  const name = source.text(MAX_NAME_BYTES);
  const flags = source.u8();
  const filesTotal = flags & HAS_TOTAL ? source.varint() : null;
  const poster = readShared(source, texts);
  const mainGroup = readShared(source, texts) as Group;
  const groups = readList(source, MAX_HASHES, () => readShared(source, texts) as Group);
  const firstNumber = source.varint() as ArticleNumber;
  const lastNumber = source.varint() as ArticleNumber;
  const firstAt = source.zigzag() as EpochMs;
  const lastAt = (firstAt + source.zigzag()) as EpochMs;
  const counters = readCounters(source);
  const fileHashes = readList(source, MAX_HASHES, () => hexOf(source.raw(8)));
  const chunksPosition = { number: source.varint(), sequence: source.varint() };
  const seen = { key, name, filesTotal, poster, mainGroup, groups, firstNumber, lastNumber, firstAt, lastAt };
  const obfuscated = (flags & OBFUSCATED) !== 0;
  return { ...seen, ...counters, obfuscated, hasNfo: (flags & HAS_NFO) !== 0, fileHashes, chunksPosition };
};

/** Encodes the contributions of one `release.seen` message. RangeError on a key or hash that is not hex of its length. */
export const encodeContributions = (list: readonly Contribution[]): Uint8Array => {
  if (list.length > MAX_CONTRIBUTIONS) throw new RangeError(`${list.length} contributions in a message`);
  const rows = new ByteWriter(64 * 1024);
  rows.varint(list.length);
  const texts = new Map<string, number>();
  for (const contribution of list) writeRow(rows, contribution, texts);
  const out = new ByteWriter(rows.length + 16);
  out.u8(VERSION);
  out.raw(compressFrame(rows.view()));
  return seal(out.view());
};

/** The contributions of a message; `CorruptPayload` on anything else. */
export const decodeContributions = (bytes: Uint8Array): Contribution[] => {
  const sealed = new ByteReader(CODEC, unseal(CODEC, bytes));
  if (sealed.u8() !== VERSION) throw sealed.corrupt('version', 'unknown version of contributions');
  const source = new ByteReader(CODEC, expandFrame(sealed.raw(sealed.left), MAX_RAW, CODEC));
  const texts: string[] = [];
  const list = readList(source, MAX_CONTRIBUTIONS, () => readRow(source, texts));
  source.expectEnd();
  return list;
};

/** An upper bound of what a contribution adds to a message, in bytes. */
const sizeOf = (c: Contribution): number => {
  const groups = c.groups.reduce((sum, g) => sum + Buffer.byteLength(g) + 8, 0);
  const texts = Buffer.byteLength(c.name) + Buffer.byteLength(c.poster) + Buffer.byteLength(c.mainGroup);
  return 220 + texts + groups + 8 * c.fileHashes.length;
};

/**
 * Cuts a list so that every slice encodes to at most `limit` bytes, in order. A single contribution that is larger than that
 * is a slice of its own.
 */
export const sliceBySize = (list: readonly Contribution[], limit = 1_000_000): Contribution[][] =>
  sliceList(list, limit, sizeOf);
