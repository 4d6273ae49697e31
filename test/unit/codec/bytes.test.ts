import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitReader, BitWriter, bitLength, riceBits } from '../../../streams/codec/bits.ts';
import { ByteReader, ByteWriter } from '../../../streams/codec/bytes.ts';
import { crc32, seal, tableCrc32, unseal } from '../../../streams/codec/checksum.ts';
import { CorruptPayload } from '../../../streams/codec/errors.ts';
import { planNumbers, readNumbers, readPlan, writeNumbers, writePlan } from '../../../streams/codec/numberColumn.ts';
import { packDigits, unpackDigits } from '../../../streams/codec/radix.ts';

const whole = fc.oneof(fc.nat({ max: 300 }), fc.maxSafeNat());

describe('bytes', () => {
  it('give back every number and text that was written', () => {
    const field = fc.oneof(
      fc.record({ kind: fc.constant('varint' as const), value: whole }),
      fc.record({ kind: fc.constant('zigzag' as const), value: fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }) }),
      fc.record({ kind: fc.constant('u32' as const), value: fc.nat({ max: 0xffffffff }) }),
      fc.record({ kind: fc.constant('text' as const), value: fc.string({ unit: 'binary' }) }),
      fc.record({
        kind: fc.constant('latin1' as const),
        value: fc.string({ unit: fc.nat({ max: 255 }).map((c) => String.fromCharCode(c)) }),
      }),
    );
    fc.assert(
      fc.property(fc.array(field), (fields) => {
        const out = new ByteWriter(1);
        for (const { kind, value } of fields) (out[kind] as (v: unknown) => void).call(out, value);
        const source = new ByteReader('test', out.finish());
        expect(fields.map(({ kind }) => source[kind]())).toEqual(fields.map((f) => f.value));
        source.expectEnd();
      }),
    );
  });

  it('refuse any bytes that hold no such field, and never read outside them', () => {
    const kinds = ['varint', 'zigzag', 'u32', 'text', 'latin1', 'block', 'u8'] as const;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 24 }), fc.constantFrom(...kinds), (bytes, kind) => {
        const padded = new Uint8Array(64).fill(7);
        padded.set(bytes, 8);
        const source = new ByteReader('test', padded, 8, 8 + bytes.length);
        try {
          source[kind]();
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptPayload);
        }
        expect(source.at).toBeLessThanOrEqual(8 + bytes.length);
      }),
    );
  });

  it('refuse a length beyond the limit before taking memory for it', () => {
    const out = new ByteWriter();
    out.varint(2 ** 52);
    expect(() => new ByteReader('test', out.finish()).text()).toThrow(expect.objectContaining({ reason: 'limit' }));
  });

  it('refuse numbers that would not come back', () => {
    const out = new ByteWriter();
    for (const bad of [-1, 0.5, 2 ** 53, Number.NaN]) expect(() => out.varint(bad)).toThrow(RangeError);
    expect(() => out.zigzag(2 ** 53)).toThrow(RangeError);
    expect(() => out.latin1('€')).toThrow(RangeError);
  });
});

describe('bits', () => {
  it('give back numbers of 0 to 53 bits and Rice codes of any parameter', () => {
    const item = fc.tuple(whole, fc.integer({ min: 0, max: 40 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const out = new ByteWriter(1);
        const bits = new BitWriter(out);
        for (const [value, k, rice] of items) rice ? bits.rice(value, k) : bits.write(value, bitLength(value));
        bits.flush();
        const read = new BitReader(new ByteReader('test', out.finish()));
        for (const [value, k, rice] of items) expect(rice ? read.rice(k) : read.read(bitLength(value))).toBe(value);
        read.finish();
      }),
    );
  });

  it('take just the bits that the cost of a Rice code says', () => {
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 40 }), (value, k) => {
        const out = new ByteWriter();
        const bits = new BitWriter(out);
        bits.rice(value, k);
        bits.flush();
        expect(out.length).toBe(Math.ceil(riceBits(Float64Array.of(value), 1, k) / 8));
      }),
    );
  });
});

describe('digits of one base', () => {
  it('come back for every base and count', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 256 }),
        fc.array(fc.nat({ max: 255 }), { maxLength: 60 }),
        (base, seeds) => {
          const digits = Uint8Array.from(seeds, (s) => s % base);
          const out = new ByteWriter();
          const bits = new BitWriter(out);
          packDigits(bits, base, digits, digits.length);
          bits.flush();
          expect(unpackDigits(new BitReader(new ByteReader('test', out.finish())), base, digits.length)).toEqual(
            digits,
          );
        },
      ),
    );
  });

  it.each([
    [26, 4.71],
    [62, 5.96],
    [16, 4.001],
    [10, 3.34],
  ])('of base %i take at most %f bits', (base, most) => {
    const out = new ByteWriter();
    const bits = new BitWriter(out);
    packDigits(bits, base, new Uint8Array(10_000).fill(base - 1), 10_000);
    bits.flush();
    expect((out.length * 8) / 10_000).toBeLessThanOrEqual(most);
  });
});

describe('a number column', () => {
  const roundTrip = (values: readonly number[], ordered: boolean): { back: number[]; bytes: number; mode: string } => {
    const column = Float64Array.from(values);
    const plan = planNumbers(column, column.length, ordered);
    const out = new ByteWriter();
    writePlan(out, plan);
    const bits = new BitWriter(out);
    writeNumbers(bits, plan, column, column.length);
    bits.flush();
    const source = new ByteReader('test', out.finish());
    const read = readPlan(source);
    return {
      back: Array.from(readNumbers(source, new BitReader(source), read, values.length)),
      bytes: out.length,
      mode: plan.mode,
    };
  };

  it('gives back any numbers', () => {
    fc.assert(
      fc.property(fc.array(whole, { maxLength: 80 }), fc.boolean(), (values, ordered) => {
        expect(roundTrip(values, ordered).back).toEqual(values);
      }),
    );
  });

  it('gives back rising and scattered numbers', () => {
    const near = fc.tuple(
      fc.nat({ max: 2 ** 40 }),
      fc.nat({ max: 5000 }),
      fc.array(fc.nat({ max: 900 }), { maxLength: 80 }),
    );
    fc.assert(
      fc.property(near, fc.boolean(), ([base, step, jitter], ordered) => {
        const values = jitter.map((j, i) => base + i * step + j);
        expect(roundTrip(values, ordered).back).toEqual(values);
      }),
    );
  });

  it('takes no room for equal numbers, and little for a counter', () => {
    expect(roundTrip(new Array(500).fill(747_000), false)).toMatchObject({ bytes: 4, mode: 'constant' });
    expect(
      roundTrip(
        Array.from({ length: 500 }, (_, i) => 90_000 + 3 * i),
        true,
      ).bytes,
    ).toBeLessThan(75);
  });
});

describe('the checksum', () => {
  it('is the CRC-32 of zlib, by tables as natively', () => {
    expect(tableCrc32(Buffer.from('123456789'))).toBe(0xcbf43926);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => tableCrc32(bytes) === crc32(bytes)));
  });

  it('gives back what was sealed and nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (bytes, at, mask) => {
        const sealed = seal(bytes);
        expect(Array.from(unseal('test', sealed))).toEqual(Array.from(bytes));
        sealed[at % sealed.length]! ^= mask;
        expect(() => unseal('test', sealed)).toThrow(CorruptPayload);
      }),
    );
  });
});
