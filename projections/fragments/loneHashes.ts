/** The hashes of a lone blob: 8 bytes each, ascending. They are searched as bytes: a blob may hold thousands. */

const HASH_BYTES = 8;

export const countOfHashes = (hashes: Uint8Array): number => Math.floor(hashes.length / HASH_BYTES);

/** Order of the i-th hash of `a` and the j-th of `b`. */
function compareAt(a: Uint8Array, i: number, b: Uint8Array, j: number): number {
  const [from, other] = [i * HASH_BYTES, j * HASH_BYTES];
  for (let k = 0; k < HASH_BYTES; k++) {
    const difference = a[from + k]! - b[other + k]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

export const hashAt = (hashes: Uint8Array, i: number): string =>
  Buffer.from(hashes.buffer, hashes.byteOffset + i * HASH_BYTES, HASH_BYTES).toString('hex');

export const hashBytes = (hash: string): Buffer => Buffer.from(hash, 'hex');

/** Where the hash stands, as a span [from, to); empty when it does not. */
export function placesOf(hashes: Uint8Array, hash: Uint8Array): readonly [from: number, to: number] {
  const count = countOfHashes(hashes);
  let from = 0;
  for (let to = count; from < to; ) {
    const middle = (from + to) >> 1;
    if (compareAt(hashes, middle, hash, 0) < 0) from = middle + 1;
    else to = middle;
  }
  let end = from;
  while (end < count && compareAt(hashes, end, hash, 0) === 0) end++;
  return [from, end];
}

/** The hashes that both hold, ascending. */
export function sharedHashes(a: Uint8Array, b: Uint8Array): readonly string[] {
  const shared: string[] = [];
  for (let i = 0, j = 0; i < countOfHashes(a) && j < countOfHashes(b); ) {
    const order = compareAt(a, i, b, j);
    if (order === 0 && shared.at(-1) !== hashAt(a, i)) shared.push(hashAt(a, i));
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return shared;
}

/** The hashes that stand in it more than once. */
export function repeatedHashes(hashes: Uint8Array): readonly string[] {
  const repeated = new Set<string>();
  for (let i = 1; i < countOfHashes(hashes); i++) {
    if (compareAt(hashes, i - 1, hashes, i) === 0) repeated.add(hashAt(hashes, i));
  }
  return [...repeated];
}
