import { deflateRawSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { ByteReader, ByteWriter } from './bytes.ts';
import { seal, unseal } from './checksum.ts';
import { CorruptPayload } from './errors.ts';

/** How the lines are stored. `zlib` and `gzip` are a provider's own members, passed on as they came. */
export type LineEncoding = 'none' | 'deflate-raw' | 'zlib' | 'gzip';
const ENCODINGS: readonly LineEncoding[] = ['none', 'deflate-raw', 'zlib', 'gzip'];

/** What a batch says about its lines, readable without inflating them. */
export interface OverviewHead {
  /** First and last article number that the batch answers for, whether or not a line came for them. */
  readonly lo: number;
  readonly hi: number;
  readonly lines: number;
  /** Bytes of the lines when inflated. */
  readonly rawBytes: number;
  readonly encoding: LineEncoding;
  /** Field names in the order of the provider's LIST OVERVIEW.FMT, the article number left out. */
  readonly format: readonly string[];
}

export interface OverviewBatch extends OverviewHead {
  /** The lines in their encoding; after decoding a view into the message. */
  readonly payload: Uint8Array;
}

const VERSION = 1;
const CODEC = 'overview';
const MAX_FIELDS = 64;
const MAX_FIELD_NAME = 200;
/** The most that the lines of one batch may take inflated, unless the caller allows another size. */
export const MAX_OVERVIEW_RAW = 16 * 1024 * 1024;
const MAX_LINES = 1 << 24;
/** Room behind the stated size, so that zlib sees the end of its data without asking for a second buffer. */
const SLACK = 64;

/** The payload of an OVERVIEW message: version, head, the lines as given, and a CRC-32 over all of it. */
export const encodeOverviewBatch = (batch: OverviewBatch): Uint8Array => {
  if (batch.format.length > MAX_FIELDS) throw new RangeError(`${batch.format.length} overview fields`);
  if (batch.lines > MAX_LINES) throw new RangeError(`${batch.lines} lines in a batch`);
  const out = new ByteWriter(batch.payload.length + 256);
  out.u8(VERSION);
  for (const number of [batch.lo, batch.hi, batch.lines, batch.rawBytes]) out.varint(number);
  out.u8(ENCODINGS.indexOf(batch.encoding));
  out.varint(batch.format.length);
  for (const name of batch.format) out.text(name);
  out.raw(batch.payload);
  return seal(out.view());
};

/** Reads the head and checks the checksum; inflates nothing. `CorruptPayload` on anything but a batch. */
export const decodeOverviewBatch = (bytes: Uint8Array): OverviewBatch => {
  const source = new ByteReader(CODEC, unseal(CODEC, bytes));
  if (source.u8() !== VERSION) throw source.corrupt('version', 'unknown version of the overview batch');
  const lo = source.varint();
  const hi = source.varint();
  if (lo > hi) throw source.corrupt('malformed', `span ${lo}-${hi}`);
  const lines = source.count(MAX_LINES, 'lines');
  const rawBytes = source.varint();
  const encoding = ENCODINGS[source.u8()];
  if (!encoding) throw source.corrupt('version', 'unknown encoding of lines');
  const format: string[] = [];
  for (let n = source.count(MAX_FIELDS, 'fields'); n > 0; n--) format.push(source.text(MAX_FIELD_NAME));
  return { lo, hi, lines, rawBytes, encoding, format, payload: source.raw(source.left) };
};

const inflateBy = (batch: OverviewBatch, limit: number): Uint8Array => {
  const options = { maxOutputLength: limit, chunkSize: Math.max(SLACK, batch.rawBytes + SLACK) };
  switch (batch.encoding) {
    case 'none':
      return batch.payload;
    case 'deflate-raw':
      return inflateRawSync(batch.payload, options);
    case 'zlib':
      return inflateSync(batch.payload, options);
    case 'gzip':
      return gunzipSync(batch.payload, options);
  }
};

/**
 * The lines of a batch. `into`: a buffer to put them in, reused from batch to batch; a new one is made when it is missing or
 * too small. `CorruptPayload` when the lines claim or give more than `limit` bytes, or another number than stated.
 */
export const inflateOverviewBatch = (
  batch: OverviewBatch,
  into?: Uint8Array,
  limit: number = MAX_OVERVIEW_RAW,
): Uint8Array => {
  if (batch.rawBytes > limit)
    throw new CorruptPayload(CODEC, 'limit', `${batch.rawBytes} bytes of lines, ${limit} allowed`);
  let raw: Uint8Array;
  try {
    raw = inflateBy(batch, Math.max(1, batch.rawBytes));
  } catch (error) {
    const tooLong = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
    throw new CorruptPayload(CODEC, tooLong ? 'limit' : 'malformed', `lines: ${(error as Error).message}`);
  }
  if (raw.length !== batch.rawBytes) {
    throw new CorruptPayload(CODEC, 'malformed', `${raw.length} bytes of lines instead of ${batch.rawBytes}`);
  }
  if (!into || into.length < raw.length) return raw;
  into.set(raw);
  return into.subarray(0, raw.length);
};

/** Deflates lines for a batch of encoding `deflate-raw`, level 1 (fast) to 6 (a tenth smaller). */
export const deflateLines = (raw: Uint8Array, level: 1 | 2 | 3 | 4 | 5 | 6 = 1): Uint8Array =>
  deflateRawSync(raw, { level, chunkSize: Math.max(SLACK, Math.ceil(raw.length / 3)) });
