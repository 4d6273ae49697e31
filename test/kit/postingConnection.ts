import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where and as whom to post. */
export interface PostingTarget {
  readonly host: string;
  readonly port: number;
  readonly account?: { readonly user: string; readonly pass: string } | undefined;
  /** Path of the certificate to trust. Given = TLS from the first byte. */
  readonly tlsCa?: string | undefined;
}

const open = (target: PostingTarget): Socket =>
  target.tlsCa === undefined
    ? connect(target.port, target.host)
    : connectTls({ port: target.port, host: target.host, servername: 'localhost', ca: readFileSync(target.tlsCa) });

/**
 * A connection that can post, and no more. It is a client of its own, so that the tests of Headwater's NNTP client do
 * not depend on that client.
 */
export class PostingConnection {
  readonly #socket: Socket;
  readonly #lines: AsyncIterator<string>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#lines = readLines(socket);
  }

  /** Connects, reads the greeting and logs in when there is an account. */
  static async open(target: PostingTarget): Promise<PostingConnection> {
    const connection = new PostingConnection(open(target));
    try {
      await connection.#expect('2');
      if (target.account) {
        await connection.#ask(`AUTHINFO USER ${target.account.user}`, '381');
        await connection.#ask(`AUTHINFO PASS ${target.account.pass}`, '281');
      }
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  /** Posts one article: header lines and body, both CRLF ended, the body dot-stuffed. Rejects when it is refused. */
  async post(head: string, body: Buffer): Promise<void> {
    await this.#ask('POST', '340');
    this.#socket.write(Buffer.from(`${head}\r\n`, 'latin1'));
    this.#socket.write(body);
    await this.#ask('.', '240');
  }

  close(): void {
    this.#socket.destroy();
  }

  async #ask(line: string, code: string): Promise<void> {
    this.#socket.write(`${line}\r\n`);
    await this.#expect(code);
  }

  async #expect(code: string): Promise<void> {
    const reply = await this.#lines.next();
    if (reply.done) throw new Error('the news server closed the connection');
    if (!reply.value.startsWith(code)) throw new Error(`the news server said: ${reply.value}`);
  }
}

async function* readLines(socket: Socket): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of socket) {
    rest += (chunk as Buffer).toString('latin1');
    for (let end = rest.indexOf('\r\n'); end !== -1; end = rest.indexOf('\r\n')) {
      yield rest.slice(0, end);
      rest = rest.slice(end + 2);
    }
  }
}
