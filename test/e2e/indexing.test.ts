import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../kit/describeWith.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { ask, type FeedItem, parseNzb } from '../kit/newznabClient.ts';
import { type Nzbget, startNzbget } from '../kit/nzbget.ts';
import { type FileToPost, type Posted, type PostOptions, post } from '../kit/poster.ts';
import { sameBytes } from '../kit/sameBytes.ts';
import { until } from '../kit/until.ts';
import { attributeOf, childOf, childrenOf, parseXml } from '../kit/xmlTree.ts';

const [LINUX, MISC, QUIET] = ['alt.binaries.linux.iso', 'alt.binaries.misc', 'alt.binaries.quiet'] as const;
/** Marks are read this often; the live test posts just after a reading, so that the next one sees all of it: one range. */
const POLL_SECONDS = 8;
const ARTICLE = 50_000;

/** Some files of different kinds: one of one article, some of many, one that ends with a full article. */
const filesOf = (name: string, volumes: number): FileToPost[] => [
  { name: `${name}.nfo`, data: Buffer.from(`${name}\r\n.a line that starts with a dot\r\n`) },
  ...Array.from({ length: volumes }, (_, i) => ({ name: `${name}.part${i + 1}.rar`, size: 4 * ARTICLE + i * 777 })),
  { name: `${name}.vol00+1.par2`, size: 2 * ARTICLE },
];

describeWith(['inn2', 'nzbget'], 'a group in INN, indexed, searched and downloaded', () => {
  let inn: Inn;
  let nzbget: Nzbget;
  let headwater: Headwater;
  const posted: Record<'plain' | 'crossed' | 'broken' | 'single', Posted> = {} as never;

  const send = (options: Pick<PostOptions, 'name' | 'groups' | 'drop' | 'poster'>, volumes = 3): Promise<Posted> =>
    post({ ...options, target: inn, files: filesOf(options.name, volumes), articleSize: ARTICLE });

  beforeAll(async () => {
    inn = await startInn({ groups: [LINUX, MISC, QUIET] });
    posted.plain = await send({ name: 'Debian.12.5.0.amd64.DVD-LXI', groups: [LINUX] });
    posted.crossed = await send({
      name: 'Fedora.39.Workstation.x64-LXI',
      groups: [MISC, LINUX],
      poster: 'f@kit.invalid',
    });
    const isDropped = (file: number, part: number) => file === 2 && part === 2;
    posted.broken = await send({ name: 'Gentoo.2024.Minimal.x86-LXI', groups: [LINUX], drop: isDropped });
    posted.single = await send({ name: 'Alpine.3.19.Standard-LXI', groups: [MISC] }, 1);
    nzbget = await startNzbget({ nntp: inn });
    const tls = { name: 'tls', host: 'localhost', port: inn.tlsPort, ca: inn.ca };
    const login = { name: 'login', host: inn.host, port: inn.authPort, tls: false, user: inn.account.user };
    headwater = await startHeadwater({
      config: {
        providers: [
          { ...tls, connections: 3, backbone: 'inn' },
          { ...login, pass: '${NEWS_PASS}', connections: 3, backbone: 'inn' },
        ],
        indexing: { pollSeconds: POLL_SECONDS, holdBackSeconds: 1, lateSeconds: 2 },
      },
      env: { NEWS_PASS: inn.account.pass },
    });
  });
  afterAll(async () => {
    await headwater?.dispose();
    await nzbget?.dispose();
    await inn?.dispose();
  });

  /** What is listed under the name of a set; the search is by the words of its name. */
  const found = async (set: Posted): Promise<readonly FeedItem[]> =>
    (await headwater.search({ q: set.name.replaceAll('.', ' ') })).items;
  const only = async (set: Posted): Promise<FeedItem> => {
    const items = await found(set);
    expect(items.map((item) => item.title)).toEqual([set.name]);
    return items[0]!;
  };

  it('starts without the sample and finds both ways to the server well', async () => {
    expect((await headwater.search()).total).toBe(0);
    const { code, stdout } = await headwater.cli(['doctor']);
    expect(stdout).toMatch(/ok +provider\/tls: .*answers/);
    expect(stdout).toMatch(/ok +provider\/login: .*takes the login/);
    expect(code).toBe(0);
  });

  it('indexes what the groups hold once they are added', async () => {
    const added = await headwater.cli(['groups', 'add', LINUX, MISC, QUIET]);
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' });
    await headwater.untilIdle({ done: (view) => (view.catalog?.listed ?? 0) >= 4 });
    // The file that lacks a part is shown once nothing more can come to it.
    const files = async (set: Posted) => (await found(set))[0]?.attrs.get('files')?.[0];
    const whole = async () => (await files(posted.broken)) === String(posted.broken.files.length);
    await until('the set that lacks a part to be shown with all of its files', whole, { deadlineMs: 120_000 });
    const { stdout } = await headwater.cli(['groups', 'list']);
    for (const group of [LINUX, MISC, QUIET]) expect(stdout).toContain(group);
    expect((await headwater.status()).code).toBe(0);
  });

  it('finds each set once, by its name, with size, files and groups', async () => {
    for (const set of Object.values(posted)) {
      const item = await only(set);
      const segments = set.files.flatMap((file) => file.segments);
      // The server adds header lines of its own to what was sent.
      const sent = segments.reduce((sum, segment) => sum + segment.bytes, 0);
      expect(item.size, set.name).toBeGreaterThanOrEqual(sent);
      expect(item.size, set.name).toBeLessThan(sent + segments.length * 2000);
      expect(item.attrs.get('files'), set.name).toEqual([String(set.files.length)]);
      expect(item.attrs.get('poster'), set.name).toEqual([set.poster]);
    }
    expect((await headwater.search()).total).toBe(4);
  });

  it('shows a cross-posted set once, in the group that was added first, with all its groups in the NZB', async () => {
    const item = await only(posted.crossed);
    expect(item.attrs.get('group')).toEqual([LINUX]);
    const files = parseNzb(await headwater.get(item.id));
    for (const file of files) expect([...file.groups].sort()).toEqual([LINUX, MISC]);
  });

  it('tells by its completion which set lacks a part', async () => {
    const completion = async (set: Posted) => Number((await only(set)).attrs.get('completion')?.[0]);
    expect(await completion(posted.plain)).toBe(100);
    expect(await completion(posted.broken)).toBeLessThan(100);
    const files = parseNzb(await headwater.get((await only(posted.broken)).id));
    const cut = files.find((file) => file.subject.includes('.part1.rar'));
    expect(cut?.segments.map((s) => s.number)).toEqual([1, 3, 4]);
  });

  it('writes NZBs with the message-ids, numbers and subjects that were posted', async () => {
    for (const set of Object.values(posted)) {
      const files = parseNzb(await headwater.get((await only(set)).id));
      const shape = (subject: string, segments: readonly { messageId: string }[]) => [
        subject,
        segments.map((s) => s.messageId),
      ];
      const expected = set.files.map((file) => shape(file.subject, file.segments));
      const bySubject = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1);
      expect(files.map((f) => shape(f.subject, f.segments)).sort(bySubject)).toEqual(expected.sort(bySubject));
    }
  });

  it('gives NZBGet links from which it takes the name and downloads the posted bytes', async () => {
    for (const set of [posted.plain, posted.crossed, posted.single]) {
      await nzbget.add((await only(set)).link, '');
      const entry = await nzbget.wait(set.name);
      expect(entry.Status, set.name).toMatch(/^SUCCESS/);
      const { missing } = await sameBytes(set, entry.DestDir);
      expect(missing, set.name).toEqual([]);
    }
  });

  it('finds within seconds what is posted while it runs', async () => {
    const ledger = async () => (await headwater.look()).streams.find((s) => s.stream === 'RANGES')?.last ?? 0;
    const before = await ledger();
    await send({ name: 'A.sign.that.the.marks.were.read', groups: [QUIET] }, 0);
    await until('a reading of the marks', async () => (await ledger()) > before, { everyMs: 50, deadlineMs: 120_000 });
    const startedAt = performance.now();
    const late = await send({ name: 'Arch.Linux.2024.04.01-LXI', groups: [LINUX] });
    const crossed = await send({ name: 'Void.Linux.20240314-LXI', groups: [LINUX, MISC] });
    const postedMs = performance.now() - startedAt;
    expect(postedMs).toBeLessThan(POLL_SECONDS * 1000);
    const complete = async (set: Posted) => (await found(set)).at(0)?.attrs.get('completion')?.join() === '100';
    await until('both to be listed whole', async () => (await complete(late)) && (await complete(crossed)), {
      deadlineMs: 120_000,
      everyMs: 200,
    });
    console.log(`posted to searchable: ${Math.round(performance.now() - startedAt)} ms`);
    for (const set of [late, crossed]) {
      await nzbget.add((await only(set)).link, '');
      const entry = await nzbget.wait(set.name);
      expect((await sameBytes(set, entry.DestDir)).missing).toEqual([]);
    }
    const ranges = await headwater.cli(['ranges', 'list', '--json']);
    const lanes = (JSON.parse(ranges.stdout) as readonly { lane: string }[]).map((range) => range.lane);
    expect(lanes).toEqual(expect.arrayContaining(['live', 'backfill']));
  });

  it('pages through its results without losing or repeating one', async () => {
    const whole = (await headwater.search()).items.map((item) => item.id);
    const paged: string[] = [];
    for (let offset = 0; offset < whole.length; offset += 2) {
      const page = await headwater.search({ limit: 2, offset });
      expect({ offset: page.offset, total: page.total }).toEqual({ offset, total: whole.length });
      paged.push(...page.items.map((item) => item.id));
    }
    expect(paged).toEqual(whole);
    const beyond = await headwater.search({ offset: 1000 });
    expect({ items: beyond.items, total: beyond.total }).toEqual({ items: [], total: whole.length });
  });

  it('serves capabilities that the clients accept, without a key', async () => {
    const { status, text } = await ask(headwater.address, { t: 'caps' });
    expect(status).toBe(200);
    expect(text.startsWith('<?xml ')).toBe(true);
    const caps = parseXml(text);
    expect([caps.name, caps.uri]).toEqual(['caps', '']);
    const limits = childOf(caps, 'limits').attributes;
    expect(Number(limits.max)).toBeGreaterThanOrEqual(100);
    expect(Number(limits.default)).toBe(100);
    const searching = childOf(caps, 'searching');
    for (const name of ['search', 'tv-search', 'movie-search', 'audio-search', 'book-search']) {
      const { available, supportedParams } = childOf(searching, name).attributes;
      expect(available, name).toMatch(/^(yes|no)$/);
      expect(supportedParams, name).toMatch(/^[a-z]+(,[a-z]+)*$/);
    }
    expect(childOf(searching, 'search').attributes.available).toBe('yes');
    const categories = childrenOf(childOf(caps, 'categories'), 'category');
    expect(categories.length).toBeGreaterThan(0);
    for (const category of categories.flatMap((c) => [c, ...childrenOf(c, 'subcat')])) {
      expect(attributeOf(category, 'id')).toMatch(/^\d{4,6}$/);
      expect(attributeOf(category, 'name')).not.toBe('');
    }
  });

  it('answers with Newznab errors: 100 to a wrong or missing key, 202 to an unknown function, 404 to an unknown id', async () => {
    const errorOf = async (parameters: Record<string, string>) => {
      const { status, text } = await ask(headwater.address, parameters);
      const error = parseXml(text);
      expect(error.name).toBe('error');
      expect(attributeOf(error, 'description')).not.toBe('');
      return { status, code: attributeOf(error, 'code') };
    };
    const { key: apikey } = headwater;
    expect((await errorOf({ t: 'search', apikey: 'wrong' })).code).toBe('100');
    expect((await errorOf({ t: 'search' })).code).toBe('100');
    expect((await errorOf({ t: 'get', id: '0'.repeat(32), apikey: 'wrong' })).code).toBe('100');
    expect((await errorOf({ t: 'nothing', apikey })).code).toBe('202');
    expect(await errorOf({ t: 'get', id: '0'.repeat(32), apikey })).toEqual({ status: 404, code: '300' });
  });
});
