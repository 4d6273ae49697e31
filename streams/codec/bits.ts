import type { ByteReader, ByteWriter } from './bytes.ts';

/** A quotient of this many ones means: the number follows as it is, its length first. Keeps one outlier cheap. */
const ESCAPE = 12;
const LENGTH_BITS = 6;

/** How many bits a whole number below 2^53 takes; 0 for 0. */
export const bitLength = (value: number): number =>
  value < 0x100000000 ? 32 - Math.clz32(value) : 64 - Math.clz32(Math.floor(value / 0x100000000));

/** Writes numbers of 0 to 53 bits, lowest bit first, into a `ByteWriter`; `flush` fills up the last byte. */
export class BitWriter {
  private readonly out: ByteWriter;
  private held = 0;
  private count = 0;

  constructor(out: ByteWriter) {
    this.out = out;
  }

  private small(value: number, bits: number): void {
    // At most 7 held bits and 24 new ones: the sum stays below 2^31.
    this.held |= value << this.count;
    this.count += bits;
    while (this.count >= 8) {
      this.out.u8(this.held & 0xff);
      this.held >>>= 8;
      this.count -= 8;
    }
  }

  write(value: number, bits: number): void {
    let rest = value;
    let left = bits;
    while (left > 24) {
      this.small(rest % 0x1000000, 24);
      rest = Math.floor(rest / 0x1000000);
      left -= 24;
    }
    this.small(rest, left);
  }

  /** Rice code: value >> k in ones, a zero, then the low k bits. `k` from 0 to 40. */
  rice(value: number, k: number): void {
    const quotient = Math.floor(value / 2 ** k);
    if (quotient >= ESCAPE) {
      this.small((1 << ESCAPE) - 1, ESCAPE);
      const length = bitLength(value);
      this.small(length, LENGTH_BITS);
      this.write(value, length);
      return;
    }
    this.small((1 << quotient) - 1, quotient + 1);
    this.write(value - quotient * 2 ** k, k);
  }

  flush(): void {
    if (this.count > 0) this.out.u8(this.held & 0xff);
    this.held = 0;
    this.count = 0;
  }
}

/** Bits that `BitWriter.rice` takes for a value. */
export const riceBits = (value: number, k: number): number => {
  const quotient = Math.floor(value / 2 ** k);
  return quotient >= ESCAPE ? ESCAPE + LENGTH_BITS + bitLength(value) : quotient + 1 + k;
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
    if (quotient < ESCAPE) return quotient * 2 ** k + this.read(k);
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
