import { ByteReader, ByteWriter } from './bytes.ts';
import { seal, unseal } from './checksum.ts';
import { compressFrame, expandFrame } from './compression.ts';

/** The largest raw length of the rows of one message. */
const MAX_RAW = 64 * 1024 * 1024;
export const MAX_NAME_BYTES = 64 * 1024;

/** Bytes from hex digits of just that many bytes; RangeError on anything else, since it could not be given back. */
export const hexBytes = (hex: string, length: number): Uint8Array => {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length !== length || bytes.toString('hex') !== hex)
    throw new RangeError(`not ${length} bytes of hex: ${hex}`);
  return bytes;
};
export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

/** Texts that many rows share, written once: later rows refer to them by number. */
export class SharedTextWriter {
  readonly #numbers = new Map<string, number>();
  write(out: ByteWriter, text: string): void {
    const known = this.#numbers.get(text);
    out.varint(known ?? this.#numbers.size);
    if (known !== undefined) return;
    this.#numbers.set(text, this.#numbers.size);
    out.text(text);
  }
}

export class SharedTextReader {
  readonly #texts: string[] = [];
  read(source: ByteReader): string {
    const number = source.count(this.#texts.length, 'as text number');
    if (number === this.#texts.length) this.#texts.push(source.text(MAX_NAME_BYTES));
    return this.#texts[number]!;
  }
}

export const readList = <T>(source: ByteReader, limit: number, read: () => T): T[] => {
  const list: T[] = [];
  for (let n = source.count(limit, 'items'); n > 0; n--) list.push(read());
  return list;
};

/** The layout that the bulk bodies of RELEASES share: version byte, compression frame of what `write` wrote, CRC-32. */
export const encodeSealed = (version: number, write: (rows: ByteWriter) => void): Uint8Array => {
  const rows = new ByteWriter(64 * 1024);
  write(rows);
  const out = new ByteWriter(rows.length + 16);
  out.u8(version);
  out.raw(compressFrame(rows.view()));
  return seal(out.view());
};

/** What `read` makes of the frame's content; `CorruptPayload` on another version, damage, or bytes left over. */
export const decodeSealed = <T>(
  codec: string,
  version: number,
  bytes: Uint8Array,
  read: (source: ByteReader) => T,
): T => {
  const sealed = new ByteReader(codec, unseal(codec, bytes));
  if (sealed.u8() !== version) throw sealed.corrupt('version', `unknown version of ${codec}`);
  const raw = expandFrame(sealed.raw(sealed.left), MAX_RAW, codec);
  // However the frame was made, blocks read from it are of one type.
  const source = new ByteReader(codec, Buffer.from(raw.buffer, raw.byteOffset, raw.length));
  const value = read(source);
  source.expectEnd();
  return value;
};
