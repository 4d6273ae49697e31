import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wasmZstd } from '../../streams/codec/zstd.ts';
import { blockReply, type FakeGroup } from '../kit/fakeNews.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { parseNzb } from '../kit/newznabClient.ts';
import { type FakeNntp, startFakeNntp } from '../kit/nntpServer.ts';
import { until } from '../kit/until.ts';

const POSTED_AT = 1_780_000_000;
const DEADLINE_MS = 240_000;

interface File {
  readonly subject: string;
  readonly groups: readonly string[];
  readonly segments: readonly { readonly number: number; readonly bytes: number; readonly messageId: string }[];
}

const segments = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    number: i + 1,
    bytes: 700_000 + i,
    messageId: `${name}.${i + 1}$x@news.example`,
  }));
const GROUPS = ['alt.binaries.linux', 'alt.binaries.misc'];
const files: readonly File[] = ['part01.rar', 'part02.rar', 'nfo'].map((end, i) => ({
  subject: `[${i + 1}/3] - "Some.Linux.Disc.2026.${end}" yEnc (01/12)`,
  groups: GROUPS,
  segments: segments(end, 12),
}));

const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const nzb = (some: readonly File[]): string =>
  [
    '<?xml version="1.0" encoding="iso-8859-1"?>',
    '<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">',
    ...some.flatMap((f) => [
      `<file poster="me (at) example" date="${POSTED_AT}" subject="${xml(f.subject)}">`,
      `<groups>${f.groups.map((g) => `<group>${g}</group>`).join('')}</groups><segments>`,
      ...f.segments.map((s) => `<segment number="${s.number}" bytes="${s.bytes}">${xml(s.messageId)}</segment>`),
      '</segments></file>',
    ]),
    '</nzb>',
  ].join('\n');

/** An overview file without Xref: the last column is not there at all. */
const overview = Array.from({ length: 20 }, (_, i) => {
  const date = new Date((POSTED_AT + i) * 1000).toUTCString();
  return `${i + 100}\t"Another.Disc.2026.rar" yEnc (${i + 1}/20)\tme\t${date}\t<o${i}@news.example>\t\t700000\t5\r\n`;
}).join('');
/** A group with a thousand articles in each of four years. */
const YEARS = [2019, 2020, 2021, 2022];
const YEAR_NUMBERS = 1000;
const oldGroup: FakeGroup = {
  name: 'alt.binaries.years',
  low: 1,
  high: YEARS.length * YEAR_NUMBERS,
  overview: new Map(
    Array.from({ length: YEARS.length * YEAR_NUMBERS }, (_, i) => {
      const date = new Date(Date.UTC(YEARS[Math.floor(i / YEAR_NUMBERS)]!, 5, 1, 0, 0, i % YEAR_NUMBERS));
      return [i + 1, `${i + 1}\t"y${i}.rar" yEnc (1/1)\tme\t${date.toUTCString()}\t<y${i}@news.example>\t\t700\t5`];
    }),
  ),
};

describe('what an operator does by commands', () => {
  let news: FakeNntp;
  let headwater: Headwater;
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await headwater.cli(args);
    return { code, stdout, stderr };
  };
  const data = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  };
  const messages = async () => {
    const { streams } = await headwater.look();
    const said = streams.filter((s) => /^(CONTROL|RANGES|RELEASES|CHUNKS|OVERVIEW)/.test(s.stream));
    return Object.fromEntries(said.map((s) => [s.stream, s.last]));
  };
  const path = (name: string) => join(headwater.folder, name);

  beforeAll(async () => {
    const active = ['alt.binaries.small 110 101 y', 'alt.binaries.big 9000 1 y', 'odd', 'alt.text 99999 1 y'];
    const list = { on: /^LIST ACTIVE/, act: { do: 'send' as const, bytes: blockReply('215 groups', active) } };
    news = await startFakeNntp({ news: { groups: [oldGroup] }, rules: [list] });
    const providers = [{ name: 'fake', host: news.host, port: news.port, tls: false, connections: 2 }];
    const indexing = { backfillRangeNumbers: YEAR_NUMBERS, outstandingRangesMax: 1, pollSeconds: 1 };
    const upArguments = ['--order', 'newest'];
    headwater = await startHeadwater({ config: { sample: false, providers, indexing }, upArguments });
    mkdirSync(path('nzbs'));
    writeFileSync(path('nzbs/a.nzb'), nzb(files.slice(0, 2)));
    writeFileSync(path('nzbs/b.nzb.gz'), gzipSync(nzb(files.slice(2))));
    writeFileSync(path('nzbs/c.nzb'), nzb(files).slice(0, 900));
    writeFileSync(path('overview.zst'), (await wasmZstd()).compress(Buffer.from(overview), 3));
  });
  afterAll(async () => {
    await headwater?.dispose();
    await news?.stop();
  });

  it('makes one release of two NZBs and gives their segments back; a broken one is named, and the others go on', async () => {
    const { code, stdout } = await run('import', 'nzb', path('nzbs'));
    expect(code).toBe(1);
    expect(stdout).toMatch(/IMPORT_NZB_BROKEN: .*c\.nzb, line \d+: /);
    expect(stdout).toContain('3 NZBs, 36 segments: 2 new, 1 refused');
    const done = ({ catalog }: { catalog: { listed: number } | null }) => (catalog?.listed ?? 0) > 0;
    await headwater.untilIdle({ done, deadlineMs: DEADLINE_MS });
    const found = await headwater.searchAll({ q: 'some linux disc' });
    expect(found.map((item) => item.title)).toEqual(['Some.Linux.Disc.2026']);
    const given = parseNzb(await headwater.get(found[0]!.id));
    const plain = given.map(({ subject, groups, segments: s }) => ({ subject, groups, segments: s }));
    const byName = (a: { subject: string }, b: { subject: string }) => (a.subject < b.subject ? -1 : 1);
    expect([...plain].sort(byName)).toEqual(files);
    expect(given.every(({ date }) => date === POSTED_AT)).toBe(true);
  });

  it('changes nothing when the same NZBs are imported again', async () => {
    const before = await messages();
    const { stdout } = await run('import', 'nzb', path('nzbs/a.nzb'));
    expect(stdout).toContain('1 NZB, 24 segments: 0 new, 1 imported before');
    expect(await messages()).toEqual(before);
  });

  it('imports overview lines that zstd packed and that have no Xref', async () => {
    const place = ['--group', 'alt.binaries.linux', '--backbone', 'files'];
    const imported = await run('import', 'overview', path('overview.zst'), ...place);
    expect(imported).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^20 lines, .* 1 new range\nonce it is parsed, .*\n$/),
      stderr: '',
    });
    await headwater.untilIdle({ deadlineMs: DEADLINE_MS });
    const found = await headwater.searchAll({ q: 'another disc' });
    expect(found).toHaveLength(1);
    expect(parseNzb(await headwater.get(found[0]!.id)).map((f) => [f.groups, f.segments.length])).toEqual([
      [['alt.binaries.linux'], 20],
    ]);
    const shown = await data<readonly { lines: number; kept: number; skipped: Readonly<Record<string, number>> }[]>(
      'ranges',
      'list',
      '--group',
      'alt.binaries.linux',
      '--era',
      '2026',
    );
    // The NZBs before it came from ranges of their own.
    expect(shown).toContainEqual(expect.objectContaining({ lines: 20, kept: 20, skipped: {} }));
    expect(await data('ranges', 'list', '--era', '2025')).toEqual([]);
  });

  it('plans groups by their size: shown first, added only when told to, and once', async () => {
    const list = () => data<{ entries: { group: string; rank: number; removed: boolean }[] }>('groups', 'list');
    const before = await list();
    const shown = await run('groups', 'plan', '--top', '5');
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/alt\.binaries\.big +9,000 +fake\n.*alt\.binaries\.small +10 +fake\n/);
    expect(shown.stdout).toContain('1 line of LIST ACTIVE named no usable group');
    expect(shown.stdout).toContain('would add 2 groups; nothing is changed without --apply');
    expect(await list()).toEqual(before);
    expect((await run('groups', 'plan', '--top', '1', '--live-only', '--apply')).stdout).toContain('added: 1 group');
    const [last] = (await list()).entries.slice(-1);
    expect(last).toMatchObject({ group: 'alt.binaries.big', rank: before.entries.length + 1, removed: false });
    expect((await run('groups', 'plan', '--top', '1', '--apply')).stdout).toContain('nothing to add');
  });

  it('keeps the garbage table in versions', async () => {
    const list = () => data<{ garbageVersion: number; signatures: { signature: string }[] }>('garbage', 'list');
    const before = await list();
    expect(before.garbageVersion).toBe(0);
    const add = ['garbage', 'add', '--signature', 'spam', '--poster', '*@spam.example'];
    expect((await run(...add)).stdout).toContain('added: spam; version 1');
    expect((await run(...add)).stdout).toContain('nothing to do');
    expect((await list()).signatures).toEqual([
      ...before.signatures,
      { signature: 'spam', field: 'poster', pattern: '*@spam.example' },
    ]);
    expect((await run('garbage', 'remove', 'spam')).stdout).toContain('version 2');
    expect(await list()).toEqual({ ...before, garbageVersion: 2 });
    expect((await run('garbage', 'remove', 'spam')).code).toBe(1);
  });

  it('has nothing to try again where nothing failed, and says so of a range that is named', async () => {
    expect(await run('ranges', 'retry', '--state', 'failed')).toMatchObject({
      code: 0,
      stdout: '0 ranges will be planned again\n',
    });
    const named = await run('ranges', 'retry', '0-1-9');
    expect([named.code, named.stdout]).toEqual([1, expect.stringContaining('no failed range is called 0-1-9')]);
    expect((await run('ranges', 'retry')).code).toBe(2);
    const misspelt = await run('ranges', 'retry', '--group', 'alt.binaries.linus');
    expect([misspelt.code, misspelt.stdout, misspelt.stderr]).toEqual([1, '', expect.stringMatching(/^GROUP_UNKNOWN/)]);
  });

  it('begins backfill with the newest year when `up` is told so, whatever the configuration says', async () => {
    expect((await run('groups', 'add', oldGroup.name)).code).toBe(0);
    type Range = { lane: string; era: number; state: string; plannedAt: number };
    const backfill = async () => {
      const all = await data<readonly Range[]>('ranges', 'list', '--group', oldGroup.name);
      const ranges = all.filter((range) => range.lane === 'backfill');
      return ranges.length === YEARS.length && ranges.every((range) => range.state === 'parsed') ? ranges : null;
    };
    const ranges = await until('every year to be parsed', backfill, { deadlineMs: DEADLINE_MS, everyMs: 1000 });
    const inOrder = ranges.toSorted((a, b) => a.plannedAt - b.plannedAt).map((range) => range.era);
    expect(inOrder).toEqual(YEARS.toReversed());
  });

  it('takes the order of backfill only where it has an effect', async () => {
    const misplaced = await run('run', 'api', '--order', 'newest');
    expect([misplaced.code, misplaced.stderr]).toEqual([2, expect.stringMatching(/^USAGE_WRONG_VALUE: --order takes/)]);
    const misspelt = await run('run', 'coordinator', '--order', 'sideways');
    expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('oldest, newest')]);
  });
});
