import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DotBlock } from '../../../infra/nntp/dotBlock.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

/** Feeds `wire` cut at `cuts`; the pieces of lines as they came, and what lay behind the end (null: no end). */
function read(wire: Buffer, cuts: readonly number[], maxLine = 1 << 20) {
  const block = new DotBlock(maxLine);
  const pieces: Buffer[] = [];
  const at = [...new Set(cuts.map((cut) => cut % (wire.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...at, wire.length];
  for (let i = 1; i < bounds.length; i++) {
    const { lines, rest } = block.feed(wire.subarray(bounds[i - 1], bounds[i]));
    pieces.push(...lines);
    if (rest) return { pieces, rest: Buffer.concat([rest, wire.subarray(bounds[i])]) };
  }
  return { pieces, rest: null };
}

/** What a server sends for these lines (RFC 3977 3.1.1). */
const stuffed = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat([
    ...lines.flatMap((line) => [Buffer.from(line[0] === 46 ? '.' : ''), line, Buffer.from('\r\n')]),
    Buffer.from('.\r\n'),
  ]);

// Mostly the bytes that matter, so that dots, bare CR and bare LF meet the cuts often.
const byte = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(46, 13, 10, 9, 65) }, fc.integer({ min: 0, max: 255 }));
const line = fc
  .array(byte, { maxLength: 12 })
  .map((bytes) => Buffer.from(bytes))
  // A line may hold a bare CR and a bare LF; CRLF inside it, or a CR right before its own CRLF, would be another line.
  .filter((bytes) => !bytes.includes('\r\n') && bytes.at(-1) !== 13);

describe('the block reader', () => {
  it('gives the same lines however the bytes are cut, and leaves what follows the block alone', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.string(),
        (lines, cuts, after) => {
          const wire = Buffer.concat([stuffed(lines), Buffer.from(after)]);
          const { pieces, rest } = read(wire, cuts);
          const expected = Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from('\r\n')]));
          expect(Buffer.concat(pieces).equals(expected)).toBe(true);
          expect(rest?.toString()).toBe(after);
          for (const piece of pieces) expect(piece.subarray(-2).toString()).toBe('\r\n');
        },
      ),
      { numRuns: propertyRuns(2000) },
    );
  });

  it('does not end before its last byte came', () => {
    const wire = stuffed([Buffer.from('one'), Buffer.from('.two')]);
    for (let length = 0; length < wire.length; length++) {
      expect(read(wire.subarray(0, length), [length / 2]).rest).toBeNull();
    }
  });

  it('takes neither a bare LF nor a bare CR for the end of a line', () => {
    const wire = Buffer.from('a\n.\r\nb\r.\r\n.\n\r\n.\r\nrest');
    const { pieces, rest } = read(wire, []);
    expect(Buffer.concat(pieces).toString()).toBe('a\n.\r\nb\r.\r\n\n\r\n');
    expect(rest?.toString()).toBe('rest');
  });

  it('passes lines on as views of what it was fed, without a copy', () => {
    const wire = Buffer.from('1\tone\r\n2\ttwo\r\n');
    const { lines } = new DotBlock(1000).feed(wire);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.buffer).toBe(wire.buffer);
  });

  it('refuses a line beyond the limit, also when it comes in small pieces', () => {
    const wire = Buffer.from(`${'x'.repeat(100)}\r\n.\r\n`);
    const everywhere = Array.from({ length: 100 }, (_, i) => i);
    expect(() => read(wire, everywhere, 50)).toThrow(RangeError);
    expect(read(wire, everywhere, 102).rest).not.toBeNull();
  });
});
