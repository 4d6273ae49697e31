import type { ArticleNumber, EpochMs, Group, ReleaseKey } from '../ids.ts';
import type { Contribution } from '../records.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
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

/**
 * Version 1: version byte, compression frame of the rows, CRC-32. A row refers to posters and group lists that stood in an
 * earlier row by number; a new one follows its number at once.
 */
const VERSION = 1;
const CODEC = 'contributions';
const MAX_CONTRIBUTIONS = 1 << 18;
const MAX_HASHES = 1 << 20;

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

/** One row; a message's rows share their texts. */
export const writeContribution = (out: ByteWriter, c: Contribution, texts: SharedTextWriter): void => {
  out.raw(hexBytes(c.key, 16));
  out.text(c.name);
  out.u8((c.obfuscated ? OBFUSCATED : 0) | (c.hasNfo ? HAS_NFO : 0) | (c.filesTotal === null ? 0 : HAS_TOTAL));
  if (c.filesTotal !== null) out.varint(c.filesTotal);
  texts.write(out, c.poster);
  texts.write(out, c.mainGroup);
  out.varint(c.groups.length);
  for (const group of c.groups) texts.write(out, group);
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

export const readContribution = (source: ByteReader, texts: SharedTextReader): Contribution => {
  const key = hexOf(source.raw(16)) as ReleaseKey;
  const name = source.text(MAX_NAME_BYTES);
  const flags = source.u8();
  const filesTotal = flags & HAS_TOTAL ? source.varint() : null;
  const poster = texts.read(source);
  const mainGroup = texts.read(source) as Group;
  const groups = readList(source, MAX_HASHES, () => texts.read(source) as Group);
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
  return encodeSealed(VERSION, (rows) => {
    const texts = new SharedTextWriter();
    rows.varint(list.length);
    for (const contribution of list) writeContribution(rows, contribution, texts);
  });
};

/** The contributions of a message; `CorruptPayload` on anything else. */
export const decodeContributions = (bytes: Uint8Array): Contribution[] =>
  decodeSealed(CODEC, VERSION, bytes, (source) => {
    const texts = new SharedTextReader();
    return readList(source, MAX_CONTRIBUTIONS, () => readContribution(source, texts));
  });

/** An upper bound of what a contribution adds to a message, in bytes. */
export const contributionSize = (c: Contribution): number => {
  const groups = c.groups.reduce((sum, g) => sum + Buffer.byteLength(g) + 8, 0);
  const texts = Buffer.byteLength(c.name) + Buffer.byteLength(c.poster) + Buffer.byteLength(c.mainGroup);
  return 220 + texts + groups + 8 * c.fileHashes.length;
};

/**
 * Cuts a list so that every slice encodes to at most `limit` bytes, in order. A single contribution that is larger than that
 * is a slice of its own.
 */
export const sliceBySize = (list: readonly Contribution[], limit = 1_000_000): Contribution[][] =>
  sliceList(list, limit, contributionSize);
