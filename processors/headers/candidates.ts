import { type EpochMs, MessageId } from '../../streams/ids.ts';
import type { ProbeCandidate, ProbeKind } from '../../streams/records.ts';
import type { RangeTables } from './fileEntries.ts';
import { type FileRun, KEPT, PIECE } from './grouping.ts';
import { bytesOf } from './releases.ts';

/** The last volume, and in it the last part, is the best end of a 7z set: ranks count down from here. */
const LAST_RANK = Number.MAX_SAFE_INTEGER;
/** Above any part number. */
const PARTS = 1e7;

/** One file of a posting: `rows` are its articles by part, those kept out left out. */
interface SeenFile {
  readonly file: number;
  readonly rows: Uint32Array;
}

interface Pick {
  readonly kind: ProbeKind;
  readonly rank: number;
  readonly seen: SeenFile;
  readonly row: number;
}

const firstOf = ({ rows }: SeenFile): number => rows[0]!;
const lastOf = ({ rows }: SeenFile): number => rows[rows.length - 1]!;

/** Says of every posting which of its articles would tell most about it. */
export class CandidateFinder {
  private readonly tables: RangeTables;

  constructor(tables: RangeTables) {
    this.tables = tables;
  }

  /** At most one a kind and posting, files that an edge may have cut included, lone parts not. */
  *candidates(): Generator<ProbeCandidate> {
    const { files, grouping } = this.tables;
    for (let release = 0; release < files.releaseCount; release++) {
      for (const runs of grouping.postingsOf(release)) {
        const seen = runs.flatMap((run) => this.seen(run));
        if (seen.length === 0) continue;
        const picks = this.picks(seen);
        if (picks.length === 0) continue;
        const span = grouping.spanOf(runs);
        for (const pick of picks) yield this.candidate(release, pick, span);
      }
    }
  }

  private seen(run: FileRun): SeenFile[] {
    const { grouping } = this.tables;
    const fate = [KEPT, PIECE].find((f) => grouping.hasFate(run, f as typeof KEPT)) as typeof KEPT | undefined;
    return fate === undefined ? [] : [{ file: run.file, rows: grouping.rowsWith(run, fate) }];
  }

  private picks(seen: readonly SeenFile[]): readonly Pick[] {
    return [this.archive(seen), this.par2(seen), this.random(seen), this.sevenzipEnd(seen)].flatMap((p) => p ?? []);
  }

  /** The first article of the first volume; rank: the number of the volume. */
  private archive(seen: readonly SeenFile[]): Pick | null {
    const { files } = this.tables;
    const volumes = seen.filter((f) => files.volumeOf(f.file) > 0);
    return this.best('archive', volumes, (f) => files.volumeOf(f.file), firstOf);
  }

  /** The first article of the smallest recovery file; rank: its bytes. */
  private par2(seen: readonly SeenFile[]): Pick | null {
    const { articles, files } = this.tables;
    const recovery = seen.filter((f) => files.isPar2(f.file));
    return this.best('par2', recovery, (f) => bytesOf(articles, f.rows), firstOf);
  }

  /** The first article of an obfuscated file that has the payload to itself; an archive is looked into as one. Rank: its time. */
  private random(seen: readonly SeenFile[]): Pick | null {
    const { articles, files } = this.tables;
    const payload = seen.filter((f) => files.isPayload(f.file));
    const [only] = payload;
    if (only === undefined || payload.length > 1) return null;
    if (!files.isObfuscated(only.file) || files.volumeOf(only.file) > 0) return null;
    return this.best('random', payload, () => articles.at[firstOf(only)]!, firstOf);
  }

  /** The last article of a 7z set's last volume; rank: the later the lower. */
  private sevenzipEnd(seen: readonly SeenFile[]): Pick | null {
    const { articles, files } = this.tables;
    const volumes = seen.filter((f) => files.is7z(f.file));
    const rank = (f: SeenFile) => LAST_RANK - files.volumeOf(f.file) * PARTS - articles.part[lastOf(f)]!;
    return this.best('sevenzip_end', volumes, rank, lastOf);
  }

  /** The file of the lowest rank, of equal ones the lower part, then the lower message-id. */
  private best(
    kind: ProbeKind,
    list: readonly SeenFile[],
    rankOf: (f: SeenFile) => number,
    rowOf: (f: SeenFile) => number,
  ): Pick | null {
    const { articles } = this.tables;
    let best: Pick | null = null;
    for (const seen of list) {
      // Article dates before 1970 are possible, ranks below 0 are not.
      const rank = Math.min(Math.max(0, rankOf(seen)), Number.MAX_SAFE_INTEGER);
      const row = rowOf(seen);
      const order =
        best === null
          ? -1
          : rank - best.rank || articles.part[row]! - articles.part[best.row]! || articles.compareIds(row, best.row);
      if (order < 0) best = { kind, rank, seen, row };
    }
    return best;
  }

  private candidate(
    release: number,
    { kind, rank, seen, row }: Pick,
    span: { readonly firstAt: EpochMs; readonly lastAt: EpochMs },
  ): ProbeCandidate {
    const { articles, files } = this.tables;
    const id = articles.idBytes.subarray(articles.idStart[row]!, articles.idEnd[row]!);
    return {
      key: files.keyOf(release),
      kind,
      rank,
      messageId: MessageId(Buffer.from(id).toString('latin1')),
      fileHash: files.fileHash(seen.file),
      part: articles.part[row]!,
      bytes: articles.bytes[row]!,
      random: files.isObfuscated(seen.file),
      ...span,
    };
  }
}
