import { encodeChunkColumns } from '../../streams/codec/chunk.ts';
import { packLone } from '../../streams/codec/fragments.ts';
import type { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import type { Interval, LoneBlob, Piece } from '../../streams/records.ts';
import { totalsOf } from './completeness.ts';
import { Earliest } from './earliest.ts';
import { entriesOf, mainFirst, type RangeTables } from './fileEntries.ts';
import { type Edges, type Fate, type FileRun, LONE, PIECE } from './grouping.ts';
import { bytesOf } from './releases.ts';

/** Bytes that a blob of lone parts may have: a message has to take it. */
const MAX_BLOB_BYTES = 7_500_000;
/** Lone parts that are packed at most: every number near an edge but for numbers that came twice. */
const MAX_LONE = 60_000;
/** Bytes of their unpacked rows, far below what the codec takes. */
const MAX_LONE_BYTES = 32 * 1024 * 1024;

/** A run whose winners all have one fate, with the posting that it belongs to. */
interface PostedRun {
  readonly release: number;
  readonly run: FileRun;
  readonly postingFirstAt: EpochMs;
  readonly postingLastAt: EpochMs;
}

/** Part numbers, ascending, as intervals. */
export function intervalsOf(parts: Iterable<number>): readonly Interval[] {
  const intervals: [number, number][] = [];
  for (const part of parts) {
    const last = intervals.at(-1);
    if (last !== undefined && part <= last[1] + 1) last[1] = part;
    else intervals.push([part, part]);
  }
  return intervals;
}

/** Writes out what the edges of a range may have cut. */
export class PieceBuilder {
  private readonly tables: RangeTables;
  private readonly edges: Edges;

  constructor(tables: RangeTables, edges: Edges) {
    this.tables = tables;
    this.edges = edges;
  }

  /** The pieces, release by release in order of first appearance. */
  *pieces(): Generator<Piece> {
    for (const posted of this.runsWith(PIECE)) yield this.piece(posted, PIECE);
  }

  /** The lone parts near `lo` and those near `hi`, packed; edges without any have none. */
  lone(): readonly LoneBlob[] {
    const near: Record<keyof Edges, PostedRun[]> = { lo: [], hi: [] };
    for (const posted of this.runsWith(LONE)) {
      const edge = this.tables.grouping.edgeOf(posted.run);
      if (edge !== null) near[edge].push(posted);
    }
    return (['lo', 'hi'] as const).flatMap((edge) => this.pack(this.nearestFirst(near[edge], edge)));
  }

  private nearestFirst(runs: readonly PostedRun[], edge: keyof Edges): PostedRun[] {
    const distance = ({ run }: PostedRun): number => {
      const { first, last } = this.tables.grouping.numbersOf(run);
      return edge === 'lo' ? first - this.edges.lo : this.edges.hi - last;
    };
    const measured = runs.map((posted) => ({ posted, far: distance(posted) })).sort((a, b) => a.far - b.far);
    return measured.slice(0, MAX_LONE).map(({ posted }) => posted);
  }

  /** What does not fit stays out, the farthest from the edge first: nothing but a flood comes to that. */
  private pack(runs: readonly PostedRun[]): LoneBlob[] {
    let pieces: Piece[] = [];
    let bytes = 0;
    for (const posted of runs) {
      const piece = this.piece(posted, LONE);
      bytes += 200 + piece.payload.length + 3 * (piece.name.length + piece.poster.length) + 8 * piece.groups.length;
      if (bytes > MAX_LONE_BYTES) break;
      pieces.push(piece);
    }
    while (pieces.length > 0) {
      const blob = packLone(pieces);
      if (blob.payload.length + blob.hashes.length <= MAX_BLOB_BYTES) return [blob];
      pieces = pieces.slice(0, pieces.length >> 1);
    }
    return [];
  }

  private *runsWith(fate: Fate): Generator<PostedRun> {
    const { files, grouping } = this.tables;
    for (let release = 0; release < files.releaseCount; release++) {
      if (!grouping.holds(release, fate)) continue;
      for (const runs of grouping.postingsOf(release)) {
        const found = runs.filter((run) => grouping.hasFate(run, fate));
        if (found.length === 0) continue;
        const span = grouping.spanOf(runs);
        for (const run of found) yield { release, run, postingFirstAt: span.firstAt, postingLastAt: span.lastAt };
      }
    }
  }

  private piece({ release, run, postingFirstAt, postingLastAt }: PostedRun, fate: Fate): Piece {
    const { articles, files, grouping, mainGroup } = this.tables;
    const rows = grouping.rowsWith(run, fate);
    const entries = entriesOf(this.tables, run, fate);
    const earliest = new Earliest(this.tables);
    earliest.addRun(run);
    return {
      key: files.keyOf(release),
      fileHash: files.fileHash(run.file),
      posting: run.posting,
      name: earliest.name,
      poster: earliest.poster,
      obfuscated: files.isObfuscated(run.file),
      filesTotal: files.filesTotal(run.file),
      par2: files.isPar2(run.file),
      nfo: files.isNfo(run.file),
      lone: fate === LONE,
      groups: mainFirst(
        mainGroup,
        entries.flatMap((entry) => entry.groups),
      ),
      firstNumber: earliest.firstNumber as ArticleNumber,
      lastNumber: earliest.lastNumber as ArticleNumber,
      firstAt: earliest.firstAt as EpochMs,
      lastAt: earliest.lastAt as EpochMs,
      postingFirstAt,
      postingLastAt,
      parts: intervalsOf(Array.from(rows, (row) => articles.part[row]!)),
      totals: totalsOf(articles, files, rows),
      segments: rows.length,
      bytes: bytesOf(articles, rows),
      // Plain: pieces are packed together, and their texts are much alike.
      payload: encodeChunkColumns({ files: entries, columns: articles }, true),
    };
  }
}
