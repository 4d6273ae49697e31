import * as zlib from 'node:zlib';
import { CorruptPayload } from './errors.ts';

/** Eight tables: table 0 is the plain CRC-32 table, table n the effect of a byte that lies n bytes further back. */
const makeTables = (): readonly Int32Array[] => {
  const tables = Array.from({ length: 8 }, () => new Int32Array(256));
  const first = tables[0]!;
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    first[n] = c;
  }
  for (let t = 1; t < 8; t++) {
    for (let n = 0; n < 256; n++) {
      const before = tables[t - 1]![n]!;
      tables[t]![n] = first[before & 0xff]! ^ (before >>> 8);
    }
  }
  return tables;
};

const [T0, T1, T2, T3, T4, T5, T6, T7] = makeTables() as unknown as readonly [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** CRC-32 (the one of gzip and zlib) by tables, eight bytes a step. For Node versions whose zlib has none. */
export const tableCrc32 = (bytes: Uint8Array, seed = 0): number => {
  let c = ~seed;
  let i = 0;
  for (const last = bytes.length - 7; i < last; i += 8) {
    c ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    c =
      T7[c & 0xff]! ^
      T6[(c >>> 8) & 0xff]! ^
      T5[(c >>> 16) & 0xff]! ^
      T4[c >>> 24]! ^
      T3[bytes[i + 4]!]! ^
      T2[bytes[i + 5]!]! ^
      T1[bytes[i + 6]!]! ^
      T0[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i++) c = T0[(c ^ bytes[i]!) & 0xff]! ^ (c >>> 8);
  return ~c >>> 0;
};

type Crc32 = (bytes: Uint8Array, seed?: number) => number;
const native = (zlib as { readonly crc32?: Crc32 }).crc32;

/** CRC-32 of the bytes, continued from `seed`: detects every changed byte and every burst of up to 32 bits. */
export const crc32: Crc32 = native ?? tableCrc32;

const TRAILER = 4;

/** Appends the checksum of everything before it (4 bytes, little endian). */
export const seal = (bytes: Uint8Array): Uint8Array => {
  const out = new Uint8Array(bytes.length + TRAILER);
  out.set(bytes);
  new DataView(out.buffer).setUint32(bytes.length, crc32(bytes), true);
  return out;
};

/** The bytes before the checksum, as a view; `CorruptPayload` when it does not fit them. */
export const unseal = (codec: string, bytes: Uint8Array): Uint8Array => {
  if (bytes.length <= TRAILER) throw new CorruptPayload(codec, 'truncated', `${bytes.length} bytes are no payload`);
  const body = bytes.subarray(0, bytes.length - TRAILER);
  const stated = new DataView(bytes.buffer, bytes.byteOffset + body.length, TRAILER).getUint32(0, true);
  if (stated !== crc32(body)) throw new CorruptPayload(codec, 'checksum', 'the checksum does not fit the bytes');
  return body;
};
