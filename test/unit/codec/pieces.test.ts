import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { seal } from '../../../streams/codec/checksum.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import {
  decodeFragments,
  decodePieces,
  encodeFragments,
  encodePieces,
  packLone,
  slicePieces,
} from '../../../streams/codec/fragments.ts';
import {
  decodeMergedChunks,
  decodeMerges,
  encodeMergedChunks,
  encodeMerges,
  sliceMerges,
} from '../../../streams/codec/merges.ts';
import { decodeCandidates, encodeCandidates, sliceCandidates } from '../../../streams/codec/probeCandidates.ts';
import { Backbone, Epoch, Group } from '../../../streams/ids.ts';
import { mergeIdOf, mergesDigest, setHashOf } from '../../../streams/merges.ts';
import { candidate, fragments, merge, mergedChunks, piece } from '../../kit/codecArbitraries.ts';
import { acceptedDamage, isSame, wildErrors } from '../../kit/damage.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

beforeAll(initCompression);

/** A codec of whole messages with what to feed it. */
interface Case {
  readonly name: string;
  readonly value: fc.Arbitrary<unknown>;
  readonly encode: (value: never) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
}

const CASES: readonly Case[] = [
  { name: 'pieces', value: fc.array(piece, { maxLength: 6 }), encode: encodePieces, decode: decodePieces },
  { name: 'fragments', value: fragments, encode: encodeFragments, decode: decodeFragments },
  { name: 'merges', value: fc.array(merge, { maxLength: 6 }), encode: encodeMerges, decode: decodeMerges },
  {
    name: 'merged chunks',
    value: fc.array(mergedChunks, { maxLength: 6 }),
    encode: encodeMergedChunks,
    decode: decodeMergedChunks,
  },
  {
    name: 'probe candidates',
    value: fc.array(candidate, { maxLength: 8 }),
    encode: encodeCandidates,
    decode: decodeCandidates,
  },
];

describe.each(CASES)('$name', ({ value, encode, decode }) => {
  it('come back equal', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(isSame(decode(encode(given as never)), given)).toBe(true);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('are refused when damaged anywhere', () => {
    const payload = fc
      .sample(value, { numRuns: 12, seed: 11 })
      .map((given) => encode(given as never))
      .reduce((a, b) => (a.length > b.length && a.length < 2000 ? a : b));
    expect(acceptedDamage(payload, decode)).toEqual([]);
    expect(wildErrors(payload.subarray(0, -4), seal, decode)).toEqual([]);
  });
});

describe('slices', () => {
  it('of pieces, merges and candidates stay below the limit, in order, none lost', () => {
    const both = fc.tuple(merge, mergedChunks).map(([a, b]) => ({ ...b, ...a }));
    const limits = fc.integer({ min: 900, max: 4000 });
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.array(both, { maxLength: 10 }),
        fc.array(candidate, { maxLength: 40 }),
        limits,
        (pieces, merges, candidates, limit) => {
          const cut = slicePieces(pieces, limit);
          expect(cut.flat()).toEqual(pieces);
          for (const s of cut) if (s.length > 1) expect(encodePieces(s).length).toBeLessThanOrEqual(limit);
          const cutMerges = sliceMerges(merges, limit);
          expect(cutMerges.flat()).toEqual(merges);
          for (const s of cutMerges.filter((s) => s.length > 1)) {
            expect(Math.max(encodeMerges(s).length, encodeMergedChunks(s).length)).toBeLessThanOrEqual(limit);
          }
          const cutCandidates = sliceCandidates(candidates, limit);
          expect(cutCandidates.flat()).toEqual(candidates);
          for (const s of cutCandidates) expect(encodeCandidates(s).length).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: propertyRuns(30) },
    );
  });
});

describe('a blob of lone pieces', () => {
  it('lists the hashes of its pieces in order and spans their numbers', () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const blob = packLone(pieces);
        const packed = decodePieces(blob.payload);
        const hashes = Buffer.from(blob.hashes).toString('hex');
        expect(packed.map((p) => p.fileHash).join('')).toBe(hashes);
        expect(packed.map((p) => p.fileHash)).toEqual(pieces.map((p) => p.fileHash).sort());
        expect(blob.firstNumber).toBe(Math.min(...pieces.map((p) => p.firstNumber)));
        expect(blob.lastNumber).toBe(Math.max(...pieces.map((p) => p.lastNumber)));
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('is never empty', () => {
    expect(() => packLone([])).toThrow(RangeError);
  });
});

describe('the identity of a merge', () => {
  const place = { backbone: Backbone('bb'), group: Group('alt.binaries.test'), epoch: Epoch(0) };

  it('is that of its pieces in any order, and of nothing else', () => {
    fc.assert(
      fc.property(merge, fc.nat(), ({ fileHash, sources }, turn) => {
        const id = mergeIdOf(place, fileHash, sources);
        const at = sources.length === 0 ? 0 : turn % sources.length;
        expect(mergeIdOf(place, fileHash, [...sources.slice(at), ...sources.slice(0, at)])).toBe(id);
        expect(mergeIdOf({ ...place, epoch: Epoch(1) }, fileHash, sources)).not.toBe(id);
        if (sources.length > 0) expect(mergeIdOf(place, fileHash, sources.slice(1))).not.toBe(id);
      }),
    );
  });

  it('of a message differs by revision and by content', () => {
    const body = Buffer.from('body');
    const digest = mergesDigest({ number: 1, sequence: 5 }, body);
    expect(digest).toMatch(/^[0-9a-f]{32}$/);
    expect(mergesDigest({ number: 1, sequence: 6 }, body)).not.toBe(digest);
    expect(mergesDigest({ number: 1, sequence: 5 }, Buffer.from('other'))).not.toBe(digest);
  });
});

describe('the hash of a set of contributions', () => {
  it('is the same in any order and another for another set', () => {
    const merges = fc.sample(merge, { numRuns: 4, seed: 3 }).map(({ mergeId }) => ({ mergeId }));
    const hash = setHashOf(merges);
    expect(setHashOf([...merges].reverse())).toBe(hash);
    expect(setHashOf(merges.slice(1))).not.toBe(hash);
  });
});
