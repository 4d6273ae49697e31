import { readFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { describeWith } from '../kit/describeWith.ts';
import { type Inn, startInn } from '../kit/inn.ts';
import { type Nzbget, startNzbget } from '../kit/nzbget.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { postedNzb } from '../kit/postedNzb.ts';
import { type FileToPost, type PostOptions, post } from '../kit/poster.ts';
import { sameBytes } from '../kit/sameBytes.ts';

const MISC = 'alt.binaries.misc';
const TEST = 'alt.binaries.test';

/** Three files: one article, several articles, and an exact multiple of the article size. */
const files = (name: string): FileToPost[] => [
  { name: `${name}.nfo`, data: Buffer.from(`${name}\r\n.a line that starts with a dot\r\n`) },
  { name: `${name}.part1.rar`, size: 350_001 },
  { name: `${name}.part2.rar`, size: 100_000 },
];

/** All overview lines of a group, read by a bare XOVER. */
async function overview(inn: Inn, group: string): Promise<string[]> {
  const socket = connectPlain(inn.port, inn.host);
  socket.write(`GROUP ${group}\r\nXOVER 1-\r\nQUIT\r\n`);
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  const lines = text.split('\r\n');
  const first = lines.findIndex((line) => line.startsWith('224')) + 1;
  return lines.slice(first, lines.indexOf('.', first));
}

describeWith(['inn2', 'nzbget'], 'the kit of real servers', () => {
  let inn: Inn;
  let nzbget: Nzbget;
  beforeAll(async () => {
    inn = await startInn({ groups: [TEST, MISC] });
    nzbget = await startNzbget({ nntp: { host: inn.host, port: inn.port } });
  });
  afterAll(async () => {
    await nzbget?.dispose();
    await inn?.dispose();
  });

  async function postAndDownload(options: Omit<PostOptions, 'target' | 'files' | 'articleSize'>) {
    const posted = await post({ target: inn, articleSize: 50_000, files: files(options.name), ...options });
    await nzbget.add(postedNzb(posted, Date.now()), options.name);
    const entry = await nzbget.wait(options.name, 60_000);
    return { posted, entry, bytes: await sameBytes(posted, entry.DestDir) };
  }

  it('downloads what was posted to one group, byte for byte', async () => {
    const { posted, entry, bytes } = await postAndDownload({ name: 'kit-plain-1.0', groups: [TEST] });
    expect(posted.articles).toBe(1 + 8 + 2);
    expect(entry.Status).toMatch(/^SUCCESS/);
    expect(bytes.missing).toEqual([]);
    expect(bytes.same).toHaveLength(3);
  });

  it('downloads a cross-posted, obfuscated set byte for byte', async () => {
    const { posted, entry, bytes } = await postAndDownload({
      name: 'kit-cross-1.0',
      groups: [TEST, MISC],
      obfuscated: true,
      connections: 3,
    });
    expect(posted.files.every((file) => /^[0-9a-f]{32}$/.test(file.shown))).toBe(true);
    expect(entry.Status).toMatch(/^SUCCESS/);
    expect(bytes.missing).toEqual([]);
  });

  it('sees that bytes are missing when parts were not posted', async () => {
    const { posted, entry, bytes } = await postAndDownload({
      name: 'kit-lossy-1.0',
      groups: [TEST],
      drop: (file, part) => file === 2 && part === 3,
    });
    expect(posted.files[1]?.segments.map((s) => s.part)).toEqual([1, 2, 4, 5, 6, 7, 8]);
    expect(entry.Status).toMatch(/^FAILURE/);
    expect(bytes.missing).toEqual(['kit-lossy-1.0.part1.rar']);
  });

  it('posts through the login port and over TLS with a certificate that can be trusted', async () => {
    const one = [{ name: 'a.bin', size: 1000 }];
    const login = { host: inn.host, port: inn.authPort, account: inn.account };
    const tls = { host: inn.host, port: inn.tlsPort, tlsCa: inn.ca };
    await expect(post({ target: login, name: 'kit-login', groups: [TEST], files: one })).resolves.toMatchObject({
      articles: 1,
    });
    await expect(post({ target: tls, name: 'kit-tls', groups: [TEST], files: one })).resolves.toMatchObject({
      articles: 1,
    });
    const wrong = { ...login, account: { user: 'reader', pass: 'wrong' } };
    await expect(post({ target: wrong, name: 'kit-wrong', groups: [TEST], files: one })).rejects.toThrow('481');
  });

  it('refuses a client that does not trust its certificate', async () => {
    const failure = await new Promise<Error>((resolve, reject) => {
      const socket = connect({ host: inn.host, port: inn.tlsPort, servername: 'localhost' }, () => {
        socket.destroy();
        reject(new Error('the self-signed certificate was trusted'));
      });
      socket.once('error', resolve);
    });
    expect(failure).toMatchObject({ code: expect.stringMatching(/SELF_SIGNED/) });
    expect(readFileSync(inn.ca, 'latin1')).toContain('BEGIN CERTIFICATE');
  });

  it('keeps ports and articles over a kill', async () => {
    const target = { host: inn.host, port: inn.port };
    await inn.addGroup('kit.after.kill');
    const posted = await post({
      target,
      name: 'kit-kill-1.0',
      groups: ['kit.after.kill'],
      files: files('kit-kill-1.0'),
    });
    await inn.kill();
    await expect(post({ target, name: 'down', groups: [TEST], files: files('down') })).rejects.toThrow('ECONNREFUSED');
    await inn.start();
    await nzbget.add(postedNzb(posted, Date.now()), posted.name);
    await nzbget.wait(posted.name);
    expect((await sameBytes(posted, nzbget.destination)).missing).toEqual([]);
  });

  it('serves overview lines that have no articles', async () => {
    await inn.addGroup('kit.overview');
    const line = (n: number) =>
      `@03000000${n.toString(16).toUpperCase().padStart(8, '0')}00000000000000000000@ 1767225600 0 ` +
      `subject ${n}\tkit <kit@kit.invalid>\tThu, 01 Jan 2026 00:00:00 +0000\t<over${n}@kit.test>\t\t1000\t10\t` +
      `Xref: kit.test kit.overview:${n}\n`;
    const loaded = await inn.overchan(`${line(7)}${line(8)}broken\n`);
    expect(loaded.refused).toBe(1);
    expect(await inn.ctl('mode')).toContain('running');
    const active = readFileSync(`${inn.folder}/db/active`, 'latin1');
    expect(active).toMatch(/^kit\.overview 0*8 /m);
  });

  it('serves generated overview lines just as they were generated, cross-posts in both groups', async () => {
    const group = 'kit.generated';
    for (const name of [group, 'kit.crossed']) await inn.addGroup(name);
    const cross = { crossGroups: ['kit.crossed'], crossFirst: 1 };
    const lines = [...generateOverview({ lines: 5000, seed: 3, group, first: 1, ...cross })];
    expect(await inn.overchan(overviewForInn(group, lines))).toEqual({ refused: 0, complaints: '' });
    expect(await overview(inn, group)).toEqual(lines);
    const crossed = lines.filter((line) => line.includes(' kit.crossed:'));
    const there = await overview(inn, 'kit.crossed');
    expect(crossed.length).toBeGreaterThan(500);
    expect(there.map((line) => line.split('\t')[4])).toEqual(crossed.map((line) => line.split('\t')[4]));
  });
});
