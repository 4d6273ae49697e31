import { crc32 } from 'node:zlib';

/** A checksum over bytes that come in pieces. */
export interface Checksum {
  update(bytes: Buffer): void;
  /** Unsigned, 32 bits. */
  readonly value: number;
}

export class Crc32 implements Checksum {
  value = 0;

  update(bytes: Buffer): void {
    this.value = crc32(bytes, this.value);
  }
}

const ADLER_MODULUS = 65_521;
/** So many bytes of 255 keep the sums inside 32 bits; the modulus is taken only then. */
const ADLER_RUN = 5552;

/** The checksum of zlib (RFC 1950), which Node does not offer by itself. */
export class Adler32 implements Checksum {
  #low = 1;
  #high = 0;

  get value(): number {
    return this.#high * 65_536 + this.#low;
  }

  update(bytes: Buffer): void {
    let low = this.#low;
    let high = this.#high;
    for (let from = 0; from < bytes.length; from += ADLER_RUN) {
      const to = Math.min(from + ADLER_RUN, bytes.length);
      for (let at = from; at < to; at++) {
        low = (low + (bytes[at] ?? 0)) | 0;
        high = (high + low) | 0;
      }
      // `>>>`: the sums use the sign bit too.
      low = (low >>> 0) % ADLER_MODULUS;
      high = (high >>> 0) % ADLER_MODULUS;
    }
    this.#low = low;
    this.#high = high;
  }
}

/** For members that carry none. */
export class NoChecksum implements Checksum {
  readonly value = 0;

  update(): void {}
}
