import { CorruptPayload } from './errors.ts';

/** Largest text that a payload may hold in one field; anything longer is refused before memory is asked for. */
export const MAX_TEXT_BYTES = 1 << 20;

/** Writes numbers and texts one after another into a buffer that grows. One writer makes one payload. */
export class ByteWriter {
  private buffer: Buffer;
  private at = 0;

  constructor(capacity = 1024) {
    this.buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.at;
  }

  /** Makes room for `count` bytes and returns the buffer to write them to, from the position `length`. */
  private reserve(count: number): Buffer {
    if (this.at + count > this.buffer.length) {
      const bigger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + count));
      this.buffer.copy(bigger, 0, 0, this.at);
      this.buffer = bigger;
    }
    return this.buffer;
  }

  u8(value: number): void {
    this.reserve(1)[this.at++] = value;
  }

  u32(value: number): void {
    this.reserve(4).writeUInt32LE(value >>> 0, this.at);
    this.at += 4;
  }

  /** Seven bits a byte, lowest first. Whole numbers from 0 to 2^53 - 1; RangeError on others. */
  varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`no varint: ${value}`);
    const out = this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      // `&` would cut a number to 32 bits, so large ones go by remainder.
      out[this.at++] = (rest % 0x80) | 0x80;
      rest = rest > 0x7fffffff ? Math.floor(rest / 0x80) : rest >>> 7;
    }
    out[this.at++] = rest;
  }

  /** A signed whole number, small magnitudes short: the sign is the lowest bit. |value| below 2^52. */
  zigzag(value: number): void {
    if (!(Math.abs(value) <= MAX_ZIGZAG)) throw new RangeError(`no zigzag number: ${value}`);
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** Bytes without a length: the reader must know it. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length).set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Length-prefixed bytes. */
  block(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** Length-prefixed UTF-8. A lone surrogate becomes U+FFFD, as everywhere in Node. */
  text(value: string): void {
    this.block(Buffer.from(value, 'utf8'));
  }

  /** Length-prefixed latin1; RangeError on a character above U+00FF, which would silently lose bits. */
  latin1(value: string): void {
    for (let i = 0; i < value.length; i++) {
      if (value.charCodeAt(i) > 255) throw new RangeError(`not latin1: ${value.slice(0, 80)}`);
    }
    this.block(Buffer.from(value, 'latin1'));
  }

  /** What was written so far, as a view that the next write may invalidate. */
  view(): Uint8Array {
    return this.buffer.subarray(0, this.at);
  }

  /** What was written, as bytes of its own. */
  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.buffer, 0, this.at);
  }
}

export const MAX_ZIGZAG = 2 ** 52 - 1;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads what `ByteWriter` wrote. Never outside its bytes: every failure is a `CorruptPayload` of the given codec. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly codec: string;
  readonly end: number;
  at: number;

  constructor(codec: string, bytes: Uint8Array, from = 0, end = bytes.length) {
    this.codec = codec;
    this.bytes = bytes;
    this.at = from;
    this.end = end;
  }

  corrupt(reason: CorruptPayload['reason'], detail: string): CorruptPayload {
    return new CorruptPayload(this.codec, reason, detail);
  }

  get left(): number {
    return this.end - this.at;
  }

  u8(): number {
    if (this.at >= this.end) throw this.corrupt('truncated', 'ends inside a field');
    return this.bytes[this.at++]!;
  }

  u32(): number {
    const a = this.u8();
    const b = this.u8();
    const c = this.u8();
    return (a | (b << 8) | (c << 16) | (this.u8() << 24)) >>> 0;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw this.corrupt('malformed', 'number above 2^53');
        return value;
      }
    }
    throw this.corrupt('malformed', 'number of more than 8 bytes');
  }

  /** A varint that counts things: refused above `limit`, before anything is allocated for them. */
  count(limit: number, what: string): number {
    const value = this.varint();
    if (value > limit) throw this.corrupt('limit', `${value} ${what}, at most ${limit} allowed`);
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A view of the next bytes, not a copy. */
  raw(length: number): Uint8Array {
    if (length > this.left) throw this.corrupt('truncated', `${length} bytes expected, ${this.left} left`);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  block(limit = MAX_TEXT_BYTES): Uint8Array {
    return this.raw(this.count(limit, 'bytes'));
  }

  text(limit = MAX_TEXT_BYTES): string {
    return this.decodeText(this.block(limit));
  }

  decodeText(bytes: Uint8Array): string {
    try {
      return utf8.decode(bytes);
    } catch {
      throw this.corrupt('malformed', 'not UTF-8');
    }
  }

  latin1(limit = MAX_TEXT_BYTES): string {
    const bytes = this.block(limit);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  }

  /** Everything must have been read: left-over bytes mean that writer and reader disagree. */
  expectEnd(): void {
    if (this.left !== 0) throw this.corrupt('malformed', `${this.left} bytes too many`);
  }
}
