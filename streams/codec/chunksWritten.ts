import type { EpochMs, ReleaseKey } from '../ids.ts';
import type { EncodedChunk } from '../records.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { seal, unseal } from './checksum.ts';
import { hexBytes, hexOf } from './rows.ts';
import { sliceList } from './sliceList.ts';

/** Version 1: version byte, count, rows, CRC-32. The payloads are compressed already and are kept as they are. */
const VERSION = 1;
const CODEC = 'chunks';
const MAX_CHUNKS = 1 << 18;
/** The largest payload of one chunk that a message may carry. */
export const MAX_CHUNK_PAYLOAD = 8 * 1024 * 1024;

export const writeChunk = (out: ByteWriter, chunk: EncodedChunk): void => {
  if (chunk.payload.length > MAX_CHUNK_PAYLOAD) throw new RangeError(`chunk of ${chunk.payload.length} bytes`);
  out.raw(hexBytes(chunk.key, 16));
  out.varint(chunk.posting);
  out.varint(chunk.k);
  out.zigzag(chunk.firstAt);
  out.zigzag(chunk.lastAt - chunk.firstAt);
  out.varint(chunk.segments);
  out.block(chunk.payload);
};

/** Encodes the chunks of one `chunks.written` message. RangeError on a key that is not 32 hex digits, or a huge payload. */
export const encodeChunksWritten = (list: readonly EncodedChunk[]): Uint8Array => {
  if (list.length > MAX_CHUNKS) throw new RangeError(`${list.length} chunks in a message`);
  const out = new ByteWriter(list.reduce((sum, c) => sum + c.payload.length + 64, 64));
  out.u8(VERSION);
  out.varint(list.length);
  for (const chunk of list) writeChunk(out, chunk);
  return seal(out.view());
};

export const readChunk = (source: ByteReader): EncodedChunk => {
  const key = hexOf(source.raw(16)) as ReleaseKey;
  const posting = source.varint();
  const k = source.varint();
  const firstAt = source.zigzag() as EpochMs;
  const lastAt = (firstAt + source.zigzag()) as EpochMs;
  return { key, posting, k, firstAt, lastAt, segments: source.varint(), payload: source.block(MAX_CHUNK_PAYLOAD) };
};

/** The chunks of a message, their payloads as views into it; `CorruptPayload` on anything else. */
export const decodeChunksWritten = (bytes: Uint8Array): EncodedChunk[] => {
  const source = new ByteReader(CODEC, unseal(CODEC, bytes));
  if (source.u8() !== VERSION) throw source.corrupt('version', 'unknown version of chunks');
  const list: EncodedChunk[] = [];
  for (let n = source.count(MAX_CHUNKS, 'chunks'); n > 0; n--) list.push(readChunk(source));
  source.expectEnd();
  return list;
};

/** Cuts a list so that every slice encodes to at most `limit` bytes, in order; a larger chunk is a slice of its own. */
export const sliceChunksBySize = (list: readonly EncodedChunk[], limit = 1_000_000): EncodedChunk[][] =>
  sliceList(list, limit, (chunk) => chunk.payload.length + 64);
