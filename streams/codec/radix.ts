import type { BitReader, BitWriter } from './bits.ts';

/**
 * Packing of digits of one base: as many digits as fit become one number below 2^53, written with just the bits that its
 * largest value needs. 33 bits for 7 letters of 26, 48 bits for 8 of 62: within 0.8 % of the exact size.
 */
interface Plan {
  readonly digits: number;
  readonly bits: number;
  /** bits of a shorter last group, by its number of digits. */
  readonly tail: readonly number[];
}

/** Bits that hold every number below base^digits; exact, since base^digits stays below 2^53. */
const bitsOf = (base: number, digits: number): number => {
  const largest = base ** digits - 1;
  let bits = 0;
  while (2 ** bits <= largest) bits++;
  return bits;
};

const makePlan = (base: number): Plan => {
  let best = 1;
  const tail = [0, bitsOf(base, 1)];
  for (let n = 2; base ** n <= 2 ** 53; n++) {
    tail.push(bitsOf(base, n));
    // The shortest group of the least bits a digit: part of version 1 of the format, never to be changed.
    if (tail[n]! / n < tail[best]! / best) best = n;
  }
  return { digits: best, bits: tail[best]!, tail: tail.slice(0, best) };
};

const plans = new Map<number, Plan>();
const planOf = (base: number): Plan => {
  const known = plans.get(base);
  if (known) return known;
  const made = makePlan(base);
  plans.set(base, made);
  return made;
};

/** Writes `count` digits below `base` (2 to 256). */
export const packDigits = (bits: BitWriter, base: number, digits: Uint8Array, count: number): void => {
  const plan = planOf(base);
  let i = 0;
  while (i < count) {
    const n = Math.min(plan.digits, count - i);
    let value = 0;
    for (const end = i + n; i < end; i++) value = value * base + digits[i]!;
    bits.write(value, n === plan.digits ? plan.bits : plan.tail[n]!);
  }
};

/** Reads what `packDigits` wrote. A group above its largest value gives digits of the same base, never one outside it. */
export const unpackDigits = (bits: BitReader, base: number, count: number): Uint8Array => {
  const plan = planOf(base);
  const digits = new Uint8Array(count);
  for (let i = 0; i < count; ) {
    const n = Math.min(plan.digits, count - i);
    let value = bits.read(n === plan.digits ? plan.bits : plan.tail[n]!);
    for (let at = i + n - 1; at >= i; at--) {
      const rest = Math.floor(value / base);
      digits[at] = value - rest * base;
      value = rest;
    }
    i += n;
  }
  return digits;
};
