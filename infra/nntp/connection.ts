import type { ArticleNumber, Group, MessageId } from '../../streams/ids.ts';
import { type ActiveGroup, parseActiveLines } from './activeList.ts';
import type { CompressionChoice } from './compressionChoice.ts';
import type { Exchange, Reply, Request } from './exchange.ts';
import { type GroupMarks, parseGroupReply } from './groupMarks.ts';
import type { Capabilities } from './login.ts';
import { type OverviewFormat, parseOverviewFormat, STANDARD_FORMAT } from './overviewFormat.ts';
import { refusal, type ServerIdentity } from './refusal.ts';
import type { LineSink, PackedRequest } from './replyReader.ts';
import type { Compression, NntpLimits } from './settings.ts';
import { wholeNumber } from './wholeNumber.ts';

/** Which article: by number in the selected group, or by message-id anywhere. */
export type ArticleRef = ArticleNumber | MessageId;

export interface ArticleStatus {
  /** Null (or 0, as RFC 3977 wants it for a message-id) where the server names none. */
  readonly number: number | null;
  /** Without angle brackets; empty where the server names none. */
  readonly messageId: string;
}

export interface Article extends ArticleStatus {
  /** Head, body or both as lines ended by CRLF, dots unstuffed. */
  readonly bytes: Buffer;
}

export interface OverResult {
  /** True when the server has no article in the range: 420, 423 or a 224 without lines. */
  readonly empty: boolean;
  readonly bytes: number;
}

export interface OverOptions {
  /** Takes whole lines, each ended by CRLF, dots unstuffed, in the server's order. A returned promise holds the server back. */
  readonly onLines: LineSink;
  /** Breaks the connection when it aborts: a reply cannot be called off. */
  readonly signal?: AbortSignal | undefined;
}

export interface ActiveListOptions {
  /** RFC 3977 wildmat, such as `alt.binaries.*`. */
  readonly wildmat?: string;
  readonly onGroups: (groups: readonly ActiveGroup[]) => void | Promise<void>;
}

export interface ActiveListResult {
  readonly groups: number;
  /** Lines that name no usable group; the first five of them. */
  readonly odd: number;
  readonly oddLines: readonly string[];
}

/**
 * The commands of one logged-in connection. Several may be in flight: call without awaiting, the replies come in order.
 * All reject with a HeadwaterError; those that break the connection make every later command reject too.
 */
export interface NntpConnection {
  readonly capabilities: Capabilities;
  listActive(options: ActiveListOptions): Promise<ActiveListResult>;
  /** LIST OVERVIEW.FMT; the standard order where the server does not tell. */
  overviewFormat(): Promise<OverviewFormat>;
  /** Selects `group`. NNTP_NO_SUCH_GROUP when there is none. */
  group(group: Group): Promise<GroupMarks>;
  /** The overview of lo to hi, both included, in the selected group. */
  over(lo: ArticleNumber, hi: ArticleNumber, options: OverOptions): Promise<OverResult>;
  /** NNTP_NO_SUCH_ARTICLE when there is none; so do the next three. */
  stat(article: ArticleRef): Promise<ArticleStatus>;
  head(article: ArticleRef): Promise<Article>;
  body(article: ArticleRef): Promise<Article>;
  article(article: ArticleRef): Promise<Article>;
}

export interface ConnectionContext {
  readonly server: ServerIdentity;
  readonly limits: NntpLimits;
  readonly overFirstByteMs: number;
  readonly compression: Compression;
  /** Resolves once the socket is closed. */
  readonly gone: Promise<void>;
  readonly choice: CompressionChoice;
  /** True when it is plain only because something compressed was broken: it is not kept for longer than that matters. */
  readonly substitute: boolean;
}

type OverVerb = 'XZVER' | 'OVER' | 'XOVER';
const MIN_OVER_BYTES = 1 << 20;

export class Connection implements NntpConnection {
  readonly capabilities: Capabilities;
  readonly #exchange: Exchange;
  readonly #context: ConnectionContext;
  /** The verb that is tried, and whether this server has answered it once. */
  #verb: OverVerb;
  #verbWorks = false;
  #compression: Compression;

  constructor(exchange: Exchange, capabilities: Capabilities, context: ConnectionContext) {
    this.#exchange = exchange;
    this.#context = context;
    this.capabilities = capabilities;
    this.#compression = context.compression;
    this.#verb = context.compression === 'xzver' ? 'XZVER' : this.#plainVerb();
  }

  /** How replies come; `none` also once the server turned out not to know XZVER. */
  get compression(): Compression {
    return this.#compression;
  }

  get substitute(): boolean {
    return this.#context.substitute;
  }

  get idle(): boolean {
    return this.#exchange.idle;
  }

  /** Resolves once the socket is closed, whoever ended it. */
  get gone(): Promise<void> {
    return this.#context.gone;
  }

  break(error: unknown): void {
    this.#exchange.break(error);
  }

  quit(): Promise<void> {
    return this.#exchange.quit();
  }

  async listActive({ wildmat, onGroups }: ActiveListOptions): Promise<ActiveListResult> {
    if (wildmat !== undefined && !/^[^\s]{1,400}$/.test(wildmat)) throw new RangeError('not a wildmat');
    let groups = 0;
    let odd = 0;
    const oddLines: string[] = [];
    const sink: LineSink = (lines) => {
      const parsed = parseActiveLines(lines);
      groups += parsed.groups.length;
      odd += parsed.odd.length;
      oddLines.push(...parsed.odd.slice(0, 5 - oddLines.length));
      return onGroups(parsed.groups);
    };
    const line = wildmat === undefined ? 'LIST ACTIVE' : `LIST ACTIVE ${wildmat}`;
    const block = { code: 215, sink, maxBytes: this.#context.limits.listBytes, packed: this.#packedList() };
    await this.#ask({ line, label: line, expect: [215], block });
    return { groups, odd, oddLines };
  }

  async overviewFormat(): Promise<OverviewFormat> {
    const label = 'LIST OVERVIEW.FMT';
    const parts: Buffer[] = [];
    const sink = (lines: Buffer) => void parts.push(lines);
    const block = { code: 215, sink, maxBytes: 65_536, packed: this.#packedList() };
    const reply = await this.#exchange.request({ line: label, label, expect: [215], block });
    if (reply.code === 215) return parseOverviewFormat(Buffer.concat(parts).toString('utf8').split('\r\n'));
    if ([500, 501, 503].includes(reply.code)) return STANDARD_FORMAT;
    throw refusal(reply, label, this.#context.server);
  }

  async group(group: Group): Promise<GroupMarks> {
    const line = `GROUP ${group}`;
    return parseGroupReply((await this.#ask({ line, label: line, expect: [211] })).text);
  }

  async over(lo: ArticleNumber, hi: ArticleNumber, options: OverOptions): Promise<OverResult> {
    if (lo > hi) throw new RangeError(`an empty range: ${lo}-${hi}`);
    const { signal } = options;
    if (signal?.aborted) throw signal.reason;
    const onAbort = () => this.#exchange.break(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await this.#over(lo, hi, options.onLines);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  stat(article: ArticleRef): Promise<ArticleStatus> {
    return this.#ask({ ...naming('STAT', article), expect: [223] }).then((reply) => articleStatus(reply.text));
  }

  head(article: ArticleRef): Promise<Article> {
    return this.#fetch('HEAD', 221, article);
  }

  body(article: ArticleRef): Promise<Article> {
    return this.#fetch('BODY', 222, article);
  }

  article(article: ArticleRef): Promise<Article> {
    return this.#fetch('ARTICLE', 220, article);
  }

  async #over(lo: number, hi: number, sink: LineSink): Promise<OverResult> {
    const verb = this.#verb;
    const { limits, overFirstByteMs, server } = this.#context;
    const line = `${verb} ${lo}-${hi}`;
    const maxBytes = Math.max(MIN_OVER_BYTES, (hi - lo + 1) * limits.overBytesPerNumber);
    const packed = this.#packedOverview(verb);
    const block = { code: 224, sink, maxBytes, packed };
    const request = { line, label: line, expect: [224], block, firstByteMs: overFirstByteMs };
    const reply = await this.#exchange.request(request);
    if (reply.code === 224 || reply.code === 423 || reply.code === 420) {
      this.#verbWorks = true;
      if (verb === 'XZVER') this.#context.choice.accepted('xzver');
      if (reply.code === 224 && this.#compression !== 'none') this.#context.choice.worked();
      return { empty: reply.bytes === 0, bytes: reply.bytes };
    }
    if (!this.#tryOtherVerb(verb, reply)) throw refusal(reply, line, server);
    return this.#over(lo, hi, sink);
  }

  /** Whether a refused `verb` is to be repeated as the current one. Several refusals of one verb may be in flight. */
  #tryOtherVerb(verb: OverVerb, reply: Reply): boolean {
    // Servers that keep XZVER for some accounts say so with 502 too.
    if (![500, 501, 503].includes(reply.code) && !(verb === 'XZVER' && reply.code === 502)) return false;
    if (this.#verb !== verb) return true;
    if (this.#verbWorks || verb === 'XOVER') return false;
    if (verb === 'XZVER') {
      this.#context.choice.refused('xzver', reply.code);
      this.#compression = 'none';
      this.#verb = this.#plainVerb();
    } else this.#verb = 'XOVER';
    return true;
  }

  /** OVER is the standard; a server that lists its capabilities without it can only mean XOVER. */
  #plainVerb(): OverVerb {
    return this.capabilities && !this.capabilities.has('OVER') ? 'XOVER' : 'OVER';
  }

  #packedOverview(verb: OverVerb): PackedRequest | undefined {
    const { inflatedBytes } = this.#context.limits;
    return verb === 'XZVER' || this.#compression === 'xfeature' ? { plain: 'overview', inflatedBytes } : undefined;
  }

  /** XFEATURE compresses lists too, on some servers. */
  #packedList(): PackedRequest | undefined {
    const { listBytes } = this.#context.limits;
    return this.#compression === 'xfeature' ? { plain: 'list', inflatedBytes: listBytes } : undefined;
  }

  async #fetch(verb: string, code: number, article: ArticleRef): Promise<Article> {
    const parts: Buffer[] = [];
    const sink = (lines: Buffer) => void parts.push(lines);
    const block = { code, sink, maxBytes: this.#context.limits.articleBytes };
    const reply = await this.#ask({ ...naming(verb, article), expect: [code], block });
    return { ...articleStatus(reply.text), bytes: Buffer.concat(parts) };
  }

  /** The reply that the command hoped for; any other is thrown. */
  async #ask(request: Request): Promise<Reply> {
    const reply = await this.#exchange.request(request);
    if (reply.code >= 400) throw refusal(reply, request.label, this.#context.server);
    return reply;
  }
}

function naming(verb: string, article: ArticleRef): Pick<Request, 'line' | 'label' | 'encoding'> {
  const line = typeof article === 'number' ? `${verb} ${article}` : `${verb} <${article}>`;
  return { line, label: line, encoding: 'latin1' };
}

/** `number <message-id> ...`, as behind 220 to 223. */
function articleStatus(text: string): ArticleStatus {
  const [number, id = ''] = text.split(/\s+/);
  const named = /^<(.+)>$/.exec(id);
  return { number: wholeNumber(number), messageId: named?.[1] ?? '' };
}
