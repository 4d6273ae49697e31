import { Type } from 'typebox';
import { decodeChunksWritten, encodeChunksWritten } from '../codec/chunksWritten.ts';
import { decodeMergedChunks, encodeMergedChunks } from '../codec/merges.ts';
import type { EncodedChunk, MergedChunks } from '../records.ts';
import { bulkEvent, jsonEvent } from './define.ts';
import { mergeFields, mergesOf, openedSchema, passFields, passOf } from './releases.ts';
import { closed, countSchema } from './schemas.ts';

/** The twin of `release.opened` in the stream of segment lists. */
export const chunksOpened = jsonEvent({
  type: 'chunks.opened',
  version: 1,
  stream: 'CHUNKS',
  schema: openedSchema,
  subject: (d) => ({ verb: 'chunks.opened', backbone: d.backbone, group: d.group }),
  about: passOf,
});

const writtenSchema = Type.Object(
  { ...passFields, /** Counts the messages of the pass, from 0. */ k: countSchema },
  closed,
);

/** Segment lists of a pass, many chunks a message; stored once, never updated. */
export const chunksWritten = bulkEvent({
  type: 'chunks.written',
  version: 1,
  stream: 'CHUNKS',
  schema: writtenSchema,
  encodeBody: (body: readonly EncodedChunk[]) => encodeChunksWritten(body),
  decodeBody: (bytes) => decodeChunksWritten(bytes),
  subject: (d) => ({ verb: 'chunks.written', backbone: d.backbone, group: d.group }),
  about: (d) => `${passOf(d)}/${d.k}`,
});
export type ChunksWritten = ReturnType<typeof chunksWritten.decode>;

/** The segment lists of merges: appended before the `release.merged` that names their position. */
export const chunksMerged = bulkEvent({
  type: 'chunks.merged',
  version: 1,
  stream: 'CHUNKS',
  schema: Type.Object(mergeFields, closed),
  encodeBody: (body: readonly MergedChunks[]) => encodeMergedChunks(body),
  decodeBody: (bytes) => decodeMergedChunks(bytes),
  subject: (d) => ({ verb: 'chunks.merged', backbone: d.backbone, group: d.group }),
  about: mergesOf,
});
export type ChunksMerged = ReturnType<typeof chunksMerged.decode>;
