import { parseDate } from './date.ts';
import { readText } from './text.ts';

/**
 * Which field of an overview line holds what: 0 is the article number, the standard fields follow, then the extras.
 * Extras carry their header name, so Xref is looked for by name among them; `xref` is where it stands without one.
 */
export interface OverviewFormat {
  readonly subject: number;
  readonly from: number;
  readonly date: number;
  readonly messageId: number;
  readonly references: number;
  readonly bytes: number;
  readonly lines: number;
  readonly xref: number;
}

export const STANDARD_FORMAT: OverviewFormat = {
  subject: 1,
  from: 2,
  date: 3,
  messageId: 4,
  references: 5,
  bytes: 6,
  lines: 7,
  xref: 8,
};

const FIELD_NAMES: Readonly<Record<string, keyof OverviewFormat>> = {
  subject: 'subject',
  from: 'from',
  date: 'date',
  'message-id': 'messageId',
  references: 'references',
  bytes: 'bytes',
  lines: 'lines',
  xref: 'xref',
};

/**
 * The format that the lines of a LIST OVERVIEW.FMT answer describe, e.g. `Subject:`, `:bytes`, `Xref:full`. A leading
 * `:number` is dropped. An answer without one of the fields that a release needs counts as no answer: standard order.
 */
export function overviewFormat(list: readonly string[]): OverviewFormat {
  const found: Partial<Record<keyof OverviewFormat, number>> = {};
  let index = 0;
  for (const line of list) {
    const name = line.trim().toLowerCase().replace(/^:/, '').replace(/:.*$/, '');
    if (name === '' || name === 'number' || name === 'article') continue;
    index++;
    const field = FIELD_NAMES[name];
    if (field !== undefined && found[field] === undefined && index < MAX_FIELDS) found[field] = index;
  }
  const needed = ['subject', 'from', 'date', 'messageId'] as const;
  if (needed.some((field) => found[field] === undefined)) return STANDARD_FORMAT;
  const absent = { references: -1, bytes: -1, lines: -1, xref: index + 1 };
  return { ...STANDARD_FORMAT, ...absent, ...found };
}

/** Why a line was rejected; index 0 stands for a good line. */
export const REJECTIONS = [
  'ok',
  'empty_line',
  'status_line',
  'too_few_fields',
  'bad_article_number',
  'no_message_id',
  'bad_message_id',
  'line_too_long',
] as const;
export type Rejection = Exclude<(typeof REJECTIONS)[number], 'ok'>;

const TAB = 9;
const LF = 10;
const CR = 13;
const BLANK = 32;
/** Fields beyond this one are not looked at: no server advertises as many extras. */
const MAX_FIELDS = 40;
/** Headers of 1,000 bytes are long; the codecs refuse texts of a megabyte. */
const MAX_LINE = 65_536;
/** RFC 3977 3.6, the angle brackets included. */
const MAX_MESSAGE_ID = 250;

const isDigit = (c: number): boolean => c >= 48 && c <= 57;

/** `batch` with every NUL, and every CR that ends no line, replaced by a blank; the same array when there is none. */
export function cleanBatch(batch: Uint8Array): Uint8Array {
  let clean = batch;
  const blank = (i: number) => {
    if (clean === batch) clean = new Uint8Array(batch);
    clean[i] = BLANK;
  };
  for (let i = batch.indexOf(0); i >= 0; i = batch.indexOf(0, i + 1)) blank(i);
  for (let i = batch.indexOf(CR); i >= 0; i = batch.indexOf(CR, i + 1)) {
    if (i + 1 < batch.length && batch[i + 1] !== LF) blank(i);
  }
  return clean;
}

/** Walks the lines of a clean batch. After `next()` the fields of the current line are at `fieldStart`/`fieldEnd`. */
export class LineCursor {
  bytes: Uint8Array = new Uint8Array(0);
  /** The current line without its end. */
  start = 0;
  end = 0;
  fields = 0;
  private position = 0;
  /** First tab at or after `position`; kept across lines so that lines without tabs cost no repeated search. */
  private tab = -1;
  private readonly starts = new Int32Array(MAX_FIELDS + 2);

  load(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.position = 0;
    this.tab = -1;
  }

  /** Moves to the next line and splits it; false at the end of the batch. */
  next(): boolean {
    const b = this.bytes;
    const start = this.position;
    if (start >= b.length) return false;
    const lf = b.indexOf(LF, start);
    let end = lf < 0 ? b.length : lf;
    this.position = end + 1;
    if (end > start && b[end - 1] === CR) end--;
    this.start = start;
    this.end = end;
    this.split(b, start, end);
    return true;
  }

  fieldStart(field: number): number {
    return field >= 0 && field < this.fields ? this.starts[field]! : this.end;
  }

  fieldEnd(field: number): number {
    return field >= 0 && field < this.fields ? this.starts[field + 1]! - 1 : this.end;
  }

  private split(b: Uint8Array, start: number, end: number): void {
    const starts = this.starts;
    let fields = 0;
    starts[0] = start;
    let tab = this.tab < start ? this.nextTab(b, start) : this.tab;
    while (tab < end && fields < MAX_FIELDS) {
      starts[++fields] = tab + 1;
      tab = this.nextTab(b, tab + 1);
    }
    this.tab = tab;
    this.fields = fields + 1;
    starts[this.fields] = end + 1;
  }

  /** Short fields by a loop, long ones by a native search: each is the faster one there. */
  private nextTab(b: Uint8Array, from: number): number {
    const near = Math.min(from + 8, b.length);
    for (let i = from; i < near; i++) if (b[i] === TAB) return i;
    const found = b.indexOf(TAB, near);
    return found < 0 ? b.length : found;
  }
}

/** Decimal digits only, up to 2^53 - 1; -1 for anything else. */
export function readNumber(b: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const c = b[i]!;
    if (!isDigit(c)) return -1;
    value = value * 10 + (c - 48);
    if (value > Number.MAX_SAFE_INTEGER) return -1;
  }
  return end > start ? value : -1;
}

const isStatusLine = (b: Uint8Array, start: number, end: number): boolean =>
  end - start >= 3 &&
  b[start]! >= 49 &&
  b[start]! <= 53 &&
  isDigit(b[start + 1]!) &&
  isDigit(b[start + 2]!) &&
  (end - start === 3 || b[start + 3] === BLANK);

/**
 * Checks the current line of a cursor and keeps the numbers that every line needs. One instance serves all lines.
 * `idStart`/`idEnd` lie inside the angle brackets.
 */
export class LineCheck {
  article = 0;
  idStart = 0;
  idEnd = 0;

  /** 0 when the line is good, else an index into REJECTIONS. */
  check(line: LineCursor, format: OverviewFormat): number {
    const b = line.bytes;
    if (line.end === line.start) return 1;
    if (line.end - line.start > MAX_LINE) return 7;
    if (line.fields <= format.messageId) {
      return line.fields === 1 && isStatusLine(b, line.start, line.end) ? 2 : 3;
    }
    this.article = readNumber(b, line.fieldStart(0), line.fieldEnd(0));
    if (this.article < 0) return 4;
    return this.checkMessageId(b, line.fieldStart(format.messageId), line.fieldEnd(format.messageId));
  }

  private checkMessageId(b: Uint8Array, fieldStart: number, fieldEnd: number): number {
    let start = fieldStart;
    let end = fieldEnd;
    while (start < end && b[start] === BLANK) start++;
    while (end > start && b[end - 1] === BLANK) end--;
    if (start === end) return 5;
    if (b[start] !== 60 || b[end - 1] !== 62 || end - start < 3 || end - start > MAX_MESSAGE_ID) return 6;
    for (let i = start + 1; i < end - 1; i++) {
      const c = b[i]!;
      // Blanks of any kind (0xa0 is one in latin1), control bytes and further brackets cannot be in an id.
      if (c <= 32 || c === 60 || c === 62 || c === 127 || c === 160) return 6;
    }
    this.idStart = start + 1;
    this.idEnd = end - 1;
    return 0;
  }
}

/** A count of bytes or lines as the server reported it: 0 when it is empty or no number. */
export const readCount = (b: Uint8Array, start: number, end: number): number => Math.max(readNumber(b, start, end), 0);

const XREF = [120, 114, 101, 102];

/** True when `b[start..end)` begins with `xref:` in any letter case. */
const namesXref = (b: Uint8Array, start: number, end: number): boolean =>
  end - start >= 5 && b[start + 4] === 58 && XREF.every((c, i) => (b[start + i]! | 32) === c);

/** A header `Name: value` has its colon before its first blank; an Xref value without the name does not. */
const isNamed = (b: Uint8Array, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) {
    if (b[i] === 58) return true;
    if (b[i] === BLANK) return false;
  }
  return true;
};

/** Where the value of Xref lies in the current line; start = end when there is none. One instance serves all lines. */
export class XrefField {
  start = 0;
  end = 0;

  locate(line: LineCursor, format: OverviewFormat): void {
    const b = line.bytes;
    this.start = this.end = 0;
    const firstExtra = Math.max(format.messageId, format.lines, format.bytes, format.references) + 1;
    if (!this.take(b, line.fieldStart(format.xref), line.fieldEnd(format.xref), true)) {
      for (let k = firstExtra; k < line.fields; k++) {
        if (this.take(b, line.fieldStart(k), line.fieldEnd(k), false)) return;
      }
    }
  }

  private take(b: Uint8Array, fieldStart: number, end: number, unnamed: boolean): boolean {
    let start = fieldStart;
    if (start >= end) return false;
    if (namesXref(b, start, end)) start += 5;
    else if (!unnamed || isNamed(b, start, end)) return false;
    while (start < end && b[start] === BLANK) start++;
    this.start = start;
    this.end = end;
    return true;
  }
}

/** One overview line as a person would read it. `date` is ms since 1970, `messageId` with its brackets. */
export interface OverviewLine {
  readonly article: number;
  readonly subject: string;
  readonly from: string;
  readonly date: number | null;
  readonly messageId: string;
  readonly bytes: number;
  readonly lines: number;
  readonly xref: string | null;
}

export type LineReading =
  | { readonly ok: true; readonly line: OverviewLine }
  | { readonly ok: false; readonly reason: Rejection };

/** Reads one line (without or with its end) by the code that the pipeline runs; for tests and for `explain`. */
export function readLine(bytes: Uint8Array, format: OverviewFormat = STANDARD_FORMAT): LineReading {
  const line = new LineCursor();
  line.load(cleanBatch(bytes));
  if (!line.next()) return { ok: false, reason: 'empty_line' };
  const checked = new LineCheck();
  const rejection = checked.check(line, format);
  if (rejection !== 0) return { ok: false, reason: REJECTIONS[rejection] as Rejection };
  const b = line.bytes;
  const text = (field: number) => readText(b.subarray(line.fieldStart(field), line.fieldEnd(field)));
  const count = (field: number) => readCount(b, line.fieldStart(field), line.fieldEnd(field));
  const xref = new XrefField();
  xref.locate(line, format);
  return {
    ok: true,
    line: {
      article: checked.article,
      subject: text(format.subject),
      from: text(format.from),
      date: parseDate(text(format.date)),
      messageId: Buffer.from(b.subarray(checked.idStart - 1, checked.idEnd + 1)).toString('latin1'),
      bytes: count(format.bytes),
      lines: count(format.lines),
      xref: xref.end > xref.start ? readText(b.subarray(xref.start, xref.end)).trim() || null : null,
    },
  };
}
