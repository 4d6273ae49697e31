import type { SegmentColumns } from '../../streams/codec/segmentColumns.ts';

type Column = Float64Array | Uint32Array | Int32Array | Uint8Array;

function grown<T extends Column>(old: T, size: number): T {
  const next = new (old.constructor as new (size: number) => T)(size);
  next.set(old as never);
  return next;
}

const FIRST_SIZE = 1 << 14;
/** Offsets into the id arena are 32 bits wide; a range of 2,000,000 lines needs a twentieth of it. */
const MAX_ID_BYTES = 0xffffffff;

/**
 * The kept articles of a range as columns, row = order of arrival. Message-ids are bytes in one arena: no string and no
 * object per article. The columns of `SegmentColumns` are what the chunk encoder reads.
 */
export class ArticleTable implements SegmentColumns {
  count = 0;
  idBytes: Uint8Array = new Uint8Array(FIRST_SIZE * 48);
  idStart = new Uint32Array(FIRST_SIZE);
  idEnd = new Uint32Array(FIRST_SIZE);
  part = new Uint32Array(FIRST_SIZE);
  bytes = new Float64Array(FIRST_SIZE);
  /** Article number in the range's group. */
  number = new Float64Array(FIRST_SIZE);
  /** Ms since 1970; NaN while the article's own date could not be read. */
  at = new Float64Array(FIRST_SIZE);
  file = new Int32Array(FIRST_SIZE);
  /** The spelling of the subject: see `SubjectTable`. */
  subject = new Int32Array(FIRST_SIZE);
  /** Id of its set of groups. */
  groups = new Int32Array(FIRST_SIZE);
  /** Id of its poster, -1 where an earlier article of the same spelling and posting makes it irrelevant. */
  poster = new Int32Array(FIRST_SIZE);
  /** Digits of its part number when they begin with a zero, else 1; 0 without a counter. */
  width = new Uint8Array(FIRST_SIZE);
  private idLength = 0;

  /** Forgets every row and keeps the memory, which is warm by then. */
  clear(): void {
    this.count = 0;
    this.idLength = 0;
  }

  /** Makes room for one more row and an id of `idBytes` bytes. */
  private reserve(idBytes: number): void {
    const size = this.part.length;
    if (this.count === size) {
      const next = size * 2;
      this.idStart = grown(this.idStart, next);
      this.idEnd = grown(this.idEnd, next);
      this.part = grown(this.part, next);
      this.bytes = grown(this.bytes, next);
      this.number = grown(this.number, next);
      this.at = grown(this.at, next);
      this.file = grown(this.file, next);
      this.subject = grown(this.subject, next);
      this.groups = grown(this.groups, next);
      this.poster = grown(this.poster, next);
      this.width = grown(this.width, next);
    }
    const need = this.idLength + idBytes;
    if (need <= this.idBytes.length) return;
    if (need > MAX_ID_BYTES) throw new RangeError('the message-ids of one range exceed 4 GiB');
    const arena = new Uint8Array(Math.min(MAX_ID_BYTES, Math.max(need, Math.ceil(this.idBytes.length * 1.5))));
    arena.set(this.idBytes);
    this.idBytes = arena;
  }

  /** Appends a row whose id is `b[idStart..idEnd)`; the caller fills the other columns. Returns the row. */
  add(b: Uint8Array, idStart: number, idEnd: number): number {
    this.reserve(idEnd - idStart);
    const row = this.count++;
    let to = this.idLength;
    this.idStart[row] = to;
    const arena = this.idBytes;
    for (let i = idStart; i < idEnd; i++) arena[to++] = b[i]!;
    this.idEnd[row] = to;
    this.idLength = to;
    return row;
  }

  /** Order of two message-ids by their bytes. */
  compareIds(a: number, b: number): number {
    const length = Math.min(this.idEnd[a]! - this.idStart[a]!, this.idEnd[b]! - this.idStart[b]!);
    for (let i = 0; i < length; i++) {
      const difference = this.idBytes[this.idStart[a]! + i]! - this.idBytes[this.idStart[b]! + i]!;
      if (difference !== 0) return difference;
    }
    return this.idEnd[a]! - this.idStart[a]! - (this.idEnd[b]! - this.idStart[b]!);
  }

  /** Gives articles without a date that of the dated line before them, at the start of the range the one after. */
  fillDates(fallback: number): void {
    let last = Number.NaN;
    for (let row = 0; row < this.count; row++) {
      if (Number.isNaN(this.at[row]!)) this.at[row] = last;
      else last = this.at[row]!;
    }
    let next = fallback;
    for (let row = this.count - 1; row >= 0; row--) {
      if (Number.isNaN(this.at[row]!)) this.at[row] = next;
      else next = this.at[row]!;
    }
  }
}
