import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../infra/base/clock.ts';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import type { Log } from '../../../infra/base/log.ts';
import { createNntpPool } from '../../../infra/nntp/index.ts';
import { ArticleNumber, Group, MessageId } from '../../../streams/ids.ts';
import { selfSignedCertificate } from '../../kit/certificate.ts';
import type { FakeNews } from '../../kit/fakeNews.ts';
import { type ProviderChanges, poolAt, providerAt, withConnectionTo } from '../../kit/nntpProvider.ts';
import { type FakeNntp, type FakeNntpOptions, startFakeNntp } from '../../kit/nntpServer.ts';
import { until } from '../../kit/until.ts';

const GROUP = Group('alt.test');
const [LO, HI] = [ArticleNumber(1), ArticleNumber(9)];
const NEWS: FakeNews = {
  groups: [
    {
      name: 'alt.test',
      low: 1,
      high: 2,
      overview: new Map([
        [1, '1\tone'],
        [2, '2\ttwo'],
      ]),
    },
  ],
};

const certificate = selfSignedCertificate();
afterAll(() => certificate.dispose());

const started: FakeNntp[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function fake(options: Partial<FakeNntpOptions> = {}): Promise<FakeNntp> {
  const server = await startFakeNntp({ news: NEWS, ...options });
  started.push(server);
  return server;
}

/** The operating error that `work` ends with. */
async function failure(work: Promise<unknown>): Promise<HeadwaterError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HeadwaterError)) throw new Error(`expected an operating error, got ${String(error)}`);
  return error;
}

const connecting = (server: { host: string; port: number }, changes: ProviderChanges = {}) =>
  failure(withConnectionTo(server, async () => 'connected', changes));

const reading = (server: FakeNntp, changes: ProviderChanges = {}) =>
  failure(
    withConnectionTo(
      server,
      async (c) => {
        await c.group(GROUP);
        return await c.over(LO, HI, { onLines: () => {} });
      },
      changes,
    ),
  );

describe('connecting', () => {
  it('to a port where nobody listens is NNTP_CONNECT_FAILED and names the cause', async () => {
    const server = await fake();
    await server.stop();
    const error = await connecting(server);
    expect(error).toMatchObject({ code: 'NNTP_CONNECT_FAILED', retriable: true, fields: { reason: 'ECONNREFUSED' } });
  });

  it('by TLS to a plain port is NNTP_CONNECT_FAILED', async () => {
    expect(await connecting(await fake(), { tls: true })).toMatchObject({ code: 'NNTP_CONNECT_FAILED' });
  });

  it('to a server that lets the handshake hang is NNTP_TIMEOUT of kind connect', async () => {
    const server = await fake({ rules: [{ on: /^greeting/, act: { do: 'stall' } }] });
    const error = await connecting(server, { tls: true, timeouts: { connectMs: 100 } });
    expect(error).toMatchObject({ code: 'NNTP_TIMEOUT', retriable: true, fields: { kind: 'connect', ms: 100 } });
  });

  it('to a server that does not greet is NNTP_TIMEOUT of kind first byte', async () => {
    const server = await fake({ rules: [{ on: /^greeting/, act: { do: 'stall' } }] });
    const error = await connecting(server, { timeouts: { firstByteMs: 100 } });
    expect(error).toMatchObject({ code: 'NNTP_TIMEOUT', fields: { kind: 'first byte', command: 'connect' } });
  });

  it.each([
    ['400 closed for maintenance', 'NNTP_SERVICE_UNAVAILABLE'],
    ['502 you are not welcome', 'NNTP_AUTH_REJECTED'],
    ['400 too many connections from your address', 'NNTP_TOO_MANY_CONNECTIONS'],
    ['SSH-2.0-OpenSSH', 'NNTP_UNEXPECTED_REPLY'],
    ['220 mail ready', 'NNTP_UNEXPECTED_REPLY'],
  ])('to a server that greets %j is %s', async (greeting, code) => {
    expect(await connecting(await fake({ greeting }))).toMatchObject({ code });
  });

  it('ends when the signal aborts, with its reason', async () => {
    const server = await fake({ rules: [{ on: /^greeting/, act: { do: 'stall' } }] });
    const pool = poolAt(server);
    const stop = new AbortController();
    const work = pool.withConnection(async () => 'connected', stop.signal);
    await until('the client to connect', () => server.connections.now === 1);
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    await until('the socket to close', () => server.connections.now === 0);
    expect(pool.stats()).toMatchObject({ open: 0, busy: 0 });
    await pool.close();
  });
});

describe('TLS', () => {
  const implicit = { mode: 'implicit', ...certificate } as const;

  it('refuses a self-signed certificate, and says which host and why', async () => {
    const error = await connecting(await fake({ tls: implicit }), { tls: true });
    expect(error).toMatchObject({ code: 'NNTP_TLS_UNTRUSTED', retriable: false });
    expect(error.message).toMatch(/127\.0\.0\.1:\d+.*DEPTH_ZERO_SELF_SIGNED_CERT/);
  });

  it('refuses it after STARTTLS too', async () => {
    const server = await fake({ tls: { ...implicit, mode: 'starttls' } });
    expect(await connecting(server, { tls: 'starttls' })).toMatchObject({ code: 'NNTP_TLS_UNTRUSTED' });
    expect(server.commands).toEqual(['STARTTLS']);
  });

  it('refuses a trusted certificate that is for another name', async () => {
    const other = selfSignedCertificate('DNS:other.example');
    const server = await fake({ tls: { mode: 'implicit', ...other } });
    const error = await connecting(server, { tls: true, ca: other.ca });
    other.dispose();
    expect(error).toMatchObject({ code: 'NNTP_TLS_UNTRUSTED' });
    expect(error.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('says so when the ca file cannot be read', async () => {
    const error = await connecting(await fake({ tls: implicit }), { tls: true, ca: `${certificate.ca}.missing` });
    expect(error).toMatchObject({ code: 'NNTP_TLS_UNTRUSTED' });
    expect(error.message).toContain('ENOENT');
  });

  it.each(['implicit', 'starttls'] as const)('works with the certificate as ca, or insecure (%s)', async (mode) => {
    const server = await fake({ tls: { ...implicit, mode } });
    const tls = mode === 'implicit' ? true : 'starttls';
    const marks = (changes: ProviderChanges) => withConnectionTo(server, (c) => c.group(GROUP), { tls, ...changes });
    await expect(marks({ ca: certificate.ca })).resolves.toMatchObject({ high: 2 });
    await expect(marks({ insecure: true })).resolves.toMatchObject({ high: 2 });
  });

  it('does not go on in plain text where STARTTLS is refused', async () => {
    const server = await fake();
    const account = { user: 'alice', pass: 's3cret' };
    const error = await connecting(server, { tls: 'starttls', account });
    expect(error).toMatchObject({ code: 'NNTP_COMMAND_UNSUPPORTED' });
    expect(server.commands).toEqual(['STARTTLS']);
  });

  it('believes nothing that came in plain text behind the answer to STARTTLS', async () => {
    const server = await fake({
      rules: [{ on: /STARTTLS/, act: { do: 'send', bytes: '382 go\r\n200 injected\r\n' } }],
    });
    expect(await connecting(server, { tls: 'starttls' })).toMatchObject({ code: 'NNTP_CONNECTION_CLOSED' });
  });
});

describe('a login', () => {
  const account = { user: 'alice', pass: 's3cret word' };

  it('with the right account reads', async () => {
    const server = await fake({ account });
    await expect(withConnectionTo(server, (c) => c.group(GROUP), { account })).resolves.toMatchObject({ high: 2 });
  });

  it('that is refused is NNTP_AUTH_REJECTED and repeats no credential, though the server does', async () => {
    const error = await connecting(await fake({ account }), { account: { user: 'alice', pass: 'wr0ng' } });
    expect(error).toMatchObject({
      code: 'NNTP_AUTH_REJECTED',
      retriable: false,
      fields: { class: 'denied', reply: 481 },
    });
    expect(JSON.stringify([error.message, error.fields, error.stack])).not.toMatch(/alice|wr0ng/);
  });

  it('leaves no credential in log or metrics, whether it works or not', async () => {
    const written: unknown[] = [];
    const write = (...what: unknown[]) => void written.push(what);
    const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
    const metrics = { count: write, gauge: write, observe: write };
    const server = await fake({ account });
    for (const pass of [account.pass, 'wr0ng']) {
      const settings = providerAt(server, { account: { ...account, pass } });
      const pool = createNntpPool(settings, { clock: systemClock, log, metrics });
      await pool.withConnection((c) => c.group(GROUP)).catch(() => {});
      await pool.close();
    }
    const text = JSON.stringify(written);
    expect(text).toContain('AUTHINFO');
    expect(text).toContain('NNTP_AUTH_REJECTED');
    expect(text).not.toMatch(/alice|s3cret|wr0ng/);
  });

  it('that is missing is NNTP_AUTH_REJECTED', async () => {
    expect(await reading(await fake({ account }))).toMatchObject({ code: 'NNTP_AUTH_REJECTED' });
  });

  it.each(['480 no', '482 out of order', '502 subscription ended'])(
    'answered %j is NNTP_AUTH_REJECTED',
    async (reply) => {
      const server = await fake({ rules: [{ on: /AUTHINFO USER/, act: { do: 'send', bytes: `${reply}\r\n` } }] });
      expect(await connecting(server, { account })).toMatchObject({ code: 'NNTP_AUTH_REJECTED' });
    },
  );

  it('beyond the connections of the account is NNTP_TOO_MANY_CONNECTIONS', async () => {
    const rule = { on: /AUTHINFO PASS/, act: { do: 'send', bytes: '481 max connections reached\r\n' } } as const;
    const error = await connecting(await fake({ account, rules: [rule] }), { account });
    expect(error).toMatchObject({ code: 'NNTP_TOO_MANY_CONNECTIONS', retriable: true, fields: { class: 'busy' } });
  });

  it('works without CAPABILITIES, and where MODE READER wants the login first', async () => {
    const server = await fake({ account, news: { ...NEWS, capabilities: null } });
    await expect(withConnectionTo(server, (c) => c.group(GROUP), { account })).resolves.toMatchObject({ high: 2 });
    const modes = server.commands.filter((command) => command === 'MODE READER');
    expect(modes).toHaveLength(2);
  });

  it('switches to reading only where the server says that it needs it', async () => {
    const reader = await fake();
    await withConnectionTo(reader, (c) => c.group(GROUP));
    expect(reader.commands).not.toContain('MODE READER');
    const transit = await fake({ news: { ...NEWS, capabilities: ['IHAVE', 'MODE-READER'] } });
    await withConnectionTo(transit, (c) => c.group(GROUP));
    expect(transit.commands).toContain('MODE READER');
  });
});

describe('a reply', () => {
  const over = (act: NonNullable<FakeNntpOptions['rules']>[number]['act']) => fake({ rules: [{ on: /OVER \d/, act }] });

  it('that does not come is NNTP_TIMEOUT of kind first byte', async () => {
    const error = await reading(await over({ do: 'stall' }), { timeouts: { overFirstByteMs: 80 } });
    expect(error).toMatchObject({ code: 'NNTP_TIMEOUT', fields: { kind: 'first byte', command: 'OVER 1-9' } });
  });

  it.each(['2', '224 overview\r\n', '224 overview\r\n1\tone\r\n2\tt'])(
    'that stops after %j is NNTP_TIMEOUT of kind silence',
    async (bytes) => {
      const error = await reading(await over({ do: 'stall', bytes }), { timeouts: { silenceMs: 80 } });
      expect(error).toMatchObject({ code: 'NNTP_TIMEOUT', fields: { kind: 'silence', ms: 80 } });
    },
  );

  it('that is cut off is NNTP_CONNECTION_CLOSED, also right before the last byte', async () => {
    for (const bytes of ['', '224 over\r\n1\tone', '224 over\r\n1\tone\r\n.\r']) {
      expect(await reading(await over({ do: 'cut', bytes }))).toMatchObject({ code: 'NNTP_CONNECTION_CLOSED' });
    }
  });

  it('that is no NNTP, or the success of another command, is NNTP_UNEXPECTED_REPLY and breaks the connection', async () => {
    for (const bytes of ['HTTP/1.1 200 OK\r\n', '211 3 1 3 alt.test\r\n', '999 what\r\n']) {
      expect(await reading(await over({ do: 'send', bytes }))).toMatchObject({ code: 'NNTP_UNEXPECTED_REPLY' });
    }
  });

  it('of 400 is NNTP_SERVICE_UNAVAILABLE, and the connection is not used again', async () => {
    const server = await over({ do: 'send', bytes: '400 going down\r\n' });
    const pool = poolAt(server);
    const work = pool.withConnection((c) => c.over(LO, HI, { onLines: () => {} }));
    expect(await failure(work)).toMatchObject({ code: 'NNTP_SERVICE_UNAVAILABLE', retriable: true });
    expect(pool.stats().open).toBe(0);
    await pool.close();
  });

  it('with more bytes than the range can have is NNTP_REPLY_TOO_LARGE', async () => {
    const endless = `224 overview\r\n${`1\t${'x'.repeat(998)}\r\n`.repeat(1100)}.\r\n`;
    const server = await over({ do: 'send', bytes: endless });
    const error = await reading(server, { limits: { overBytesPerNumber: 1000 } });
    expect(error).toMatchObject({ code: 'NNTP_REPLY_TOO_LARGE', retriable: false, fields: { limit: 1 << 20 } });
  });

  it('with an endless line or an endless status is NNTP_REPLY_TOO_LARGE', async () => {
    const line = await over({ do: 'stall', bytes: `224 overview\r\n${'x'.repeat(5000)}` });
    expect(await reading(line, { limits: { lineBytes: 1000 } })).toMatchObject({ code: 'NNTP_REPLY_TOO_LARGE' });
    const status = await over({ do: 'stall', bytes: `224 ${'x'.repeat(9000)}` });
    expect(await reading(status)).toMatchObject({ code: 'NNTP_REPLY_TOO_LARGE' });
  });

  it('to a command for nothing that exists names group or article', async () => {
    const server = await fake();
    const ask = (fn: Parameters<typeof withConnectionTo>[1]) => failure(withConnectionTo(server, fn));
    expect(await ask((c) => c.group(Group('no.such')))).toMatchObject({
      code: 'NNTP_NO_SUCH_GROUP',
      fields: { reply: 411 },
    });
    const absent = { code: 'NNTP_NO_SUCH_ARTICLE', retriable: false };
    expect(await ask((c) => c.body(MessageId('a@b')))).toMatchObject({ ...absent, fields: { reply: 430 } });
    expect(await ask((c) => c.stat(LO))).toMatchObject({ ...absent, fields: { reply: 423 } });
  });
});
