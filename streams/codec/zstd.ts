import * as zlib from 'node:zlib';

/** One way to run zstd. `decompress` returns null or throws on a corrupt frame; the caller has checked the stated size. */
export interface Zstd {
  compress(bytes: Uint8Array, level: number): Uint8Array;
  decompress(bytes: Uint8Array, rawLength: number): Uint8Array | null;
}

interface NativeZstd {
  readonly zstdCompressSync: (bytes: Uint8Array, options: object) => Uint8Array;
  readonly zstdDecompressSync: (bytes: Uint8Array, options: object) => Uint8Array;
  readonly constants: { readonly ZSTD_c_compressionLevel: number };
}

/** Node's own zstd (22.15 and newer), null where there is none. */
export const nativeZstd = (): Zstd | null => {
  const own = zlib as unknown as Partial<NativeZstd>;
  const { zstdCompressSync, zstdDecompressSync, constants } = own;
  if (!zstdCompressSync || !zstdDecompressSync || !constants) return null;
  return {
    compress: (bytes, level) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
    decompress: (bytes, rawLength) => zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, rawLength) }),
  };
};

/** The package zstd-codec. To be called once a process: every call makes a new wasm instance of 16 MiB. */
export const wasmZstd = async (): Promise<Zstd> => {
  const { ZstdCodec } = await import('zstd-codec');
  const simple = await new Promise<import('zstd-codec').ZstdSimple>((resolve) => {
    ZstdCodec.run((zstd) => resolve(new zstd.Simple()));
  });
  return {
    compress(bytes, level) {
      const frame = simple.compress(bytes, level);
      if (frame === null) throw new RangeError(`zstd could not compress ${bytes.length} bytes`);
      return frame;
    },
    decompress: (bytes) => simple.decompress(bytes),
  };
};

const MAGIC = 0xfd2fb528;
/** Bytes of the content size field by its flag; with flag 0 it is there (1 byte) only in a single-segment frame. */
const SIZE_BYTES = [0, 2, 4, 8] as const;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;

/**
 * The content size that a zstd frame states, null when it states none or is no frame. It has to be known before the frame
 * is given to a decoder: the wasm build reserves that much memory at once and aborts when it is not there.
 */
export const zstdContentSize = (frame: Uint8Array): number | null => {
  if (frame.length < 6) return null;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return null;
  const descriptor = frame[4]!;
  const single = (descriptor & 0x20) !== 0;
  const size = descriptor >>> 6 === 0 && single ? 1 : SIZE_BYTES[descriptor >>> 6]!;
  const at = 5 + (single ? 0 : 1) + DICTIONARY_BYTES[descriptor & 3]!;
  if (size === 0 || at + size > frame.length) return null;
  if (size === 1) return frame[at]!;
  if (size === 2) return view.getUint16(at, true) + 256;
  return size === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
};
