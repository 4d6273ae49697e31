import type { ArticleNumber, Group } from '../../streams/ids.ts';
import { isHeadwaterError } from '../base/errors/index.ts';
import type { CompressionChoice } from './compressionChoice.ts';
import type {
  ActiveListOptions,
  ActiveListResult,
  Article,
  ArticleRef,
  ArticleStatus,
  Connection,
  NntpConnection,
  OverOptions,
  OverResult,
} from './connection.ts';
import { DeliveredLines } from './deliveredLines.ts';
import type { GroupMarks } from './groupMarks.ts';
import type { OverviewFormat } from './overviewFormat.ts';
import { nntpError, type ServerIdentity } from './refusal.ts';

export interface LeaseContext {
  readonly server: ServerIdentity;
  readonly choice: CompressionChoice;
  /** Opens a connection without compression, in place of the one that broke. */
  readonly openPlain: (signal: AbortSignal) => Promise<Connection>;
}

/**
 * A connection for the time of one use. When a compressed reply on it is broken, a plain connection takes its place, and
 * everything that was in flight is asked for again there, in order; the user does not notice.
 */
export class Lease implements NntpConnection {
  readonly #context: LeaseContext;
  readonly #stop = new AbortController();
  #connection: Connection;
  #replacing: Promise<Connection> | null = null;
  #group: Group | null = null;
  #blamed = false;

  constructor(connection: Connection, context: LeaseContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /** The one that is used now. */
  get connection(): Connection {
    return this.#connection;
  }

  get capabilities() {
    return this.#connection.capabilities;
  }

  /** Ends the lease's connection, and the opening of another one. */
  break(error: unknown): void {
    this.#stop.abort(error);
    this.#connection.break(error);
  }

  /** No other connection takes the place of a broken one any more. */
  end(error: unknown): void {
    this.#stop.abort(error);
  }

  listActive(options: ActiveListOptions): Promise<ActiveListResult> {
    let given = false;
    const onGroups: ActiveListOptions['onGroups'] = (groups) => {
      given ||= groups.length > 0;
      return options.onGroups(groups);
    };
    return this.#ask(
      (c) => c.listActive({ ...options, onGroups }),
      () => !given,
    );
  }

  overviewFormat(): Promise<OverviewFormat> {
    return this.#ask((c) => c.overviewFormat());
  }

  group(group: Group): Promise<GroupMarks> {
    return this.#ask(async (c) => {
      const marks = await c.group(group);
      this.#group = group;
      return marks;
    });
  }

  over(lo: ArticleNumber, hi: ArticleNumber, options: OverOptions): Promise<OverResult> {
    const delivered = new DeliveredLines(options.onLines);
    const first = this.#connection;
    return this.#ask(async (c) => {
      if (c === first) {
        const onLines = c.compression === 'none' ? options.onLines : delivered.first;
        return await c.over(lo, hi, { ...options, onLines });
      }
      const again = delivered.again(() => this.#differs(lo, hi));
      const result = await c.over(lo, hi, { ...options, onLines: again.sink });
      again.finish();
      return result;
    });
  }

  stat(article: ArticleRef): Promise<ArticleStatus> {
    return this.#ask((c) => c.stat(article));
  }

  head(article: ArticleRef): Promise<Article> {
    return this.#ask((c) => c.head(article));
  }

  body(article: ArticleRef): Promise<Article> {
    return this.#ask((c) => c.body(article));
  }

  article(article: ArticleRef): Promise<Article> {
    return this.#ask((c) => c.article(article));
  }

  async #ask<T>(command: (c: Connection) => Promise<T>, again: () => boolean = () => true): Promise<T> {
    const used = this.#connection;
    try {
      return await command(used);
    } catch (error) {
      if (!spoiled(error, used) || this.#stop.signal.aborted || !again()) throw error;
      return await command(await this.#replace(used, error));
    }
  }

  #replace(used: Connection, error: unknown): Promise<Connection> {
    if (this.#connection !== used) return Promise.resolve(this.#connection);
    this.#replacing ??= this.#open(used, error).finally(() => {
      this.#replacing = null;
    });
    return this.#replacing;
  }

  async #open(used: Connection, error: unknown): Promise<Connection> {
    used.break(error);
    // A plain connection that cannot be opened at once is tried for again, without blaming the same reply twice.
    if (!this.#blamed && used.compression !== 'none') this.#context.choice.broke(used.compression, error);
    this.#blamed = true;
    const plain = await this.#context.openPlain(this.#stop.signal);
    this.#connection = plain;
    if (this.#stop.signal.aborted) plain.break(this.#stop.signal.reason);
    if (this.#group !== null) await plain.group(this.#group);
    return plain;
  }

  #differs(lo: number, hi: number) {
    const reason = 'read again without compression, the range has other lines';
    return nntpError('NNTP_COMPRESSION_BROKEN', this.#context.server, { command: `OVER ${lo}-${hi}`, reason });
  }
}

/** Whether `error` can come from compression. A status line that is none shows that the end of a reply was missed. */
function spoiled(error: unknown, { compression }: Connection): boolean {
  if (compression === 'none' || !isHeadwaterError(error)) return false;
  if (error.code === 'NNTP_UNEXPECTED_REPLY') return error.fields.reply === 'no status line';
  return error.code === 'NNTP_COMPRESSION_BROKEN' || error.code === 'NNTP_REPLY_TOO_LARGE';
}
