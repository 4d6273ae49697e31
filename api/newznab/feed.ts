import { categoriesOf, type ReleaseRow } from '../../projections/catalog/rows.ts';
import { closeTag, emptyTag, openTag, parentTag, textTag, XML_DECLARATION } from '../xml.ts';
import { categoryName } from './categories.ts';
import type { Links } from './links.ts';

/** Must be declared on <rss> also when the feed is empty; NZBGet reads the literal prefix. */
const NAMESPACES = {
  version: '2.0',
  'xmlns:atom': 'http://www.w3.org/2005/Atom',
  'xmlns:newznab': 'http://www.newznab.com/DTD/2010/feeds/attributes/',
} as const;

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const two = (n: number): string => String(n).padStart(2, '0');

/** RFC 822 with a numeric zone and English names, which every client reads. */
export function rfc822(ms: number): string {
  const d = new Date(ms);
  const date = `${DAYS[d.getUTCDay()]}, ${two(d.getUTCDate())} ${MONTHS[d.getUTCMonth()]} ${d.getUTCFullYear()}`;
  return `${date} ${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())} +0000`;
}

export interface FeedPage {
  readonly title: string;
  readonly offset: number;
  readonly total: number;
  readonly releases: readonly ReleaseRow[];
  readonly links: Links;
  /** extended=1: every attribute; else those named in `attrs` beside size, category and guid. */
  readonly extended: boolean;
  readonly attrs: readonly string[];
}

type Attr = readonly [name: string, value: string | number];

function attributesOf(release: ReleaseRow, links: Links): readonly Attr[] {
  return [
    ...categoriesOf(release.category).map((id): Attr => ['category', id]),
    ['size', release.bytes],
    ['guid', release.releaseId],
    ['files', release.files],
    ['poster', release.poster],
    ['group', release.groups[0] ?? ''],
    ['grabs', 0],
    ['comments', 0],
    ['usenetdate', rfc822(release.firstAt)],
    ['info', links.page(release.releaseId)],
    ['completion', completionPercent(release)],
  ];
}

/** Segments found of those that the counters promise, in whole percent; 100 only when nothing is missing. */
export const completionPercent = (release: Pick<ReleaseRow, 'segments' | 'segmentsTotal'>): number =>
  release.segmentsTotal <= release.segments ? 100 : Math.floor((100 * release.segments) / release.segmentsTotal);

const ALWAYS = new Set(['category', 'size', 'guid']);

/** Titles are never blank: clients drop an item that has none. */
const titleOf = (release: ReleaseRow): string => (release.name.trim() === '' ? release.releaseId : release.name);

function item(release: ReleaseRow, page: FeedPage): string {
  const { links } = page;
  const wanted = (name: string) => page.extended || ALWAYS.has(name) || page.attrs.includes(name);
  return parentTag('item', {}, [
    textTag('title', titleOf(release)),
    textTag('guid', links.page(release.releaseId), { isPermaLink: 'true' }),
    textTag('link', links.download(release.releaseId)),
    textTag('comments', `${links.page(release.releaseId)}#comments`),
    textTag('pubDate', rfc822(release.firstAt)),
    textTag('category', categoryName(release.category)),
    textTag('description', titleOf(release)),
    emptyTag('enclosure', { url: links.download(release.releaseId), length: release.bytes, type: 'application/x-nzb' }),
    ...attributesOf(release, links)
      .filter(([name, value]) => wanted(name) && value !== '')
      .map(([name, value]) => emptyTag('newznab:attr', { name, value })),
  ]);
}

/** One page of search results as RSS with Newznab's attributes. */
export const feedDocument = (page: FeedPage): string =>
  [
    XML_DECLARATION,
    openTag('rss', NAMESPACES),
    openTag('channel'),
    textTag('title', page.title),
    textTag('description', `${page.title} releases`),
    textTag('link', page.links.home),
    emptyTag('newznab:response', { offset: page.offset, total: page.total }),
    ...page.releases.map((release) => item(release, page)),
    closeTag('channel'),
    `${closeTag('rss')}\n`,
  ].join('');
