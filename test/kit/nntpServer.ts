import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { DeflatedSession, type FakeCompression, SessionCompression } from './fakeCompression.ts';
import { type FakeNews, newsReply } from './fakeNews.ts';

/** What the server does instead of its normal answer to a command. */
export type Act =
  /** Sends these bytes, as they are (but through COMPRESS DEFLATE where that is on). */
  | { readonly do: 'send'; readonly bytes: string | Buffer }
  /** Puts these bytes on the wire past any compression, after `first` through it and once `until` resolves. */
  | {
      readonly do: 'wire';
      readonly bytes: string | Buffer;
      readonly first?: string | Buffer;
      readonly until?: Promise<unknown>;
    }
  /** Sends these bytes and then nothing more, the connection stays open. */
  | { readonly do: 'stall'; readonly bytes?: string | Buffer }
  /** Sends these bytes and cuts the connection. */
  | { readonly do: 'cut'; readonly bytes?: string | Buffer }
  /** Answers normally once the promise resolves; later commands wait behind it. */
  | { readonly do: 'hold'; readonly until: Promise<unknown> };

/** `times`: how often it applies (default: always). */
export interface Rule {
  readonly on: RegExp;
  readonly act: Act | ((command: string) => Act);
  readonly times?: number;
}

export interface FakeNntpOptions {
  readonly news: FakeNews;
  /** `implicit`: TLS from the first byte; `starttls`: STARTTLS is offered. */
  readonly tls?: { readonly mode: 'implicit' | 'starttls'; readonly key: string; readonly cert: string };
  /** Commands are 480 before a login with it. */
  readonly account?: { readonly user: string; readonly pass: string };
  readonly rules?: readonly Rule[];
  /** Reply to the connect; `greeting` is what rules match on. Default 200. */
  readonly greeting?: string;
  /** Cuts everything that is sent into pieces of these sizes, in turn, each its own packet as far as TCP allows. */
  readonly pieces?: readonly number[];
  /** What it can compress. Default: nothing. */
  readonly compression?: FakeCompression;
  /** Connections beyond this are greeted with 502 and closed. */
  readonly maxConnections?: number;
}

/** A scripted NNTP server in this process, on a free loopback port. */
export interface FakeNntp {
  readonly host: string;
  readonly port: number;
  /** Every command line received, in order, over all connections. */
  readonly commands: readonly string[];
  readonly connections: { readonly now: number; readonly most: number; readonly total: number };
  /** Adds a rule in front of the others. */
  rule(rule: Rule): void;
  /** Closes all connections; the server goes on listening. */
  cutAll(): void;
  stop(): Promise<void>;
}

export async function startFakeNntp(options: FakeNntpOptions): Promise<FakeNntp> {
  const fake = new FakeServer(options);
  await fake.listen();
  return fake;
}

class FakeServer implements FakeNntp {
  readonly host = '127.0.0.1';
  port = 0;
  readonly commands: string[] = [];
  readonly connections = { now: 0, most: 0, total: 0 };
  readonly options: FakeNntpOptions;
  readonly #rules: { rule: Rule; left: number }[];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(options: FakeNntpOptions) {
    this.options = options;
    this.#rules = (options.rules ?? []).map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }));
    const accept = (socket: Socket) => this.#accept(socket);
    const { tls } = options;
    this.#server =
      tls?.mode === 'implicit'
        ? createTlsServer({ key: tls.key, cert: tls.cert, noDelay: true }, accept)
        : createServer({ noDelay: true }, accept);
    // A client that refuses our certificate is the point of some tests.
    this.#server.on('tlsClientError', () => {});
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, this.host, resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    this.port = address.port;
  }

  rule(rule: Rule): void {
    this.#rules.unshift({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The act for a command, when a rule is left for it. */
  actFor(command: string): Act | null {
    const found = this.#rules.find(({ rule, left }) => left > 0 && rule.on.test(command));
    if (!found) return null;
    found.left--;
    return typeof found.rule.act === 'function' ? found.rule.act(command) : found.rule.act;
  }

  #accept(socket: Socket): void {
    const { connections } = this;
    this.#sockets.add(socket);
    connections.now++;
    connections.total++;
    connections.most = Math.max(connections.most, connections.now);
    socket.on('error', () => {});
    socket.once('close', () => {
      connections.now--;
      this.#sockets.delete(socket);
    });
    const { maxConnections = Number.POSITIVE_INFINITY } = this.options;
    if (connections.now > maxConnections) socket.end('502 Too many connections for this account\r\n');
    else void new Session(this, socket).run();
  }
}

/** One client: its commands are answered one after the other, as they come. */
class Session {
  readonly #server: FakeServer;
  #socket: Socket;
  #loggedIn: boolean;
  readonly #selected: { group: string | null } = { group: null };
  readonly #compression: SessionCompression;
  #deflated: DeflatedSession | null = null;

  constructor(server: FakeServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    this.#compression = new SessionCompression(server.options.compression ?? {});
    this.#loggedIn = server.options.account === undefined;
  }

  async run(): Promise<void> {
    const greeting = this.#server.options.greeting ?? '200 fake news ready';
    if (!(await this.#perform(this.#server.actFor('greeting'), `${greeting}\r\n`))) return;
    for (;;) {
      const upgraded = await this.#serve();
      if (!upgraded) return;
    }
  }

  /** Serves until the stream ends (false) or goes on in another form (true). */
  async #serve(): Promise<boolean> {
    const deflated = this.#deflated;
    for await (const command of commandLines(this.#socket, deflated ? (bytes) => deflated.inflate(bytes) : null)) {
      this.#server.commands.push(command);
      if (command === 'STARTTLS' && this.#server.options.tls?.mode === 'starttls') {
        this.#socket.write('382 go ahead\r\n');
        this.#upgrade();
        return true;
      }
      const act = this.#server.actFor(command);
      if (!(await this.#perform(act, this.#answer(command)))) return false;
      const agreed = act === null || (act.do === 'wire' && bytesOf(act.bytes).toString().startsWith('206'));
      if (agreed && this.#startsDeflate(command)) {
        this.#deflated = new DeflatedSession();
        return true;
      }
      if (command === 'QUIT') this.#socket.end();
    }
    return false;
  }

  #upgrade(): void {
    const { tls } = this.#server.options;
    if (!tls) throw new Error('no certificate');
    this.#socket.removeAllListeners('data');
    this.#socket = new TLSSocket(this.#socket, { isServer: true, key: tls.key, cert: tls.cert });
    this.#socket.on('error', () => {});
  }

  /** Sends the answer or does what a rule says; false when this session says nothing more. */
  async #perform(scripted: Act | null, answer: string | Buffer): Promise<boolean> {
    const act = scripted ?? { do: 'send', bytes: answer };
    switch (act.do) {
      case 'send':
        await this.#send(act.bytes);
        return true;
      case 'wire':
        await this.#send(act.first ?? '');
        await act.until;
        await this.#onWire(bytesOf(act.bytes));
        return true;
      case 'hold':
        await act.until;
        await this.#send(answer);
        return true;
      case 'stall':
        await this.#send(act.bytes ?? '');
        return false;
      case 'cut':
        await this.#send(act.bytes ?? '');
        this.#socket.end(() => this.#socket.destroy());
        return false;
    }
  }

  async #send(what: string | Buffer): Promise<void> {
    const bytes = bytesOf(what);
    await this.#onWire(this.#deflated && bytes.length > 0 ? await this.#deflated.deflate(bytes) : bytes);
  }

  async #onWire(bytes: Buffer): Promise<void> {
    const sizes = this.#server.options.pieces;
    if (!sizes) return this.#write(bytes);
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const size = Math.max(1, sizes[i % sizes.length] ?? 1);
      await this.#write(bytes.subarray(at, at + size));
      at += size;
    }
  }

  #write(bytes: Buffer): Promise<void> {
    if (bytes.length === 0 || this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  #answer(command: string): string | Buffer {
    const { account, news } = this.#server.options;
    const [verb = '', word = '', ...rest] = command.split(' ');
    if (verb === 'AUTHINFO') return `${this.#authenticate(word, rest.join(' '), account)}\r\n`;
    if (!this.#loggedIn && verb !== 'CAPABILITIES' && verb !== 'QUIT') return '480 authentication required\r\n';
    const switched = this.#compression.switched(command);
    if (switched !== null) return switched;
    if (this.#startsDeflate(command)) return '206 compression active\r\n';
    const behind = this.#compression.behind(command);
    const answer = newsReply(news, this.#selected, behind.command);
    if (verb !== 'CAPABILITIES' || this.#deflated || !answer.startsWith('101')) return behind.pack(answer);
    return answer.replace(
      /\.\r\n$/,
      [...this.#compression.capabilities.map((line) => `${line}\r\n`), '.\r\n'].join(''),
    );
  }

  #startsDeflate(command: string): boolean {
    return command === 'COMPRESS DEFLATE' && this.#deflated === null && this.#compression.capabilities.length > 0;
  }

  #user = '';
  #authenticate(word: string, value: string, account: FakeNntpOptions['account']): string {
    if (word === 'USER') {
      this.#user = value;
      return '381 password, please';
    }
    const right = account === undefined || (this.#user === account.user && value === account.pass);
    // A real server has been seen to repeat what it was sent; the client must not pass that on.
    if (!right) return `481 ${this.#user} may not log in with ${value}`;
    this.#loggedIn = true;
    return '281 welcome';
  }
}

const bytesOf = (what: string | Buffer): Buffer => (typeof what === 'string' ? Buffer.from(what, 'latin1') : what);

/** Command lines without CRLF; leaves the socket usable when the consumer stops. */
async function* commandLines(
  socket: Socket,
  inflate: ((bytes: Buffer) => Promise<Buffer>) | null,
): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      rest += (inflate ? await inflate(chunk as Buffer) : (chunk as Buffer)).toString('latin1');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        yield line;
      }
    }
  } catch (error) {
    // A client that leaves without a word ends the iteration with an error; that is no fault of this server.
    if (!socket.destroyed) throw error;
  }
}
