import { ALPHABETS, type Alphabet } from './alphabet.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { KNOWN_SHAPES } from './knownShapes.ts';

/**
 * One piece of a message-id of a template:
 * - literal: the same bytes in every id
 * - part: the part counter plus `offset`, in decimal, padded with zeros to `width`
 * - number: a number of its own, padded to `width`; `exact` ones always have `width` digits
 * - random: `length` characters of an alphabet
 * - varied: characters of an alphabet up to the next literal or the end, at least one byte of length kept apart
 */
export type IdField =
  | { readonly kind: 'literal'; readonly bytes: Uint8Array }
  | { readonly kind: 'part'; readonly width: number; readonly offset: number }
  | { readonly kind: 'number'; readonly width: number; readonly exact: boolean; readonly alphabet: Alphabet }
  | { readonly kind: 'random'; readonly length: number; readonly alphabet: Alphabet }
  | { readonly kind: 'varied'; readonly alphabet: Alphabet };
const KINDS: readonly IdField['kind'][] = ['literal', 'part', 'number', 'random', 'varied'];

/** What the ids of many files have in common: the fields between a file's own prefix and suffix. */
export type IdShape = readonly IdField[];

/** A shape with the constants around it: what the ids of one file (or of many) look like. */
export interface IdBinding {
  readonly shape: number;
  /** Constants, in which PARTS_MARK and INDEX_MARK stand for the file's own numbers. */
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
}

/** Stands in a constant for the file's `parts`, in decimal. Control characters: no template is made of ids that hold them. */
export const PARTS_MARK = 1;
/** Stands for the file's `fileIndex`. */
export const INDEX_MARK = 2;

export const MAX_SHAPES = 16;
export const MAX_BINDINGS = 4096;
export const MAX_FIELDS = 48;
/** The longest message-id that a chunk holds, as `MessageId` allows. */
export const MAX_ID_BYTES = 1000;
/** Digits of a number field: all values stay below 2^53. */
export const MAX_DECIMALS = 15;
export const MAX_HEX_DIGITS = 12;

export const isDecimal = (byte: number): boolean => byte >= 48 && byte <= 57;
export const isAlphanumeric = (byte: number): boolean =>
  isDecimal(byte) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);

const writeField = (out: ByteWriter, field: IdField): void => {
  out.u8(KINDS.indexOf(field.kind));
  switch (field.kind) {
    case 'literal':
      out.block(field.bytes);
      break;
    case 'part':
      out.varint(field.width);
      out.zigzag(field.offset);
      break;
    case 'number':
      out.varint(field.width * 2 + (field.exact ? 1 : 0));
      out.u8(field.alphabet.id);
      break;
    case 'random':
      out.varint(field.length);
      out.u8(field.alphabet.id);
      break;
    case 'varied':
      out.u8(field.alphabet.id);
      break;
  }
};

/** Writes a shape: number of fields and the fields, or MAX_FIELDS + 1 + its number when it is a known one. */
export const writeShape = (out: ByteWriter, shape: IdShape): void => {
  const known = knownNames().indexOf(shapeName(shape));
  out.varint(known >= 0 ? MAX_FIELDS + 1 + known : shape.length);
  if (known < 0) for (const field of shape) writeField(out, field);
};

const readAlphabet = (source: ByteReader): Alphabet => {
  const alphabet = ALPHABETS[source.u8()];
  if (!alphabet) throw source.corrupt('version', 'unknown alphabet');
  return alphabet;
};

const readField = (source: ByteReader): IdField => {
  const kind = KINDS[source.u8()];
  switch (kind) {
    case 'literal':
      return { kind, bytes: source.block(MAX_ID_BYTES) };
    case 'part':
      return { kind, width: source.count(MAX_DECIMALS, 'digits'), offset: source.zigzag() };
    case 'number': {
      const packed = source.count(2 * MAX_DECIMALS + 1, 'digits');
      return { kind, width: packed >> 1, exact: (packed & 1) === 1, alphabet: readAlphabet(source) };
    }
    case 'random':
      return { kind, length: source.count(MAX_ID_BYTES, 'characters'), alphabet: readAlphabet(source) };
    case 'varied':
      return { kind, alphabet: readAlphabet(source) };
  }
  throw source.corrupt('version', 'unknown kind of id field');
};

export const readShape = (source: ByteReader): IdShape => {
  const count = source.count(MAX_FIELDS + KNOWN_SHAPES.length, 'fields');
  if (count > MAX_FIELDS) return KNOWN_SHAPES[count - MAX_FIELDS - 1]!;
  return Array.from({ length: count }, () => readField(source));
};

const fieldName = (f: IdField): string => {
  switch (f.kind) {
    case 'literal':
      return `l${Buffer.from(f.bytes).toString('hex')}`;
    case 'part':
      return `p${f.width},${f.offset}`;
    case 'number':
      return `n${f.width},${f.exact},${f.alphabet.id}`;
    case 'random':
      return `r${f.length},${f.alphabet.id}`;
    case 'varied':
      return `v${f.alphabet.id}`;
  }
};

/** A name by which equal shapes are found again within a chunk. */
export const shapeName = (shape: IdShape): string => shape.map(fieldName).join('/');

let names: readonly string[] | null = null;
const knownNames = (): readonly string[] => {
  names ??= KNOWN_SHAPES.map(shapeName);
  return names;
};

/** The file's own numbers, as they may stand in the constants of its ids. */
export interface FileNumbers {
  readonly parts: number;
  readonly fileIndex: number | null;
}

/** The constant with the marks replaced by the file's numbers. */
export const expandConstant = (constant: Uint8Array, { parts, fileIndex }: FileNumbers): Uint8Array => {
  if (!constant.includes(PARTS_MARK) && !constant.includes(INDEX_MARK)) return constant;
  const out: number[] = [];
  for (const byte of constant) {
    const number = byte === PARTS_MARK ? parts : byte === INDEX_MARK ? fileIndex : null;
    if (number === null) out.push(byte);
    else for (const digit of String(number)) out.push(digit.charCodeAt(0));
  }
  return Uint8Array.from(out);
};

/** The inverse of `expandConstant`: a run of digits that is one of the file's numbers becomes its mark. */
export const markConstant = (constant: Uint8Array, { parts, fileIndex }: FileNumbers): Uint8Array => {
  const marks: number[] = [];
  for (let i = 0; i < constant.length; ) {
    let end = i;
    while (end < constant.length && isDecimal(constant[end]!)) end++;
    const digits = Buffer.from(constant.subarray(i, end)).toString('latin1');
    if (end === i) marks.push(constant[i++]!);
    else {
      if (digits === String(parts)) marks.push(PARTS_MARK);
      else if (digits === String(fileIndex)) marks.push(INDEX_MARK);
      else marks.push(...constant.subarray(i, end));
      i = end;
    }
  }
  return Uint8Array.from(marks);
};
