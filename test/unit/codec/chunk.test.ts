import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { seal } from '../../../streams/codec/checksum.ts';
import { decodeChunk, decodeChunkColumns, encodeChunk, encodeChunkColumns } from '../../../streams/codec/chunk.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import { encodeIds } from '../../../streams/codec/idEncode.ts';
import { columnsOf, filesOf, type SegmentColumns } from '../../../streams/codec/segmentColumns.ts';
import type { EpochMs, Group, MessageId } from '../../../streams/ids.ts';
import type { ChunkFile } from '../../../streams/records.ts';
import { CHUNK_TOOLS, sampleChunks } from '../../kit/chunkSamples.ts';
import { chunkFile } from '../../kit/codecArbitraries.ts';
import { acceptedDamage, isSame, wildErrors } from '../../kit/damage.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

beforeAll(initCompression);

const file = (ids: readonly string[], more: Partial<ChunkFile> = {}): ChunkFile => ({
  subject: '[1/2] - "made.up.part01.rar" yEnc (/9)',
  partAt: 36,
  partWidth: 1,
  poster: 'someone <s@example.org>',
  postedAt: 1_700_000_000_000 as EpochMs,
  parts: 137,
  fileIndex: 27,
  fileHash: '0123456789abcdef',
  groups: ['alt.binaries.test' as Group],
  segments: ids.map((id, i) => ({ part: i + 1, bytes: 740_000, messageId: id as MessageId })),
  ...more,
});

const numbered = (count: number, id: (part: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => id(i + 1));

describe('a chunk', () => {
  it('gives back any files with any ids, sizes, parts and dates', () => {
    fc.assert(
      fc.property(fc.array(chunkFile, { maxLength: 5 }), (files) => {
        expect(isSame(decodeChunk(encodeChunk(files)), files)).toBe(true);
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  it.each(CHUNK_TOOLS.map((tool) => [tool.name, tool] as const))('gives back the posts of %s', (_name, tool) => {
    for (const perChunk of [1, 2, 128, 700]) {
      for (const files of sampleChunks(tool, 4, perChunk, perChunk)) {
        expect(isSame(decodeChunk(encodeChunk(files)), files)).toBe(true);
      }
    }
  });

  it('keeps no byte of an id that follows its part, parts and file counters', () => {
    for (const id of [
      (n: number) => `part${n}of137.ToKeN&x$@powerpost2000AA.local`,
      (n: number) => `x_27o99_${String(n + 10).padStart(4, '0')}@JBinUp.local`,
    ]) {
      const few = encodeChunk([file(numbered(20, id))]).length;
      expect(encodeChunk([file(numbered(2000, id))]).length - few).toBeLessThanOrEqual(2);
    }
  });

  it('does not believe a counter that differs from the part: NewsUP imitates the others', () => {
    const ids = numbered(50, (n) => `part${(n * 37) % 98}of${(n * 11) % 98}.AbCd@powerpost2000AA.local`);
    expect(decodeChunk(encodeChunk([file(ids)]))[0]!.segments.map((s) => s.messageId)).toEqual(ids);
  });

  it('keeps single ids that do not fit their file apart, without giving up the template', () => {
    const ids = numbered(120, (n) => (n % 40 === 7 ? `Retry.${n}@elsewhere` : `part${n}of137.T@powerpost2000AA.local`));
    const { files, raw } = encodeIds(columnsOf([file(ids)]));
    expect(files[0]!.exceptions).toEqual([6, 46, 86]);
    expect(raw).toEqual([6, 46, 86]);
    expect(decodeChunk(encodeChunk([file(ids)]))[0]!.segments.map((s) => s.messageId)).toEqual(ids);
  });

  it('finds one template for many files of a single article', () => {
    const files = Array.from({ length: 40 }, (_, i) =>
      file([`${(i * 7919 + 4096).toString(16).padStart(8, '0')}$1@host`]),
    );
    const { raw, bindings } = encodeIds(columnsOf(files));
    expect(raw).toEqual([]);
    expect(bindings).toHaveLength(1);
  });

  it.each([
    ['leading zeros that end', numbered(30, (n) => `${String(n * 5).padStart(2, '0')}@x`)],
    ['counters that fall', numbered(30, (n) => `a${1000 - n}b@x`)],
    ['letters after a random word of one length', numbered(20, (n) => `${'abc'.repeat(3)}${n % 10}-Z@x`)],
    ['equal ids', numbered(9, () => 'same@x')],
    ['no at sign', numbered(9, (n) => `file=a|part=${n}|start=${n * 9}`)],
    ['control characters', numbered(9, (n) => `\u0001${n}\u0002@x`)],
    ['digits of any length', numbered(30, (n) => `${'7'.repeat(n)}@x`)],
    ['a number in the constant that is the parts of another file', numbered(9, (n) => `${n}.137.27@x`)],
    ['all of latin1', ['\u00ff\u0080@\u00e4', '\u00ff\u0081@\u00e4']],
  ])('gives back ids with %s', (_what, ids) => {
    const files = [file(ids), file(ids, { parts: 27, fileIndex: null }), file(ids.slice(0, 1))];
    expect(isSame(decodeChunk(encodeChunk(files)), files)).toBe(true);
  });

  it('takes segments as columns, in any order and with gaps in the id bytes', () => {
    const files = sampleChunks(CHUNK_TOOLS[2]!, 1, 300, 5)[0]!;
    const { files: rows, columns } = columnsOf(files);
    const shift = 17;
    const count = columns.part.length;
    const moved: SegmentColumns = {
      idBytes: Buffer.concat([Buffer.alloc(shift, 0x41), columns.idBytes]),
      idStart: columns.idStart.map((at) => at + shift).reverse(),
      idEnd: columns.idEnd.map((at) => at + shift).reverse(),
      part: columns.part.slice().reverse(),
      bytes: columns.bytes.slice().reverse(),
    };
    const reversed = rows.map((f) => ({ ...f, rows: f.rows.map((row) => count - 1 - row) }));
    const back = filesOf(decodeChunkColumns(encodeChunkColumns({ files: reversed, columns: moved })));
    expect(isSame(back, files)).toBe(true);
  });

  it('refuses what it could not give back', () => {
    expect(() => encodeChunk([file(['a@b'], { fileHash: 'XYZ' })])).toThrow(RangeError);
    expect(() => encodeChunk([file(['€@b'])])).toThrow(RangeError);
    expect(() => encodeChunk([file(['x'.repeat(1001)])])).toThrow(RangeError);
    expect(() => encodeChunk([file(['a@b'], { groups: ['two words' as Group] })])).toThrow(RangeError);
    expect(() =>
      encodeChunk([file([], { segments: [{ part: -1, bytes: 0, messageId: 'a@b' as MessageId }] })]),
    ).toThrow(RangeError);
  });

  it('takes at most 1.10 of the entropy floor and 18 bytes a segment on the default mix at 128 segments', () => {
    let bytes = 0;
    let floor = 0;
    for (const tool of CHUNK_TOOLS) {
      const chunks = sampleChunks(tool, 20, 128, 7);
      bytes += (tool.share * chunks.reduce((sum, files) => sum + encodeChunk(files).length, 0)) / (20 * 128);
      floor += tool.share * tool.floor;
    }
    expect(bytes / floor).toBeLessThanOrEqual(1.1);
    expect(bytes).toBeLessThanOrEqual(18);
  });
});

describe('a damaged chunk', () => {
  const samples = CHUNK_TOOLS.map((tool) => [tool.name, encodeChunk(sampleChunks(tool, 1, 12, 3)[0]!)] as const);

  it.each(samples)('of %s is refused at every byte and every length', (_name, payload) => {
    expect(acceptedDamage(payload, decodeChunk)).toEqual([]);
  });

  it.each(samples)('of %s never ends in another error, even with a checksum that fits', (_name, payload) => {
    expect(wildErrors(payload.subarray(0, -4), seal, decodeChunk)).toEqual([]);
    expect(wildErrors(payload.subarray(0, -4), seal, decodeChunk, 0x7f)).toEqual([]);
  });

  it('that is noise behind a fitting checksum never ends in another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 120 }), (noise) => {
        noise[0] = 1;
        expect(wildErrors(noise.subarray(0, 1), () => seal(noise), decodeChunk)).toEqual([]);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  it('names its codec and why', () => {
    const payload = Uint8Array.from(samples[0]![1]);
    payload[9]! ^= 1;
    expect(() => decodeChunk(payload)).toThrow(expect.objectContaining({ codec: 'chunk', reason: 'checksum' }));
    const newer = Uint8Array.from(samples[0]![1].subarray(0, -4));
    newer[0] = 9;
    expect(() => decodeChunk(seal(newer))).toThrow(expect.objectContaining({ reason: 'version' }));
  });
});
