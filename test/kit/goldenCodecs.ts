import { decodeChunk, encodeChunk } from '../../streams/codec/chunk.ts';
import { decodeChunksWritten, encodeChunksWritten } from '../../streams/codec/chunksWritten.ts';
import { decodeFragments, encodeFragments, packLone } from '../../streams/codec/fragments.ts';
import { decodeMergedChunks, decodeMerges, encodeMergedChunks, encodeMerges } from '../../streams/codec/merges.ts';
import {
  decodeOverviewBatch,
  deflateLines,
  encodeOverviewBatch,
  type OverviewBatch,
} from '../../streams/codec/overviewBatch.ts';
import { decodeCandidates, encodeCandidates } from '../../streams/codec/probeCandidates.ts';
import { decodeContributions, encodeContributions } from '../../streams/codec/releaseSeen.ts';
import type { ArticleNumber, EpochMs, Group, MergeId, MessageId, RangeId, ReleaseKey } from '../../streams/ids.ts';
import {
  type ChunkFile,
  type Contribution,
  type EncodedChunk,
  type Fragments,
  type MergeRef,
  type Piece,
  PROBE_KINDS,
  type ProbeCandidate,
} from '../../streams/records.ts';
import { CHUNK_TOOLS, sampleChunks } from './chunkSamples.ts';

/** One codec with the value that its golden file of the current version is made from. */
export interface GoldenCodec {
  readonly name: string;
  readonly version: number;
  readonly sample: () => unknown;
  readonly encode: (value: never) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
}

const odd: ChunkFile = {
  subject: 'Überraschung 日本 🎁',
  partAt: -1,
  partWidth: 0,
  poster: '',
  postedAt: 1_262_304_000_123 as EpochMs,
  parts: 0,
  fileIndex: null,
  fileHash: 'ffeeddccbbaa9988',
  groups: ['alt.binaries.test' as Group, 'alt.binaries.example' as Group],
  segments: [
    { part: 0, bytes: 0, messageId: 'no-template' as MessageId },
    { part: 7, bytes: Number.MAX_SAFE_INTEGER, messageId: 'file=a|part=7' as MessageId },
    { part: 7, bytes: 12, messageId: '\u00e9t\u00e9@h\u00f4te' as MessageId },
  ],
};
const chunkSample = (): ChunkFile[] => [...CHUNK_TOOLS.flatMap((tool) => sampleChunks(tool, 1, 24, 99)[0]!), odd];

const contributionSample = (): Contribution[] =>
  [false, true].map((obfuscated, i) => ({
    key: `${i}123456789abcdef0123456789abcdef` as ReleaseKey,
    posting: i,
    name: obfuscated ? 'kQ3vX9rT2mB7' : 'Some.Distribution.12.4.amd64-GRÜN',
    obfuscated,
    filesTotal: obfuscated ? null : 27,
    poster: 'someone <someone@example.org>',
    mainGroup: 'alt.binaries.test' as Group,
    groups: ['alt.binaries.test', 'alt.binaries.example'] as Group[],
    firstNumber: 9_100_000_001 as ArticleNumber,
    lastNumber: 9_100_004_321 as ArticleNumber,
    firstAt: 1_700_000_000_000 as EpochMs,
    lastAt: 1_700_000_123_000 as EpochMs,
    files: 27,
    filesComplete: 26,
    segments: 3700,
    segmentsTotal: 3701,
    bytes: 2_760_000_000,
    par2Files: 8,
    par2Segments: 300,
    par2SegmentsTotal: 300,
    par2Bytes: 220_000_000,
    hasNfo: !obfuscated,
    fileHashes: obfuscated ? [] : ['00112233445566aa', 'ffeeddccbbaa9988'],
    chunks: 8,
    chunksPosition: { number: 1, sequence: 2 ** 40 + i },
  }));

const chunksSample = (): EncodedChunk[] =>
  [0, 1].map((k) => ({
    key: '0123456789abcdef0123456789abcdef' as ReleaseKey,
    posting: 0,
    k,
    firstAt: 1_700_000_000_000 as EpochMs,
    lastAt: 1_700_000_050_000 as EpochMs,
    segments: 128,
    payload: Uint8Array.of(1, 2, 3, 250 + k),
  }));

const pieceSample = (i: number): Piece => ({
  key: `${i}123456789abcdef0123456789abcdef` as ReleaseKey,
  fileHash: `${i}0112233445566aa`,
  posting: i,
  name: i === 0 ? 'Some.Distribution.12.4.amd64-GRÜN' : 'kQ3vX9rT2mB7',
  poster: 'someone <someone@example.org>',
  obfuscated: i > 0,
  filesTotal: i === 0 ? 27 : null,
  par2: i === 0,
  nfo: i === 2,
  lone: i > 0,
  groups: ['alt.binaries.test', 'alt.binaries.example'] as Group[],
  firstNumber: 9_100_000_001 as ArticleNumber,
  lastNumber: (9_100_000_041 + i) as ArticleNumber,
  firstAt: 1_700_000_000_000 as EpochMs,
  lastAt: 1_700_000_123_000 as EpochMs,
  postingFirstAt: 1_699_999_990_000 as EpochMs,
  postingLastAt: 1_700_000_999_000 as EpochMs,
  parts:
    i === 0
      ? [
          [1, 20],
          [22, 22],
        ]
      : [[7, 7]],
  totals: [
    [0, 1],
    [40, 21 - i],
  ],
  segments: 22 - i,
  bytes: 16_000_000,
  payload: Uint8Array.of(1, 2, i),
});
const fragmentsSample = (): Fragments => ({
  pieces: [pieceSample(0)],
  lone: [packLone([pieceSample(2), pieceSample(1)])],
});

const mergeRefSample: MergeRef = {
  mergeId: 'fedcba9876543210fedcba9876543210' as MergeId,
  fileHash: '00112233445566aa',
  sources: [
    { rangeId: '0-9100000001-9100020000' as RangeId, run: 1, pass: 2, posting: 0 },
    { rangeId: '0-9100020001-9100040000' as RangeId, run: 3, pass: 1, posting: 1 },
  ],
};
const candidateSample = (): ProbeCandidate[] =>
  PROBE_KINDS.map((kind, i) => ({
    key: '0123456789abcdef0123456789abcdef' as ReleaseKey,
    kind,
    rank: i * 1000,
    messageId: `part${i}of9.\u00e9@powerpost2000AA.local` as MessageId,
    fileHash: '00112233445566aa',
    part: i + 1,
    bytes: 768_000,
    random: i % 2 === 1,
    firstAt: 1_700_000_000_000 as EpochMs,
    lastAt: 1_700_000_050_000 as EpochMs,
  }));

const overviewSample = (): OverviewBatch => {
  const lines = Buffer.from(
    '9100000001\t"made.up" (1/2)\tposter\t\t<id@x>\t\t100\t2\tXref: x g:1\r\n'.repeat(3),
    'latin1',
  );
  return {
    lo: 9_100_000_001,
    hi: 9_100_000_500,
    lines: 3,
    rawBytes: lines.length,
    encoding: 'deflate-raw',
    format: ['Subject:', 'From:', 'Date:', 'Message-ID:', 'References:', ':bytes', ':lines', 'Xref:full'],
    payload: deflateLines(lines),
  };
};

export const GOLDEN_CODECS: readonly GoldenCodec[] = [
  { name: 'chunk', version: 1, sample: chunkSample, encode: encodeChunk, decode: decodeChunk },
  {
    name: 'release-seen',
    version: 1,
    sample: contributionSample,
    encode: encodeContributions,
    decode: decodeContributions,
  },
  {
    name: 'chunks-written',
    version: 1,
    sample: chunksSample,
    encode: encodeChunksWritten,
    decode: decodeChunksWritten,
  },
  { name: 'fragments', version: 1, sample: fragmentsSample, encode: encodeFragments, decode: decodeFragments },
  {
    name: 'merges',
    version: 1,
    sample: () => [{ ...mergeRefSample, contribution: contributionSample()[0]! }],
    encode: encodeMerges,
    decode: decodeMerges,
  },
  {
    name: 'merged-chunks',
    version: 1,
    sample: () => [{ ...mergeRefSample, chunks: chunksSample() }],
    encode: encodeMergedChunks,
    decode: decodeMergedChunks,
  },
  { name: 'probe-candidates', version: 1, sample: candidateSample, encode: encodeCandidates, decode: decodeCandidates },
  {
    name: 'overview-batch',
    version: 1,
    sample: overviewSample,
    encode: encodeOverviewBatch,
    decode: decodeOverviewBatch,
  },
];

/** JSON has no bytes: they stand as `{ "hex": … }` in the expected values. */
export const toExpected = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, function replace(this: Record<string, unknown>, key, field: unknown) {
      // A Buffer has become a plain object by the time the replacer sees it as `field`.
      const original = this[key];
      return original instanceof Uint8Array ? { hex: Buffer.from(original).toString('hex') } : field;
    }),
  );
