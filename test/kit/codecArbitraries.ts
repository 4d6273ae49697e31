import fc from 'fast-check';
import { packLone } from '../../streams/codec/fragments.ts';
import {
  type ArticleNumber,
  Epoch,
  type EpochMs,
  type Group,
  MergeId,
  type MessageId,
  RangeId,
  type ReleaseKey,
} from '../../streams/ids.ts';
import {
  type ChunkFile,
  type Contribution,
  type EncodedChunk,
  type Fragments,
  type Interval,
  type Merge,
  type MergedChunks,
  type MergeRef,
  type Piece,
  PROBE_KINDS,
  type ProbeCandidate,
  type Segment,
} from '../../streams/records.ts';

/** Decoders make plain objects, so the values to compare them with have to be such as well. */
const PLAIN = { noNullPrototype: true } as const;

const HEX = [...'0123456789abcdef'];
export const hexText = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...HEX), minLength: length, maxLength: length });

const count = (max = Number.MAX_SAFE_INTEGER): fc.Arbitrary<number> =>
  fc.oneof(fc.nat({ max: Math.min(max, 300) }), fc.integer({ min: 0, max }));
const epochMs = fc.integer({ min: -(2 ** 50), max: 2 ** 50 }) as fc.Arbitrary<EpochMs>;
const groups = fc.array(
  fc.constantFrom('alt.binaries.test', 'alt.binaries.example', 'a.b.grün') as fc.Arbitrary<Group>,
  {
    maxLength: 4,
  },
);

/** Any latin1 character that a message-id may hold: no blank, no angle bracket. */
const idCharacter = fc
  .integer({ min: 1, max: 255 })
  .map((code) => String.fromCharCode(code))
  .filter((c) => !/[<>\s]/.test(c));
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const word = (min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...LETTERS), minLength: min, maxLength: max });

/** Ids of posting tools and their near misses: what templates are made for, and what only looks as if it fitted. */
const toolId = (part: number, parts: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom('part', 'Part').map((p) => `${p}${part}of${parts}.AbCd&${parts}$x@powerpost2000AA.local`),
    fc.nat({ max: 99 }).map((n) => `part${n}of98.fAlSe@powerpost2000AA.local`),
    fc.nat({ max: 999 }).map((n) => `part0${n}of${parts}.x@y`),
    word(20, 20).map((w) => `${w}_27o99@JBinUp.local`),
    hexText(32).map((h) => `${h.slice(0, 12)}4${h.slice(13, 16)}a${h.slice(17)}@ngPost`),
    hexText(32).map(
      (h) => `{${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}}@ngPost`,
    ),
    fc.tuple(word(5, 32), word(8, 8), word(0, 3)).map((w) => `${w[0]}@${w[1]}.${w[2]}`),
    fc.integer({ min: 0, max: 2 ** 40 }).map((n) => `${n}.${String(n % 99999).padStart(5, '0')}.${part}@host`),
    fc.bigInt({ min: 0n, max: 10n ** 19n }).map((n) => `${n}$gps@gopoststuff`),
    fc.nat({ max: 0xffffff }).map((n) => `${n.toString(16).padStart(8, '0')}$0$123$ab@news.astraweb.com`),
  );

const anyId = (part: number, parts: number): fc.Arbitrary<MessageId> =>
  fc.oneof(
    { weight: 4, arbitrary: toolId(part, parts) },
    { weight: 1, arbitrary: fc.string({ unit: idCharacter, minLength: 1, maxLength: 70 }) },
  ) as fc.Arbitrary<MessageId>;

const segments = (parts: number): fc.Arbitrary<Segment[]> =>
  fc
    .tuple(fc.integer({ min: 0, max: 40 }), fc.nat({ max: 200 }), count(), fc.boolean(), fc.nat())
    .chain(([n, first, size, wild]) =>
      fc.tuple(
        ...Array.from({ length: n }, (_, i) => {
          const part = first + i;
          return fc.record(
            {
              part: wild ? count(2 ** 31) : fc.constant(part),
              bytes: fc.oneof(
                fc.constant(size),
                fc.nat({ max: 900 }).map((d) => Math.max(0, size - d)),
                count(),
              ),
              messageId: anyId(part, parts),
            },
            PLAIN,
          );
        }),
      ),
    );

export const chunkFile: fc.Arbitrary<ChunkFile> = count(2 ** 31).chain((parts) =>
  fc.record(
    {
      subject: fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constant('[1/2] - "a.rar" yEnc (/3)')),
      partAt: fc.oneof(fc.constant(-1), fc.nat({ max: 80 })),
      partWidth: fc.nat({ max: 12 }),
      poster: fc.oneof(fc.constant('poster <p@example.org>'), fc.string({ unit: 'binary', maxLength: 30 })),
      postedAt: fc.oneof(
        epochMs,
        fc.nat({ max: 2 ** 31 - 1 }).map((s) => (s * 1000) as EpochMs),
      ),
      parts: fc.constant(parts),
      fileIndex: fc.option(count(2 ** 31)),
      fileHash: hexText(16),
      groups,
      segments: segments(parts),
    },
    PLAIN,
  ),
);

export const contribution: fc.Arbitrary<Contribution> = fc.record(
  {
    key: hexText(32) as fc.Arbitrary<ReleaseKey>,
    posting: count(),
    name: fc.string({ unit: 'binary', maxLength: 80 }),
    obfuscated: fc.boolean(),
    filesTotal: fc.option(count()),
    poster: fc.string({ unit: 'binary', maxLength: 30 }),
    mainGroup: fc.constantFrom('alt.binaries.test', 'alt.binaries.example') as fc.Arbitrary<Group>,
    groups,
    firstNumber: count() as fc.Arbitrary<ArticleNumber>,
    lastNumber: count() as fc.Arbitrary<ArticleNumber>,
    firstAt: epochMs,
    lastAt: epochMs,
    files: count(),
    filesComplete: count(),
    segments: count(),
    segmentsTotal: count(),
    bytes: count(),
    par2Files: count(),
    par2Segments: count(),
    par2SegmentsTotal: count(),
    par2Bytes: count(),
    hasNfo: fc.boolean(),
    fileHashes: fc.array(hexText(16), { maxLength: 6 }),
    chunks: count(),
    chunksPosition: fc.record({ number: count(), sequence: count() }, PLAIN),
  },
  PLAIN,
);

export const encodedChunk: fc.Arbitrary<EncodedChunk> = fc.record(
  {
    key: hexText(32) as fc.Arbitrary<ReleaseKey>,
    posting: count(),
    k: count(),
    firstAt: epochMs,
    lastAt: epochMs,
    segments: count(),
    payload: fc.uint8Array({ maxLength: 200 }),
  },
  PLAIN,
);

/** Bytes as a decoder gives them: views of the message's buffer. */
const payload = fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes) as Uint8Array);
const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength });
const ascending: fc.Arbitrary<Interval[]> = fc
  .uniqueArray(fc.nat({ max: 5000 }), { maxLength: 12 })
  .map((all) => [...all].sort((a, b) => a - b))
  .map((all) => Array.from({ length: all.length >> 1 }, (_, i) => [all[2 * i]!, all[2 * i + 1]!] as const));

export const piece: fc.Arbitrary<Piece> = fc.record(
  {
    key: hexText(32) as fc.Arbitrary<ReleaseKey>,
    fileHash: hexText(16),
    posting: count(1000),
    name: text(60),
    poster: text(30),
    obfuscated: fc.boolean(),
    filesTotal: fc.option(count()),
    par2: fc.boolean(),
    nfo: fc.boolean(),
    lone: fc.boolean(),
    groups,
    firstNumber: count() as fc.Arbitrary<ArticleNumber>,
    lastNumber: count() as fc.Arbitrary<ArticleNumber>,
    firstAt: epochMs,
    lastAt: epochMs,
    postingFirstAt: epochMs,
    postingLastAt: epochMs,
    parts: ascending,
    totals: fc.array(fc.tuple(count(), count()), { maxLength: 3 }),
    segments: count(),
    bytes: count(),
    payload,
  },
  PLAIN,
);

export const fragments: fc.Arbitrary<Fragments> = fc.record(
  {
    pieces: fc.array(piece, { maxLength: 4 }),
    lone: fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }).map(packLone).map(asViews), { maxLength: 2 }),
  },
  PLAIN,
);

function asViews<T extends { readonly hashes: Uint8Array; readonly payload: Uint8Array }>(blob: T): T {
  return { ...blob, hashes: Buffer.from(blob.hashes), payload: Buffer.from(blob.payload) };
}

const rangeId = fc
  .tuple(fc.nat({ max: 9 }), count(), count())
  .map(([epoch, a, b]) => RangeId.of(Epoch(epoch), Math.min(a, b) as ArticleNumber, Math.max(a, b) as ArticleNumber));
const source = fc.record({ rangeId, run: count(), pass: count(), posting: count() }, PLAIN);
const mergeRef: fc.Arbitrary<MergeRef> = fc.record(
  { mergeId: hexText(32).map(MergeId), fileHash: hexText(16), sources: fc.array(source, { maxLength: 4 }) },
  PLAIN,
);

export const merge: fc.Arbitrary<Merge> = fc
  .tuple(mergeRef, contribution)
  .map(([ref, c]) => ({ ...ref, contribution: c }));
export const mergedChunks: fc.Arbitrary<MergedChunks> = fc
  .tuple(mergeRef, fc.array(encodedChunk, { maxLength: 3 }))
  .map(([ref, chunks]) => ({
    ...ref,
    chunks: chunks.map((c) => ({ ...c, payload: Buffer.from(c.payload) as Uint8Array })),
  }));

export const candidate: fc.Arbitrary<ProbeCandidate> = fc.record(
  {
    key: hexText(32) as fc.Arbitrary<ReleaseKey>,
    kind: fc.constantFrom(...PROBE_KINDS),
    rank: count(),
    messageId: anyId(3, 9),
    fileHash: hexText(16),
    part: count(),
    bytes: count(),
    random: fc.boolean(),
    firstAt: epochMs,
    lastAt: epochMs,
  },
  PLAIN,
);
