import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { importNzbs, nzbFiles } from '../../../infra/processes/commands/importNzb.ts';
import { openFrame } from '../../../processors/fetch/frame.ts';
import { readLine } from '../../../processors/headers/lines.ts';
import { firstGroup, nzbOverview, partSubjects } from '../../../processors/import/nzbLines.ts';
import type { NzbContent, NzbFile } from '../../../processors/import/nzbReader.ts';
import { Group } from '../../../streams/ids.ts';
import { postedNzb } from '../../kit/postedNzb.ts';
import { type ProcessorWorld, processorWorld } from '../../kit/processorWorld.ts';

const A = Group('alt.binaries.a');
const file = (changes: Partial<NzbFile> = {}): NzbFile => ({
  subject: '"a.rar" yEnc (1/3)',
  poster: 'me <me@x>',
  date: 1_700_000_000,
  groups: [A],
  segments: [1, 2, 3].map((number) => ({ number, bytes: 500 + number, messageId: `${number}@x` })),
  ...changes,
});
const contentOf = (...files: NzbFile[]): NzbContent => ({
  files,
  segments: files.reduce((sum, f) => sum + f.segments.length, 0),
  unusable: 0,
});
const text = (content: NzbContent, group = A) => Buffer.concat([...nzbOverview(content, group).pieces()]).toString();

describe('the subject of a part of an NZB', () => {
  const parts = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ number: i + 1, bytes: 1, messageId: 'a' }));
  it.each([
    ['"a.rar" yEnc (1/12)', 12, '"a.rar" yEnc (9/12)'],
    ['"a.rar" yEnc (01/12)', 12, '"a.rar" yEnc (09/12)'],
    ['"a.rar" yEnc (12/12)', 12, '"a.rar" yEnc (9/12)'],
    ['[3/7] - "ä.rar" yEnc (1/12) 5 MB', 12, '[3/7] - "ä.rar" yEnc (9/12) 5 MB'],
    // An incomplete NZB knows the total better than its segments do.
    ['"a.rar" yEnc (1/20)', 9, '"a.rar" yEnc (9/20)'],
    // Without a counter of parts one is put behind it; what counts less than the parts counts something else.
    ['"a.rar"', 12, '"a.rar" (9/12)'],
    ['a post (3/7)', 12, 'a post (3/7) (9/12)'],
    ['"a.nfo"', 1, '"a.nfo"'],
  ])('%j of %i parts has part 9 as %j', (subject, count, ninth) => {
    expect(partSubjects({ subject, segments: parts(count) })(9)).toBe(ninth);
  });
});

describe('an NZB as overview lines', () => {
  it('has a line a segment that the headers core reads back as it was', () => {
    const lines = text(contentOf(file({ groups: [A, Group('alt.binaries.b')] }))).split('\r\n');
    expect(lines).toHaveLength(4);
    const reading = readLine(Buffer.from(lines[1]!));
    expect(reading).toMatchObject({
      ok: true,
      line: {
        subject: '"a.rar" yEnc (2/3)',
        from: 'me <me@x>',
        date: 1_700_000_000_000,
        messageId: '<2@x>',
        bytes: 502,
        xref: 'nzb alt.binaries.b:0',
      },
    });
  });

  it('has the same numbers whenever it is imported, others than any other NZB, counted up without a gap', () => {
    const [one, same, other] = [contentOf(file()), contentOf(file()), contentOf(file({ poster: 'you' }))];
    const numbers = (content: NzbContent) =>
      text(content)
        .trimEnd()
        .split('\r\n')
        .map((line) => Number(line.split('\t')[0]));
    const [first = 0, second, third] = numbers(one);
    expect([second, third]).toEqual([first + 1, first + 2]);
    expect(numbers(same)).toEqual(numbers(one));
    expect(numbers(other)[0]).not.toBe(first);
    expect(Number.isSafeInteger(first) && first > 0).toBe(true);
  });

  it('belongs to the first group that any of its files names', () => {
    expect(firstGroup(contentOf(file({ groups: [] }), file()))).toBe(A);
    expect(firstGroup(contentOf(file({ groups: [] })))).toBeNull();
  });
});

describe('importing NZBs', () => {
  let folder: string;
  const posted = (name: string, groups: readonly string[] = ['alt.binaries.a']) => ({
    name,
    poster: 'me <me@x>',
    groups,
    files: [
      {
        name: `${name}.rar`,
        subject: `"${name}.rar" yEnc (1/2)`,
        segments: [1, 2].map((part) => ({ part, bytes: 700, messageId: `${name}.${part}@x` })),
      },
    ],
  });
  const document = (name: string, groups?: readonly string[]) =>
    postedNzb(posted(name, groups) as unknown as Parameters<typeof postedNzb>[0], 1_700_000_000_000);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hw-nzb-'));
    mkdirSync(join(folder, 'more'));
    writeFileSync(join(folder, 'b.nzb'), document('b'));
    writeFileSync(join(folder, 'a.nzb'), document('a'));
    writeFileSync(join(folder, 'notes.txt'), 'none');
    writeFileSync(join(folder, 'broken.nzb'), document('c').replace('</segments>', ''));
    writeFileSync(join(folder, 'more', 'd.NZB.gz'), gzipSync(document('d', ['alt.binaries.d'])));
    writeFileSync(join(folder, 'more', 'nowhere.nzb'), document('e').replaceAll(/<group>.*<\/group>/g, ''));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = async (world: ProcessorWorld, path: string, group: Group | null = null) => {
    const failures: HeadwaterError[] = [];
    const totals = await importNzbs(nzbFiles(path), {
      ports: world,
      group,
      signal: new AbortController().signal,
      onFile: (_, failure) => void (failure && failures.push(failure)),
    });
    return { totals, failures: failures.map((f) => f.message) };
  };
  const last = (world: ProcessorWorld) =>
    (['CONTROL', 'RANGES', 'OVERVIEW'] as const).map((family) => world.events.stream(family).last);

  it('takes all of a folder in order of their names, tells of those that are none, and goes on', async () => {
    const world = processorWorld();
    const { totals, failures } = await run(world, folder);
    expect(totals).toEqual({ files: 5, imported: 3, known: 0, refused: 2, segments: 6, unusable: 0 });
    expect(failures).toEqual([
      expect.stringMatching(/IMPORT_NZB_BROKEN: .*broken\.nzb, line 10: unexpected close tag/),
      expect.stringMatching(/IMPORT_NZB_BROKEN: .*nowhere\.nzb, line 1: it names no newsgroup/),
    ]);
    const fetched = world.events.events('RANGES', 'range.fetched').map(({ data }) => data);
    expect(fetched.map(({ backbone, group, lane, lines, missing }) => [backbone, group, lane, lines, missing])).toEqual(
      [
        ['nzb', 'alt.binaries.a', 'import', 2, []],
        ['nzb', 'alt.binaries.a', 'import', 2, []],
        ['nzb', 'alt.binaries.d', 'import', 2, []],
      ],
    );
    const stored = world.events
      .events('OVERVIEW', 'overview.batch')
      .map(({ data }) => openFrame(data.body).raw.toString());
    expect(stored[0]).toMatch(/^\d+\t"a\.rar" yEnc \(1\/2\)\t.*<a\.1@x>.*\r\n\d+\t"a\.rar" yEnc \(2\/2\)\t.*<a\.2@x>/);
    expect((await world.groupLists.current())?.entries.map((e) => [e.group, e.removed])).toEqual([
      ['alt.binaries.a', true],
      ['alt.binaries.d', true],
    ]);
  });

  it('changes nothing the second time, though the first came from elsewhere', async () => {
    const world = processorWorld();
    await run(world, folder);
    const before = last(world);
    const copy = mkdtempSync(join(tmpdir(), 'hw-nzb-copy-'));
    try {
      writeFileSync(join(copy, 'other name.nzb'), document('d', ['alt.binaries.d']));
      expect((await run(world, copy)).totals).toMatchObject({ imported: 0, known: 1 });
    } finally {
      rmSync(copy, { recursive: true });
    }
    expect((await run(world, folder)).totals).toMatchObject({ imported: 0, known: 3, refused: 2 });
    expect(last(world)).toEqual(before);
  });

  it('puts NZBs that name no group into the group that the call names', async () => {
    const world = processorWorld();
    const { totals } = await run(world, join(folder, 'more', 'nowhere.nzb'), Group('alt.given'));
    expect(totals).toMatchObject({ imported: 1, refused: 0 });
    expect(world.events.events('RANGES', 'range.fetched')[0]?.data.group).toBe('alt.given');
  });

  it('ends with an error that is not of one file', async () => {
    const world = processorWorld();
    world.events.failNext(new Error('the process dies here'), 1, 'range.planned');
    await expect(run(world, folder)).rejects.toThrow('dies here');
  });

  it('refuses a path where nothing is', () => {
    expect(() => nzbFiles(join(folder, 'absent'))).toThrow(/IMPORT_FILE_UNREADABLE.*absent/);
  });
});
