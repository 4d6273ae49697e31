/** Overview lines made by hand, and a range's records as plain values: for the tests of the headers core. */
import { STANDARD_FORMAT } from '../../processors/headers/lines.ts';
import { createRangeParser, type ParsedRange } from '../../processors/headers/parseRange.ts';
import type { GroupRanks } from '../../processors/headers/xref.ts';
import { decodeChunk } from '../../streams/codec/chunk.ts';
import { decodePieces } from '../../streams/codec/fragments.ts';
import { filesOf } from '../../streams/codec/segmentColumns.ts';
import type { GarbageSignature } from '../../streams/events/control.ts';
import { ArticleNumber, Backbone, Epoch, Group, RangeId } from '../../streams/ids.ts';
import type { Piece, RangeRef } from '../../streams/records.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const START = Date.UTC(2024, 0, 10);
export const OWN = Group('alt.binaries.own');

/** A number so far from both edges of the default range that neither can have cut a file there. */
export const MIDDLE = 500_000;

export const rangeOf = (lo = 1, hi = 1_000_000): RangeRef => ({
  backbone: Backbone('bb'),
  group: OWN,
  epoch: Epoch(0),
  rangeId: RangeId.of(Epoch(0), ArticleNumber(lo), ArticleNumber(hi)),
  lo: ArticleNumber(lo),
  hi: ArticleNumber(hi),
  run: 1,
  lane: 'backfill',
});

export interface Made {
  readonly number: number;
  readonly subject: string;
  readonly from?: string;
  /** Ms after START, or a date as text. */
  readonly at?: number | string;
  readonly id?: string;
  readonly bytes?: number;
  readonly xref?: string;
}

export const lineOf = (m: Made): string => {
  const date = typeof m.at === 'string' ? m.at : new Date(START + (m.at ?? 0)).toUTCString();
  const xref = m.xref === undefined ? '' : `Xref: host ${m.xref}`;
  const id = `<${m.id ?? `id${m.number}@host`}>`;
  return `${m.number}\t${m.subject}\t${m.from ?? 'poster <p@x.y>'}\t${date}\t${id}\t\t${m.bytes ?? 1000}\t8\t${xref}\r\n`;
};

interface Options {
  readonly seed?: number;
  readonly ranks?: GroupRanks;
  readonly range?: RangeRef;
  readonly chunkSegments?: number;
  readonly garbage?: readonly GarbageSignature[];
}

export function parse(batches: readonly (string | Uint8Array)[], o: Options = {}): ParsedRange {
  const parser = createRangeParser({
    range: o.range ?? rangeOf(),
    groupRanks: o.ranks ?? new Map(),
    format: STANDARD_FORMAT,
    garbage: o.garbage ?? [],
    seed: o.seed ?? 1,
    ...(o.chunkSegments === undefined ? {} : { chunkSegments: o.chunkSegments }),
  });
  for (const batch of batches) parser.addBatch(typeof batch === 'string' ? Buffer.from(batch) : batch);
  return parser.finish();
}

const plainPiece = ({ payload, ...head }: Piece) => ({ ...head, files: decodeChunk(payload) });

/** Everything a range says, as plain values. */
export const recordsOf = (parsed: ParsedRange) => ({
  counts: parsed.counts,
  random: parsed.random,
  dateSpan: parsed.dateSpan,
  pieces: [...parsed.pieces()].map(plainPiece),
  lone: parsed.lone().flatMap(({ payload }) => decodePieces(payload).map(plainPiece)),
  candidates: [...parsed.candidates()],
  releases: [...parsed.releases()].map(({ contribution, chunks }) => ({
    contribution,
    chunks: chunks.map(({ content, ...head }) => ({ ...head, files: filesOf(content) })),
  })),
});
export const parseLines = (lines: readonly Made[], o: Options = {}) =>
  recordsOf(parse([lines.map(lineOf).join('')], o));
export const partsOf = (name: string, total: number, first: number, more: Partial<Made> = {}): Made[] =>
  Array.from({ length: total }, (_, i) => ({
    number: first + i,
    subject: `Some Title [1/2] - "${name}" yEnc (${i + 1}/${total})`,
    ...more,
  }));
