import type { BitReader } from './bits.ts';
import type { ByteReader } from './bytes.ts';
import {
  expandConstant,
  type FileNumbers,
  type IdBinding,
  type IdField,
  type IdShape,
  MAX_ID_BYTES,
} from './idShape.ts';
import { type NumberPlan, readNumbers } from './numberColumn.ts';
import { unpackDigits } from './radix.ts';

/** All ids of a chunk may not take more: a bound on what a decoder allocates for a few bytes of input. */
export const MAX_IDS_BYTES = 64 * 1024 * 1024;

/** A shape as the head of a payload describes it. */
export interface ShapeHead {
  readonly shape: IdShape;
  readonly count: number;
  /** The plan of each field that keeps numbers, null for the others. */
  readonly plans: readonly (NumberPlan | null)[];
}

interface DecodedField {
  readonly numbers: Float64Array | null;
  readonly digits: Uint8Array | null;
  used: number;
}

/** A shape with its columns, from which ids are put together one after another. */
export interface DecodedShape {
  readonly shape: IdShape;
  readonly fields: readonly DecodedField[];
  readonly count: number;
  next: number;
}

/** How many digits the column of a random or varied field holds. */
const digitCount = (source: ByteReader, field: IdField, count: number, numbers: Float64Array | null): number => {
  if (field.kind === 'random') return count * field.length;
  if (field.kind !== 'varied') return 0;
  let sum = 0;
  for (const length of numbers!) {
    if (length > MAX_ID_BYTES) throw source.corrupt('limit', `an id of ${length} bytes`);
    sum += length;
  }
  return sum;
};

export const readShapeColumns = (source: ByteReader, bits: BitReader, head: ShapeHead): DecodedShape => {
  const { shape, count, plans } = head;
  const fields = shape.map((field, f): DecodedField => {
    const plan = plans[f];
    const numbers = plan ? readNumbers(source, bits, plan, count) : null;
    const size = digitCount(source, field, count, numbers);
    if (size > MAX_IDS_BYTES) throw source.corrupt('limit', `${size} digits of ids`);
    const random = field.kind === 'random' || field.kind === 'varied';
    return { numbers, digits: random ? unpackDigits(bits, field.alphabet.base, size) : null, used: 0 };
  });
  return { shape, fields, count, next: 0 };
};

/** Puts message-ids together in one growing buffer. */
export class IdBuilder {
  private readonly source: ByteReader;
  bytes: Uint8Array = new Uint8Array(4096);
  at = 0;

  constructor(source: ByteReader) {
    this.source = source;
  }

  private reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    if (this.at + count > MAX_IDS_BYTES) throw this.source.corrupt('limit', 'ids of more than 64 MiB');
    const bigger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + count));
    bigger.set(this.bytes.subarray(0, this.at));
    this.bytes = bigger;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    // Most constants are a few bytes: a loop is faster than a call of set().
    for (let i = 0; i < bytes.length; i++) this.bytes[this.at + i] = bytes[i]!;
    this.at += bytes.length;
  }

  private number(value: number, width: number, radix: number, chars: Uint8Array): void {
    let size = width;
    while (size < 17 && radix ** size <= value) size++;
    if (size === 0 || !Number.isSafeInteger(value) || value < 0)
      throw this.source.corrupt('malformed', 'number in an id');
    this.reserve(size);
    let rest = value;
    for (let i = this.at + size - 1; i >= this.at; i--) {
      const quotient = Math.floor(rest / radix);
      this.bytes[i] = chars[rest - quotient * radix]!;
      rest = quotient;
    }
    this.at += size;
  }

  private digits(field: IdField & { kind: 'random' | 'varied' }, column: DecodedField, length: number): void {
    this.reserve(length);
    const [even, odd] = field.alphabet.chars;
    const { bytes, at } = this;
    for (let i = 0; i < length; i++) bytes[at + i] = ((i & 1) === 0 ? even : odd)[column.digits![column.used + i]!]!;
    column.used += length;
    this.at += length;
  }

  private field(field: IdField, column: DecodedField, next: number, part: number): void {
    switch (field.kind) {
      case 'literal':
        this.append(field.bytes);
        break;
      case 'part':
        this.number(part + field.offset, Math.max(1, field.width), 10, DECIMAL);
        break;
      case 'number':
        this.number(column.numbers![next]!, field.width, field.alphabet.base, field.alphabet.chars[0]);
        break;
      case 'random':
        this.digits(field, column, field.length);
        break;
      case 'varied':
        this.digits(field, column, column.numbers![next]!);
        break;
    }
  }

  /** Appends the next id of a shape. */
  build(from: DecodedShape, prefix: Uint8Array, suffix: Uint8Array, part: number): void {
    const start = this.at;
    if (from.next >= from.count) throw this.source.corrupt('malformed', 'more ids of a shape than it holds');
    this.append(prefix);
    for (let f = 0; f < from.shape.length; f++) this.field(from.shape[f]!, from.fields[f]!, from.next, part);
    this.append(suffix);
    from.next++;
    if (this.at - start > MAX_ID_BYTES) throw this.source.corrupt('limit', 'an id of more than 1000 bytes');
  }
}

const DECIMAL = Buffer.from('0123456789', 'latin1');

/** A binding with its shape's columns and the constants of one file. */
export const bindingFor = (shapes: readonly DecodedShape[], binding: IdBinding, file: FileNumbers) => ({
  shape: shapes[binding.shape]!,
  prefix: expandConstant(binding.prefix, file),
  suffix: expandConstant(binding.suffix, file),
});
