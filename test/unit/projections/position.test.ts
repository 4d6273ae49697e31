import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, packPosition, refusal, unpackPosition } from '../../../projections/position.ts';
import { stagingTable } from '../../../projections/projection.ts';

const state = (first: [number, number], last: [number, number], createdAt = 5) => ({
  createdAt,
  first: { number: first[0], sequence: first[1] },
  last: { number: last[0], sequence: last[1] },
});
const claim = (number: number, sequence: number, streamCreatedAt: number | null = 5): Claim => ({
  schema: 'catalog',
  epoch: 1,
  position: { number, sequence },
  streamCreatedAt,
});

describe('a packed position', () => {
  it('sorts as positions do and comes back as it was', () => {
    const position = fc.record({
      number: fc.integer({ min: 0, max: 8191 }),
      sequence: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
    });
    fc.assert(
      fc.property(position, position, (a, b) => {
        expect(unpackPosition(packPosition(a))).toEqual(a);
        const order = a.number - b.number || a.sequence - b.sequence;
        expect(Math.sign(packPosition(a) - packPosition(b))).toBe(Math.sign(order));
      }),
    );
  });
  it('is refused where it would not fit', () => {
    expect(() => packPosition({ number: 1, sequence: 2 ** 40 })).toThrow(RangeError);
    expect(() => packPosition({ number: 8192, sequence: 0 })).toThrow(RangeError);
  });
});

describe('where a projection may go on', () => {
  it.each([
    ['an empty stream, at its start', claim(1, 0, null), state([1, 1], [1, 0]), null],
    ['in the middle', claim(1, 50), state([1, 1], [1, 90]), null],
    ['at the end', claim(1, 90), state([1, 1], [1, 90]), null],
    ['right before the first message that is left', claim(1, 49), state([1, 50], [1, 90]), null],
    ['before a message that is gone', claim(1, 48), state([1, 50], [1, 90]), 'PROJECTION_GAP'],
    ['in a numbered stream that was taken away', claim(1, 48), state([2, 1], [2, 90]), 'PROJECTION_GAP'],
    ['in a numbered stream that is sealed', claim(1, 48), state([1, 1], [2, 90]), null],
    ['past the end', claim(1, 91), state([1, 1], [1, 90]), 'PROJECTION_AHEAD'],
    ['past the last numbered stream', claim(2, 1), state([1, 1], [1, 90]), 'PROJECTION_AHEAD'],
    ['in another stream of the same name', claim(1, 50), state([1, 1], [1, 90], 6), 'PROJECTION_STREAM_REPLACED'],
  ] as const)('%s', (_, at, stream, code) => {
    expect(refusal(at, 'RELEASES', stream)?.code ?? null).toBe(code);
  });
});

describe('a projection that was refused', () => {
  it('stays refused when the stream has grown past its position', () => {
    const why = refusal(claim(1, 91), 'RELEASES', state([1, 1], [1, 90]))!;
    const kept = { ...claim(1, 91), refused: why };
    expect(refusal(kept, 'RELEASES', state([1, 1], [1, 500]))).toEqual(why);
    expect(why.fields).toMatchObject({ position: '1/91', last: '1/90' });
  });
});

describe('a staging table', () => {
  it('is declared as SQL would name its columns', () => {
    const columns = [
      ['a', 'int4'],
      ['b', 'text[]'],
    ];
    expect(stagingTable('s', 'a int4,\n  b text[]')).toEqual({ name: 's', columns });
    expect(() => stagingTable('s', 'a int4, b')).toThrow(TypeError);
  });
});
