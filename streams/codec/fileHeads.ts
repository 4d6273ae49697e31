import type { Group } from '../ids.ts';
import { type ByteReader, type ByteWriter, MAX_TEXT_BYTES } from './bytes.ts';
import type { FileIds } from './idEncode.ts';
import type { FileRows } from './segmentColumns.ts';

/** Limits of one chunk, checked when it is written and, before anything is allocated, when it is read. */
export const MAX_FILES = 1 << 18;
export const MAX_SEGMENTS = 1 << 20;
const MAX_GROUPS_TEXT = 64 * 1024;

/** Flags of a file: what is as expected takes no byte of its own. */
const SAME_POSTER = 1;
const SAME_GROUPS = 2;
const SAME_BINDING = 4;
const NEXT_BINDING = 8;
const NO_EXCEPTIONS = 16;
const RUN_FROM_ONE = 32;
const NEXT_INDEX = 64;
const ALL_PARTS = 128;

/** A file as read from the head of a payload; its texts lie in the cold texts, in the order of the files. */
export interface FileHead extends FileIds {
  readonly rowCount: number;
  readonly subjectBytes: number;
  /** UTF-16 units behind the part counter; the subject's length plus 1 when it has none. */
  readonly tail: number;
  readonly partWidth: number;
  readonly postedAt: number;
  readonly parts: number;
  readonly fileIndex: number | null;
  readonly fileHash: string;
  readonly poster: number;
  readonly groups: number;
  readonly partNumbers: Uint32Array;
}

/** Texts that files share, each kept once, numbered in the order in which they turn up. */
export class TextTable {
  private readonly numbers = new Map<string, number>();
  readonly texts: string[] = [];

  numberOf(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }
}

/** A group name holds no blank, so a list of them is one text. */
export const joinGroups = (groups: readonly Group[]): string => {
  for (const group of groups) if (group === '' || group.includes(' ')) throw new RangeError(`group ${group}`);
  return groups.join(' ');
};
export const splitGroups = (text: string): Group[] => (text === '' ? [] : (text.split(' ') as Group[]));

/** What the flags of a file refer to: the file before it. */
interface Before {
  poster: number;
  groups: number;
  binding: number;
  highestBinding: number;
  index: number;
  postedAt: number;
}
const noneBefore = (): Before => ({ poster: 0, groups: 0, binding: 0, highestBinding: -1, index: 0, postedAt: 0 });

/** Dates are mostly whole seconds. */
const scaleOf = (files: readonly FileRows[]): number => (files.every((f) => f.postedAt % 1000 === 0) ? 1000 : 1);

const isRunFromOne = (rows: Uint32Array, part: Uint32Array): boolean => {
  for (let i = 0; i < rows.length; i++) if (part[rows[i]!] !== i + 1) return false;
  return true;
};

/** Part counters as runs of consecutive numbers: how far each lies from the end of the one before, and its length. */
const writeRuns = (out: ByteWriter, rows: Uint32Array, part: Uint32Array): void => {
  let next = 1;
  for (let i = 0; i < rows.length; ) {
    const start = part[rows[i]!]!;
    let end = i + 1;
    while (end < rows.length && part[rows[end]!] === start + end - i) end++;
    out.zigzag(start - next);
    out.varint(end - i - 1);
    next = start + end - i;
    i = end;
  }
};

const readRuns = (source: ByteReader, count: number): Uint32Array => {
  const numbers = new Uint32Array(count);
  let next = 1;
  for (let i = 0; i < count; ) {
    const start = next + source.zigzag();
    const length = source.count(count - i - 1, 'parts in a run') + 1;
    if (start < 0 || start + length - 1 > 0xffffffff) throw source.corrupt('malformed', 'part number out of range');
    for (let j = 0; j < length; j++) numbers[i + j] = start + j;
    next = start + length;
    i += length;
  }
  return numbers;
};

const HASH = /^[0-9a-f]{16}$/;

/** The writer's side of one chunk's file heads. */
export class FileHeadWriter {
  private readonly out: ByteWriter;
  private readonly part: Uint32Array;
  private readonly scale: number;
  private readonly before = noneBefore();
  readonly posters = new TextTable();
  readonly groups = new TextTable();
  readonly subjects: Buffer[] = [];

  constructor(out: ByteWriter, files: readonly FileRows[], part: Uint32Array) {
    this.out = out;
    this.part = part;
    this.scale = scaleOf(files);
    out.varint(files.length * 2 + (this.scale === 1000 ? 1 : 0));
  }

  write(file: FileRows, ids: FileIds): void {
    const { out, before } = this;
    const poster = this.posters.numberOf(file.poster);
    const groups = this.groups.numberOf(joinGroups(file.groups));
    const subject = Buffer.from(file.subject, 'utf8');
    if (subject.length > MAX_TEXT_BYTES) throw new RangeError(`subject of ${subject.length} bytes`);
    this.subjects.push(subject);
    const flags = this.flags(file, ids, poster, groups);
    out.u8(flags);
    out.varint(file.rows.length);
    out.varint(subject.length);
    out.zigzag(file.subject.length - file.partAt);
    out.varint(file.partWidth);
    out.zigzag(Math.round(file.postedAt / this.scale) - before.postedAt);
    if (!(flags & ALL_PARTS)) out.varint(file.parts);
    if (!(flags & NEXT_INDEX)) out.varint(file.fileIndex === null ? 0 : file.fileIndex + 1);
    if (!HASH.test(file.fileHash)) throw new RangeError(`file hash ${file.fileHash}`);
    out.raw(Buffer.from(file.fileHash, 'hex'));
    if (!(flags & SAME_POSTER)) out.varint(poster);
    if (!(flags & SAME_GROUPS)) out.varint(groups);
    if (!(flags & (SAME_BINDING | NEXT_BINDING))) out.varint(ids.binding + 1);
    if (!(flags & NO_EXCEPTIONS)) this.exceptions(ids.exceptions);
    if (!(flags & RUN_FROM_ONE)) writeRuns(out, file.rows, this.part);
    this.before.poster = poster;
    this.before.groups = groups;
    this.before.binding = ids.binding;
    this.before.highestBinding = Math.max(before.highestBinding, ids.binding);
    this.before.index = file.fileIndex ?? before.index;
    this.before.postedAt = Math.round(file.postedAt / this.scale);
  }

  private flags(file: FileRows, ids: FileIds, poster: number, groups: number): number {
    const { before } = this;
    return (
      (poster === before.poster ? SAME_POSTER : 0) |
      (groups === before.groups ? SAME_GROUPS : 0) |
      (ids.binding === before.binding ? SAME_BINDING : ids.binding === before.highestBinding + 1 ? NEXT_BINDING : 0) |
      (ids.exceptions.length === 0 ? NO_EXCEPTIONS : 0) |
      (isRunFromOne(file.rows, this.part) ? RUN_FROM_ONE : 0) |
      (file.fileIndex === before.index + 1 ? NEXT_INDEX : 0) |
      (file.parts === file.rows.length ? ALL_PARTS : 0)
    );
  }

  private exceptions(places: readonly number[]): void {
    this.out.varint(places.length);
    let next = 0;
    for (const place of places) {
      this.out.varint(place - next);
      next = place + 1;
    }
  }
}

const readExceptions = (source: ByteReader, rowCount: number): number[] => {
  const places: number[] = [];
  let next = 0;
  for (let n = source.count(rowCount, 'exceptions'); n > 0; n--) {
    const place = next + source.varint();
    if (place >= rowCount) throw source.corrupt('malformed', 'exception behind the last segment');
    places.push(place);
    next = place + 1;
  }
  return places;
};

const countUp = (count: number): Uint32Array => {
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = i + 1;
  return numbers;
};

const readHead = (source: ByteReader, before: Before, rowsLeft: number): FileHead => {
  const flags = source.u8();
  const rowCount = source.count(rowsLeft, 'segments');
  const subjectBytes = source.count(MAX_TEXT_BYTES, 'bytes of a subject');
  const tail = source.zigzag();
  const partWidth = source.varint();
  const postedAt = before.postedAt + source.zigzag();
  const parts = flags & ALL_PARTS ? rowCount : source.varint();
  const stated = flags & NEXT_INDEX ? before.index + 2 : source.varint();
  const fileIndex = stated === 0 ? null : stated - 1;
  const hash = source.raw(8);
  const fileHash = Buffer.from(hash.buffer, hash.byteOffset, 8).toString('hex');
  const poster = flags & SAME_POSTER ? before.poster : source.varint();
  const groups = flags & SAME_GROUPS ? before.groups : source.varint();
  const binding =
    flags & SAME_BINDING ? before.binding : flags & NEXT_BINDING ? before.highestBinding + 1 : source.varint() - 1;
  const exceptions = flags & NO_EXCEPTIONS ? [] : readExceptions(source, rowCount);
  const partNumbers = flags & RUN_FROM_ONE ? countUp(rowCount) : readRuns(source, rowCount);
  Object.assign(before, { poster, groups, binding, postedAt, index: fileIndex ?? before.index });
  before.highestBinding = Math.max(before.highestBinding, binding);
  const texts = { subjectBytes, tail, partWidth, postedAt, parts, fileIndex, fileHash };
  return { ...texts, rowCount, poster, groups, binding, exceptions, partNumbers };
};

/** Reads all file heads; at most MAX_SEGMENTS segments in all. */
export const readFileHeads = (source: ByteReader): FileHead[] => {
  const first = source.count(2 * MAX_FILES + 1, 'files');
  const scale = first % 2 === 1 ? 1000 : 1;
  const before = noneBefore();
  const heads: FileHead[] = [];
  let left = MAX_SEGMENTS;
  for (let n = first >> 1; n > 0; n--) {
    const head = readHead(source, before, left);
    left -= head.rowCount;
    heads.push(scale === 1 ? head : { ...head, postedAt: head.postedAt * scale });
  }
  return heads;
};

export const readTexts = (source: ByteReader): number[] => {
  const lengths: number[] = [];
  for (let n = source.count(MAX_FILES, 'texts'); n > 0; n--)
    lengths.push(source.count(MAX_GROUPS_TEXT, 'bytes of a text'));
  return lengths;
};

/** The lengths of a table's texts; the texts themselves go to the cold texts. */
export const writeTexts = (out: ByteWriter, table: TextTable): Buffer[] => {
  const texts = table.texts.map((text) => Buffer.from(text, 'utf8'));
  out.varint(texts.length);
  for (const text of texts) {
    if (text.length > MAX_GROUPS_TEXT) throw new RangeError(`text of ${text.length} bytes`);
    out.varint(text.length);
  }
  return texts;
};
