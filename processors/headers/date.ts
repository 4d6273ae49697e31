import { hashBytes } from './byteTable.ts';
import { readText } from './text.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** The named zones of RFC 5322 4.3, in hours; every other word means UTC. */
const ZONES: Readonly<Record<string, number>> = {
  EDT: -4,
  EST: -5,
  CDT: -5,
  CST: -6,
  MDT: -6,
  MST: -7,
  PDT: -7,
  PST: -8,
};
const COMMENT = /\([^()]*\)/g;
const DATE =
  /^(?:[A-Za-z]+\.?,?\s*)?(\d{1,2})\s+([A-Za-z]{3,9})\.?\s+(\d{2}|\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*(?:([+-]\d{4})\b|([A-Za-z]+))?/;

const fullYear = (text: string): number => {
  const year = Number(text);
  if (text.length > 2) return year;
  return year < 50 ? 2000 + year : 1900 + year;
};

const zoneMs = (offset: string | undefined, word: string | undefined): number => {
  if (offset !== undefined) {
    const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3, 5));
    return (offset.startsWith('-') ? -minutes : minutes) * 60_000;
  }
  return (ZONES[word?.toUpperCase() ?? ''] ?? 0) * 3_600_000;
};

/** Real dates end long before; what stands behind is a comment. */
const MAX_TEXT = 256;

/**
 * A Date header in ms since 1970 UTC, null when it is none. RFC 5322 with the obsolete forms; the weekday is not looked
 * at. Dates before 1970 and in the future come out as they were written.
 */
export function parseDate(text: string): number | null {
  let plain = text.slice(0, MAX_TEXT).trim();
  while (plain.includes('(')) {
    const next = plain.replace(COMMENT, ' ');
    if (next === plain) break;
    plain = next.trim();
  }
  const m = DATE.exec(plain);
  if (!m) return null;
  const month = MONTHS.indexOf(m[2]!.slice(0, 3).toLowerCase());
  const [day, year, hour, minute, second] = [
    Number(m[1]),
    fullYear(m[3]!),
    Number(m[4]),
    Number(m[5]),
    Number(m[6] ?? 0),
  ];
  if (month < 0 || day < 1 || hour > 23 || minute > 59 || second > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  if (date.getUTCDate() !== day) return null;
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 - zoneMs(m[7], m[8]);
}

const SLOTS = 4096;
/** Longer dates are parsed each time; real ones have 25 to 45 bytes. */
const LONGEST = 48;

/** Date bytes to ms, remembered by their bytes in a direct-mapped table: parts of a post share their seconds. */
export class DateMemo {
  private readonly keys = new Uint8Array(SLOTS * LONGEST);
  private readonly lengths = new Uint8Array(SLOTS);
  private readonly values = new Float64Array(SLOTS);

  /** Ms since 1970, NaN when the bytes are no date. */
  read(b: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length === 0 || length > LONGEST) return this.parse(b, start, end);
    const slot = hashBytes(b, start, end, 1) & (SLOTS - 1);
    const at = slot * LONGEST;
    if (this.lengths[slot] === length) {
      let i = 0;
      while (i < length && this.keys[at + i] === b[start + i]) i++;
      if (i === length) return this.values[slot]!;
    }
    const value = this.parse(b, start, end);
    for (let i = 0; i < length; i++) this.keys[at + i] = b[start + i]!;
    this.lengths[slot] = length;
    this.values[slot] = value;
    return value;
  }

  private parse(b: Uint8Array, start: number, end: number): number {
    return parseDate(readText(b.subarray(start, end))) ?? Number.NaN;
  }
}
