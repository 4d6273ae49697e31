const INT4_MAX = 2 ** 31 - 1;
/** Part counters are what posters write: a sum of them can be anything. */
export const int4 = (value: number): number => Math.min(value, INT4_MAX);
export const int4OrNull = (value: number | null): number | null => (value === null ? null : int4(value));
