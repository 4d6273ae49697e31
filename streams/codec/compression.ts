import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { ByteReader, ByteWriter } from './bytes.ts';
import { CorruptPayload } from './errors.ts';
import { nativeZstd, wasmZstd, type Zstd, zstdContentSize } from './zstd.ts';

/**
 * A compression frame: tag byte (0 none, 1 deflate-raw, 2 zstd), raw length as a varint, then the content. It has no
 * checksum of its own: whoever stores one seals it together with the rest of the payload.
 */
export type Compression = 'none' | 'deflate-raw' | 'zstd';
const TAGS: readonly Compression[] = ['none', 'deflate-raw', 'zstd'];

/** The wasm build of zstd works in a heap of 16 MiB: above this size a frame is made by deflate. */
export const MAX_ZSTD_INPUT = 2 * 1024 * 1024;
/** The largest raw length that a frame may have unless the caller allows less. */
export const MAX_FRAME_RAW = 64 * 1024 * 1024;
/** Under this size zstd's frame header eats what it gains. */
const MIN_ZSTD_INPUT = 512;
const ZSTD_LEVEL = 3;

let zstd: Zstd | null = nativeZstd();
let starting: Promise<void> | null = null;

/**
 * Makes zstd available: at once where Node has it, else by loading the wasm build (about 0.2 s), once a process. Every
 * process that decodes frames awaits this at its start; encoders work without it and then use deflate.
 */
export const initCompression = (): Promise<void> => {
  starting ??= (async () => {
    zstd ??= await wasmZstd();
  })();
  return starting;
};

/** Whether `compressFrame` can make zstd frames yet. */
export const zstdReady = (): boolean => zstd !== null;

const deflate = (bytes: Uint8Array): Uint8Array => deflateRawSync(bytes, { level: 6, memLevel: 8 });

const compressBy = (how: Compression, bytes: Uint8Array): Uint8Array => {
  switch (how) {
    case 'none':
      return bytes;
    case 'deflate-raw':
      return deflate(bytes);
    case 'zstd':
      if (!zstd) throw new Error('zstd is not ready: await initCompression() first');
      return zstd.compress(bytes, ZSTD_LEVEL);
  }
};

const bestFor = (bytes: Uint8Array): Compression =>
  zstd && bytes.length >= MIN_ZSTD_INPUT && bytes.length <= MAX_ZSTD_INPUT ? 'zstd' : 'deflate-raw';

/** Makes a frame of the bytes, by the given way or the best one available; stored as they are when that is shorter. */
export const compressFrame = (bytes: Uint8Array, how: Compression = bestFor(bytes)): Uint8Array => {
  if (bytes.length > MAX_FRAME_RAW) throw new RangeError(`a frame holds ${MAX_FRAME_RAW} bytes, not ${bytes.length}`);
  if (how === 'zstd' && bytes.length > MAX_ZSTD_INPUT) throw new RangeError('too long for a zstd frame');
  const content = compressBy(how, bytes);
  const tag = content.length < bytes.length ? how : 'none';
  const out = new ByteWriter(content.length + 10);
  out.u8(TAGS.indexOf(tag));
  out.varint(bytes.length);
  out.raw(tag === 'none' ? bytes : content);
  return out.finish();
};

const inflate = (codec: string, content: Uint8Array, rawLength: number): Uint8Array => {
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, rawLength), finishFlush: constants.Z_FINISH });
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new CorruptPayload(codec, 'limit', `inflates to more than ${rawLength} bytes`);
    throw new CorruptPayload(codec, 'malformed', `deflate data: ${(error as Error).message}`);
  }
};

const expand = (codec: string, content: Uint8Array, rawLength: number): Uint8Array | null => {
  if (rawLength > MAX_ZSTD_INPUT) throw new CorruptPayload(codec, 'limit', `zstd frame of ${rawLength} bytes`);
  if (zstdContentSize(content) !== rawLength)
    throw new CorruptPayload(codec, 'malformed', 'zstd frame of another size');
  // A programming error, not bad bytes: the process did not await initCompression().
  if (!zstd) throw new Error('zstd is not ready: await initCompression() first');
  try {
    return zstd.decompress(content, rawLength);
  } catch {
    return null;
  }
};

const expandBy = (how: Compression, codec: string, content: Uint8Array, rawLength: number): Uint8Array | null => {
  switch (how) {
    case 'none':
      return content;
    case 'deflate-raw':
      return inflate(codec, content, rawLength);
    case 'zstd':
      return expand(codec, content, rawLength);
  }
};

/** The content of a frame of at most `limit` raw bytes; `CorruptPayload` when it claims or gives another length. */
export const expandFrame = (frame: Uint8Array, limit = MAX_FRAME_RAW, codec = 'frame'): Uint8Array => {
  const reader = new ByteReader(codec, frame);
  const how = TAGS[reader.u8()];
  if (how === undefined) throw reader.corrupt('version', 'unknown compression');
  const rawLength = reader.count(limit, 'raw bytes');
  const raw = expandBy(how, codec, reader.raw(reader.left), rawLength);
  if (raw?.length !== rawLength)
    throw reader.corrupt('malformed', `${raw?.length ?? 'no'} bytes instead of ${rawLength}`);
  return raw;
};
