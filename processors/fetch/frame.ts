import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import {
  decodeOverviewBatch,
  encodeOverviewBatch,
  inflateOverviewBatch,
  type OverviewHead,
} from '../../streams/codec/overviewBatch.ts';
import { parseDate } from '../headers/date.ts';
import { LineCursor, type OverviewFormat, overviewFormat } from '../headers/lines.ts';
import { readText } from '../headers/text.ts';
import type { CutBatch } from './cutBatches.ts';

const deflate = promisify(deflateRaw);

/** The body of an overview message. Compresses on the thread pool, so that other connections go on meanwhile. */
export async function frameOf(batch: CutBatch, format: readonly string[], level: number): Promise<Uint8Array> {
  const { lo, hi, lines, raw } = batch;
  const head = { lo, hi, lines, rawBytes: raw.length, format };
  if (raw.length === 0) return encodeOverviewBatch({ ...head, encoding: 'none', payload: raw });
  const payload = await deflate(raw, { level });
  return encodeOverviewBatch({ ...head, encoding: 'deflate-raw', payload });
}

/** Head and lines of a stored body. CorruptPayload when it is damaged. */
export function openFrame(body: Uint8Array): { readonly head: OverviewHead; readonly raw: Buffer } {
  const batch = decodeOverviewBatch(body);
  const raw = inflateOverviewBatch(batch);
  return { head: batch, raw: Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength) };
}

export interface DateSpan {
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

const smaller = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b < a) ? b : a);
const larger = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b > a) ? b : a);

export const joinDates = (a: DateSpan, b: DateSpan): DateSpan => ({
  firstAt: smaller(a.firstAt, b.firstAt),
  lastAt: larger(a.lastAt, b.lastAt),
});

/**
 * Between which dates the lines lie, from the first and last line that have one: numbers ascend with time, and a date
 * for every line would cost as much as reading it. The exact times come from parsing.
 */
export function datesOf(raw: Buffer, format: readonly string[]): DateSpan {
  const layout = overviewFormat(format);
  const first = dateFrom(raw, 0, layout);
  const last = dateFrom(raw, lastLineStart(raw), layout) ?? first;
  const none: DateSpan = { firstAt: null, lastAt: null };
  return [first, last].reduce((span, date) => joinDates(span, { firstAt: date, lastAt: date }), none);
}

const lastLineStart = (raw: Buffer): number => (raw.length < 2 ? 0 : raw.lastIndexOf(10, raw.length - 2) + 1);

/** The date of the first line at or behind `start` that has one. */
function dateFrom(raw: Buffer, start: number, layout: OverviewFormat): number | null {
  const line = new LineCursor();
  line.load(raw.subarray(start));
  while (line.next()) {
    const date = parseDate(readText(line.bytes.subarray(line.fieldStart(layout.date), line.fieldEnd(layout.date))));
    if (date !== null) return date;
  }
  return null;
}
