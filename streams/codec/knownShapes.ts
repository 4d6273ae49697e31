import { ALPHABETS, HEX_LOWER, UUID_VARIANT_LOWER } from './alphabet.ts';
import type { IdField, IdShape } from './idShape.ts';

const [DECIMAL, , , NYUU] = ALPHABETS;
const BASE62 = ALPHABETS[10]!;
const random = (length: number, alphabet = BASE62): IdField => ({ kind: 'random', length, alphabet });
const literal = (text: string): IdField => ({ kind: 'literal', bytes: Buffer.from(text, 'latin1') });

/**
 * Shapes of wide-spread posting tools, written as one byte. Their numbers are part of version 1 of the chunk format: append,
 * never change. Constants at both ends (`@nyuu`, `part`) belong to the binding, not to the shape.
 */
export const KNOWN_SHAPES: readonly IdShape[] = [
  // PowerPost, camelsystem: the part counter between constants.
  [{ kind: 'part', width: 1, offset: 0 }],
  // Nyuu: 24 letters in alternating case and the time in ms.
  [random(24, NYUU!), literal('-'), { kind: 'number', width: 13, exact: false, alphabet: DECIMAL! }],
  // ngPost: a random UUID without dashes.
  [random(12, HEX_LOWER), literal('4'), random(3, HEX_LOWER), random(1, UUID_VARIANT_LOWER), random(15, HEX_LOWER)],
  // JBinUp.
  [random(20)],
  [random(19)],
  // postie: everything random, the domain as well.
  [random(32), literal('@'), random(8), literal('.'), random(3)],
];
