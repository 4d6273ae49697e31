const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Letters that made-up names and ids are drawn from. */
export const ALPHABET = {
  base62: BASE62,
  /** The 64 characters of PowerPost's token. */
  powerpost: `${BASE62}&$`,
  hex: '0123456789abcdef',
  lower: 'abcdefghijklmnopqrstuvwxyz',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
} as const;

const rotl = (x: number, k: number): number => ((x << k) | (x >>> (32 - k))) >>> 0;

/**
 * A seeded source of randomness (xoshiro128**): the same seed gives the same numbers on every machine and Node version,
 * because it uses 32-bit integer arithmetic only. Not for secrets.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d = 0xc2b2ae35;
  readonly #scratch = Buffer.alloc(256);

  constructor(seed: number) {
    this.#a = Math.imul(seed, 2654435761) >>> 0;
    this.#b = (this.#a ^ 0x9e3779b9) >>> 0;
    this.#c = (this.#a + 0x85ebca6b) >>> 0;
    // The first numbers of near seeds resemble each other.
    for (let i = 0; i < 64; i++) this.#u32();
  }

  #u32(): number {
    const result = Math.imul(rotl(Math.imul(this.#b, 5) >>> 0, 7), 9) >>> 0;
    const t = (this.#b << 9) >>> 0;
    this.#c = (this.#c ^ this.#a) >>> 0;
    this.#d = (this.#d ^ this.#b) >>> 0;
    this.#b = (this.#b ^ this.#c) >>> 0;
    this.#a = (this.#a ^ this.#d) >>> 0;
    this.#c = (this.#c ^ t) >>> 0;
    this.#d = rotl(this.#d, 11);
    return result;
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    return this.#u32() / 4294967296;
  }

  chance(p: number): boolean {
    return this.next() < p;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** `length` (at most 256) characters; the ASCII alphabets take turns. */
  text(length: number, ...alphabets: readonly [string, ...string[]]): string {
    for (let i = 0; i < length; i++) {
      const alphabet = alphabets[i % alphabets.length] as string;
      this.#scratch[i] = alphabet.charCodeAt(Math.floor(this.next() * alphabet.length));
    }
    return this.#scratch.toString('latin1', 0, length);
  }

  /** Normally distributed around 0 with deviation 1. */
  gauss(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
