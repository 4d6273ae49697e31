import { systemClock } from '../../infra/base/clock.ts';
import type { Log } from '../../infra/base/log.ts';
import { createNntpPool, type NntpConnection, type NntpPool } from '../../infra/nntp/index.ts';
import { ArticleNumber, Group } from '../../streams/ids.ts';
import type { FakeCompression } from './fakeCompression.ts';
import type { FakeNews } from './fakeNews.ts';
import { type ProviderChanges, providerAt } from './nntpProvider.ts';
import { type FakeNntpOptions, startFakeNntp } from './nntpServer.ts';
import { RecordedConditions } from './recordedConditions.ts';

export const GROUP = Group('alt.test');
export const HIGH = 900;
const lineOf = (n: number) => `${n}\t"file ${(n * 7919) % 1000}.rar" yEnc (${n}/900)${n % 9 ? '' : '.'}\tP <p@x>`;
const overview = new Map(Array.from({ length: HIGH }, (_, i) => [i + 1, lineOf(i + 1)]));
const NEWS: FakeNews = { groups: [{ name: GROUP, low: 1, high: HIGH, overview }] };
export const linesOf = (lo: number, hi: number) => Array.from({ length: hi - lo + 1 }, (_, i) => lineOf(lo + i));
export const wanted = (lo: number, hi: number) =>
  linesOf(lo, hi)
    .map((line) => `${line}\r\n`)
    .join('');

const ends: (() => Promise<void>)[] = [];

/** Ends every pool and server that was started; for `afterEach`. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** A pool at a fake server, with everything that it logs, counts and reports; `time` moves its clock and counts who sleeps. */
export async function startCompressing(
  compression: FakeCompression,
  changes: ProviderChanges = {},
  options: Partial<FakeNntpOptions> = {},
) {
  const server = await startFakeNntp({ news: NEWS, compression, ...options });
  const conditions = new RecordedConditions();
  const warnings: string[] = [];
  const counted: string[] = [];
  const quiet = () => {};
  const log: Log = { debug: quiet, info: quiet, warn: (m) => void warnings.push(m), error: quiet, child: () => log };
  const metrics = { count: (name: string) => void counted.push(name), gauge: quiet, observe: quiet };
  const time = { ahead: 0, sleepers: 0 };
  const clock = {
    now: () => systemClock.now() + time.ahead,
    sleep: (ms: number, signal?: AbortSignal) => {
      time.sleepers++;
      return systemClock.sleep(ms, signal).finally(() => {
        time.sleepers--;
      });
    },
  };
  const pool = createNntpPool(providerAt(server, changes), { clock, log, metrics, conditions });
  ends.push(
    () => server.stop(),
    () => pool.close(),
  );
  const broken = () => counted.filter((name) => name === 'nntp_broken_replies_total').length;
  return { server, pool, conditions, warnings, broken, time };
}

export async function read(c: NntpConnection, lo: number, hi: number): Promise<string> {
  const pieces: Buffer[] = [];
  await c.over(ArticleNumber(lo), ArticleNumber(hi), { onLines: (lines) => void pieces.push(lines) });
  return Buffer.concat(pieces).toString('latin1');
}

/** Three spans in flight at once, as fetching does it. */
export const readAll = (pool: NntpPool) =>
  pool.withConnection(async (c) => {
    const [, ...texts] = await Promise.all([c.group(GROUP), read(c, 1, 300), read(c, 301, 600), read(c, 601, HIGH)]);
    return texts.join('');
  });
