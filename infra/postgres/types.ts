/** How values of the wire become values of ours. Set per client, not on pg's global table. */
import { types } from 'pg';

const INT8 = 20;
const INT8_ARRAY = 1016;

/** An int8 as number. Throws RangeError beyond 2^53, where a number would be another value. */
export function int8ToNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit into a number`);
  return value;
}

const int8Array = (text: string): readonly (number | null)[] =>
  text === '{}'
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map((item) => (item === 'NULL' ? null : int8ToNumber(item)));

export const clientTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (format !== 'binary' && oid === INT8) return int8ToNumber;
    if (format !== 'binary' && oid === INT8_ARRAY) return int8Array;
    return types.getTypeParser(oid, format);
  },
} as typeof types;
