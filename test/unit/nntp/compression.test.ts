import { deflateSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { MessageId } from '../../../streams/ids.ts';
import { selfSignedCertificate } from '../../kit/certificate.ts';
import { compressedParts, compressedReply, REPLY_FORMS, type ReplyForm } from '../../kit/compressedReply.ts';
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
import type { FakeCompression } from '../../kit/fakeCompression.ts';
import { blockReply } from '../../kit/fakeNews.ts';
import type { Act, FakeNntp } from '../../kit/nntpServer.ts';
import { until } from '../../kit/until.ts';

const certificate = selfSignedCertificate();
afterAll(() => certificate.dispose());
afterEach(endAll);

const commandsOf = (server: FakeNntp) => server.commands.map((command) => command.replace(/ [\d-]+$/, ''));
const SWITCH = 'XFEATURE COMPRESS GZIP';

describe('the choice of compression', () => {
  it('is the whole connection where the server lists that, after TLS and login', async () => {
    const account = { user: 'u', pass: 'p' };
    const tls = { mode: 'starttls', ...certificate } as const;
    const { server, pool } = await start(
      { deflate: true, xzver: 'highwinds' },
      { account, tls: 'starttls', ca: certificate.ca },
      { account, tls },
    );
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    const commands = commandsOf(server);
    expect(commands.slice(0, 1)).toEqual(['STARTTLS']);
    expect(commands.slice(-8)).toEqual([
      'AUTHINFO PASS p',
      'CAPABILITIES',
      'COMPRESS DEFLATE',
      'DATE',
      'GROUP alt.test',
      'OVER',
      'OVER',
      'OVER',
    ]);
  });

  it('is otherwise found out by trying once, for all connections of the pool', async () => {
    const { server, pool } = await start({ xfeature: { plain: 'gzip outside' } });
    const texts = [await readAll(pool)];
    expect(commandsOf(server).slice(1, 4)).toEqual([`${SWITCH} TERMINATOR`, SWITCH, 'GROUP alt.test']);
    server.cutAll();
    await until('the pool to notice', () => pool.stats().open === 0);
    texts.push(await readAll(pool));
    expect(texts).toEqual([wanted(1, HIGH), wanted(1, HIGH)]);
    expect(server.commands).not.toContain('COMPRESS DEFLATE');
  });

  it('falls to XZVER, and from there to nothing, and remembers that', async () => {
    const { server, pool, warnings } = await start({});
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    const tried = commandsOf(server).filter((c) => c.startsWith('X'));
    expect(tried).toEqual([`${SWITCH} TERMINATOR`, SWITCH, 'XZVER', 'XZVER', 'XZVER']);
    server.cutAll();
    await until('the pool to notice', () => pool.stats().open === 0);
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(commandsOf(server).filter((c) => c.startsWith('X'))).toEqual(tried);
    expect(warnings).toEqual([]);
  });

  it('asks for nothing of it when the configuration says none', async () => {
    const { server, pool } = await start({ deflate: true, xzver: 'highwinds' }, { compression: 'none' });
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(commandsOf(server)).toEqual(['CAPABILITIES', 'GROUP alt.test', 'OVER', 'OVER', 'OVER']);
  });

  it.each([
    ['xzver', 'XZVER'],
    ['xfeature', `${SWITCH} TERMINATOR`],
    ['deflate', 'COMPRESS DEFLATE'],
  ] as const)('follows the configuration: %s', async (compression, command) => {
    const everything = { deflate: true, xfeature: { terminator: 'highwinds' }, xzver: 'highwinds' } as const;
    const { server, pool } = await start(everything, { compression });
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    const used = new Set(commandsOf(server).filter((c) => /^(?:X|COMPRESS)/.test(c)));
    expect([...used]).toEqual([command]);
  });

  it.each(['deflate', 'xfeature', 'xzver'] as const)(
    'reads plainly, with one warning, where the configured %s is not offered',
    async (compression) => {
      const { server, pool, warnings } = await start({}, { compression });
      for (let i = 0; i < 2; i++) {
        expect(await readAll(pool)).toBe(wanted(1, HIGH));
        server.cutAll();
        await until('the pool to notice', () => pool.stats().open === 0);
      }
      expect(warnings).toEqual(['the provider does not offer the configured compression']);
    },
  );

  it('tries again on the next connection when the server says that it cannot now', async () => {
    const refusal = { on: /^COMPRESS/, act: { do: 'send', bytes: '403 not now\r\n' }, times: 1 } as const;
    const { server, pool } = await start({ deflate: true }, { compression: 'deflate' }, { rules: [refusal] });
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(server.commands).not.toContain('DATE');
    server.cutAll();
    await until('the pool to notice', () => pool.stats().open === 0);
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(server.commands).toContain('DATE');
  });

  it.each<readonly [string, Act]>([
    ['answers garbage', { do: 'wire', bytes: '\xff\xff\xff\xff' }],
    ['answers in plain text', { do: 'wire', bytes: '111 20260101000000\r\n' }],
    ['falls silent', { do: 'stall' }],
    ['goes away', { do: 'cut' }],
  ])('takes a plain connection when the compressed one %s', async (_name, act) => {
    const changes = { timeouts: { firstByteMs: 200 } };
    const { server, pool, broken } = await start({ deflate: true }, changes, { rules: [{ on: /^DATE/, act }] });
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(broken()).toBe(1);
    expect(server.connections.total).toBe(2);
  });
});

describe('overview through XZVER and XFEATURE', () => {
  const offers: readonly (readonly [string, (form: ReplyForm) => FakeCompression])[] = [
    ['XZVER', (form) => ({ xzver: form })],
    ['XFEATURE', (form) => ({ xfeature: { terminator: form } })],
  ];
  for (const [name, offer] of offers) {
    it.each(REPLY_FORMS)(`is the same as without, cut anywhere (${name}, %s)`, async (form) => {
      const { server, pool, broken } = await start(offer(form), {}, { pieces: [1, 2, 5, 1, 400, 3, 9000] });
      expect(await readAll(pool)).toBe(wanted(1, HIGH));
      await pool.withConnection(async (c) => {
        await c.group(GROUP);
        expect(await read(c, HIGH + 1, HIGH + 9)).toBe('');
        expect(await read(c, 5, 6)).toBe(wanted(5, 6));
        const groups: string[] = [];
        await c.listActive({ onGroups: (more) => void groups.push(...more.map(({ group }) => group)) });
        expect(groups).toEqual([GROUP]);
        expect(await c.overviewFormat()).toMatchObject({ stated: true });
        await expect(c.body(MessageId('no@where'))).rejects.toMatchObject({ code: 'NNTP_NO_SUCH_ARTICLE' });
      });
      expect(broken()).toBe(0);
      // A terminator that came in clear behind a member is no reason to drop the connection.
      expect(server.connections.total).toBe(1);
    });
  }

  it('is read as what it is, whatever its label says', async () => {
    const { server, pool, broken } = await start({ xfeature: { terminator: 'highwinds' } });
    const text = blockReply('224 over [COMPRESS=GZIP]', linesOf(1, 3));
    server.rule({ on: /^OVER 1-3$/, act: { do: 'send', bytes: text } });
    const { member, after } = compressedParts('gzip outside', blockReply('224 over', linesOf(4, 6)));
    const unlabelled = Buffer.concat([Buffer.from('224 plain lines follow\r\n'), member, Buffer.from(after)]);
    server.rule({ on: /^OVER 4-6$/, act: { do: 'send', bytes: unlabelled } });
    const texts = await pool.withConnection(async (c) => {
      await c.group(GROUP);
      return await Promise.all([read(c, 1, 3), read(c, 4, 6), read(c, 7, 9)]);
    });
    expect(texts).toEqual([wanted(1, 3), wanted(4, 6), wanted(7, 9)]);
    expect(broken()).toBe(0);
  });

  const reply = blockReply('224 over', linesOf(301, 600));
  const spoiledBy = (change: (member: Buffer) => Buffer, form: ReplyForm = 'highwinds') => {
    const { status, member, after } = compressedParts(form, reply);
    return Buffer.concat([Buffer.from(status), change(member), Buffer.from(after)]);
  };
  const half = spoiledBy((member) => member.subarray(0, member.length >> 1));
  const flipped = spoiledBy((member) => {
    const other = Buffer.from(member);
    other[member.length >> 1] = (other[member.length >> 1] ?? 0) ^ 0x55;
    return other;
  });
  const bomb = Buffer.concat([Buffer.from('224 bomb\r\n'), deflateSync(Buffer.alloc(8 << 20, '1\tx\r\n'))]);
  const acts: readonly (readonly [string, Act])[] = [
    ['is truncated and followed by the terminator', { do: 'send', bytes: Buffer.concat([half, Buffer.from('.\r\n')]) }],
    ['has a byte changed', { do: 'send', bytes: flipped }],
    ['stalls in the middle', { do: 'stall', bytes: half }],
    ['is cut off in the middle', { do: 'cut', bytes: half }],
    ['is a bomb', { do: 'send', bytes: bomb }],
    ['is garbage', { do: 'send', bytes: `224 over\r\n${'\xff'.repeat(500)}\r\n.\r\n` }],
    [
      'has junk behind it',
      { do: 'send', bytes: Buffer.concat([compressedReply('highwinds', reply), Buffer.from('??\r\n')]) },
    ],
    [
      'has a wrong checksum in yEnc',
      {
        do: 'send',
        bytes: compressedReply('astraweb', reply)
          .toString('latin1')
          .replace(/crc32=./, 'crc32=z'),
      },
    ],
  ];
  it.each(acts)('that %s is read again plainly, and only what was in flight', async (_name, act) => {
    const changes = { timeouts: { silenceMs: 300 }, limits: { inflatedBytes: 4 << 20 }, connections: 1 };
    // The broken connection is gone before the plain one comes: the account has only one.
    const { server, pool, broken } = await start({ xzver: 'highwinds' }, changes, { maxConnections: 1 });
    server.rule({ on: /^XZVER 301-600$/, act, times: 1 });
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(broken()).toBe(1);
    expect(commandsOf(server).slice(-3)).not.toContain('XZVER');
    await until('the plain connection to be left', () => server.connections.now === 0);
    // The next range is compressed again, over a connection of its own.
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(commandsOf(server).slice(-3)).toEqual(['XZVER', 'XZVER', 'XZVER']);
    expect(server.commands.filter((c) => c === 'CAPABILITIES')).toHaveLength(3);
  });

  it('goes plain for an hour when reply after reply is broken, and says so', async () => {
    const { server, pool, broken, conditions, time } = await start({ xzver: 'highwinds' });
    for (let i = 0; i < 3; i++) {
      server.rule({ on: /^XZVER 1-300$/, act: { do: 'send', bytes: flipped }, times: 1 });
      expect(conditions.code('compression/test')).toBeUndefined();
      expect(await readAll(pool)).toBe(wanted(1, HIGH));
      await until('the broken connections to be gone', () => server.connections.now <= 1);
    }
    expect(broken()).toBe(3);
    expect(conditions.code('compression/test')).toBe('NNTP_COMPRESSION_UNUSABLE');
    const before = server.commands.length;
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(server.commands.slice(before).filter((c) => c.startsWith('XZVER'))).toEqual([]);
    time.ahead = 3_600_001;
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(await readAll(pool)).toBe(wanted(1, HIGH));
    expect(commandsOf(server).at(-1)).toBe('XZVER');
    expect(conditions.code('compression/test')).toBeUndefined();
  });

  it('counts broken replies anew after a good one', async () => {
    const { server, pool, conditions } = await start({ xzver: 'highwinds' });
    for (let i = 0; i < 4; i++) {
      server.rule({ on: /^XZVER 1-300/, act: { do: 'send', bytes: flipped }, times: 1 });
      expect(await readAll(pool)).toBe(wanted(1, HIGH));
      expect(await readAll(pool)).toBe(wanted(1, HIGH));
    }
    expect(conditions.ever).toEqual([]);
  });

  it('passes on what the plain connection fails with', async () => {
    const { server, pool } = await start({ xzver: 'highwinds' });
    server.rule({ on: /^XZVER/, act: { do: 'send', bytes: flipped } });
    server.rule({ on: /^OVER/, act: { do: 'cut' } });
    await expect(readAll(pool)).rejects.toMatchObject({ code: 'NNTP_CONNECTION_CLOSED' });
    expect(pool.stats()).toMatchObject({ open: 0, busy: 0 });
  });
});
