import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../infra/base/log.ts';
import { noMetrics } from '../../../infra/base/metrics.ts';
import { articlesPool, createNntpPool, type NntpConnection, type NntpPool } from '../../../infra/nntp/index.ts';
import { ArticleNumber, Group, MessageId } from '../../../streams/ids.ts';
import type { FakeNews } from '../../kit/fakeNews.ts';
import { ManualClock } from '../../kit/manualClock.ts';
import { type ProviderChanges, poolAt, providerAt } from '../../kit/nntpProvider.ts';
import { type FakeNntp, type FakeNntpOptions, startFakeNntp } from '../../kit/nntpServer.ts';
import { until } from '../../kit/until.ts';

const GROUP = Group('alt.test');
const HIGH = 3000;
const overview = new Map(Array.from({ length: HIGH }, (_, i) => [i + 1, `${i + 1}\tsubject ${'x'.repeat(600)}`]));
const NEWS: FakeNews = { groups: [{ name: 'alt.test', low: 1, high: HIGH, overview }] };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(
  changes: ProviderChanges = {},
  options: Partial<FakeNntpOptions> = {},
): Promise<{ server: FakeNntp; pool: NntpPool }> {
  const server = await startFakeNntp({ news: NEWS, ...options });
  const pool = poolAt(server, changes);
  ends.push(
    () => server.stop(),
    () => pool.close(),
  );
  return { server, pool };
}

/** A promise and the function that resolves it. */
function gate() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const stat = (c: NntpConnection) => c.stat(MessageId('no@where'));
const marks = (c: NntpConnection) => c.group(GROUP);

describe('a pool', () => {
  it('opens nothing before it is used, and uses a kept connection again', async () => {
    const { server, pool } = await start();
    expect(server.connections.total).toBe(0);
    for (let i = 0; i < 5; i++) await pool.withConnection(marks);
    expect(server.connections.total).toBe(1);
    expect(pool.stats()).toEqual({ open: 1, busy: 0, waiting: 0, limit: 4 });
  });

  it('never has more connections than its limit, and serves everybody in turn', async () => {
    const { server, pool } = await start({ connections: 3 }, { maxConnections: 3 });
    const served: number[] = [];
    const work = Array.from({ length: 40 }, (_, i) =>
      pool.withConnection(async (c) => {
        await marks(c);
        served.push(i);
      }),
    );
    expect(pool.stats()).toMatchObject({ busy: 3, waiting: 37 });
    await Promise.all(work);
    expect(served).toHaveLength(40);
    expect(served.indexOf(39)).toBeGreaterThan(35);
    expect(server.connections.most).toBeLessThanOrEqual(3);
  });

  it('keeps a connection after a refusal, and drops one that broke', async () => {
    const { server, pool } = await start();
    await expect(pool.withConnection(stat)).rejects.toMatchObject({ code: 'NNTP_NO_SUCH_ARTICLE' });
    await pool.withConnection(marks);
    expect(server.connections.total).toBe(1);
    server.rule({ on: /^STAT/, act: { do: 'cut' }, times: 1 });
    await expect(pool.withConnection(stat)).rejects.toMatchObject({ code: 'NNTP_CONNECTION_CLOSED' });
    expect(pool.stats().open).toBe(0);
    await pool.withConnection(marks);
    expect(server.connections.total).toBe(2);
  });

  it('drops a connection whose user left commands in flight', async () => {
    const { server, pool } = await start();
    const left = gate();
    server.rule({ on: /^STAT/, act: { do: 'hold', until: left.opened } });
    let abandoned: Promise<unknown> = Promise.resolve();
    await pool.withConnection(async (c) => {
      abandoned = stat(c);
    });
    await expect(abandoned).rejects.toMatchObject({ code: 'NNTP_POOL_CLOSED' });
    expect(pool.stats().open).toBe(0);
    left.open();
  });

  it('does not use a kept connection that the server closed meanwhile', async () => {
    const { server, pool } = await start();
    await pool.withConnection(marks);
    server.cutAll();
    await until('the pool to notice', () => pool.stats().open === 0);
    await expect(pool.withConnection(marks)).resolves.toMatchObject({ high: HIGH });
  });

  it('closes what was unused for the idle time', async () => {
    const server = await startFakeNntp({ news: NEWS });
    const clock = new ManualClock();
    const settings = providerAt(server, { timeouts: { idleMs: 5000 } });
    const pool = createNntpPool(settings, { clock, log: silentLog, metrics: noMetrics });
    ends.push(() => server.stop());
    await pool.withConnection(marks);
    await clock.advance(4999);
    expect(pool.stats().open).toBe(1);
    await clock.advance(1);
    await until('the server to see it go', () => server.connections.now === 0);
    expect(server.commands.at(-1)).toBe('QUIT');
    expect(pool.stats().open).toBe(0);
    await pool.close();
    expect(clock.sleeping).toBe(0);
  });

  it('bounds those who wait, and lets them give up', async () => {
    const { pool } = await start({ connections: 1, maxWaiting: 1 });
    const held = gate();
    const first = pool.withConnection(() => held.opened);
    const stop = new AbortController();
    const second = pool.withConnection(marks, stop.signal);
    await expect(pool.withConnection(marks)).rejects.toMatchObject({ code: 'NNTP_POOL_FULL', retriable: true });
    stop.abort(new Error('no longer needed'));
    await expect(second).rejects.toThrow('no longer needed');
    expect(pool.stats().waiting).toBe(0);
    held.open();
    await first;
  });

  it('gives the place of a failed connect to the next', async () => {
    const { pool } = await start({ connections: 1 }, { rules: [{ on: /^greeting/, act: { do: 'cut' }, times: 1 }] });
    const first = pool.withConnection(marks);
    const second = pool.withConnection(marks);
    await expect(first).rejects.toMatchObject({ code: 'NNTP_CONNECTION_CLOSED' });
    await expect(second).resolves.toMatchObject({ high: HIGH });
  });

  it('breaks the connection under its user when the signal aborts', async () => {
    const { server, pool } = await start({}, { rules: [{ on: /^STAT/, act: { do: 'stall' } }] });
    const stop = new AbortController();
    const work = pool.withConnection(stat, stop.signal);
    await until('the command to arrive', () => server.commands.some((command) => command.startsWith('STAT')));
    stop.abort(new Error('shutting down'));
    await expect(work).rejects.toThrow('shutting down');
    await until('the socket to close', () => server.connections.now === 0);
  });

  it('ends everything when it closes', async () => {
    const { server, pool } = await start({ connections: 2 }, { rules: [{ on: /^STAT/, act: { do: 'stall' } }] });
    await pool.withConnection(marks);
    const used = expect(pool.withConnection(stat)).rejects.toMatchObject({ code: 'NNTP_POOL_CLOSED' });
    await until('the command to arrive', () => server.commands.some((command) => command.startsWith('STAT')));
    await pool.close();
    await used;
    await expect(pool.withConnection(marks)).rejects.toMatchObject({ code: 'NNTP_POOL_CLOSED' });
    await until('all sockets to close', () => server.connections.now === 0);
  });
});

describe('the overview through the port of the processors', () => {
  const text = async (pieces: AsyncIterable<Buffer>) => {
    const all: Buffer[] = [];
    for await (const piece of pieces) all.push(piece);
    return Buffer.concat(all).toString();
  };
  const wanted = (lo: number, hi: number) =>
    [...overview]
      .filter(([n]) => n >= lo && n <= hi)
      .map(([, line]) => `${line}\r\n`)
      .join('');

  it('asks for several spans at once and reads them in order', async () => {
    const { server, pool } = await start();
    const articles = articlesPool(pool, providerAt(server));
    await articles.withArticles(async (a) => {
      expect(await a.group(GROUP)).toEqual({ group: GROUP, low: 1, high: HIGH });
      const spans = [
        [1, 1000],
        [1001, 2000],
        [2001, HIGH],
        [HIGH + 1, HIGH + 9],
      ] as const;
      const asked = spans.map((span) => a.over(span));
      const read: string[] = [];
      for (const pieces of asked) read.push(await text(pieces));
      expect(read).toEqual(spans.map(([lo, hi]) => wanted(lo, hi)));
      expect(await a.overviewFormat()).toContain('subject:');
    });
    expect(pool.stats().open).toBe(1);
  });

  it('drops the connection when the reader leaves early', async () => {
    const { server, pool } = await start({}, { pieces: [20_000] });
    const articles = articlesPool(pool, providerAt(server));
    await articles.withArticles(async (a) => {
      await a.group(GROUP);
      for await (const piece of a.over([1, HIGH])) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
    });
    expect(pool.stats().open).toBe(0);
  });

  it('passes on what broke it', async () => {
    const { server, pool } = await start();
    server.rule({ on: /^OVER/, act: { do: 'cut', bytes: '224 over\r\n1\tone\r\n2\tt' } });
    const articles = articlesPool(pool, providerAt(server));
    const work = articles.withArticles(async (a) => {
      await a.group(GROUP);
      return await text(a.over([1, 5]));
    });
    await expect(work).rejects.toMatchObject({ code: 'NNTP_CONNECTION_CLOSED' });
  });

  it('does not take a group without marks for an empty one', async () => {
    const { server, pool } = await start();
    server.rule({ on: /^GROUP/, act: { do: 'send', bytes: '211 alt.test\r\n' } });
    const articles = articlesPool(pool, providerAt(server));
    await expect(articles.withArticles((a) => a.group(GROUP))).rejects.toMatchObject({ code: 'NNTP_UNEXPECTED_REPLY' });
  });

  it('holds a fast server back while nobody reads', async () => {
    const { server, pool } = await start();
    const line = `${'y'.repeat(998)}\r\n`;
    const megabytes = 24;
    server.rule({ on: /^OVER/, act: { do: 'send', bytes: `224 over\r\n${line.repeat(megabytes * 1024)}.\r\n` } });
    await pool.withConnection(async (c) => {
      await c.group(GROUP);
      let received = 0;
      const held = gate();
      const work = c.over(ArticleNumber(1), ArticleNumber(HIGH), {
        onLines: (lines) => {
          received += lines.length;
          return held.opened;
        },
      });
      await until('the first lines', () => received > 0);
      const first = received;
      // Nothing more may come however long one waits; a round through the event loop and back is long enough to see.
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
      expect(received).toBe(first);
      held.open();
      await expect(work).resolves.toMatchObject({ bytes: line.length * megabytes * 1024 });
    });
  });
});

describe('article numbers', () => {
  it.each([2 ** 31 + 5, 2 ** 32 + 5, 2 ** 53 - 10])('above %d are asked for and read exactly', async (low) => {
    const numbers = [low, low + 1, low + 2];
    const lines = new Map(numbers.map((n) => [n, `${n}\tsubject`]));
    const news = { groups: [{ name: 'alt.test', low, high: low + 2, overview: lines }] };
    const { server, pool } = await start({}, { news });
    await pool.withConnection(async (c) => {
      expect(await marks(c)).toMatchObject({ low, high: low + 2 });
      const got: string[] = [];
      await c.over(ArticleNumber(low + 1), ArticleNumber(low + 2), { onLines: (l) => void got.push(l.toString()) });
      expect(got.join('')).toBe(`${low + 1}\tsubject\r\n${low + 2}\tsubject\r\n`);
    });
    expect(server.commands).toContain(`OVER ${low + 1}-${low + 2}`);
  });
});

describe('OVER and XOVER', () => {
  const read = (c: NntpConnection, lo: number, hi: number) =>
    c.over(ArticleNumber(lo), ArticleNumber(hi), { onLines: () => {} });
  const verbs = (server: FakeNntp) => server.commands.filter((c) => /^X?OVER/.test(c)).map((c) => c.split(' ')[0]);

  it('falls back to XOVER where OVER is unknown, and remembers it', async () => {
    const news: FakeNews = { ...NEWS, capabilities: null, overviewCommands: ['XOVER'] };
    const { server, pool } = await start({}, { news });
    await pool.withConnection(async (c) => {
      await c.group(GROUP);
      expect((await read(c, 1, 2)).empty).toBe(false);
      expect((await read(c, 3, 4)).empty).toBe(false);
    });
    expect(verbs(server)).toEqual(['OVER', 'XOVER', 'XOVER']);
  });

  it('falls back for every command that was in flight', async () => {
    const news: FakeNews = { ...NEWS, capabilities: null, overviewCommands: ['XOVER'] };
    const { pool } = await start({}, { news });
    await pool.withConnection(async (c) => {
      await c.group(GROUP);
      const results = await Promise.all([1, 2, 3].map((n) => read(c, n, n)));
      expect(results.map(({ empty }) => empty)).toEqual([false, false, false]);
    });
  });

  it('takes XOVER at once where the capabilities do not list OVER', async () => {
    const { server, pool } = await start({}, { news: { ...NEWS, capabilities: ['READER'] } });
    await pool.withConnection(async (c) => {
      await c.group(GROUP);
      await read(c, 1, 2);
    });
    expect(verbs(server)).toEqual(['XOVER']);
  });

  it('is NNTP_COMMAND_UNSUPPORTED where neither is known', async () => {
    const { pool } = await start({}, { news: { ...NEWS, overviewCommands: [] } });
    const work = pool.withConnection(async (c) => {
      await c.group(GROUP);
      await read(c, 1, 2);
    });
    await expect(work).rejects.toMatchObject({ code: 'NNTP_COMMAND_UNSUPPORTED', fields: { class: 'unsupported' } });
  });

  it.each(['423 none', '420 none', '224 over\r\n.'])('takes %j for an empty range', async (reply) => {
    const { pool } = await start({}, { rules: [{ on: /OVER/, act: { do: 'send', bytes: `${reply}\r\n` } }] });
    await pool.withConnection(async (c) => {
      await c.group(GROUP);
      expect(await read(c, 1, 2)).toEqual({ empty: true, bytes: 0 });
    });
  });
});
