import type { Interval } from '../../streams/records.ts';
import { parseDate } from '../headers/date.ts';
import { LineCursor, type OverviewFormat, overviewFormat, readNumber } from '../headers/lines.ts';
import { readText } from '../headers/text.ts';
import type { Articles } from '../ports.ts';
import type { Probe } from './bisect.ts';

/** Lines that are looked at before the middle of their dates is taken. */
const LINES = 9;

interface Dated {
  readonly number: number;
  readonly date: number;
}

function* datedLines(piece: Buffer, format: OverviewFormat): Generator<Dated> {
  const line = new LineCursor();
  line.load(piece);
  while (line.next()) {
    const number = readNumber(piece, line.fieldStart(0), line.fieldEnd(0));
    const date = parseDate(readText(piece.subarray(line.fieldStart(format.date), line.fieldEnd(format.date))));
    if (number >= 0 && date !== null) yield { number, date };
  }
}

/** Asks the selected group of a connection for dates. Reads to the end, for one that stops earlier loses the connection. */
export function dateProbe(articles: Articles, signal: AbortSignal): Probe {
  let format: OverviewFormat | null = null;
  return async (from, to) => {
    format ??= overviewFormat(await articles.overviewFormat());
    const span: Interval = [from, to];
    const lines: Dated[] = [];
    for await (const piece of articles.over(span, signal)) {
      for (const dated of datedLines(piece, format)) {
        if (dated.number >= from && dated.number <= to && lines.length < LINES) lines.push(dated);
      }
    }
    const [first] = lines;
    const dates = lines.map(({ date }) => date).sort((a, b) => a - b);
    return first ? { number: first.number, date: dates[dates.length >> 1]! } : null;
  };
}
