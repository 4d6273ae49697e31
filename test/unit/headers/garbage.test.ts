import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_GARBAGE, GarbageTable } from '../../../processors/headers/garbage.ts';
import { compileGlob, globMatches } from '../../../processors/headers/glob.ts';
import { readTool } from '../../../processors/headers/tools.ts';
import { controlGarbage, type GarbageSignature } from '../../../streams/events/control.ts';
import { messageIdOf, TOOLS } from '../../bench/messageIds.ts';
import { Random } from '../../bench/random.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { lineOf, type Made, MIDDLE, parse, parseLines } from '../../kit/rangeLines.ts';

const matches = (pattern: string, text: string) =>
  globMatches(compileGlob(pattern), Buffer.from(text), 0, Buffer.byteLength(text));
const reasonOf = (table: readonly GarbageSignature[], id: string, from: string | Uint8Array) => {
  const [a, b] = [Buffer.from(id, 'latin1'), Buffer.from(from)];
  const all = Buffer.concat([a, b]);
  return new GarbageTable(table).reasonOf(all, 0, a.length, a.length, all.length);
};

describe('a pattern', () => {
  it('fits the whole text, whatever its letter case', () => {
    expect(matches('*@ngPost', 'abc@NGPOST')).toBe(true);
    expect(matches('*@ngpost', 'abc@ngpost.com')).toBe(false);
    expect(matches('a?c', 'abc')).toBe(true);
    expect(matches('a?c', 'ac')).toBe(false);
    expect(matches('*', '')).toBe(true);
    expect(matches('a*', '')).toBe(false);
  });

  it('fits just what the regular expression of the same meaning fits', () => {
    const letters = fc.stringMatching(/^[abAB?*]{0,8}$/);
    fc.assert(
      fc.property(letters, fc.stringMatching(/^[abAB]{0,12}$/), (pattern, text) => {
        const source = pattern.replaceAll('?', '[^]').replaceAll('*', '[^]*');
        expect(matches(pattern, text)).toBe(new RegExp(`^${source}$`, 'i').test(text));
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  it('takes no more than pattern times text steps', () => {
    expect(matches('*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(1000))).toBe(false);
    expect(matches('*a*a*a*a*a*a*a*a*a*a*a*a*b*', 'a'.repeat(1000))).toBe(false);
  });
});

describe('the tool of a message-id', () => {
  it('is read off the ids that the generator makes', () => {
    const random = new Random(3);
    const context = { part: 7, parts: 90, file: 2, files: 30, fileToken: 'Abcdefghij0123456789', nowMs: 1.7e12 };
    for (const tool of TOOLS) {
      expect(readTool(Buffer.from(messageIdOf(tool, context, random)))).toBe(tool);
    }
  });

  it('is read off the other shapes of the trade, and off nothing else', () => {
    const ids: Readonly<Record<string, string | null>> = {
      'Part3of9.0123456789ABCDEF0123456789ABCDEF@1262304000.local': 'yencbin',
      'a1B2c3D4e5F6g7H8i9J0@JBinUp.local': 'jbinup',
      'a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6.3-9@JBinDown.local': 'jbindown',
      '{01234567-89ab-4cde-8f01-23456789abcd}@ngPost': 'ngpost',
      '0123456789abcdef0123456789abcdef01234567@0123456789abcdef01234.abc': 'nxg',
      '1262304000123456.ABC123@XYZ987.newsup': 'newsup',
      '1262304000.12345.17@news.example.org': 'newsmangler',
      '1262304000123456789$gps@gopoststuff': 'gopoststuff',
      'NewzToolz_Rulz!_host_A10_B7@giganews.example': 'newztoolz',
      'file=a.rar|part=3|start=0|size=100': 'testserver',
      'a/b.rar?3=0:100': 'testserver',
      '0123456789abcdef0123456789abcdef@ngPost': null,
      'hello@world': null,
    };
    for (const [id, tool] of Object.entries(ids)) expect([id, readTool(Buffer.from(id))]).toEqual([id, tool]);
    expect(readTool(Buffer.from('hello@world'), [])).toBeNull();
  });
});

describe('a garbage table', () => {
  const table: readonly GarbageSignature[] = [
    { signature: 'flood', field: 'poster', pattern: '*müller*' },
    { signature: 'odd-ids', field: 'message_id', pattern: '*@odd.example' },
    { signature: 'nyuu', field: 'tool', pattern: 'nyu?' },
  ];
  const NYUU = `${'Ab'.repeat(12)}-1700000000000@nyuu`;

  it('says the first signature of the table that fits, by poster, message-id or tool', () => {
    expect(reasonOf(table, 'a@b', 'x')).toBeNull();
    expect(reasonOf(table, 'a@ODD.example', 'x')).toBe('garbage_odd-ids');
    expect(reasonOf(table, NYUU, 'x')).toBe('garbage_nyuu');
    expect(reasonOf(table, 'a@odd.example', ' Hans Müller <h@x> ')).toBe('garbage_flood');
    expect(reasonOf(table, 'a@b', Buffer.from('Hans MÜLLER', 'latin1'))).toBe('garbage_flood');
    expect(reasonOf(table, 'a@b', `müller${'x'.repeat(2000)}`)).toBeNull();
    expect(reasonOf([...table].reverse(), NYUU, 'müller')).toBe('garbage_nyuu');
    expect(reasonOf([], NYUU, 'müller')).toBeNull();
  });

  it('of the default is one that the operator could have', () => {
    const data = { origin: 'operator' as const, garbageVersion: 1, signatures: [...DEFAULT_GARBAGE] };
    expect(controlGarbage.decode(controlGarbage.encode(data))).toEqual(data);
    expect(reasonOf(DEFAULT_GARBAGE, 'a@ngPost', 'Ab3dE6gH9jK2m@ngPost.com')).toBe('garbage_ngpost-article');
    expect(reasonOf(DEFAULT_GARBAGE, 'file=a|part=1|start=0|size=9', 'x')).toBe('garbage_test-server');
    expect(reasonOf(DEFAULT_GARBAGE, NYUU, 'Somebody <s@ngPost.com>')).toBeNull();
  });
});

describe('garbage', () => {
  const garbage: readonly GarbageSignature[] = [{ signature: 'flood', field: 'poster', pattern: 'flood*' }];
  const FLOOD = { from: 'flood <f@x>' };
  const HIDDEN = '"9ciQK4R3mMmKGyhEXWTqlk.mkv" yEnc';
  const line = (n: number, subject: string, more: Partial<Made> = {}): Made => ({
    number: MIDDLE + n,
    subject,
    ...more,
  });

  it('is a random name with a signature: dropped and counted under it, and nothing else is', () => {
    const { counts, releases, random } = parseLines(
      [
        line(1, 'q07sm3WntuDK4fAokUvxymKQ8qAN93MmoBZ9pax', FLOOD),
        line(2, 'q07sm3WntuDK4fAokUvxymKQ8qAN93MmoBZ9pay'),
        line(3, `${HIDDEN} (1/2)`, FLOOD),
        line(4, `${HIDDEN} (2/2)`, FLOOD),
        line(5, `${HIDDEN} (1/2)`),
        line(6, `${HIDDEN} (2/2)`),
        line(7, '"Some.Title.mkv" yEnc (1/1)', FLOOD),
        line(8, 'Re: what a nice day', FLOOD),
      ],
      { garbage },
    );
    expect(counts).toEqual({ lines: 8, kept: 3, skipped: { garbage_flood: 3, random: 1, text: 1 } });
    expect(random.lines).toBe(1);
    expect(releases.map((r) => [r.contribution.name, r.contribution.segments])).toEqual([
      ['9ciQK4R3mMmKGyhEXWTqlk', 2],
      ['Some.Title', 1],
    ]);
  });

  it('leaves no trace in spans, postings and pieces', () => {
    const lines = [line(1, `${HIDDEN} (1/2)`, FLOOD), line(2, `${HIDDEN} (2/2)`, FLOOD)];
    const parsed = parse([lines.map(lineOf).join('')], { garbage });
    expect([[...parsed.releases()], [...parsed.pieces()], parsed.lone(), [...parsed.candidates()]]).toEqual([
      [],
      [],
      [],
      [],
    ]);
  });
});
