import type {
  ArticleNumber,
  Backbone,
  Epoch,
  EpochMs,
  Group,
  Lane,
  MergeId,
  MessageId,
  Position,
  RangeId,
  ReleaseId,
  ReleaseKey,
} from './ids.ts';

/** A closed span of article numbers, both ends included. */
export type Interval = readonly [lo: number, hi: number];

/** A range: the unit of planning, leasing, fetching and parsing. */
export interface RangeRef {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly rangeId: RangeId;
  readonly lo: ArticleNumber;
  readonly hi: ArticleNumber;
  /** How often the range was planned, from 1. */
  readonly run: number;
  readonly lane: Lane;
}

/** One article of a file, as a chunk keeps it. */
export interface Segment {
  /** The part counter of the subject, from 1 (0 is kept as it was written). */
  readonly part: number;
  /** Bytes as the server reported them; 0 when it did not. */
  readonly bytes: number;
  readonly messageId: MessageId;
}

/**
 * One file of a contribution with every segment that the range held of it, sorted by part. A file whose articles disagree
 * on its subject or total stands as several of these with one hash: see `unionOf`.
 */
export interface ChunkFile {
  /** The subject with its part counter replaced by the two numbers below when it is written out again. See `subject`. */
  readonly subject: string;
  /** Where in `subject` the part number stood: the subject of part n is subject[0..partAt] + n padded to partWidth + rest. -1: no counter. */
  readonly partAt: number;
  /** Digits that the part number had at least (leading zeros), 0 when there was no counter. */
  readonly partWidth: number;
  readonly poster: string;
  /** Time of its earliest article here. */
  readonly postedAt: EpochMs;
  /** Parts that the counter promises; 0 when unknown. */
  readonly parts: number;
  /** `[i/N]` of the subject, null when there was none. */
  readonly fileIndex: number | null;
  /** 64-bit hash of the file's identity (16 hex digits): joins the pieces of one file across contributions. */
  readonly fileHash: string;
  /** Every group of Xref, the main one first. */
  readonly groups: readonly Group[];
  readonly segments: readonly Segment[];
}

/** A contribution's segment lists, or a slice of them: the unit that is written once and never updated. */
export interface Chunk {
  readonly key: ReleaseKey;
  /** Which contribution of (range, run, pass, key): counts up where postings of a key lie 3 days or more apart. */
  readonly posting: number;
  /** Slice number within the contribution, from 0. */
  readonly k: number;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly files: readonly ChunkFile[];
}

/** A chunk as it travels and as it lies in Postgres: the head readable, the files encoded by `codec/chunk.ts`. */
export interface EncodedChunk {
  readonly key: ReleaseKey;
  readonly posting: number;
  readonly k: number;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly segments: number;
  readonly payload: Uint8Array;
}

/** What one range learned about one posting of one release. All sums are over parts kept once. */
export interface Contribution {
  readonly key: ReleaseKey;
  readonly posting: number;
  /** The release base as written; shown as the title until something better is known. */
  readonly name: string;
  readonly obfuscated: boolean;
  /** `[i/N]`: N when the subject states it. */
  readonly filesTotal: number | null;
  readonly poster: string;
  readonly mainGroup: Group;
  readonly groups: readonly Group[];
  readonly firstNumber: ArticleNumber;
  readonly lastNumber: ArticleNumber;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly files: number;
  readonly filesComplete: number;
  readonly segments: number;
  /** Segments that the part counters promise. */
  readonly segmentsTotal: number;
  readonly bytes: number;
  /** The share of the four numbers above that is par2. */
  readonly par2Files: number;
  readonly par2Segments: number;
  readonly par2SegmentsTotal: number;
  readonly par2Bytes: number;
  readonly hasNfo: boolean;
  /** 64-bit hashes of its files (16 hex digits each), sorted; tells where contributions may share a file. */
  readonly fileHashes: readonly string[];
  /** How many chunks hold its segments. */
  readonly chunks: number;
  /** The CHUNKS position after which all of them are stored: listed only once that is projected. */
  readonly chunksPosition: Position;
}

/** Lines of a range by what became of them; every line is counted exactly once. */
export interface LineCounts {
  readonly lines: number;
  readonly kept: number;
  /** Skipped or dropped, by reason (`crosspost`, `random`, `text`, `bad_number`, ...). */
  readonly skipped: Readonly<Record<string, number>>;
}

/**
 * What one range holds of one file that an edge of the range may have cut: the file is in no contribution of the range, but
 * comes with the contribution of a merge. All times and numbers are those of its articles, duplicates included.
 */
export interface Piece {
  readonly key: ReleaseKey;
  /** 16 hex digits, as in `ChunkFile`. */
  readonly fileHash: string;
  /** Tells the pieces of one file in one pass apart: counts up where postings of the key lie 3 days or more apart. */
  readonly posting: number;
  /** Release base, poster: those of its earliest article, of equal times the smaller name, then poster. */
  readonly name: string;
  readonly poster: string;
  readonly obfuscated: boolean;
  readonly filesTotal: number | null;
  readonly par2: boolean;
  readonly nfo: boolean;
  /** The only part (of 2 or more) in its range, under an obfuscated name: alone it is a random post and nothing more. */
  readonly lone: boolean;
  /** The main group first. */
  readonly groups: readonly Group[];
  readonly firstNumber: ArticleNumber;
  readonly lastNumber: ArticleNumber;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  /** The span of the posting that it belongs to in its range, all files of the key together. */
  readonly postingFirstAt: EpochMs;
  readonly postingLastAt: EpochMs;
  /** The part numbers that it holds, merged and ascending. */
  readonly parts: readonly Interval[];
  /** Stated totals with how many of its segments state them; 0 for segments without a counter. By total, ascending. */
  readonly totals: readonly (readonly [total: number, segments: number])[];
  readonly segments: number;
  readonly bytes: number;
  /** Its file as `encodeChunk` writes it: one file hash. */
  readonly payload: Uint8Array;
}

/** The lone pieces of one edge of a range, packed: found by the hash of their file, unpacked only when another piece comes. */
export interface LoneBlob {
  readonly firstNumber: ArticleNumber;
  readonly lastNumber: ArticleNumber;
  /** 8 bytes a piece: the hashes of their files, ascending as bytes. */
  readonly hashes: Uint8Array;
  /** The pieces in the order of the hashes, as `encodePieces` writes them. */
  readonly payload: Uint8Array;
}

/** What one message of `release.fragments` carries. */
export interface Fragments {
  readonly pieces: readonly Piece[];
  readonly lone: readonly LoneBlob[];
}

/** One piece that a merge took in: the one with this posting that this pass has of the merge's file. */
export interface MergeSource {
  readonly rangeId: RangeId;
  readonly run: number;
  readonly pass: number;
  readonly posting: number;
}

/** The pieces of one file, brought together: what `mergeIdOf` names. */
export interface MergeRef {
  readonly mergeId: MergeId;
  readonly fileHash: string;
  /** Sorted by range id, run, pass, posting. */
  readonly sources: readonly MergeSource[];
}

/** A merge as the catalog sees it: a contribution of one file, posting 0. */
export interface Merge extends MergeRef {
  readonly contribution: Contribution;
}

/** A merge as the chunk store sees it. */
export interface MergedChunks extends MergeRef {
  readonly chunks: readonly EncodedChunk[];
}

/** The figures of a settled release: the union of its contributions by (file, part). They hold for just that set. */
export interface Settlement {
  readonly releaseId: ReleaseId;
  readonly key: ReleaseKey;
  /** `setHashOf` the names of its live contributions. */
  readonly setHash: string;
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly files: number;
  readonly filesComplete: number;
  readonly segments: number;
  readonly segmentsTotal: number;
  readonly bytes: number;
  readonly par2Files: number;
  readonly par2Segments: number;
  readonly par2SegmentsTotal: number;
  readonly par2Bytes: number;
}

/**
 * Why an article should be read. archive: first article of the first archive volume; par2: of the smallest `.par2`; random: of
 * a lone random-named file; sevenzip_end: last article of a 7z set's last volume, which holds its names.
 */
export const PROBE_KINDS = ['archive', 'par2', 'random', 'sevenzip_end'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/** An article that phase 2 should read, as one range sees it. */
export interface ProbeCandidate {
  readonly key: ReleaseKey;
  readonly kind: ProbeKind;
  /** The lower the better among the candidates of one kind: volume number, bytes of the par2, ms of posting. */
  readonly rank: number;
  readonly messageId: MessageId;
  readonly fileHash: string;
  readonly part: number;
  readonly bytes: number;
  /** The name tells nothing: worth more than one that can be read already. */
  readonly random: boolean;
  /** The span of its posting in the range. */
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
}
