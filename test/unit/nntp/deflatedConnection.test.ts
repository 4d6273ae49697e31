import { afterEach, describe, expect, it } from 'vitest';
import { ArticleNumber, MessageId } from '../../../streams/ids.ts';
import {
  endAll,
  GROUP,
  HIGH,
  linesOf,
  read,
  readAll,
  startCompressing as start,
  wanted,
} from '../../kit/compressingServer.ts';
import { blockReply } from '../../kit/fakeNews.ts';
import { until } from '../../kit/until.ts';

afterEach(endAll);

describe('a connection that is compressed as a whole', () => {
  it('gives the same as a plain one, cut anywhere, and is kept', async () => {
    const { server, pool } = await start({ deflate: true }, {}, { pieces: [1, 2, 5, 1, 400, 3, 9000] });
    for (let i = 0; i < 3; i++) expect(await readAll(pool)).toBe(wanted(1, HIGH));
    await pool.withConnection(async (c) => {
      await expect(c.body(MessageId('no@where'))).rejects.toMatchObject({ code: 'NNTP_NO_SUCH_ARTICLE' });
      expect(await read(c, HIGH + 1, HIGH + 9)).toBe('');
    });
    expect(server.connections.total).toBe(1);
    await pool.close();
    await until('the server to hear QUIT', () => server.commands.at(-1) === 'QUIT');
  });

  it.each([{ deflate: true }, {}])(
    'leaves no deadline behind that would hold up the end of a process (%j)',
    async (offer) => {
      const { pool, time } = await start(offer);
      expect(await readAll(pool)).toBe(wanted(1, HIGH));
      expect(time.sleepers).toBeGreaterThan(0);
      await pool.close();
      await until('nobody to sleep', () => time.sleepers === 0, { deadlineMs: 5000 });
    },
  );

  it('takes what comes together with the 206 for its first bytes', async () => {
    const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff]);
    const bytes = Buffer.concat([Buffer.from('206 on\r\n'), emptyBlock]);
    const { pool, broken } = await start(
      { deflate: true },
      {},
      { rules: [{ on: /^COMPRESS/, act: { do: 'wire', bytes } }] },
    );
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(broken()).toBe(0);
  });

  /** A server whose answer to 301-600 breaks after `first` has reached the reader. */
  async function breaking(first: string) {
    const started = await start({ deflate: true });
    let arrived: () => void = () => {};
    const until = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    started.server.rule({
      on: /^OVER 301-600$/,
      act: { do: 'wire', first, until, bytes: '\xff\xff\xff\xff' },
      times: 1,
    });
    const pieces: Buffer[] = [];
    const onLines = (lines: Buffer) => {
      pieces.push(lines);
      arrived();
    };
    const work = started.pool.withConnection(async (c) => {
      await c.group(GROUP);
      const broken = c.over(ArticleNumber(301), ArticleNumber(600), { onLines });
      const [, behind] = await Promise.all([broken, read(c, 601, HIGH)]);
      return Buffer.concat(pieces).toString() + behind;
    });
    return { ...started, work };
  }

  it.each([1, 250, 300])(
    'that breaks after %d lines of a reply goes on plainly, with every line once',
    async (lines) => {
      const first = blockReply('224 over', linesOf(301, 300 + lines)).slice(0, -3);
      const { server, work, broken } = await breaking(first);
      expect(await work).toBe(wanted(301, HIGH));
      expect(broken()).toBe(1);
      expect(server.connections.total).toBe(2);
    },
  );

  it('that gave lines which the range does not have is NNTP_COMPRESSION_BROKEN', async () => {
    for (const first of ['224 over\r\n301\tanother line\r\n', `224 over\r\n${'301\tx\r\n'.repeat(9000)}`]) {
      const { work, pool } = await breaking(first);
      await expect(work).rejects.toMatchObject({ code: 'NNTP_COMPRESSION_BROKEN', retriable: true });
      expect(pool.stats().busy).toBe(0);
    }
  });

  it('is bound by the limit of a reply, though little came over the wire', async () => {
    const { server, pool } = await start({ deflate: true }, { limits: { overBytesPerNumber: 1000 } });
    const endless = `224 over\r\n${'1\tx\r\n'.repeat(300_000)}.\r\n`;
    server.rule({ on: /^OVER/, act: { do: 'send', bytes: endless } });
    await expect(readAll(pool)).rejects.toMatchObject({ code: 'NNTP_REPLY_TOO_LARGE' });
  });

  it('holds a fast server back while nobody reads', async () => {
    const { server, pool } = await start({ deflate: true });
    const line = `${'y'.repeat(998)}\r\n`;
    server.rule({ on: /^OVER/, act: { do: 'send', bytes: `224 over\r\n${line.repeat(12 * 1024)}.\r\n` } });
    await pool.withConnection(async (c) => {
      await c.group(GROUP);
      let received = 0;
      let open: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        open = resolve;
      });
      const onLines = (lines: Buffer) => {
        received += lines.length;
        return held;
      };
      const work = c.over(ArticleNumber(1), ArticleNumber(HIGH), { onLines });
      await until('the first lines', () => received > 0);
      const first = received;
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
      expect(received).toBe(first);
      open();
      await expect(work).resolves.toMatchObject({ bytes: line.length * 12 * 1024 });
    });
  });
});
