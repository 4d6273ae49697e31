import type { EpochMs, Group, MessageId } from '../ids.ts';
import type { ChunkFile, Segment } from '../records.ts';

/**
 * The segments of many files as columns: the form in which the headers core collects them, so that no string and no object
 * has to be made for an article. Row i is one article; a file names its rows, and their order is the file's own.
 */
export interface SegmentColumns {
  /** Holds the bytes of the message-ids (latin1, without angle brackets), anywhere in it and in any order. */
  readonly idBytes: Uint8Array;
  /** First byte of row i's message-id in `idBytes`. */
  readonly idStart: Uint32Array;
  /** One past its last byte. */
  readonly idEnd: Uint32Array;
  /** Part counters, as in `Segment.part`. */
  readonly part: Uint32Array;
  /** Reported sizes, as in `Segment.bytes`: whole numbers from 0 to 2^53 - 1. */
  readonly bytes: Float64Array;
}

/** A `ChunkFile` whose segments are rows of a `SegmentColumns`. */
export interface FileRows extends Omit<ChunkFile, 'segments'> {
  /** The rows of its segments, sorted by part. May be a view into a longer array. */
  readonly rows: Uint32Array;
}

/** The input of the chunk encoder and the output of its decoder. */
export interface ChunkColumns {
  readonly files: readonly FileRows[];
  readonly columns: SegmentColumns;
}

/** Throws RangeError on what the encoding cannot hold: a programming error of the caller, never a poster's doing. */
const checkSegment = (s: Segment): void => {
  if (!Number.isInteger(s.part) || s.part < 0 || s.part > 0xffffffff) throw new RangeError(`part ${s.part}`);
  if (!Number.isSafeInteger(s.bytes) || s.bytes < 0) throw new RangeError(`bytes ${s.bytes}`);
};

/** Turns files with segment objects into columns. Message-ids must be latin1 (no code above 255): RangeError otherwise. */
export const columnsOf = (files: readonly ChunkFile[]): ChunkColumns => {
  let count = 0;
  let idLength = 0;
  for (const file of files) {
    count += file.segments.length;
    for (const s of file.segments) idLength += s.messageId.length;
  }
  const idBytes = Buffer.allocUnsafe(idLength);
  const columns: SegmentColumns = {
    idBytes,
    idStart: new Uint32Array(count),
    idEnd: new Uint32Array(count),
    part: new Uint32Array(count),
    bytes: new Float64Array(count),
  };
  let row = 0;
  let at = 0;
  const out: FileRows[] = [];
  for (const { segments, ...head } of files) {
    const rows = new Uint32Array(segments.length);
    for (const [i, s] of segments.entries()) {
      checkSegment(s);
      columns.idStart[row] = at;
      for (let c = 0; c < s.messageId.length; c++) {
        const code = s.messageId.charCodeAt(c);
        if (code > 255) throw new RangeError(`message-id is not latin1: ${s.messageId.slice(0, 80)}`);
        idBytes[at++] = code;
      }
      columns.idEnd[row] = at;
      columns.part[row] = s.part;
      columns.bytes[row] = s.bytes;
      rows[i] = row++;
    }
    out.push({ ...head, rows });
  }
  return { files: out, columns };
};

/** The inverse of `columnsOf`. */
export const filesOf = ({ files, columns }: ChunkColumns): ChunkFile[] => {
  const { idBytes, idStart, idEnd, part, bytes } = columns;
  // One conversion of all ids and a slice each costs a tenth of a conversion an id.
  const text = Buffer.from(idBytes.buffer, idBytes.byteOffset, idBytes.byteLength).toString('latin1');
  return files.map(({ rows, ...head }) => ({
    subject: head.subject,
    partAt: head.partAt,
    partWidth: head.partWidth,
    poster: head.poster,
    postedAt: head.postedAt as EpochMs,
    parts: head.parts,
    fileIndex: head.fileIndex,
    fileHash: head.fileHash,
    groups: head.groups as readonly Group[],
    segments: Array.from(rows, (row) => ({
      part: part[row]!,
      bytes: bytes[row]!,
      messageId: text.slice(idStart[row]!, idEnd[row]!) as MessageId,
    })),
  }));
};
