/** 32-bit hash of `b[start..end)`, chained from `h`. Not stable across seeds: for tables in memory only. */
export function hashBytes(b: Uint8Array, start: number, end: number, h: number): number {
  let i = start;
  for (const stop = end - 3; i < stop; i += 4) {
    const word = b[i]! | (b[i + 1]! << 8) | (b[i + 2]! << 16) | (b[i + 3]! << 24);
    h = Math.imul(h ^ Math.imul(word, 0xcc9e2d51), 0x1b873593);
    h = (h << 13) | (h >>> 19);
  }
  for (; i < end; i++) h = Math.imul(h ^ b[i]!, 0x01000193);
  h = Math.imul(h ^ (h >>> 16) ^ (end - start), 0x85ebca6b);
  return h ^ (h >>> 13);
}

const equalBytes = (a: Uint8Array, at: number, b: Uint8Array, start: number, end: number): boolean => {
  for (let i = start, k = at; i < end; i++, k++) if (a[k] !== b[i]) return false;
  return true;
};

const doubled = (old: Uint8Array, need: number): Uint8Array => {
  let size = old.length * 2;
  while (size < need) size *= 2;
  const grown = new Uint8Array(size);
  grown.set(old);
  return grown;
};

/**
 * Byte strings to dense ids, 0 upward in order of first appearance: an open-addressing table over one arena.
 * Keys are compared byte by byte on every hit, so that neither a hash collision nor the seed can change a result;
 * the seed only keeps posters from choosing colliding keys.
 */
export class ByteTable {
  arena: Uint8Array;
  count = 0;
  /** True when the last `intern` made a new entry. */
  added = false;
  private readonly seed: number;
  private slots: Int32Array;
  private hashes: Int32Array;
  private starts: Uint32Array;

  constructor(seed: number, capacity = 1024) {
    this.seed = seed | 0;
    this.arena = new Uint8Array(capacity * 32);
    this.slots = new Int32Array(capacity * 2);
    this.hashes = new Int32Array(capacity);
    this.starts = new Uint32Array(capacity + 1);
  }

  /** Where entry `id` starts in the arena; entry `id` ends where the next one starts. */
  start(id: number): number {
    return this.starts[id]!;
  }

  end(id: number): number {
    return this.starts[id + 1]!;
  }

  bytes(id: number): Uint8Array {
    return this.arena.subarray(this.starts[id]!, this.starts[id + 1]!);
  }

  intern(b: Uint8Array, start: number, end: number): number {
    return this.find(b, start, end, 0, 0, false);
  }

  /** The id of `b[s1..e1)` NUL `b[s2..e2)`. A key made by `intern` must hold no NUL for the two not to meet. */
  internPair(b: Uint8Array, s1: number, e1: number, s2: number, e2: number): number {
    return this.find(b, s1, e1, s2, e2, true);
  }

  private find(b: Uint8Array, s1: number, e1: number, s2: number, e2: number, pair: boolean): number {
    let h = hashBytes(b, s1, e1, this.seed);
    const first = e1 - s1;
    let length = first;
    if (pair) {
      h = hashBytes(b, s2, e2, h ^ 0x5bd1e995);
      length += 1 + e2 - s2;
    }
    const mask = this.slots.length - 1;
    let slot = h & mask;
    for (let entry = this.slots[slot]!; entry !== 0; slot = (slot + 1) & mask, entry = this.slots[slot]!) {
      const id = entry - 1;
      if (this.hashes[id] !== h) continue;
      const at = this.starts[id]!;
      if (this.starts[id + 1]! - at !== length || !equalBytes(this.arena, at, b, s1, e1)) continue;
      if (pair && (this.arena[at + first] !== 0 || !equalBytes(this.arena, at + first + 1, b, s2, e2))) continue;
      this.added = false;
      return id;
    }
    this.added = true;
    this.slots[slot] = this.count + 1;
    return this.append(b, s1, e1, s2, e2, pair, h, length);
  }

  private append(
    b: Uint8Array,
    s1: number,
    e1: number,
    s2: number,
    e2: number,
    pair: boolean,
    h: number,
    length: number,
  ): number {
    const id = this.count++;
    const at = id === 0 ? 0 : this.starts[id]!;
    if (at + length > this.arena.length) this.arena = doubled(this.arena, at + length);
    const arena = this.arena;
    let to = at;
    for (let i = s1; i < e1; i++) arena[to++] = b[i]!;
    if (pair) {
      arena[to++] = 0;
      for (let i = s2; i < e2; i++) arena[to++] = b[i]!;
    }
    this.hashes[id] = h;
    this.starts[0] = 0;
    this.starts[id + 1] = to;
    if (this.count === this.hashes.length) this.grow();
    return id;
  }

  private grow(): void {
    const hashes = new Int32Array(this.hashes.length * 2);
    hashes.set(this.hashes);
    this.hashes = hashes;
    const starts = new Uint32Array(this.hashes.length + 1);
    starts.set(this.starts);
    this.starts = starts;
    this.slots = new Int32Array(hashes.length * 2);
    const mask = this.slots.length - 1;
    for (let id = 0; id < this.count; id++) {
      let slot = hashes[id]! & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = id + 1;
    }
  }
}
