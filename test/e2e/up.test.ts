import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../infra/processes/commands/doctor.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { parseFeed, parseNzb } from '../kit/newznabClient.ts';
import { isSameRunning, processInfo } from '../kit/processTree.ts';
import { until } from '../kit/until.ts';

const SERVICES = ['project', 'api', 'headers', 'coordinator', 'fetch'] as const;
const FEED_ITEMS_MIN = 25;

const execute = promisify(execFile);

/** Runs the line that the banner prints, as it stands there. */
async function runPrintedCurl(output: string): Promise<string> {
  const line = /^ {2}(curl '[^']+')$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`the banner has no curl: ${output}`);
  const { stdout } = await execute('sh', ['-c', line.replace(/^curl/, 'curl -sS --max-time 30')]);
  return stdout;
}

const messagesOf = async (headwater: Headwater, family: string): Promise<number> => {
  const { streams } = await headwater.look();
  return streams.filter((s) => s.stream.startsWith(family)).reduce((sum, s) => sum + s.messages, 0);
};

describe('headwater up without a news server', () => {
  let headwater: Headwater;
  beforeAll(async () => {
    headwater = await startHeadwater();
    console.log(`first start: ${headwater.startMs} ms`);
  });
  afterAll(() => headwater?.dispose());

  it('prints a curl that answers with a valid feed of the sample', async () => {
    const feed = parseFeed(await runPrintedCurl(headwater.output()));
    expect(feed.items.length).toBeGreaterThanOrEqual(FEED_ITEMS_MIN);
    expect(feed.total).toBe(feed.items.length);
    // What follows compares answers with each other: nothing may come in between.
    await headwater.untilIdle();
  });

  it('files the images of systems under PC > ISO, and finds them there', async () => {
    const images = await headwater.searchAll({ cat: '4020' });
    expect(images.map((item) => item.title)).toContain('meadow-linux-12.4-amd64-netinst');
    for (const item of images) expect(item.attrs.get('category'), item.title).toEqual(['4000', '4020']);
    const titles = (items: readonly { title: string }[]) => items.map((item) => item.title).sort();
    const [all, hashed] = [await headwater.searchAll(), await headwater.searchAll({ cat: '8020' })];
    expect(hashed.length).toBeGreaterThan(0);
    expect(images.length).toBeGreaterThan((all.length - hashed.length) / 2);
    expect(titles(await headwater.searchAll({ cat: '1000,2000,3000,4000,5000,6000,7000,8000' }))).toEqual(titles(all));
    expect(await headwater.searchAll({ cat: '5040,9999' })).toEqual([]);
  });

  it('gives a valid NZB of every release that the feed lists', async () => {
    const items = await headwater.searchAll();
    expect(items.length).toBeGreaterThanOrEqual(FEED_ITEMS_MIN);
    for (const item of items) {
      const files = parseNzb(await headwater.get(item.id));
      expect(files.length, item.title).toBe(Number(item.attrs.get('files')?.[0]));
      const bytes = files.flatMap((file) => file.segments).reduce((sum, segment) => sum + segment.bytes, 0);
      expect(bytes, item.title).toBe(item.size);
    }
  });

  it('has a status that is well: exit code 0, every service ready, no projection behind', async () => {
    const { code, view } = await headwater.status();
    expect(view.conditions).toEqual([]);
    expect(code).toBe(0);
    expect(view.services.map((s) => `${s.service} ${s.state}`)).toEqual(
      expect.arrayContaining([...SERVICES, 'supervisor'].map((name) => `${name} ready`)),
    );
    expect(view.projections.map((p) => p.projection)).toEqual(
      expect.arrayContaining(['catalog', 'chunks', 'control', 'ranges']),
    );
    expect(view.projections.filter((p) => p.lag !== 0)).toEqual([]);
    expect(view.streams.find((s) => s.stream === 'RELEASES-0001')?.messages).toBeGreaterThan(0);
  });

  it('has a doctor that finds nothing wrong and warns that there is no news server', async () => {
    const { code, stdout, stderr } = await headwater.cli(['doctor', '--json']);
    const findings = JSON.parse(stdout) as readonly Finding[];
    expect(findings.filter((f) => f.level === 'fail')).toEqual([]);
    expect(findings.find((f) => f.check === 'providers')?.level).toBe('warn');
    expect(findings.find((f) => f.check === 'nats')?.text).toContain('NATS');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('keeps the key in a file that only its owner may read', () => {
    const file = join(headwater.dataDir, 'runtime/first-key');
    expect(readFileSync(file, 'utf8').trim()).toBe(headwater.key);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('refuses a second up on the same folder with exit code 6', async () => {
    const second = await headwater.cli(['up']);
    expect(second.code).toBe(6);
    expect(second.stderr).toContain(`pid ${headwater.upPid()}`);
    expect((await headwater.status()).code).toBe(0);
  });

  it('stops everything on Ctrl-C, with exit code 0', async () => {
    const running = headwater.processes();
    expect(running.length).toBeGreaterThanOrEqual(SERVICES.length + 3);
    expect(await headwater.stop('SIGINT')).toBe(0);
    expect(running.filter(isSameRunning).map((p) => p.command)).toEqual([]);
    expect((await headwater.cli(['status'])).code).toBe(4);
  });

  it('starts again with the same key, without importing the sample again, and in seconds', async () => {
    const { key } = headwater;
    await headwater.start();
    console.log(`second start: ${headwater.startMs} ms`);
    await headwater.untilIdle();
    const [releases, overview] = [await messagesOf(headwater, 'RELEASES'), await messagesOf(headwater, 'OVERVIEW')];
    const items = await headwater.searchAll();
    expect(await headwater.stop()).toBe(0);
    await headwater.start();
    await headwater.untilIdle();
    expect(headwater.key).toBe(key);
    expect(await messagesOf(headwater, 'RELEASES')).toBe(releases);
    expect(await messagesOf(headwater, 'OVERVIEW')).toBe(overview);
    expect((await headwater.searchAll()).map((item) => item.id)).toEqual(items.map((item) => item.id));
    expect(headwater.startMs).toBeLessThan(30_000);
  });

  it('leaves servers behind when up is killed, which `headwater down` stops', async () => {
    const running = headwater.processes();
    const servers = [headwater.natsPid(), headwater.postgresPid()];
    process.kill(headwater.upPid(), 'SIGKILL');
    await until('up to end', () => processInfo(headwater.upPid()) === null);
    expect(servers.every((pid) => processInfo(pid) !== null)).toBe(true);
    const down = await headwater.cli(['down']);
    expect(down.code).toBe(0);
    expect(running.filter(isSameRunning).map((p) => p.command)).toEqual([]);
    expect((await headwater.cli(['down'])).stdout).toContain('nothing was running');
  });

  it('starts after that as if nothing had been', async () => {
    await headwater.start();
    expect((await headwater.search()).items.length).toBeGreaterThanOrEqual(FEED_ITEMS_MIN);
  });

  it('clears up by itself what a killed up left, without `down`', async () => {
    const [nats, postgres] = [headwater.natsPid(), headwater.postgresPid()];
    process.kill(headwater.upPid(), 'SIGKILL');
    await until('up to end', () => processInfo(headwater.upPid()) === null);
    await headwater.start();
    expect([headwater.natsPid(), headwater.postgresPid()]).not.toEqual([nats, postgres]);
    expect((await headwater.search()).items.length).toBeGreaterThanOrEqual(FEED_ITEMS_MIN);
    expect(await headwater.stop('SIGTERM')).toBe(0);
  });
});
