import type { Group, ReleaseKey } from '../../streams/ids.ts';
import { POSTING_GAP_MS } from '../../streams/rules.ts';
import { archiveVolume } from './archive.ts';
import { ByteTable } from './byteTable.ts';
import { PartCounter } from './counter.ts';
import { fileDigest, releaseKey } from './identity.ts';
import { piecesOf, readPieces, type SubjectReading } from './subject.ts';
import { cutText, readText } from './text.ts';

/** What becomes of the articles of a subject. */
export const VERDICTS = ['file', 'text', 'random'] as const;
export type Verdict = (typeof VERDICTS)[number];

const IS_PAR2 = 1;
const IS_NFO = 2;
const IS_OBFUSCATED = 4;
/** Comes with the payload: par2, nfo, sfv and the like. */
const IS_SIDE = 8;
const IS_7Z = 16;

/** A poster that was not read. */
export const NO_POSTER = -1;
const NO_FILE = -1;
/** The subject's files differ by poster: look in the table of pairs. */
const BY_POSTER = -2;
const NO_COUNTER = -1;

/** Headers of a kilobyte are long; the codecs refuse texts of 64 KiB. */
const MAX_POSTER = 16_000;

/** Files that group by their base even when they have one part: they are no lone random posts. */
const SET_ROLES: ReadonlySet<string> = new Set(['par2', 'volume', 'nfo', 'helper']);

/** Which articles a subject stands for: a file's, mere text, or a random post that nothing groups. */
function verdictOf(r: SubjectReading): Verdict {
  if (r.kind === 'text') return 'text';
  if (r.kind === 'per_article_random') return 'random';
  const alone = (r.parts === null || r.parts <= 1) && r.fileTotal === null && !SET_ROLES.has(r.role);
  return r.obfuscated && alone ? 'random' : 'file';
}

function flagsOf({ role, obfuscated }: SubjectReading, is7z: boolean): number {
  const kind =
    role === 'par2' ? IS_PAR2 | IS_SIDE : role === 'nfo' ? IS_NFO | IS_SIDE : role === 'helper' ? IS_SIDE : 0;
  return kind | (obfuscated ? IS_OBFUSCATED : 0) | (is7z ? IS_7Z : 0);
}

/**
 * Subjects, files and releases of a range. A subject here is a *spelling*: the subject's bytes without the digits of the
 * part number. Several spellings may be one file (a total that changes, a copied counter), several files one release.
 * Everything in it is numbers and bytes; names are read again from a spelling when a release is written out.
 */
export class FileTable {
  /** Spellings: bytes before the part number, NUL, bytes after it; without a part counter just the bytes. */
  readonly subjects: ByteTable;
  readonly posters: ByteTable;
  private readonly pairs: ByteTable;
  private readonly files: ByteTable;
  private readonly releases: ByteTable;
  /** What subjects name, as UTF-8: release base, else file name. */
  private readonly names: ByteTable;
  private readonly group: Group;
  private readonly scratch = Buffer.alloc(32);
  private readonly counter = new PartCounter();

  /** By spelling. */
  private readonly verdicts: number[] = [];
  private readonly fileOfSubject: number[] = [];
  private readonly partAts: number[] = [];
  private readonly totals: number[] = [];
  private readonly nameOfSubject: number[] = [];
  /** Time of an article whose poster was read, NaN before there is one. */
  private readonly readAts: number[] = [];
  /** By (spelling, poster) for those that need it. */
  private readonly fileOfPair: number[] = [];
  /** By file. */
  private readonly releaseOfFile: number[] = [];
  private readonly flags: number[] = [];
  private readonly posterOfFile: number[] = [];
  private readonly indexes: number[] = [];
  private readonly totalsOfFile: number[] = [];
  private readonly volumes: number[] = [];

  constructor(group: Group, seed: number) {
    this.group = group;
    this.subjects = new ByteTable(seed, 4096);
    this.posters = new ByteTable(seed ^ 0x3c6ef372, 1024);
    this.pairs = new ByteTable(seed ^ 0x1f83d9ab, 1024);
    this.files = new ByteTable(seed ^ 0x5be0cd19, 4096);
    this.releases = new ByteTable(seed ^ 0x510e527f, 1024);
    this.names = new ByteTable(seed ^ 0x6a09e667, 1024);
  }

  get fileCount(): number {
    return this.files.count;
  }

  get releaseCount(): number {
    return this.releases.count;
  }

  verdict(subject: number): Verdict {
    return VERDICTS[this.verdicts[subject]!]!;
  }

  /** Byte position of the part number in the spelling, -1 without a counter. */
  partAt(subject: number): number {
    return this.partAts[subject]!;
  }

  /** The total that the spelling states, 0 when it states none. */
  total(subject: number): number {
    return this.totals[subject]!;
  }

  /** Number of the name that the spelling gives its release; `nameBytes` has it. */
  nameOf(subject: number): number {
    return this.nameOfSubject[subject]!;
  }

  nameBytes(name: number): Uint8Array {
    return this.names.bytes(name);
  }

  nameText(name: number): string {
    return Buffer.from(this.names.bytes(name)).toString('utf8');
  }

  /** Bytes that the spelling's text may come to. */
  subjectBytes(subject: number): number {
    return 3 * (this.subjects.end(subject) - this.subjects.start(subject));
  }

  /** Bytes that the poster's text may come to. */
  posterBytes(poster: number): number {
    return 3 * (this.posters.end(poster) - this.posters.start(poster));
  }

  releaseOf(file: number): number {
    return this.releaseOfFile[file]!;
  }

  isPar2(file: number): boolean {
    return (this.flags[file]! & IS_PAR2) !== 0;
  }

  isNfo(file: number): boolean {
    return (this.flags[file]! & IS_NFO) !== 0;
  }

  isObfuscated(file: number): boolean {
    return (this.flags[file]! & IS_OBFUSCATED) !== 0;
  }

  /** Not a recovery, info or helper file. */
  isPayload(file: number): boolean {
    return (this.flags[file]! & IS_SIDE) === 0;
  }

  is7z(file: number): boolean {
    return (this.flags[file]! & IS_7Z) !== 0;
  }

  /** Number of an archive volume, from 1; 0 when the file is none. */
  volumeOf(file: number): number {
    return this.volumes[file]!;
  }

  /** `[i/N]`: i, or null. */
  indexOf(file: number): number | null {
    const index = this.indexes[file]!;
    return index < 0 ? null : index;
  }

  filesTotal(file: number): number | null {
    const total = this.totalsOfFile[file]!;
    return total < 0 ? null : total;
  }

  fileHash(file: number): string {
    return Buffer.from(this.files.bytes(file)).toString('hex', 0, 8);
  }

  keyOf(release: number): ReleaseKey {
    return Buffer.from(this.releases.bytes(release)).toString('hex') as ReleaseKey;
  }

  posterText(poster: number): string {
    return cutText(readText(this.posters.bytes(poster)).trim(), MAX_POSTER);
  }

  /** The spelling of the subject bytes, given where `counter` found the part number in them. */
  subjectOf(b: Uint8Array, start: number, end: number, counter: PartCounter): number {
    const found = counter.rule !== 'none';
    const subject = found
      ? this.subjects.internPair(b, start, counter.nStart, counter.nEnd, end)
      : this.subjects.intern(b, start, end);
    if (this.subjects.added) this.addSubject(b, start, end, counter);
    return subject;
  }

  private addSubject(b: Uint8Array, start: number, end: number, counter: PartCounter): void {
    const found = counter.rule !== 'none';
    const reading = this.read(b.subarray(start, end));
    const verdict = verdictOf(reading);
    this.verdicts.push(VERDICTS.indexOf(verdict));
    this.partAts.push(found ? counter.nStart - start : NO_COUNTER);
    this.totals.push(reading.parts ?? 0);
    this.nameOfSubject.push(verdict === 'file' ? this.nameId(reading) : 0);
    this.readAts.push(Number.NaN);
    const file = verdict !== 'file' ? NO_FILE : reading.usesPoster ? BY_POSTER : this.addFile(reading, null);
    this.fileOfSubject.push(file);
  }

  private read(subject: Uint8Array): SubjectReading {
    this.counter.find(subject, 0, subject.length);
    return readPieces(piecesOf(subject, this.counter));
  }

  private nameId(reading: SubjectReading): number {
    const name = Buffer.from(reading.releaseBase ?? reading.fileName ?? '');
    return this.names.intern(name, 0, name.length);
  }

  /**
   * The file of an article, -1 when its subject stands for none. `b[fromStart..fromEnd)` is its From field, which is
   * looked at only when the name could be anybody's.
   */
  fileOf(subject: number, b: Uint8Array, fromStart: number, fromEnd: number): number {
    const file = this.fileOfSubject[subject]!;
    return file === BY_POSTER ? this.fileOfPoster(subject, b, fromStart, fromEnd) : file;
  }

  private fileOfPoster(subject: number, b: Uint8Array, fromStart: number, fromEnd: number): number {
    const poster = this.posters.intern(b, fromStart, fromEnd);
    this.scratch.writeUInt32LE(subject, 0);
    this.scratch.writeUInt32LE(poster, 4);
    const pair = this.pairs.intern(this.scratch, 0, 8);
    if (this.pairs.added) {
      const file = this.addFile(this.reading(subject), readText(this.posters.bytes(poster)));
      this.posterOfFile[file] = poster;
      this.fileOfPair.push(file);
    }
    return this.fileOfPair[pair]!;
  }

  /**
   * The poster of an article, -1 when it cannot be asked for: only the earliest articles of a spelling in a posting tell
   * its poster, so that of a later one is not read.
   */
  posterOf(subject: number, file: number, at: number, b: Uint8Array, fromStart: number, fromEnd: number): number {
    const own = this.posterOfFile[file]!;
    if (own >= 0) return own;
    const readAt = this.readAts[subject]!;
    if (at > readAt && at - readAt < POSTING_GAP_MS) return NO_POSTER;
    if (!Number.isNaN(at)) this.readAts[subject] = at;
    return this.posters.intern(b, fromStart, fromEnd);
  }

  /** The file is its digest and its release, so that no article before this one can have decided what becomes of it. */
  private addFile(reading: SubjectReading, poster: string | null): number {
    const digest = fileDigest({ group: this.group, subject: reading.identity, poster });
    const key = releaseKey({ base: reading.releaseBase, filesTotal: reading.fileTotal, poster });
    this.scratch.write(digest, 0, 'hex');
    this.scratch.write(key, 16, 'hex');
    const file = this.files.intern(this.scratch, 0, 32);
    if (!this.files.added) return file;
    this.releaseOfFile.push(this.releases.intern(this.scratch, 16, 32));
    const volume = archiveVolume(reading.fileName, reading.role);
    this.flags.push(flagsOf(reading, volume?.is7z ?? false));
    this.volumes.push(volume?.volume ?? 0);
    this.posterOfFile.push(NO_POSTER);
    this.indexes.push(reading.fileIndex ?? -1);
    this.totalsOfFile.push(reading.fileTotal ?? -1);
    return file;
  }

  /** The bytes of a subject of this spelling, that of the first part. */
  private example(subject: number): Uint8Array {
    const bytes = Buffer.from(this.subjects.bytes(subject));
    const at = this.partAts[subject]!;
    if (at < 0) return bytes;
    return Buffer.concat([bytes.subarray(0, at), Buffer.from('1'), bytes.subarray(at + 1)]);
  }

  /** The spelling as text without its part number, and where in the text the number stood (-1: no counter). */
  subjectText(subject: number): { readonly text: string; readonly partAt: number } {
    const bytes = this.subjects.bytes(subject);
    const at = this.partAts[subject]!;
    if (at < 0) return { text: readText(bytes), partAt: -1 };
    // The charset is that of the whole field; NUL fits both and marks the place.
    const text = readText(bytes);
    const place = text.indexOf('\0');
    return { text: text.slice(0, place) + text.slice(place + 1), partAt: place };
  }

  /** What the core makes of the spelling's subject, read again: the same for every part. */
  private reading(subject: number): SubjectReading {
    return this.read(this.example(subject));
  }
}
