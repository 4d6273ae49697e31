import { NOT_A_DIGIT } from './alphabet.ts';
import { type IdField, type IdShape, isDecimal, MAX_DECIMALS } from './idShape.ts';

/** What one field of a shape keeps an id: numbers, digits of an alphabet, or (varied) both, the numbers being lengths. */
export interface FieldColumn {
  numbers: Float64Array;
  digits: Uint8Array;
  /** Digits in use; the next id's go behind them. */
  used: number;
  /** Where `used` stands when the id now being matched fits. */
  next: number;
}

/** The columns of a shape, over all ids that were matched with it. */
export interface ShapeColumns {
  readonly shape: IdShape;
  readonly fields: readonly FieldColumn[];
  count: number;
}

const NO_NUMBERS = new Float64Array(0);
const NO_DIGITS = new Uint8Array(0);

const newColumn = (field: IdField, rows: number): FieldColumn => ({
  numbers: field.kind === 'number' || field.kind === 'varied' ? new Float64Array(rows) : NO_NUMBERS,
  digits: field.kind === 'random' || field.kind === 'varied' ? new Uint8Array(1024) : NO_DIGITS,
  used: 0,
  next: 0,
});

/** Empty columns for at most `rows` ids. */
export const newShapeColumns = (shape: IdShape, rows: number): ShapeColumns => ({
  shape,
  fields: shape.map((field) => newColumn(field, rows)),
  count: 0,
});

const grow = (column: FieldColumn, size: number): void => {
  const bigger = new Uint8Array(Math.max(size, column.digits.length * 2));
  bigger.set(column.digits.subarray(0, column.used));
  column.digits = bigger;
};

const matchLiteral = (bytes: Uint8Array, at: number, end: number, literal: Uint8Array): number => {
  const length = literal.length;
  if (at + length > end) return -1;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== literal[i]) return -1;
  return at + length;
};

/** Value of the number that the last call of `matchNumber` read. */
let lastNumber = 0;

/** Decimal digits, at least `width` of them and no zero before more than that; -1 when there is no such number. */
const matchDecimal = (bytes: Uint8Array, at: number, end: number, width: number): number => {
  let i = at;
  let value = 0;
  const limit = Math.min(end, at + MAX_DECIMALS);
  while (i < limit && isDecimal(bytes[i]!)) value = value * 10 + bytes[i++]! - 48;
  const length = i - at;
  if (length === 0 || length < width || (length > width && length > 1 && bytes[at] === 48)) return -1;
  lastNumber = value;
  return i;
};

const matchExact = (
  bytes: Uint8Array,
  at: number,
  end: number,
  width: number,
  radix: number,
  digits: Uint8Array,
): number => {
  if (at + width > end) return -1;
  let value = 0;
  for (let i = at; i < at + width; i++) {
    const digit = digits[bytes[i]!]!;
    if (digit === NOT_A_DIGIT) return -1;
    value = value * radix + digit;
  }
  lastNumber = value;
  return at + width;
};

/** Puts the digits of [at, to) behind the column's used ones; false when a character does not belong to the alphabet. */
const takeDigits = (
  bytes: Uint8Array,
  at: number,
  to: number,
  field: IdField & { kind: 'random' | 'varied' },
  column: FieldColumn,
): boolean => {
  const length = to - at;
  if (column.used + length > column.digits.length) grow(column, column.used + length);
  const { digits, used } = column;
  const [even, odd] = field.alphabet.digits;
  let seen = 0;
  for (let i = 0; i < length; i++) {
    const digit = ((i & 1) === 0 ? even : odd)[bytes[at + i]!]!;
    // Only "not a digit" has the highest bit: no alphabet is that large.
    seen |= digit;
    digits[used + i] = digit;
  }
  column.next = used + length;
  return seen < 128;
};

const stopOf = (next: IdField | undefined): number => (next?.kind === 'literal' ? next.bytes[0]! : -1);

const matchField = (to: ShapeColumns, f: number, bytes: Uint8Array, at: number, end: number, part: number): number => {
  const field = to.shape[f]!;
  const column = to.fields[f]!;
  switch (field.kind) {
    case 'literal':
      return matchLiteral(bytes, at, end, field.bytes);
    case 'part': {
      const next = matchDecimal(bytes, at, end, field.width);
      return next >= 0 && lastNumber === part + field.offset ? next : -1;
    }
    case 'number': {
      const next = field.exact
        ? matchExact(bytes, at, end, field.width, field.alphabet.base, field.alphabet.digits[0])
        : matchDecimal(bytes, at, end, field.width);
      column.numbers[to.count] = lastNumber;
      return next;
    }
    case 'random': {
      const next = at + field.length;
      return next <= end && takeDigits(bytes, at, next, field, column) ? next : -1;
    }
    case 'varied': {
      const stop = stopOf(to.shape[f + 1]);
      let next = at;
      while (next < end && bytes[next] !== stop) next++;
      column.numbers[to.count] = next - at;
      return takeDigits(bytes, at, next, field, column) ? next : -1;
    }
  }
};

/**
 * Matches one id, bytes [from, to), with a shape between a prefix and a suffix. When it fits, its values are added to the
 * columns; when not, they are as before.
 */
export const matchId = (
  into: ShapeColumns,
  prefix: Uint8Array,
  suffix: Uint8Array,
  bytes: Uint8Array,
  from: number,
  to: number,
  part: number,
): boolean => {
  const end = to - suffix.length;
  let at = matchLiteral(bytes, from, end, prefix);
  if (at < 0 || matchLiteral(bytes, end, to, suffix) < 0) return false;
  for (let f = 0; f < into.shape.length; f++) {
    at = matchField(into, f, bytes, at, end, part);
    if (at < 0) return false;
  }
  if (at !== end) return false;
  for (const column of into.fields) column.used = column.next;
  into.count++;
  return true;
};

/** The state that `restore` returns to: for taking back all ids of a file. */
export const mark = (columns: ShapeColumns): readonly number[] => [columns.count, ...columns.fields.map((c) => c.used)];

export const restore = (columns: ShapeColumns, marked: readonly number[]): void => {
  columns.count = marked[0]!;
  for (const [i, column] of columns.fields.entries()) {
    column.used = marked[i + 1]!;
    column.next = column.used;
  }
};
