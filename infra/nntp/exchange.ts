import type { Clock } from '../base/clock.ts';
import { nntpError, printable, type ServerIdentity, type StatusLine } from './refusal.ts';
import { type LineSink, type PackedRequest, type ReaderLimits, ReplyReader } from './replyReader.ts';
import type { ByteTransport } from './transport.ts';
import { type Limit, Watchdog } from './watchdog.ts';

export interface Request {
  /** The command line without CRLF. */
  readonly line: string;
  /** The command as errors and metrics show it: never with credentials. */
  readonly label: string;
  readonly encoding?: 'utf8' | 'latin1';
  /** Codes below 400 that the command may be answered with. Any other means that the replies are out of step. */
  readonly expect: readonly number[];
  /** The code after which lines follow, and who takes them. `packed`: they may come compressed. */
  readonly block?: {
    readonly code: number;
    readonly sink: LineSink;
    readonly maxBytes: number;
    readonly packed?: PackedRequest | undefined;
  };
  readonly firstByteMs?: number;
}

export interface Reply extends StatusLine {
  /** Bytes of the block behind the status line. */
  readonly bytes: number;
}

interface Job {
  readonly request: Request;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

export interface ExchangeOptions extends ReaderLimits {
  readonly clock: Clock;
  readonly server: ServerIdentity;
  readonly firstByteMs: number;
  readonly depth: number;
  readonly onReply?: (label: string, reply: Reply) => void;
}

const MAX_QUEUED = 10_000;

/**
 * Commands out, replies back in the same order, several in flight. An error that leaves the stream at an unknown place
 * breaks the connection: every request, waiting or later, rejects with it. A refusal (4xx, 5xx) is a reply like any other.
 */
export class Exchange {
  readonly #transport: ByteTransport;
  readonly #options: ExchangeOptions;
  readonly #watchdog: Watchdog;
  readonly #reader: ReplyReader;
  readonly #jobs: Job[] = [];
  #sent = 0;
  #serving = false;
  #leaving = false;
  #broken: { readonly error: unknown } | null = null;
  #label = 'connect';

  constructor(transport: ByteTransport, options: ExchangeOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#watchdog = new Watchdog(options.clock, (limit) => this.#timeOut(limit));
    this.#reader = new ReplyReader(transport, this.#watchdog, options.server, options);
  }

  /** True while the connection can take a fresh series of commands: open, nothing in flight, nothing unasked received. */
  get idle(): boolean {
    const open = !this.#broken && !this.#leaving && !this.#transport.closed;
    return open && this.#jobs.length === 0 && this.#reader.buffered === 0;
  }

  /**
   * Leaves the transport to whoever reads it from here on, in another form, and gives them what was received beyond the last
   * reply. The deadline of this exchange would still be slept for, and keep the process alive.
   */
  handOver(): Buffer {
    this.#watchdog.stop();
    return this.#reader.takeRest();
  }

  /** The line that a server sends on its own after the connect. */
  async greeting(): Promise<StatusLine> {
    try {
      return await this.#reader.status('connect', this.#firstByte());
    } catch (error) {
      this.break(error);
      throw error;
    }
  }

  request(request: Request): Promise<Reply> {
    if (/[\r\n\0]/.test(request.line)) throw new TypeError(`a line break inside a command (${request.label})`);
    if (this.#broken) return Promise.reject(this.#broken.error);
    if (this.#jobs.length >= MAX_QUEUED)
      throw new RangeError(`more than ${MAX_QUEUED} commands wait on one connection`);
    return new Promise((resolve, reject) => {
      this.#jobs.push({ request, resolve, reject });
      this.#send();
      if (!this.#serving) void this.#serve();
    });
  }

  /** Ends the connection at once; everything in flight rejects with `error`. */
  break(error: unknown): void {
    if (this.#broken) return;
    this.#broken = { error };
    this.#watchdog.stop();
    this.#transport.fail(error);
    for (const job of this.#jobs.splice(0)) job.reject(error);
  }

  /** QUIT, without waiting for its reply longer than a second. */
  async quit(): Promise<void> {
    this.#leaving = true;
    this.#watchdog.stop();
    const patience = new AbortController();
    const gone = this.#transport.end(Buffer.from('QUIT\r\n')).then(() => patience.abort());
    await Promise.race([gone, this.#options.clock.sleep(1000, patience.signal).catch(() => {})]);
    this.break(nntpError('NNTP_CONNECTION_CLOSED', this.#options.server, { reason: 'closed by Headwater' }));
  }

  #send(): void {
    while (this.#sent < Math.min(this.#jobs.length, this.#options.depth)) {
      const job = this.#jobs[this.#sent++];
      if (job) this.#transport.write(Buffer.from(`${job.request.line}\r\n`, job.request.encoding ?? 'utf8'));
    }
  }

  async #serve(): Promise<void> {
    this.#serving = true;
    try {
      for (let job = this.#jobs[0]; job; job = this.#jobs[0]) {
        const reply = await this.#reply(job.request);
        if (this.#broken) return;
        this.#jobs.shift();
        this.#sent--;
        this.#options.onReply?.(job.request.label, reply);
        job.resolve(reply);
        this.#send();
      }
    } catch (error) {
      this.break(error);
    } finally {
      this.#serving = false;
    }
  }

  async #reply(request: Request): Promise<Reply> {
    this.#label = request.label;
    const status = await this.#reader.status(request.label, this.#firstByte(request.firstByteMs));
    // 400 announces that the server ends the session: what is in flight may still be answered, nothing new is.
    if (status.code === 400) this.#leaving = true;
    if (status.code < 400 && !request.expect.includes(status.code)) throw this.#outOfStep(status, request.label);
    if (request.block?.code !== status.code) return { ...status, bytes: 0 };
    const { sink, maxBytes, packed } = request.block;
    // Whoever broke the connection has been told; its sink must not be called any more.
    const guarded: LineSink = (lines) => {
      if (this.#broken) throw this.#broken.error;
      return sink(lines);
    };
    const bytes = await this.#reader.block({ command: request.label, sink: guarded, maxBytes, packed });
    return { ...status, bytes };
  }

  #firstByte(ms = this.#options.firstByteMs): Limit {
    return { kind: 'first byte', ms };
  }

  #timeOut(limit: Limit): void {
    const fields = { kind: limit.kind, ms: limit.ms, command: this.#label };
    this.break(this.#reader.blame(nntpError('NNTP_TIMEOUT', this.#options.server, fields)));
  }

  #outOfStep(status: StatusLine, command: string) {
    const { server } = this.#options;
    const fields = { command, reply: status.code, text: printable(status.text, server.secrets) };
    return nntpError('NNTP_UNEXPECTED_REPLY', server, fields);
  }
}
