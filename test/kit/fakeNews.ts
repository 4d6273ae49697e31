/** One article of the fake server; overview lines may exist without one. */
export interface FakeArticle {
  readonly number: number;
  readonly messageId: string;
  readonly head: string;
  readonly body: string;
}

export interface FakeGroup {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly count?: number;
  /** Overview lines without CRLF by article number, ascending; each starts with its number. */
  readonly overview: ReadonlyMap<number, string>;
  readonly articles?: readonly FakeArticle[];
}

/** What the fake server has and can. */
export interface FakeNews {
  readonly groups: readonly FakeGroup[];
  /** Lines of CAPABILITIES behind `VERSION 2`; null: the command is unknown. Default: a reader with OVER. */
  readonly capabilities?: readonly string[] | null;
  /** Which of the two commands the server knows. Default both. */
  readonly overviewCommands?: readonly ('OVER' | 'XOVER')[];
  /** Lines of LIST OVERVIEW.FMT; null: 503. */
  readonly overviewFormat?: readonly string[] | null;
}

const READER = ['READER', 'OVER', 'LIST ACTIVE OVERVIEW.FMT', 'IMPLEMENTATION fake'];
const FORMAT = ['Subject:', 'From:', 'Date:', 'Message-ID:', 'References:', ':bytes', ':lines', 'Xref:full'];

/** A status line and a block: dots stuffed, ended by the lone dot. */
export const blockReply = (status: string, lines: readonly string[]): string =>
  `${status}\r\n${lines.map((line) => `${line.startsWith('.') ? '.' : ''}${line}\r\n`).join('')}.\r\n`;

/** The normal answer of a well-behaved server. */
export function newsReply(news: FakeNews, selected: { group: string | null }, command: string): string {
  const [verb = '', ...args] = command.split(' ');
  switch (verb) {
    case 'CAPABILITIES':
      if (news.capabilities === null) return '500 what?\r\n';
      return blockReply('101 capabilities', ['VERSION 2', ...(news.capabilities ?? READER)]);
    case 'MODE':
      return '200 reader\r\n';
    case 'QUIT':
      return '205 bye\r\n';
    case 'LIST':
      return listReply(news, args);
    case 'GROUP':
      return groupReply(news, selected, args[0] ?? '');
    case 'OVER':
    case 'XOVER':
      if (!(news.overviewCommands ?? ['OVER', 'XOVER']).includes(verb)) return '500 unknown command\r\n';
      return overReply(groupOf(news, selected.group), args[0] ?? '', verb === 'OVER' ? 423 : 420);
    case 'STAT':
    case 'HEAD':
    case 'BODY':
    case 'ARTICLE':
      return articleReply(news, selected.group, verb, args[0] ?? '');
    default:
      return '500 unknown command\r\n';
  }
}

const groupOf = (news: FakeNews, name: string | null) => news.groups.find((group) => group.name === name);

function listReply(news: FakeNews, [what = 'ACTIVE', wildmat = '*']: readonly string[]): string {
  if (what === 'OVERVIEW.FMT') {
    if (news.overviewFormat === null) return '503 no overview format\r\n';
    return blockReply('215 order of fields', news.overviewFormat ?? FORMAT);
  }
  if (what !== 'ACTIVE') return '501 list what?\r\n';
  const pattern = new RegExp(`^${wildmat.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`);
  const groups = news.groups.filter((group) => pattern.test(group.name));
  return blockReply(
    '215 groups',
    groups.map(({ name, high, low }) => `${name} ${String(high).padStart(10, '0')} ${String(low).padStart(10, '0')} y`),
  );
}

function groupReply(news: FakeNews, selected: { group: string | null }, name: string): string {
  const group = groupOf(news, name);
  if (!group) return `411 no group ${name}\r\n`;
  selected.group = name;
  return `211 ${group.count ?? group.overview.size} ${group.low} ${group.high} ${name}\r\n`;
}

function overReply(group: FakeGroup | undefined, range: string, nothing: number): string {
  if (!group) return '412 no group selected\r\n';
  const [lo = 0, hi = lo] = range.split('-').map(Number);
  const lines = [...group.overview].filter(([number]) => number >= lo && number <= hi).map(([, line]) => line);
  return lines.length === 0 ? `${nothing} no articles there\r\n` : blockReply('224 overview follows', lines);
}

const FOUND = { ARTICLE: 220, HEAD: 221, BODY: 222, STAT: 223 } as const;

function articleReply(news: FakeNews, selected: string | null, verb: keyof typeof FOUND, which: string): string {
  const byId = which.startsWith('<');
  const all = byId ? news.groups.flatMap((group) => group.articles ?? []) : (groupOf(news, selected)?.articles ?? []);
  const article = all.find((a) => (byId ? `<${a.messageId}>` === which : String(a.number) === which));
  if (!article) return byId ? '430 no such article\r\n' : '423 no such number\r\n';
  const status = `${FOUND[verb]} ${byId ? 0 : article.number} <${article.messageId}>`;
  const parts = { ARTICLE: [article.head, '', article.body], HEAD: [article.head], BODY: [article.body], STAT: [] };
  return verb === 'STAT' ? `${status}\r\n` : blockReply(status, parts[verb].join('\r\n').split('\r\n'));
}
