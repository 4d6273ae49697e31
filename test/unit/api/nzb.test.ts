import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { nzbDocument, subjectOfPart } from '../../../api/nzb/document.ts';
import { contentDisposition, nzbFileName } from '../../../api/nzb/fileName.ts';
import { mergeFiles } from '../../../api/nzb/mergeFiles.ts';
import type { EpochMs, Group, MessageId } from '../../../streams/ids.ts';
import type { ChunkFile, Segment } from '../../../streams/records.ts';

const segment = (part: number, bytes = 1000, id = `p${part}@x`): Segment => ({
  part,
  bytes,
  messageId: id as MessageId,
});

const file = (changes: Partial<ChunkFile> = {}): ChunkFile => ({
  subject: '[1/2] - "a.bin" yEnc (/3)',
  partAt: 22,
  partWidth: 1,
  poster: 'me <me@x>',
  postedAt: 1_700_000_000_000 as EpochMs,
  parts: 3,
  fileIndex: 1,
  fileHash: '00000000000000aa',
  groups: ['alt.binaries.a' as Group],
  segments: [segment(1), segment(2), segment(3)],
  ...changes,
});

const document = (files: readonly ChunkFile[]): string =>
  [...nzbDocument({ title: 'T', category: 'Other > Misc' }, mergeFiles(files))].join('');

interface ReadFile {
  poster: string;
  subject: string;
  date: string;
  groups: string[];
  segments: [number: string, bytes: string, id: string][];
}

/** Reads an NZB as a strict parser does. */
function read(xml: string): ReadFile[] {
  const parser = new SaxesParser();
  const files: ReadFile[] = [];
  let text = '';
  let attributes: Record<string, string> = {};
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    text = '';
    attributes = tag.attributes as Record<string, string>;
    const { poster = '', subject = '', date = '' } = attributes;
    if (tag.name === 'file') files.push({ poster, subject, date, groups: [], segments: [] });
  });
  parser.on('text', (t) => {
    text += t;
  });
  parser.on('closetag', (tag) => {
    if (tag.name === 'group') files.at(-1)!.groups.push(text);
    if (tag.name === 'segment') files.at(-1)!.segments.push([attributes.number!, attributes.bytes!, text]);
  });
  parser.write(xml).close();
  return files;
}

describe('an NZB', () => {
  it('starts with its declaration and names the format that downloaders look for', () => {
    const text = document([file()]);
    expect(
      text.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE nzb PUBLIC "-//newzBin//DTD NZB 1.1//EN"'),
    ).toBe(true);
    expect(text).toContain('<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">');
    expect(text.endsWith('</nzb>\n')).toBe(true);
  });

  it('has the original subject of the first part, the posted time in seconds and the ids without brackets', () => {
    expect(read(document([file()]))).toEqual([
      {
        poster: 'me <me@x>',
        subject: '[1/2] - "a.bin" yEnc (1/3)',
        date: '1700000000',
        groups: ['alt.binaries.a'],
        segments: [
          ['1', '1000', 'p1@x'],
          ['2', '1000', 'p2@x'],
          ['3', '1000', 'p3@x'],
        ],
      },
    ]);
  });

  it('keeps the leading zeros of a counter', () => {
    expect(subjectOfPart({ ...file(), partWidth: 3 }, 7)).toBe('[1/2] - "a.bin" yEnc (007/3)');
  });

  it('joins the pieces of a file from several contributions: one segment a number, the larger body wins', () => {
    const one = file({ segments: [segment(1), segment(2, 500, 'small@x')] });
    const two = file({
      groups: ['alt.binaries.b' as Group],
      segments: [segment(2, 900, 'large@x'), segment(3)],
    });
    for (const pieces of [
      [one, two],
      [two, one],
    ]) {
      const [merged] = read(document(pieces));
      expect(merged?.segments.map((s) => s[2])).toEqual(['p1@x', 'large@x', 'p3@x']);
    }
  });

  it('of equal bodies takes the lower message-id', () => {
    const a = file({ segments: [segment(1, 5, 'b@x')] });
    const b = file({ segments: [segment(1, 5, 'a@x')] });
    expect(read(document([a, b]))[0]?.segments).toEqual([['1', '5', 'a@x']]);
  });

  it('is the same bytes whatever the order of its chunks', () => {
    const files = [1, 2, 3, 4].map((n) =>
      file({ fileIndex: n % 2 ? n : null, fileHash: `${n}`.padStart(16, '0'), subject: `s${n} (/3)`, partAt: 4 }),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(files, { minLength: 4 }), (shuffled) => {
        expect(document(shuffled)).toBe(document(files));
      }),
    );
  });

  it('never has a file without segments, a number below 1, or a size that readers skip', () => {
    const files = [
      file({ segments: [segment(0, 10), segment(1, 0), segment(2, 9e9)] }),
      file({ fileHash: 'ffffffffffffffff', segments: [] }),
    ];
    expect(read(document(files)).map((f) => f.segments)).toEqual([
      [
        ['1', '1', 'p1@x'],
        ['2', '8388607', 'p2@x'],
      ],
    ]);
  });

  it('gives a file without a counter its one article as number 1', () => {
    const lone = file({ subject: 'readme.txt', partAt: -1, partWidth: 0, parts: 0, segments: [segment(0)] });
    expect(read(document([lone]))[0]).toMatchObject({ subject: 'readme.txt', segments: [['1', '1000', 'p0@x']] });
  });
});

describe("a download's file name", () => {
  it.each([
    ['Some.Release-GRP', 'Some.Release-GRP.nzb'],
    ['a/b\\c:"d"', 'a_b_c__d_.nzb'],
    ['x{{password}}', 'x__password__.nzb'],
    ['Größe', 'Groe.nzb'],
    ['漢字', 'release.nzb'],
    ['..', 'release.nzb'],
  ])('of %s is %s', (title, name) => {
    expect(nzbFileName(title)).toBe(name);
    expect(contentDisposition(title)).toBe(`attachment; filename="${name}"`);
  });
});
