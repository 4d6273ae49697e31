import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { seal } from '../../../streams/codec/checksum.ts';
import { decodeChunksWritten, encodeChunksWritten, sliceChunksBySize } from '../../../streams/codec/chunksWritten.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import { CorruptPayload } from '../../../streams/codec/errors.ts';
import { decodeJson, encodeJson } from '../../../streams/codec/json.ts';
import {
  decodeOverviewBatch,
  deflateLines,
  encodeOverviewBatch,
  inflateOverviewBatch,
  type LineEncoding,
  type OverviewBatch,
} from '../../../streams/codec/overviewBatch.ts';
import { decodeContributions, encodeContributions, sliceBySize } from '../../../streams/codec/releaseSeen.ts';
import type { Contribution, EncodedChunk } from '../../../streams/records.ts';
import { contribution, encodedChunk } from '../../kit/codecArbitraries.ts';
import { acceptedDamage, isSame, wildErrors } from '../../kit/damage.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

beforeAll(initCompression);

const sampled = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: 11 });

const FORMAT = ['Subject:', 'From:', 'Date:', 'Message-ID:', 'References:', ':bytes', ':lines', 'Xref:full'];
const lines = Buffer.from('9100000001\tSubject (1/2)\tposter\tdate\t<id@x>\t\t100\t2\tXref: x g:1\r\n'.repeat(40));
const batchOf = (encoding: LineEncoding, payload: Uint8Array, rawBytes = lines.length): OverviewBatch => ({
  lo: 9_100_000_001,
  hi: 9_100_020_000,
  lines: 40,
  rawBytes,
  encoding,
  format: FORMAT,
  payload,
});

describe('an overview batch', () => {
  it('gives back its head and its payload as they were', () => {
    const batch = fc.record(
      {
        lo: fc.nat(),
        hi: fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER }),
        lines: fc.nat({ max: 20_000 }),
        rawBytes: fc.maxSafeNat(),
        encoding: fc.constantFrom<LineEncoding>('none', 'deflate-raw', 'zlib', 'gzip'),
        format: fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 12 }),
        payload: fc.uint8Array({ maxLength: 300 }),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(batch, (value) => {
        const { payload, ...head } = decodeOverviewBatch(encodeOverviewBatch(value));
        expect(isSame({ ...head, payload: Uint8Array.from(payload) }, value)).toBe(true);
      }),
    );
  });

  it.each([
    ['none', lines],
    ['deflate-raw', deflateLines(lines, 6)],
    ['zlib', deflateSync(lines)],
    ['gzip', gzipSync(lines)],
  ] as const)('gives back lines stored as %s, into a given buffer or a new one', (encoding, payload) => {
    const batch = decodeOverviewBatch(encodeOverviewBatch(batchOf(encoding, payload)));
    expect(Buffer.from(inflateOverviewBatch(batch)).equals(lines)).toBe(true);
    const warm = new Uint8Array(lines.length + 5);
    const view = inflateOverviewBatch(batch, warm);
    expect(view.buffer).toBe(warm.buffer);
    expect(Buffer.from(view).equals(lines)).toBe(true);
    expect(Buffer.from(inflateOverviewBatch(batch, new Uint8Array(3))).equals(lines)).toBe(true);
  });

  it('is refused when its lines are longer than allowed, or than it says', () => {
    const payload = deflateLines(lines);
    const inflate = (rawBytes: number, limit?: number) => () =>
      inflateOverviewBatch(batchOf('deflate-raw', payload, rawBytes), undefined, limit);
    expect(inflate(lines.length, lines.length - 1)).toThrow(expect.objectContaining({ reason: 'limit' }));
    expect(inflate(lines.length - 1)).toThrow(expect.objectContaining({ reason: 'limit' }));
    expect(inflate(lines.length + 1)).toThrow(expect.objectContaining({ reason: 'malformed' }));
    expect(inflate(2 ** 52)).toThrow(expect.objectContaining({ reason: 'limit' }));
    expect(() => inflateOverviewBatch(batchOf('zlib', payload))).toThrow(CorruptPayload);
  });

  it('is refused when damaged anywhere', () => {
    const payload = encodeOverviewBatch(batchOf('deflate-raw', deflateLines(lines)));
    expect(acceptedDamage(payload, decodeOverviewBatch)).toEqual([]);
    const whole = (bytes: Uint8Array): Uint8Array => inflateOverviewBatch(decodeOverviewBatch(bytes));
    expect(wildErrors(payload.subarray(0, -4), seal, whole)).toEqual([]);
  });
});

describe('contributions', () => {
  it('come back equal', () => {
    fc.assert(
      fc.property(fc.array(contribution, { maxLength: 8 }), (list) => {
        expect(isSame(decodeContributions(encodeContributions(list)), list)).toBe(true);
      }),
    );
  });

  it('are refused when damaged anywhere', () => {
    const payload = encodeContributions(sampled(contribution, 4));
    expect(acceptedDamage(payload, decodeContributions)).toEqual([]);
    expect(wildErrors(payload.subarray(0, -4), seal, decodeContributions)).toEqual([]);
  });

  it('that repeat their poster and groups take little more than their key and hashes', () => {
    const one = sampled(contribution, 1)[0]!;
    const list = Array.from(
      { length: 100 },
      (_, i): Contribution => ({
        ...one,
        key: `${String(i).padStart(2, '0')}${one.key.slice(2)}` as Contribution['key'],
      }),
    );
    expect(encodeContributions(list).length).toBeLessThan(100 * 20 + 400);
  });

  it('are cut into slices that stay below the limit, in order, none lost', () => {
    fc.assert(
      fc.property(fc.array(contribution, { maxLength: 30 }), fc.integer({ min: 600, max: 4000 }), (list, limit) => {
        const slices = sliceBySize(list, limit);
        expect(slices.flat()).toEqual(list);
        for (const slice of slices) {
          expect(slice.length).toBeGreaterThan(0);
          if (slice.length > 1) expect(encodeContributions(slice).length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('with a key or a hash that would not come back are refused', () => {
    const one = sampled(contribution, 1)[0]!;
    expect(() => encodeContributions([{ ...one, key: 'AB' as Contribution['key'] }])).toThrow(RangeError);
    expect(() => encodeContributions([{ ...one, fileHashes: ['0123456789ABCDEF'] }])).toThrow(RangeError);
  });
});

describe('written chunks', () => {
  const plain = (list: readonly EncodedChunk[]): EncodedChunk[] =>
    list.map((chunk) => ({ ...chunk, payload: Uint8Array.from(chunk.payload) }));

  it('come back equal, their payloads untouched', () => {
    fc.assert(
      fc.property(fc.array(encodedChunk, { maxLength: 8 }), (list) => {
        expect(isSame(plain(decodeChunksWritten(encodeChunksWritten(list))), list)).toBe(true);
      }),
    );
  });

  it('are refused when damaged anywhere', () => {
    const payload = encodeChunksWritten(sampled(encodedChunk, 4));
    expect(acceptedDamage(payload, decodeChunksWritten)).toEqual([]);
    expect(wildErrors(payload.subarray(0, -4), seal, decodeChunksWritten)).toEqual([]);
  });

  it('are cut into slices that stay below the limit, in order, none lost', () => {
    fc.assert(
      fc.property(fc.array(encodedChunk, { maxLength: 30 }), fc.integer({ min: 400, max: 2000 }), (list, limit) => {
        const slices = sliceChunksBySize(list, limit);
        expect(slices.flat()).toEqual(list);
        for (const slice of slices) expect(encodeChunksWritten(slice).length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: propertyRuns(50) },
    );
  });
});

describe('a JSON payload', () => {
  it('gives back any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        expect(decodeJson(encodeJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is refused when it is no UTF-8, no JSON, cut off, or too long', () => {
    const good = encodeJson({ name: 'grün', list: [1, 2, 3] });
    expect(() => decodeJson(Buffer.from('"gr\u00fcn"', 'latin1'))).toThrow(
      expect.objectContaining({ reason: 'malformed' }),
    );
    for (let i = 0; i < good.length; i++) expect(() => decodeJson(good.subarray(0, i))).toThrow(CorruptPayload);
    expect(() => decodeJson(good, good.length - 1)).toThrow(expect.objectContaining({ reason: 'limit' }));
  });

  it('is not made of what JSON would silently change', () => {
    for (const bad of [Number.NaN, { a: Number.POSITIVE_INFINITY }, undefined]) {
      expect(() => encodeJson(bad)).toThrow(RangeError);
    }
    expect(() => encodeJson('x'.repeat(100), 50)).toThrow(RangeError);
  });
});
