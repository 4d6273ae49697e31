import { type BitReader, type BitWriter, bitLength, riceBits } from './bits.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

/**
 * How a column of whole numbers (0 to 2^53 - 1) is written. The plan goes into the head of the payload, the numbers as bits.
 * - constant: nothing a number
 * - near: Rice code of the distance from a centre (sizes: normally spread around the common one)
 * - steps: Rice code of the change since the number before, less `step` (counters, times of one connection)
 * - line: Rice code of the distance from first + i * step / 256 (times that many connections shuffled)
 * - fixed: the distance from the least with a fixed number of bits (random numbers)
 */
export type NumberPlan =
  | { readonly mode: 'constant'; readonly base: number }
  | { readonly mode: 'near'; readonly base: number; readonly k: number }
  | { readonly mode: 'steps'; readonly base: number; readonly step: number; readonly k: number }
  | { readonly mode: 'line'; readonly base: number; readonly step: number; readonly k: number }
  | { readonly mode: 'fixed'; readonly base: number; readonly bits: number };
type Mode = NumberPlan['mode'];
const MODES: readonly Mode[] = ['constant', 'near', 'steps', 'line', 'fixed'];

const MAX_K = 40;
/** Above this a sum or a doubled distance could leave the exact numbers: such columns are written with fixed bits. */
const MAX_RICE = 2 ** 50;

const fold = (distance: number): number => (distance < 0 ? -2 * distance - 1 : 2 * distance);
const unfold = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

/** Every so many-th value, so that at most `size` are taken, sorted. */
const sortedSample = (values: Float64Array, n: number, size: number): Float64Array => {
  const taken = Math.min(n, size);
  const sample = new Float64Array(taken);
  for (let i = 0; i < taken; i++) sample[i] = values[Math.floor((i * n) / taken)]!;
  // Insertion sort: typed array sort costs more than it sorts at this size.
  for (let i = 1; i < taken; i++) {
    const value = sample[i]!;
    let j = i - 1;
    for (; j >= 0 && sample[j]! > value; j--) sample[j + 1] = sample[j]!;
    sample[j + 1] = value;
  }
  return sample;
};

const SAMPLE = 33;

/** The Rice parameter for distances of which half are below the median: outliers have no say. */
const riceParameter = (folded: Float64Array, n: number): number => {
  const sample = sortedSample(folded, n, SAMPLE);
  return Math.max(0, Math.min(MAX_K, bitLength(sample[sample.length >> 1]!) - 1));
};

/** The mean of what lies near the median of a sample: close to the centre, whatever outliers there are. */
const centreOf = (values: Float64Array, n: number): number => {
  const sample = sortedSample(values, n, SAMPLE);
  const sampled = sample.length;
  const median = sample[sampled >> 1]!;
  const spread = Math.max(median - sample[sampled >> 2]!, sample[(3 * sampled) >> 2]! - median);
  const window = 4 * spread + 1;
  let sum = 0;
  let count = 0;
  for (let i = 0; i < n; i++) {
    const distance = values[i]! - median;
    if (Math.abs(distance) > window) continue;
    sum += distance;
    count++;
  }
  return Math.max(0, median + Math.round(sum / count));
};

interface Guess {
  readonly mode: 'near' | 'steps' | 'line';
  readonly base: number;
  readonly step: number;
}

/** The distances of all values from what the guess expects, folded. */
const foldAll = (values: Float64Array, n: number, { mode, base, step }: Guess, out: Float64Array): void => {
  if (mode === 'near') {
    for (let i = 0; i < n; i++) out[i] = fold(values[i]! - base);
  } else if (mode === 'line') {
    for (let i = 0; i < n; i++) out[i] = fold(values[i]! - base - lineAt(step, i));
  } else {
    let next = base;
    for (let i = 0; i < n; i++) {
      out[i] = fold(values[i]! - next);
      next = values[i]! + step;
    }
  }
};

/** How far a line of `step` / 256 a place has risen at place i. */
const lineAt = (step: number, i: number): number => Math.round((i * step) / 256);

const guesses = (values: Float64Array, n: number, ordered: boolean): Guess[] => {
  const near: Guess = { mode: 'near', base: centreOf(values, n), step: 0 };
  if (!ordered || n < 3) return [near];
  const first = values[0]!;
  const slope = (values[n - 1]! - first) / (n - 1);
  const step = Math.round(slope * 256);
  const out: Guess[] = [near, { mode: 'steps', base: first, step: Math.round(slope) }];
  // A line through the mean of the distances: one shuffled end point must not shift all of them.
  let sum = 0;
  for (let i = 0; i < n; i++) sum += values[i]! - first - (i * step) / 256;
  if (Math.abs(step) * n < MAX_RICE) out.push({ mode: 'line', base: Math.max(0, first + Math.round(sum / n)), step });
  return out;
};

/**
 * Chooses the shortest way to write the first `n` values. `ordered`: whether neighbours may have to do with each other
 * (costs two more passes).
 */
export const planNumbers = (values: Float64Array, n: number, ordered: boolean): NumberPlan => {
  let least = n > 0 ? values[0]! : 0;
  let most = least;
  for (let i = 1; i < n; i++) {
    const v = values[i]!;
    if (v < least) least = v;
    else if (v > most) most = v;
  }
  if (least === most) return { mode: 'constant', base: least };
  const width = bitLength(most - least);
  const fixed: NumberPlan = { mode: 'fixed', base: least, bits: width };
  if (most >= MAX_RICE) return fixed;
  const folded = new Float64Array(n);
  let best: (Guess & { readonly k: number }) | null = null;
  let bestBits = width * n;
  for (const guess of guesses(values, n, ordered)) {
    foldAll(values, n, guess, folded);
    const k = riceParameter(folded, n);
    // A plan with a step has four more bytes in the head.
    const cost = riceBits(folded, n, k) + (guess.mode === 'near' ? 0 : 32);
    if (cost >= bestBits) continue;
    bestBits = cost;
    best = { ...guess, k };
  }
  if (!best) return fixed;
  foldAll(values, n, best, folded);
  const k = betterParameter(folded, n, best.k);
  return best.mode === 'near' ? { mode: 'near', base: best.base, k } : { ...best, mode: best.mode, k };
};

/** k or the one below or above it, whichever is shortest for all values. */
const betterParameter = (folded: Float64Array, n: number, k: number): number => {
  let best = k;
  let bestBits = riceBits(folded, n, k);
  for (const other of [k - 1, k + 1]) {
    if (other < 0 || other > MAX_K) continue;
    const bits = riceBits(folded, n, other);
    if (bits < bestBits) {
      best = other;
      bestBits = bits;
    }
  }
  return best;
};

export const writePlan = (out: ByteWriter, plan: NumberPlan): void => {
  // The mode shares its byte with k or the number of bits.
  const small = plan.mode === 'constant' ? 0 : plan.mode === 'fixed' ? plan.bits : plan.k;
  out.varint(MODES.indexOf(plan.mode) + MODES.length * small);
  out.varint(plan.base);
  if (plan.mode === 'steps' || plan.mode === 'line') out.zigzag(plan.step);
};

export const readPlan = (source: ByteReader): NumberPlan => {
  const first = source.count(MODES.length * 54 - 1, 'plan');
  const mode = MODES[first % MODES.length]!;
  const small = Math.floor(first / MODES.length);
  const base = source.varint();
  if (mode === 'constant') return { mode, base };
  if (mode === 'fixed') return { mode, base, bits: small };
  if (small > MAX_K) throw source.corrupt('malformed', `Rice parameter ${small}`);
  return mode === 'near' ? { mode, base, k: small } : { mode, base, step: source.zigzag(), k: small };
};

export const writeNumbers = (bits: BitWriter, plan: NumberPlan, values: Float64Array, n: number): void => {
  if (plan.mode === 'constant') return;
  if (plan.mode === 'fixed') {
    for (let i = 0; i < n; i++) bits.write(values[i]! - plan.base, plan.bits);
    return;
  }
  const folded = new Float64Array(n);
  foldAll(values, n, { step: 0, ...plan }, folded);
  for (let i = 0; i < n; i++) bits.rice(folded[i]!, plan.k);
};

/** What the number at place i is expected to be. */
const expected = ({ mode, base, step }: Guess, i: number, before: number): number => {
  if (mode === 'near') return base;
  if (mode === 'line') return base + lineAt(step, i);
  return i === 0 ? base : before + step;
};

/** Reads `n` numbers; `CorruptPayload` when one would not be a whole number from 0 to 2^53 - 1. */
export const readNumbers = (source: ByteReader, bits: BitReader, plan: NumberPlan, n: number): Float64Array => {
  const values = new Float64Array(n);
  if (plan.mode === 'constant') return values.fill(plan.base);
  const guess: Guess | null = plan.mode === 'fixed' ? null : { step: 0, ...plan };
  let before = 0;
  for (let i = 0; i < n; i++) {
    const value =
      plan.mode === 'fixed'
        ? plan.base + bits.read(plan.bits)
        : expected(guess!, i, before) + unfold(bits.rice(plan.k));
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw source.corrupt('malformed', 'number out of range');
    values[i] = value;
    before = value;
  }
  return values;
};
