import { HeadwaterError } from '../../infra/base/errors/index.ts';
import type { Articles, ArticlesPool, GroupMarks } from '../../processors/ports.ts';
import { ArticleNumber, Backbone, type Group, ProviderName } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';

export interface MemoryGroup {
  low: number;
  high: number;
  /** The overview line of a number without its end; null where there is none. */
  line: (number: number) => string | null;
}

export const STANDARD_FIELDS = [
  'subject:',
  'from:',
  'date:',
  'message-id:',
  'references:',
  ':bytes',
  ':lines',
  'xref:full',
] as const;

/** One line of a two-part file each pair of numbers shares, posted at `at`. */
export const overviewLine = (number: number, group: string, at = Date.UTC(2024, 0, 1)): string => {
  const file = Math.ceil(number / 2);
  const part = 2 - (number % 2);
  const subject = `Linux.Image.${file} [1/1] - "linux-image-${file}.iso" yEnc (${part}/2)`;
  const date = new Date(at).toUTCString();
  const id = `<part${part}.${file}@example.test>`;
  return [
    number,
    subject,
    'poster <p@example.test>',
    date,
    id,
    '',
    750_000,
    5000,
    `Xref: host ${group}:${number}`,
  ].join('\t');
};

const provider = (code: 'NNTP_NO_SUCH_GROUP' | 'NNTP_CONNECT_FAILED' | 'NNTP_CONNECTION_CLOSED', reason: string) =>
  new HeadwaterError(code, { host: 'news.test', port: 119, reply: 411, reason, command: reason, class: 'transient' });

/** A provider in memory. Its groups may be changed while it is used; `down` makes every connect fail. */
export class MemoryProvider implements ArticlesPool {
  readonly provider: ProviderName;
  readonly backbone: Backbone;
  readonly limit: number;
  readonly groups = new Map<string, MemoryGroup>();
  fields: readonly string[] = STANDARD_FIELDS;
  /** The error of every connect while it is not null. */
  down: Error | null = null;
  /** Called before each span is answered; may throw what the connection would. */
  onOver: (span: Interval) => void | Promise<void> = () => {};
  /** Lines in a piece. */
  pieceLines = 1000;
  readonly spans: Interval[] = [];
  busy = 0;
  busiest = 0;
  connects = 0;

  constructor(name = 'news', backbone = 'main', limit = 4) {
    this.provider = ProviderName(name);
    this.backbone = Backbone(backbone);
    this.limit = limit;
  }

  /** A group with a line for every number but those of `missing`. */
  add(group: string, low: number, high: number, missing: (number: number) => boolean = () => false): MemoryGroup {
    const made = { low, high, line: (n: number) => (missing(n) ? null : overviewLine(n, group)) };
    this.groups.set(group, made);
    return made;
  }

  goDown(): void {
    this.down = provider('NNTP_CONNECT_FAILED', 'refused');
  }

  closed(): Error {
    return provider('NNTP_CONNECTION_CLOSED', 'the server ended it');
  }

  async withArticles<T>(use: (articles: Articles) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.connects++;
    if (this.down) throw this.down;
    this.busiest = Math.max(this.busiest, ++this.busy);
    try {
      return await use(new MemoryConnection(this));
    } finally {
      this.busy--;
    }
  }
}

class MemoryConnection implements Articles {
  readonly backbone: Backbone;
  readonly #provider: MemoryProvider;
  #group: MemoryGroup | null = null;

  constructor(from: MemoryProvider) {
    this.#provider = from;
    this.backbone = from.backbone;
  }

  async overviewFormat(): Promise<readonly string[]> {
    return this.#provider.fields;
  }

  async group(group: Group): Promise<GroupMarks> {
    if (this.#provider.down) throw this.#provider.closed();
    const found = this.#provider.groups.get(group);
    if (!found) throw provider('NNTP_NO_SUCH_GROUP', `GROUP ${group}`);
    this.#group = found;
    return { group, low: ArticleNumber(found.low), high: ArticleNumber(found.high) };
  }

  async *over(span: Interval, signal?: AbortSignal): AsyncGenerator<Buffer> {
    const group = this.#group;
    if (!group) throw new TypeError('OVER without GROUP');
    this.#provider.spans.push(span);
    await this.#provider.onOver(span);
    let lines: string[] = [];
    for (let n = Math.max(span[0], group.low); n <= Math.min(span[1], group.high); n++) {
      signal?.throwIfAborted();
      const line = group.line(n);
      if (line !== null) lines.push(`${line}\r\n`);
      if (lines.length < this.#provider.pieceLines) continue;
      yield Buffer.from(lines.join(''), 'latin1');
      lines = [];
    }
    if (lines.length > 0) yield Buffer.from(lines.join(''), 'latin1');
  }
}
