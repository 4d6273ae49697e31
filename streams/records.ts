import type { ArticleNumber, Backbone, Epoch, EpochMs, Group, Lane, MessageId, RangeId, ReleaseKey } from './ids.ts';

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

/** One file of a contribution with every segment that the range held of it, sorted by part. */
export interface ChunkFile {
  /** The subject with its part counter replaced by the two numbers below when it is written out again. See `subject`. */
  readonly subject: string;
  /** Where in `subject` the part number stood: the subject of part n is subject[0..partAt] + n padded to partWidth + rest. -1: no counter. */
  readonly partAt: number;
  /** Digits that the part number had at least (leading zeros), 0 when there was no counter. */
  readonly partWidth: number;
  readonly poster: string;
  /** Time of its first part. */
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
  readonly chunksPosition: { readonly number: number; readonly sequence: number };
}

/** Lines of a range by what became of them; every line is counted exactly once. */
export interface LineCounts {
  readonly lines: number;
  readonly kept: number;
  /** Skipped or dropped, by reason (`crosspost`, `random`, `text`, `bad_number`, ...). */
  readonly skipped: Readonly<Record<string, number>>;
}
