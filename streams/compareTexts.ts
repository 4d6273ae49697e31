/**
 * The order of two texts by their UTF-8 bytes, as `COLLATE "C"` of Postgres has it: negative, 0 or positive. JavaScript's own
 * `<` puts characters beyond 0xffff before some that come earlier.
 */
export const compareTexts = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
