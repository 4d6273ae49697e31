import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ParsedRange } from '../../../processors/headers/parseRange.ts';
import type { GroupRanks } from '../../../processors/headers/xref.ts';
import type { GarbageSignature } from '../../../streams/events/control.ts';
import { Group } from '../../../streams/ids.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { DAY, lineOf, MIDDLE, OWN, parse, partsOf, recordsOf } from '../../kit/rangeLines.ts';

/** Lines in the shapes that the rules care about, and broken ones among them. */
const anyLine = fc.record({
  // Near an edge of the range, or far from both.
  number: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: MIDDLE, max: MIDDLE + 300 })),
  subject: fc.oneof(
    fc
      .tuple(
        fc.constantFrom('Some.Title.part1.rar', 'Some.Title.nfo', 'sample.avi', 'Kf9UyY9ZpxkXPkRa.mkv'),
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 0, max: 5 }),
      )
      .map(([name, n, total]) => `[1/4] "${name}" yEnc (${n}/${total})`),
    fc.constantFrom('Re: hello there', 'q07sm3WntuDK4fAokUvxymKQ8qAN93', '=?utf-8?q?=22a.rar=22_yEnc_=281/2=29?=', ''),
    fc.string({ maxLength: 40 }).map((s) => s.replace(/[\t\r\n]/g, ' ')),
  ),
  from: fc.constantFrom('a', 'b <b@c>'),
  at: fc.oneof(
    fc.constantFrom('', 'nonsense'),
    fc.integer({ min: 0, max: 9 }).map((d) => d * DAY),
  ),
  bytes: fc.integer({ min: 0, max: 9 }),
  id: fc.stringMatching(/^[a-z]{0,3}@?[a-z]{0,2}$/),
  xref: fc.constantFrom(`${OWN}:5`, `alt.other:9 ${OWN}:5`, '', 'alt.unlisted:3'),
});
/** Fits some of the lines above. */
const GARBAGE: readonly GarbageSignature[] = [
  { signature: 'b', field: 'poster', pattern: 'b *' },
  { signature: 'z', field: 'message_id', pattern: '*z*' },
  { signature: 'tools', field: 'tool', pattern: '*' },
];
const anyRanks: GroupRanks = new Map([[Group('alt.other'), { rank: 1, spans: [[1, 10]] }]]);
const lineBatches = fc.array(anyLine.map(lineOf), { maxLength: 60 });

/** The batch format of the contract: lines ended by LF; what follows the last LF is a line when it is not empty. */
const linesIn = (bytes: Uint8Array): number => {
  let lines = 0;
  for (const b of bytes) if (b === 10) lines++;
  return bytes.length > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
};
const total = (counts: ParsedRange['counts']) =>
  counts.kept + Object.values(counts.skipped).reduce((sum, n) => sum + n, 0);

describe('any input', () => {
  it('never throws and counts every line exactly once', () => {
    const texty = fc
      .array(
        fc.oneof(fc.constantFrom('\t', '\r', '\n', '\r\n', '<a@b>', '"', '(1/2)', '12\t', '\0', '=?'), fc.string()),
      )
      .map((s) => Buffer.from(s.join('')));
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 300 }),
            texty,
            lineBatches.map((l) => Buffer.from(l.join(''))),
          ),
          { maxLength: 4 },
        ),
        (batches) => {
          const parsed = parse(batches, { garbage: GARBAGE });
          expect(parsed.counts.lines).toBe(batches.reduce((sum, b) => sum + linesIn(b), 0));
          expect(total(parsed.counts)).toBe(parsed.counts.lines);
          const records = recordsOf(parsed);
          const segments = records.releases.reduce((sum, r) => sum + r.contribution.segments, 0);
          const inPieces = records.pieces.reduce((sum, p) => sum + p.segments, 0);
          expect(segments + inPieces).toBe(parsed.counts.kept);
          expect(records.lone.length).toBeLessThanOrEqual(parsed.counts.skipped.random ?? 0);
          for (const { contribution, chunks } of records.releases) {
            expect(chunks.map((c) => c.k)).toEqual([...Array(contribution.chunks).keys()]);
            expect(chunks.reduce((sum, c) => sum + c.segments, 0)).toBe(contribution.segments);
          }
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });

  it('gives the same records for any cut into batches', () => {
    fc.assert(
      fc.property(lineBatches, fc.array(fc.nat({ max: 60 })), (lines, cuts) => {
        const borders = [0, ...new Set(cuts.map((c) => Math.min(c, lines.length))), lines.length].sort((a, b) => a - b);
        const batches = borders.slice(1).map((end, i) => lines.slice(borders[i]!, end).join(''));
        expect(recordsOf(parse(batches, { ranks: anyRanks, garbage: GARBAGE }))).toEqual(
          recordsOf(parse([lines.join('')], { ranks: anyRanks, garbage: GARBAGE })),
        );
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('gives the same records for any seed, and for CRLF and LF', () => {
    fc.assert(
      fc.property(lineBatches, fc.integer(), (lines, seed) => {
        const text = lines.join('');
        const expected = recordsOf(parse([text], { seed: 1 }));
        expect(recordsOf(parse([text], { seed }))).toEqual(expected);
        expect(recordsOf(parse([text.replaceAll('\r\n', '\n')], { seed }))).toEqual(expected);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('makes the records again when they are asked for again', () => {
    const parsed = parse([partsOf('some.title.rar', 5, 1).map(lineOf).join('')]);
    expect(recordsOf(parsed)).toEqual(recordsOf(parsed));
  });
});
