import type { Interval } from '../../streams/records.ts';
import type { SqlRow } from '../ports.ts';

/** Intervals of a multirange as two arrays of bounds, both inclusive. */
export const BOUNDS = (multirange: string) => `
  array(select lower(r) from unnest(${multirange}) r) as lows,
  array(select upper(r) - 1 from unnest(${multirange}) r) as highs`;

export interface BoundsRow extends SqlRow {
  readonly lows: readonly number[];
  readonly highs: readonly number[];
}
export const intervals = (row: BoundsRow | undefined): readonly Interval[] =>
  row ? row.lows.map((lo, i): Interval => [lo, row.highs[i]!]) : [];
