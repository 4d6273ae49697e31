/** Articles of one file, and pieces of it as a range that held just these articles would make them. */
import { encodeChunk } from '../../streams/codec/chunk.ts';
import { ArticleNumber, EpochMs, Group, MessageId } from '../../streams/ids.ts';
import type { ChunkFile, Interval, Piece } from '../../streams/records.ts';
import { joinEntries } from '../../streams/union.ts';
import { fileHashOf, type PieceOptions, piece } from './fragmentHistories.ts';
import { T0 } from './releaseEvents.ts';

export interface FileArticle {
  readonly number: number;
  readonly part: number;
  /** The total that its subject states; 0: none. */
  readonly total: number;
  readonly bytes: number;
  /** Seconds after T0. */
  readonly second: number;
  readonly poster: string;
}

const timeOf = (a: FileArticle): number => T0 + a.second * 1000;

export const entryOf = (name: string, a: FileArticle): ChunkFile => ({
  subject: `"${name}" yEnc (/${a.total})`,
  partAt: name.length + 9,
  partWidth: 1,
  poster: a.poster,
  postedAt: EpochMs(timeOf(a)),
  parts: a.total,
  fileIndex: null,
  fileHash: fileHashOf(name),
  groups: [Group('alt.binaries.test')],
  segments: [{ part: a.part, bytes: a.bytes, messageId: MessageId(`${a.number}.${a.part}@test`) }],
});

function intervalsOf(parts: readonly number[]): Interval[] {
  const merged: [number, number][] = [];
  for (const part of [...new Set(parts)].sort((x, y) => x - y)) {
    const last = merged.at(-1);
    if (last && part === last[1] + 1) last[1] = part;
    else merged.push([part, part]);
  }
  return merged;
}

/** The piece of the file `name` that these articles are; at least one. */
export function pieceOfArticles(name: string, articles: readonly FileArticle[], o: PieceOptions = {}): Piece {
  const entries = joinEntries(articles.map((a) => entryOf(name, a)));
  const segments = entries.flatMap((entry) => entry.segments);
  const numbers = articles.map((a) => a.number);
  const times = articles.map(timeOf);
  const [firstAt, lastAt] = [EpochMs(Math.min(...times)), EpochMs(Math.max(...times))];
  const first = [...articles].sort((a, b) => a.second - b.second || (a.poster < b.poster ? -1 : 1))[0]!;
  return piece(name, Math.min(...numbers), {
    lastNumber: ArticleNumber(Math.max(...numbers)),
    ...{ firstAt, lastAt, postingFirstAt: firstAt, postingLastAt: lastAt },
    poster: first.poster,
    parts: intervalsOf(segments.map((s) => s.part)),
    totals: entries.map((entry) => [entry.parts, entry.segments.length] as const).filter(([, n]) => n > 0),
    segments: segments.length,
    bytes: segments.reduce((sum, s) => sum + s.bytes, 0),
    payload: encodeChunk(entries),
    ...o,
  });
}
