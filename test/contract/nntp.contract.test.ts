import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NntpConnection } from '../../infra/nntp/index.ts';
import { ArticleNumber, Group, MessageId } from '../../streams/ids.ts';
import { selfSignedCertificate } from '../kit/certificate.ts';
import { describeWith } from '../kit/describeWith.ts';
import type { FakeArticle, FakeNews } from '../kit/fakeNews.ts';
import { startInn } from '../kit/inn.ts';
import { type ProviderChanges, poolAt, withConnectionTo } from '../kit/nntpProvider.ts';
import { startFakeNntp } from '../kit/nntpServer.ts';
import { overviewForInn } from '../kit/overviewForInn.ts';
import { PostingConnection } from '../kit/postingConnection.ts';
import { dotStuff } from '../kit/yenc.ts';

/** A server that has the contents below. It is one host with three ports, as `startInn` gives it. */
interface ServerUnderTest {
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly authPort: number;
  readonly account: { readonly user: string; readonly pass: string };
  readonly ca: string;
  /** Ends every session, or refuses new ones too. */
  cut(): Promise<void>;
  stop(): Promise<void>;
}

const LINES = 1500;
const OVERVIEW = Group('alt.contract.overview');
const ARTICLES = Group('alt.contract.articles');
const EMPTY = Group('alt.contract.empty');

/** Overview lines with a gap from 701 to 800, some of them longer than a TCP segment. */
const overview = Array.from({ length: LINES }, (_, i) => i + 1)
  .filter((n) => n <= 700 || n > 800)
  .map((n) => {
    const subject = `"file ${n}.rar" ${'.long'.repeat(n % 97 === 0 ? 500 : n % 20)} yEnc (1/1)`;
    const fields = [n, subject, 'P <p@x.invalid>', 'Thu, 01 Jan 2026 10:00:00 +0000', `<c${n}@contract.test>`];
    return [...fields, '', 1000 + n, 8, `Xref: news.test ${OVERVIEW}:${n}`].join('\t');
  });
const linesOf = (lo: number, hi: number) =>
  overview.filter((line) => Number.parseInt(line, 10) >= lo && Number.parseInt(line, 10) <= hi);

/** Bodies that dot-stuffing and line ends could break; each ends with CRLF. */
const BODIES = [
  '..\r\n.\r\n...\r\n\r\n.x\r\n',
  'plain\r\n',
  `${'.'.repeat(300)}\r\n=y${'\u00ff'.repeat(120)}\r\n`.repeat(3000),
];
const headOf = (n: number) =>
  [
    `From: P <p@x.invalid>`,
    `Newsgroups: ${ARTICLES}`,
    `Subject: article ${n}`,
    `Message-ID: <a${n}@contract.test>`,
  ].join('\r\n');

const articlesForFake: readonly FakeArticle[] = BODIES.map((body, i) => ({
  number: i + 1,
  messageId: `a${i + 1}@contract.test`,
  head: headOf(i + 1),
  body: body.slice(0, -2),
}));

async function startFakes(): Promise<ServerUnderTest> {
  const certificate = selfSignedCertificate();
  const account = { user: 'reader', pass: 'reader pass' };
  const listed = new Map(overview.map((line) => [Number.parseInt(line, 10), line]));
  const news: FakeNews = {
    groups: [
      { name: OVERVIEW, low: 1, high: LINES, overview: listed },
      { name: ARTICLES, low: 1, high: 3, count: 3, overview: new Map(), articles: articlesForFake },
      { name: EMPTY, low: 1, high: 0, overview: new Map() },
    ],
  };
  const pieces = [1, 3, 1460, 7, 65_536];
  const [plain, tls, auth] = await Promise.all([
    startFakeNntp({ news, pieces, tls: { mode: 'starttls', ...certificate } }),
    startFakeNntp({ news, pieces, tls: { mode: 'implicit', ...certificate } }),
    startFakeNntp({ news, account }),
  ]);
  return {
    host: plain.host,
    port: plain.port,
    tlsPort: tls.port,
    authPort: auth.port,
    account,
    ca: certificate.ca,
    cut: async () => plain.cutAll(),
    stop: async () => {
      certificate.dispose();
      await Promise.all([plain.stop(), tls.stop(), auth.stop()]);
    },
  };
}

async function startRealInn(): Promise<ServerUnderTest> {
  const inn = await startInn({ groups: [OVERVIEW, ARTICLES, EMPTY] });
  try {
    const loaded = await inn.overchan([...overviewForInn(OVERVIEW, overview)].join(''));
    if (loaded.refused > 0) throw new Error(loaded.complaints);
    const poster = await PostingConnection.open(inn);
    for (const [i, body] of BODIES.entries()) {
      await poster.post(`${headOf(i + 1)}\r\n`, dotStuff(Buffer.from(body, 'latin1')));
    }
    poster.close();
  } catch (error) {
    await inn.dispose();
    throw error;
  }
  const { host, port, tlsPort, authPort, account, ca } = inn;
  return { host, port, tlsPort, authPort, account, ca, cut: () => inn.stopReaders(), stop: () => inn.dispose() };
}

function nntpContract(start: () => Promise<ServerUnderTest>): void {
  let server: ServerUnderTest;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());

  const using = <T>(fn: (c: NntpConnection) => Promise<T>, changes: ProviderChanges = {}): Promise<T> =>
    withConnectionTo(server, fn, changes);
  const read = async (c: NntpConnection, lo: number, hi: number) => {
    const pieces: Buffer[] = [];
    const onLines = (lines: Buffer) => void pieces.push(lines);
    const result = await c.over(ArticleNumber(lo), ArticleNumber(hi), { onLines });
    for (const piece of pieces) expect(piece.subarray(-2).toString()).toBe('\r\n');
    return { ...result, text: Buffer.concat(pieces).toString('latin1') };
  };
  const onWire = (lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join('');

  it('tells what it can', async () => {
    const capabilities = await using(async (c) => c.capabilities);
    expect([...(capabilities ?? new Map()).keys()]).toEqual(expect.arrayContaining(['READER', 'OVER']));
  });

  it('lists its groups with their marks, all or by wildmat', async () => {
    const list = (wildmat?: string) =>
      using(async (c) => {
        const groups: { group: string; high: number; low: number }[] = [];
        const onGroups = (more: readonly (typeof groups)[number][]) => void groups.push(...more);
        const result = await c.listActive(wildmat === undefined ? { onGroups } : { onGroups, wildmat });
        expect(result).toEqual({ groups: groups.length, odd: 0, oddLines: [] });
        return groups;
      });
    const all = await list();
    expect(all).toContainEqual(expect.objectContaining({ group: OVERVIEW, low: 1, high: LINES }));
    expect(all.map(({ group }) => group)).toContain(EMPTY);
    expect((await list('alt.contract.a*')).map(({ group }) => group)).toEqual([ARTICLES]);
    expect(await list('no.such.*')).toEqual([]);
  });

  it('states the order of the overview fields', async () => {
    const format = await using((c) => c.overviewFormat());
    expect(format.stated).toBe(true);
    expect(format.columns).toEqual({
      subject: 1,
      from: 2,
      date: 3,
      messageId: 4,
      references: 5,
      bytes: 6,
      lines: 7,
      xref: 8,
    });
  });

  it('selects a group and states its marks', async () => {
    await using(async (c) => {
      expect(await c.group(OVERVIEW)).toMatchObject({ low: 1, high: LINES, empty: false });
      expect(await c.group(EMPTY)).toMatchObject({ empty: true });
    });
  });

  it('says that a group does not exist, and goes on', async () => {
    await using(async (c) => {
      await expect(c.group(Group('no.such.group'))).rejects.toMatchObject({ code: 'NNTP_NO_SUCH_GROUP' });
      expect(await c.group(OVERVIEW)).toMatchObject({ high: LINES });
    });
  });

  it('gives the overview of a range as it is on the wire, to the byte', async () => {
    await using(async (c) => {
      await c.group(OVERVIEW);
      const text = onWire(overview);
      expect(await read(c, 1, LINES)).toEqual({ empty: false, bytes: text.length, text });
      expect((await read(c, 690, 810)).text).toBe(onWire(linesOf(690, 810)));
    });
  });

  it('gives nothing for a range without articles', async () => {
    await using(async (c) => {
      await c.group(OVERVIEW);
      const nothing = { empty: true, bytes: 0, text: '' };
      expect(await read(c, 701, 800)).toEqual(nothing);
      expect(await read(c, LINES + 1, LINES + 5000)).toEqual(nothing);
      await c.group(EMPTY);
      expect(await read(c, 1, 10)).toEqual(nothing);
    });
  });

  it('answers a pipeline of many ranges in order', async () => {
    await using(async (c) => {
      const spans = Array.from({ length: 60 }, (_, i) => [i * 25 + 1, i * 25 + 25] as const);
      const [, ...asked] = await Promise.all([c.group(OVERVIEW), ...spans.map(([lo, hi]) => read(c, lo, hi))]);
      expect(asked.map(({ text }) => text)).toEqual(spans.map(([lo, hi]) => onWire(linesOf(lo, hi))));
    });
  });

  it('gives article, head and body to the byte, by number and by message-id', async () => {
    await using(async (c) => {
      await c.group(ARTICLES);
      for (const [i, body] of BODIES.entries()) {
        const id = MessageId(`a${i + 1}@contract.test`);
        const number = ArticleNumber(i + 1);
        expect(await c.stat(number)).toEqual({ number: i + 1, messageId: id });
        expect((await c.stat(id)).messageId).toBe(id);
        const [byId, byNumber, head, whole] = await Promise.all([
          c.body(id),
          c.body(number),
          c.head(id),
          c.article(number),
        ]);
        expect(byId.bytes.toString('latin1') === body).toBe(true);
        expect(byNumber.bytes.equals(byId.bytes)).toBe(true);
        expect(head.bytes.toString()).toContain(`Subject: article ${i + 1}\r\n`);
        const expected = Buffer.concat([(await c.head(number)).bytes, Buffer.from('\r\n'), byId.bytes]);
        expect(whole.bytes.equals(expected)).toBe(true);
      }
    });
  });

  it('says that an article does not exist, and goes on', async () => {
    await using(async (c) => {
      await c.group(ARTICLES);
      const absent = { code: 'NNTP_NO_SUCH_ARTICLE' };
      await expect(c.body(MessageId('nothing@contract.test'))).rejects.toMatchObject(absent);
      await expect(c.stat(ArticleNumber(999))).rejects.toMatchObject(absent);
      expect((await c.stat(ArticleNumber(1))).messageId).toBe('a1@contract.test');
    });
  });

  it.each(['tlsPort', 'port'] as const)(
    'is read by TLS when its certificate is trusted, and only then (%s)',
    async (name) => {
      const tls: ProviderChanges = { tls: name === 'tlsPort' ? true : 'starttls', port: server[name] };
      const marks = (changes: ProviderChanges) => using((c) => c.group(OVERVIEW), { ...tls, ...changes });
      await expect(marks({ ca: server.ca })).resolves.toMatchObject({ high: LINES });
      await expect(marks({})).rejects.toMatchObject({ code: 'NNTP_TLS_UNTRUSTED' });
    },
  );

  it('lets the right account in, and no other', async () => {
    const port = server.authPort;
    const { account } = server;
    const marks = (changes: ProviderChanges) => using((c) => c.group(OVERVIEW), { port, ...changes });
    await expect(marks({ account })).resolves.toMatchObject({ high: LINES });
    const denied = { code: 'NNTP_AUTH_REJECTED', fields: { class: 'denied' } };
    await expect(marks({ account: { ...account, pass: 'wrong' } })).rejects.toMatchObject(denied);
    await expect(marks({})).rejects.toMatchObject(denied);
  });

  it('is read by several connections at once, which are kept', async () => {
    const pool = poolAt(server, { connections: 3 });
    const work = Array.from({ length: 12 }, (_, i) =>
      pool.withConnection(async (c) => {
        await c.group(OVERVIEW);
        return (await read(c, i * 50 + 1, i * 50 + 50)).text;
      }),
    );
    const texts = await Promise.all(work);
    expect(texts.join('')).toBe(onWire(linesOf(1, 600)));
    expect(pool.stats()).toEqual({ open: 3, busy: 0, waiting: 0, limit: 3 });
    await pool.close();
  });

  // The last one: INN's readers stay away afterwards.
  it('that goes away under a reader is a closed connection', async () => {
    const pool = poolAt(server);
    const work = pool.withConnection(async (c) => {
      await c.group(OVERVIEW);
      await server.cut();
      const deadline = performance.now() + 20_000;
      while (performance.now() < deadline) await c.group(OVERVIEW);
    });
    await expect(work).rejects.toMatchObject({
      code: expect.stringMatching(/^NNTP_(CONNECTION_CLOSED|SERVICE_UNAVAILABLE)$/),
    });
    expect(pool.stats().open).toBe(0);
    await pool.close();
  });
}

describe('the NNTP client with the scripted server', () => nntpContract(startFakes));
describeWith(['inn2'], 'the NNTP client with INN', () => nntpContract(startRealInn));
