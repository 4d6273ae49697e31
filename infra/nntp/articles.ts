import type { Articles, ArticlesPool, GroupMarks } from '../../processors/ports.ts';
import type { Backbone, Group } from '../../streams/ids.ts';
import { ArticleNumber } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import type { NntpConnection } from './connection.ts';
import { LineQueue } from './lineQueue.ts';
import type { NntpPool } from './pool.ts';
import { nntpError, type ServerIdentity } from './refusal.ts';
import type { NntpProviderSettings } from './settings.ts';

/** The port that fetch and coordinator use, on a pool. */
export function articlesPool(pool: NntpPool, settings: NntpProviderSettings): ArticlesPool {
  const server = { host: settings.host, port: settings.port, secrets: [] };
  return {
    provider: pool.provider,
    backbone: pool.backbone,
    limit: settings.connections,
    withArticles: (use, signal) =>
      pool.withConnection((connection) => use(new LeasedArticles(pool.backbone, connection, server)), signal),
  };
}

class LeasedArticles implements Articles {
  readonly backbone: Backbone;
  readonly #connection: NntpConnection;
  readonly #server: ServerIdentity;

  constructor(backbone: Backbone, connection: NntpConnection, server: ServerIdentity) {
    this.backbone = backbone;
    this.#connection = connection;
    this.#server = server;
  }

  async overviewFormat(): Promise<readonly string[]> {
    return (await this.#connection.overviewFormat()).fields;
  }

  /** Marks that the server left out cannot be planned with: NNTP_UNEXPECTED_REPLY, never 0. */
  async group(group: Group): Promise<GroupMarks> {
    const { low, high } = await this.#connection.group(group);
    if (low !== null && high !== null) return { group, low, high };
    const fields = { command: `GROUP ${group}`, reply: 211, text: 'without article numbers' };
    throw nntpError('NNTP_UNEXPECTED_REPLY', this.#server, fields);
  }

  /** The command is sent at once, so that several spans can be asked for before the first is read. */
  over([lo, hi]: Interval, signal?: AbortSignal): AsyncIterable<Buffer> {
    const left = new AbortController();
    const lines = new LineQueue();
    const all = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
    this.#connection.over(ArticleNumber(lo), ArticleNumber(hi), { onLines: lines.push, signal: all }).then(
      () => lines.end(),
      (error: unknown) => lines.end(error),
    );
    const onLeave = () =>
      left.abort(nntpError('NNTP_CONNECTION_CLOSED', this.#server, { reason: 'the overview was not read to its end' }));
    return lines.pieces(onLeave);
  }
}
