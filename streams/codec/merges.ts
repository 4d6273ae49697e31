import { MergeId, RangeId } from '../ids.ts';
import type { Merge, MergedChunks, MergeRef, MergeSource } from '../records.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { readChunk, writeChunk } from './chunksWritten.ts';
import { contributionSize, readContribution, writeContribution } from './releaseSeen.ts';
import { decodeSealed, encodeSealed, hexBytes, hexOf, readList, SharedTextReader, SharedTextWriter } from './rows.ts';
import { sliceList } from './sliceList.ts';

/** Version 1 of both: see `encodeSealed`. A row is the merge's name and pieces, then its contribution or its chunks. */
const VERSION = 1;
const CODEC = 'merges';
const MAX_MERGES = 1 << 18;
const MAX_SOURCES = 1 << 18;

const writeRef = (out: ByteWriter, { mergeId, fileHash, sources }: MergeRef, texts: SharedTextWriter): void => {
  out.raw(hexBytes(mergeId, 16));
  out.raw(hexBytes(fileHash, 8));
  out.varint(sources.length);
  for (const source of sources) {
    texts.write(out, source.rangeId);
    out.varint(source.run);
    out.varint(source.pass);
    out.varint(source.posting);
  }
};

const readRangeId = (source: ByteReader, texts: SharedTextReader): RangeId => {
  const text = texts.read(source);
  try {
    RangeId.parse(text);
  } catch (error) {
    throw source.corrupt('malformed', (error as Error).message);
  }
  return text as RangeId;
};

const readSource = (source: ByteReader, texts: SharedTextReader): MergeSource => {
  const rangeId = readRangeId(source, texts);
  return { rangeId, run: source.varint(), pass: source.varint(), posting: source.varint() };
};

const readRef = (source: ByteReader, texts: SharedTextReader): MergeRef => ({
  mergeId: MergeId(hexOf(source.raw(16))),
  fileHash: hexOf(source.raw(8)),
  sources: readList(source, MAX_SOURCES, () => readSource(source, texts)),
});

/** Encodes the body of one `release.merged`. */
export const encodeMerges = (merges: readonly Merge[]): Uint8Array =>
  encodeSealed(VERSION, (out) => {
    const texts = new SharedTextWriter();
    out.varint(merges.length);
    for (const merge of merges) {
      writeRef(out, merge, texts);
      writeContribution(out, merge.contribution, texts);
    }
  });

/** The merges of a message; `CorruptPayload` on anything else. */
export const decodeMerges = (bytes: Uint8Array): Merge[] =>
  decodeSealed(CODEC, VERSION, bytes, (source) => {
    const texts = new SharedTextReader();
    return readList(source, MAX_MERGES, () => ({
      ...readRef(source, texts),
      contribution: readContribution(source, texts),
    }));
  });

/** Encodes the body of one `chunks.merged`. */
export const encodeMergedChunks = (merges: readonly MergedChunks[]): Uint8Array =>
  encodeSealed(VERSION, (out) => {
    const texts = new SharedTextWriter();
    out.varint(merges.length);
    for (const merge of merges) {
      writeRef(out, merge, texts);
      out.varint(merge.chunks.length);
      for (const chunk of merge.chunks) writeChunk(out, chunk);
    }
  });

/** The merges of a message, payloads as views into it; `CorruptPayload` on anything else. */
export const decodeMergedChunks = (bytes: Uint8Array): MergedChunks[] =>
  decodeSealed(CODEC, VERSION, bytes, (source) => {
    const texts = new SharedTextReader();
    return readList(source, MAX_MERGES, () => ({
      ...readRef(source, texts),
      chunks: readList(source, MAX_MERGES, () => readChunk(source)),
    }));
  });

const refSize = (m: MergeRef): number => 32 + 60 * m.sources.length;

/**
 * Cuts merges so that both of a slice's messages, that of the chunks and that of the contributions, encode to at most
 * `limit` bytes; a larger merge is a slice of its own.
 */
export const sliceMerges = <T extends Merge & MergedChunks>(merges: readonly T[], limit = 1_000_000): T[][] =>
  sliceList(merges, limit, (m) => {
    const payload = m.chunks.reduce((sum, c) => sum + c.payload.length + 64, 0);
    return refSize(m) + Math.max(payload, contributionSize(m.contribution));
  });
