import type { ByteReader, ByteWriter } from './bytes.ts';

/** A quotient of this many ones means: the number follows as it is, its length first. Keeps one outlier cheap. */
const ESCAPE = 12;
const LENGTH_BITS = 6;

/** How many bits a whole number below 2^53 takes; 0 for 0. */
export const bitLength = (value: number): number =>
  value < 0x100000000 ? 32 - Math.clz32(value) : 64 - Math.clz32(Math.floor(value / 0x100000000));

/** Powers of two and their inverses: exact, and a look-up is many times faster than `**` or `%` on large numbers. */
export const POWER = Float64Array.from({ length: 54 }, (_, i) => 2 ** i);
export const INVERSE = Float64Array.from({ length: 54 }, (_, i) => 2 ** -i);

const SMALL_BITS = 24;
const SMALL = 0x1000000;

/** Writes numbers of 0 to 53 bits, lowest bit first; `flush` fills up the last byte and hands all to a `ByteWriter`. */
export class BitWriter {
  private readonly out: ByteWriter;
  private buffer = new Uint8Array(2048);
  private at = 0;
  private held = 0;
  private count = 0;

  constructor(out: ByteWriter) {
    this.out = out;
  }

  /** Up to 24 bits. With at most 7 held ones the sum stays below 2^31. */
  private small(value: number, bits: number): void {
    let held = this.held | (value << this.count);
    let count = this.count + bits;
    while (count >= 8) {
      this.buffer[this.at++] = held;
      held >>>= 8;
      count -= 8;
    }
    this.held = held;
    this.count = count;
  }

  /** Room for one more number, whatever its code: asked for once a number, so that `small` need not look. */
  private reserve(): void {
    if (this.at + 16 <= this.buffer.length) return;
    const bigger = new Uint8Array(this.buffer.length * 2);
    bigger.set(this.buffer);
    this.buffer = bigger;
  }

  write(value: number, bits: number): void {
    this.reserve();
    this.pieces(value, bits);
  }

  private pieces(value: number, bits: number): void {
    let rest = value;
    let left = bits;
    while (left > SMALL_BITS) {
      const high = Math.floor(rest / SMALL);
      this.small(rest - high * SMALL, SMALL_BITS);
      rest = high;
      left -= SMALL_BITS;
    }
    this.small(rest, left);
  }

  /** Rice code: value >> k in ones, a zero, then the low k bits. `k` from 0 to 40. */
  rice(value: number, k: number): void {
    this.reserve();
    const quotient = Math.floor(value * INVERSE[k]!);
    if (quotient >= ESCAPE) {
      const length = bitLength(value);
      this.small((1 << ESCAPE) - 1, ESCAPE);
      this.small(length, LENGTH_BITS);
      this.pieces(value, length);
      return;
    }
    this.small((1 << quotient) - 1, quotient + 1);
    this.pieces(value - quotient * POWER[k]!, k);
  }

  flush(): void {
    this.reserve();
    if (this.count > 0) this.buffer[this.at++] = this.held;
    this.out.raw(this.buffer.subarray(0, this.at));
    this.at = 0;
    this.held = 0;
    this.count = 0;
  }
}

/** Bits that `BitWriter.rice` takes for the first `n` values together. */
export const riceBits = (values: Float64Array, n: number, k: number): number => {
  const inverse = INVERSE[k]!;
  let bits = n * (k + 1);
  for (let i = 0; i < n; i++) {
    const quotient = Math.floor(values[i]! * inverse);
    bits += quotient < ESCAPE ? quotient : ESCAPE + LENGTH_BITS + bitLength(values[i]!) - k - 1;
  }
  return bits;
};

/** Reads what `BitWriter` wrote, from the reader's position on; `finish` moves the reader behind the last byte used. */
export class BitReader {
  private readonly source: ByteReader;
  private held = 0;
  private count = 0;

  constructor(source: ByteReader) {
    this.source = source;
  }

  private small(bits: number): number {
    while (this.count < bits) {
      this.held |= this.source.u8() << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << bits) - 1);
    this.held >>>= bits;
    this.count -= bits;
    return value;
  }

  read(bits: number): number {
    if (bits <= 24) return this.small(bits);
    const low = this.small(24);
    if (bits <= 48) return low + this.small(bits - 24) * 0x1000000;
    const middle = this.small(24);
    return low + middle * 0x1000000 + this.small(bits - 48) * 0x1000000000000;
  }

  rice(k: number): number {
    let quotient = 0;
    while (quotient < ESCAPE && this.small(1) === 1) quotient++;
    if (quotient < ESCAPE) return quotient * POWER[k]! + this.read(k);
    const length = this.small(LENGTH_BITS);
    if (length > 53) throw this.source.corrupt('malformed', 'number above 2^53');
    return this.read(length);
  }

  /** The rest of the last byte must be the zeros that `flush` wrote. */
  finish(): void {
    if (this.held !== 0) throw this.source.corrupt('malformed', 'stray bits');
    this.count = 0;
  }
}
