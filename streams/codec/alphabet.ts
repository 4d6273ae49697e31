/**
 * The alphabets of random parts of message-ids. Their numbers and the order of their characters are part of version 1 of the
 * chunk format: append, never change.
 */
export interface Alphabet {
  readonly id: number;
  readonly base: number;
  /** Characters by digit, at even and at odd positions of the field (two different sets only for alternating case). */
  readonly chars: readonly [Uint8Array, Uint8Array];
  /** Digits by character, 255 for one that does not belong, again by position. */
  readonly digits: readonly [Uint8Array, Uint8Array];
}

const NUMBERS = '0123456789';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const WORDS = UPPER + LOWER + NUMBERS;
/** Every printable ASCII character but the angle brackets, which no message-id holds. */
const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))
  .filter((c) => c !== '<' && c !== '>')
  .join('');

export const NOT_A_DIGIT = 255;

const digitsOf = (chars: string): Uint8Array => {
  const table = new Uint8Array(256).fill(NOT_A_DIGIT);
  for (let i = 0; i < chars.length; i++) table[chars.charCodeAt(i)] = i;
  return table;
};

const SETS: readonly (readonly [even: string, odd?: string])[] = [
  [NUMBERS],
  [`${NUMBERS}abcdef`],
  [`${NUMBERS}ABCDEF`],
  // Nyuu writes upper and lower letters in turn.
  [UPPER, LOWER],
  [LOWER, UPPER],
  [LOWER],
  [UPPER],
  [NUMBERS + LOWER],
  [NUMBERS + UPPER],
  [UPPER + LOWER],
  [WORDS],
  // The tokens of PowerPost, and the variants of base 64.
  [`${WORDS}&$`],
  [`${WORDS}+/`],
  [`${WORDS}-_`],
  [`${WORDS}._$-`],
  [PRINTABLE],
  // The variant digit of a UUID.
  ['89ab'],
  ['89AB'],
];

export const ALPHABETS: readonly Alphabet[] = SETS.map(([even, odd = even], id) => ({
  id,
  base: even.length,
  chars: [Buffer.from(even, 'latin1'), Buffer.from(odd, 'latin1')],
  digits: [digitsOf(even), digitsOf(odd)],
}));

export const HEX_LOWER = ALPHABETS[1]!;
export const HEX_UPPER = ALPHABETS[2]!;
export const UUID_VARIANT_LOWER = ALPHABETS[16]!;
export const UUID_VARIANT_UPPER = ALPHABETS[17]!;

const bySize = [...ALPHABETS].sort((a, b) => a.base - b.base);

const holds = (alphabet: Alphabet, bytes: Uint8Array, from: number, to: number): boolean => {
  for (let i = from; i < to; i++) {
    if (alphabet.digits[(i - from) & 1]![bytes[i]!] === NOT_A_DIGIT) return false;
  }
  return true;
};

/** A stretch of bytes: [from, to) of a buffer. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The smallest alphabet that holds every span, null when none does. */
export const smallestAlphabet = (bytes: Uint8Array, spans: readonly Span[]): Alphabet | null =>
  bySize.find((a) => a.base > 4 && spans.every((s) => holds(a, bytes, s.from, s.to))) ?? null;
