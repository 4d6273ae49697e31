import { createHash } from 'node:crypto';
import { ArticleNumber, type Group } from '../../streams/ids.ts';
import { PartCounter } from '../headers/counter.ts';
import type { NzbContent, NzbFile } from './nzbReader.ts';

/** An NZB as overview lines of one group. */
export interface NzbOverview {
  readonly group: Group;
  /** The number of the first line; the others follow without a gap. */
  readonly first: ArticleNumber;
  readonly lines: number;
  /** The lines, each ended by CRLF, in pieces. */
  pieces(): Generator<Buffer>;
}

const PIECE_LINES = 2000;
const DIGITS_MAX = 7;

/**
 * The subject of each part: the NZB has that of one of them, whose counter is put to the part's number. A subject that
 * counts no parts gets a counter behind it, unless the file has one part only.
 */
export function partSubjects(file: Pick<NzbFile, 'subject' | 'segments'>): (part: number) => string {
  const { subject, segments } = file;
  const highest = segments.reduce((most, s) => Math.max(most, s.number), 1);
  const bytes = Buffer.from(subject);
  const counter = new PartCounter();
  const digits = (start: number, end: number): string => bytes.toString('latin1', start, end);
  // A total below the highest part counts something else, such as files.
  if (counter.find(bytes, 0, bytes.length) && Number(digits(counter.mStart, counter.mEnd)) >= highest) {
    const own = digits(counter.nStart, counter.nEnd);
    const width = own.startsWith('0') ? Math.min(DIGITS_MAX, own.length) : 1;
    const [before, after] = [bytes.toString('utf8', 0, counter.nStart), bytes.toString('utf8', counter.nEnd)];
    return (part) => `${before}${String(part).padStart(width, '0')}${after}`;
  }
  return highest === 1 ? () => subject : (part) => `${subject} (${part}/${highest})`;
}

const dateText = (seconds: number | null): string => (seconds === null ? '' : new Date(seconds * 1000).toUTCString());

/** What follows the article number in the lines of a file: one tail a segment, as the NZB orders them. */
function* fileTails(file: NzbFile, group: Group): Generator<string> {
  const subjectOf = partSubjects(file);
  const date = dateText(file.date);
  // Another group is named without a number: no group list can claim the article for it.
  const others = file.groups.filter((other) => other !== group).map((other) => ` ${other}:0`);
  const xref = others.length === 0 ? '' : `Xref: nzb${others.join('')}`;
  for (const { number, messageId, bytes } of file.segments) {
    yield `${subjectOf(number)}\t${file.poster}\t${date}\t<${messageId}>\t\t${bytes}\t\t${xref}`;
  }
}

function* tailsOf(content: NzbContent, group: Group): Generator<string> {
  for (const file of content.files) yield* fileTails(file, group);
}

/**
 * Article numbers have to come from somewhere, and no server gave any. The first one is 52 bits of a hash of all lines: an
 * NZB has the same numbers wherever and whenever it is imported, so that its second import meets its own range, and two
 * NZBs of a group never have the same range. Should their numbers overlap by chance, nothing is mixed up: ranges, files
 * and births are told apart by more than a number.
 */
function firstNumber(content: NzbContent, group: Group): ArticleNumber {
  const hash = createHash('sha256');
  for (const tail of tailsOf(content, group)) hash.update(tail).update('\n');
  const digest = hash.digest();
  return ArticleNumber(1 + digest.readUIntBE(0, 6) * 16 + (digest[6]! >>> 4));
}

/** The first group that the NZB names, null when it names none. */
export const firstGroup = (content: NzbContent): Group | null =>
  content.files.find((file) => file.groups.length > 0)?.groups[0] ?? null;

/** The NZB as a server of the group would have listed its segments. */
export function nzbOverview(content: NzbContent, group: Group): NzbOverview {
  const first = firstNumber(content, group);
  return {
    group,
    first,
    lines: content.segments,
    *pieces() {
      let number: number = first;
      let lines: string[] = [];
      for (const tail of tailsOf(content, group)) {
        lines.push(`${number++}\t${tail}\r\n`);
        if (lines.length < PIECE_LINES) continue;
        yield Buffer.from(lines.join(''));
        lines = [];
      }
      if (lines.length > 0) yield Buffer.from(lines.join(''));
    },
  };
}
