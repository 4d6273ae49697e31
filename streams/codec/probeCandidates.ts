import { type EpochMs, MessageId, type ReleaseKey } from '../ids.ts';
import { PROBE_KINDS, type ProbeCandidate } from '../records.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { decodeSealed, encodeSealed, hexBytes, hexOf, readList } from './rows.ts';
import { sliceList } from './sliceList.ts';

/** Version 1: see `encodeSealed`. The numbers of kinds are part of the format: a new kind goes to the end. */
const VERSION = 1;
const CODEC = 'probe candidates';
const MAX_CANDIDATES = 1 << 18;
const MAX_ID_BYTES = 4096;
const RANDOM = 0x80;

const writeCandidate = (out: ByteWriter, c: ProbeCandidate): void => {
  out.raw(hexBytes(c.key, 16));
  out.u8(PROBE_KINDS.indexOf(c.kind) | (c.random ? RANDOM : 0));
  out.varint(c.rank);
  out.latin1(c.messageId);
  out.raw(hexBytes(c.fileHash, 8));
  out.varint(c.part);
  out.varint(c.bytes);
  out.zigzag(c.firstAt);
  out.zigzag(c.lastAt - c.firstAt);
};

const readMessageId = (source: ByteReader): MessageId => {
  const text = source.latin1(MAX_ID_BYTES);
  try {
    return MessageId(text);
  } catch (error) {
    throw source.corrupt('malformed', (error as Error).message);
  }
};

const readCandidate = (source: ByteReader): ProbeCandidate => {
  const key = hexOf(source.raw(16)) as ReleaseKey;
  const flags = source.u8();
  const kind = PROBE_KINDS[flags & ~RANDOM];
  if (kind === undefined) throw source.corrupt('malformed', `kind ${flags & ~RANDOM}`);
  const rank = source.varint();
  const messageId = readMessageId(source);
  const fileHash = hexOf(source.raw(8));
  const part = source.varint();
  const bytes = source.varint();
  const firstAt = source.zigzag() as EpochMs;
  const lastAt = (firstAt + source.zigzag()) as EpochMs;
  return { key, kind, rank, messageId, fileHash, part, bytes, random: (flags & RANDOM) !== 0, firstAt, lastAt };
};

/** Encodes the body of one `probe.candidates`. RangeError on a key or hash that is not hex of its length. */
export const encodeCandidates = (list: readonly ProbeCandidate[]): Uint8Array =>
  encodeSealed(VERSION, (out) => {
    out.varint(list.length);
    for (const candidate of list) writeCandidate(out, candidate);
  });

/** The candidates of a message; `CorruptPayload` on anything else. */
export const decodeCandidates = (bytes: Uint8Array): ProbeCandidate[] =>
  decodeSealed(CODEC, VERSION, bytes, (source) => readList(source, MAX_CANDIDATES, () => readCandidate(source)));

/** Cuts a list so that every slice encodes to at most `limit` bytes, in order. */
export const sliceCandidates = (list: readonly ProbeCandidate[], limit = 1_000_000): ProbeCandidate[][] =>
  sliceList(list, limit, (c) => 80 + c.messageId.length);
