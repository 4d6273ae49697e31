import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchCutter, type CutBatch } from '../../../processors/fetch/cutBatches.ts';

const line = (number: number | string, width = 10) => `${number}\t${'x'.repeat(width)}\r\n`;
const bytes = (lines: readonly string[]) => Buffer.from(lines.join(''), 'latin1');

const cutAll = (cutter: BatchCutter, replies: readonly (readonly [[number, number], Buffer[]])[], hi: number) => {
  const batches: CutBatch[] = [];
  for (const [span, pieces] of replies) for (const piece of pieces) batches.push(...cutter.push(piece, span));
  const last = cutter.finish(hi);
  return last ? [...batches, last] : batches;
};

describe('cutting batches', () => {
  it('tiles the range, keeps every asked line once, and holds to the limits whatever the pieces are', () => {
    const gaps = fc.array(fc.record({ gap: fc.nat(30), width: fc.nat(60), again: fc.boolean() }), { maxLength: 80 });
    const start = fc.constantFrom(1, 2 ** 31 - 20, 2 ** 32 - 20, 2 ** 45);
    fc.assert(
      fc.property(
        start,
        gaps,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 400 }),
        (lo, list, per, raw) => {
          let at = lo - 1;
          const lines: string[] = [];
          for (const { gap, width, again } of list) {
            if (!again || lines.length === 0) at += gap + 1;
            lines.push(line(at, width));
          }
          const hi = at + 7;
          const pieces: Buffer[] = [];
          for (let i = 0; i < lines.length; i += per) pieces.push(bytes(lines.slice(i, i + per)));
          const batches = cutAll(new BatchCutter(lo, { lines: 5, rawBytes: raw }), [[[lo, hi], pieces]], hi);
          expect(batches[0]!.lo).toBe(lo);
          expect(batches.at(-1)!.hi).toBe(hi);
          batches.forEach((batch, i) => {
            if (i > 0) expect(batch.lo).toBe(batches[i - 1]!.hi + 1);
            expect(batch.numbers.every((n) => n >= batch.lo && n <= batch.hi)).toBe(true);
            const different = new Set(batch.numbers).size;
            expect(different).toBeLessThanOrEqual(5);
            if (different > 1 && batch.lines === different) expect(batch.raw.length).toBeLessThanOrEqual(raw);
          });
          expect(batches.map((b) => b.raw.toString('latin1')).join('')).toBe(lines.join(''));
          expect(batches.reduce((sum, b) => sum + b.lines, 0)).toBe(lines.length);
        },
      ),
    );
  });

  it('answers for an empty range with one batch without lines', () => {
    const cutter = new BatchCutter(100, { lines: 5, rawBytes: 1000 });
    expect(cutAll(cutter, [], 199)).toEqual([{ lo: 100, hi: 199, lines: 0, raw: Buffer.alloc(0), numbers: [] }]);
  });

  it('lets empty spans be answered for by the batch around them', () => {
    const cutter = new BatchCutter(1, { lines: 2, rawBytes: 1000 });
    const replies = [
      [[1, 10], [bytes([line(2), line(3)])]],
      [[11, 20], []],
      [[21, 30], [bytes([line(25)])]],
    ] as const;
    const batches = cutAll(cutter, replies as never, 40);
    expect(batches.map(({ lo, hi, numbers }) => ({ lo, hi, numbers }))).toEqual([
      { lo: 1, hi: 24, numbers: [2, 3] },
      { lo: 25, hi: 40, numbers: [25] },
    ]);
  });

  it('drops and counts lines that were not asked for', () => {
    const cutter = new BatchCutter(10, { lines: 100, rawBytes: 1000 });
    const piece = bytes([line(5), line(11), line(99), line(12), line(200)]);
    const [batch] = cutAll(cutter, [[[10, 20], [piece]]], 20);
    expect(cutter.dropped).toBe(3);
    expect(batch!.raw.toString()).toBe(line(11) + line(12));
  });

  it('passes lines without a number on, for the parser counts them', () => {
    const cutter = new BatchCutter(1, { lines: 100, rawBytes: 1000 });
    const piece = bytes([line(1), 'broken\r\n', line('12x'), line('99999999999999999999'), line(2)]);
    const [batch] = cutAll(cutter, [[[1, 5], [piece]]], 5);
    expect(batch!.lines).toBe(5);
    expect(batch!.raw).toEqual(piece);
    expect(batch!.numbers).toEqual([1, 2]);
  });

  it('keeps repeated numbers in one batch', () => {
    const cutter = new BatchCutter(1, { lines: 2, rawBytes: 1000 });
    const piece = bytes([line(1), line(2), line(2), line(2), line(3)]);
    const batches = cutAll(cutter, [[[1, 5], [piece]]], 5);
    expect(batches.map((b) => b.numbers)).toEqual([[1, 2, 2, 2], [3]]);
  });
});
