import { attributeOf, childOf, childrenOf, parseXml, type XmlElement } from './xmlTree.ts';

/** One item of a feed, as a strict client reads it. */
export interface FeedItem {
  readonly title: string;
  /** The id behind the last slash of the guid. */
  readonly id: string;
  readonly guid: string;
  readonly link: string;
  readonly size: number;
  readonly pubDate: string;
  /** Every newznab:attr; a name may come more than once. */
  readonly attrs: ReadonlyMap<string, readonly string[]>;
}

export interface Feed {
  readonly offset: number;
  readonly total: number;
  readonly items: readonly FeedItem[];
}

export interface NzbFileView {
  readonly subject: string;
  readonly poster: string;
  readonly date: number;
  readonly groups: readonly string[];
  readonly segments: readonly { readonly number: number; readonly bytes: number; readonly messageId: string }[];
}

export const NEWZNAB_NAMESPACE = 'http://www.newznab.com/DTD/2010/feeds/attributes/';
const NZB_NAMESPACE = 'http://www.newzbin.com/DTD/2003/nzb';

const must = (isTrue: boolean, what: string): void => {
  if (!isTrue) throw new Error(`not a valid document: ${what}`);
};

function wholeNumber(text: string, what: string): number {
  must(/^\d{1,16}$/.test(text), `${what} is "${text}", no whole number`);
  return Number(text);
}

const RFC822 = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}$/;

function feedItem(element: XmlElement): FeedItem {
  const attrs = new Map<string, string[]>();
  for (const attr of element.children.filter((child) => child.uri === NEWZNAB_NAMESPACE)) {
    // NZBGet looks for this very prefix and takes the first two attributes by their place.
    must(attr.name === 'newznab:attr', `<${attr.name}> in an item`);
    must(Object.keys(attr.attributes).join() === 'name,value', `newznab:attr with ${Object.keys(attr.attributes)}`);
    const [name, value] = [attributeOf(attr, 'name'), attributeOf(attr, 'value')];
    must(name === name.toLowerCase() && value !== '', `newznab:attr ${name}="${value}"`);
    attrs.set(name, [...(attrs.get(name) ?? []), value]);
  }
  const text = (name: string): string => {
    const found = childOf(element, name).text;
    must(found.trim() !== '', `an item with an empty <${name}>`);
    return found;
  };
  const [guid, link, pubDate, enclosure] = [text('guid'), text('link'), text('pubDate'), childOf(element, 'enclosure')];
  must(RFC822.test(pubDate), `pubDate "${pubDate}"`);
  must(attributeOf(enclosure, 'type') === 'application/x-nzb', 'the type of an enclosure');
  must(attributeOf(enclosure, 'url') === link && /^https?:\/\//.test(link), 'an enclosure whose url is not the link');
  const size = wholeNumber(attributeOf(enclosure, 'length'), 'the length of an enclosure');
  for (const name of ['category', 'size', 'guid']) must(attrs.has(name), `an item without newznab:attr ${name}`);
  must(attrs.get('size')?.join() === String(size), 'an enclosure whose length is not the size');
  const numeric = [
    ...(attrs.get('category') ?? []),
    ...['files', 'grabs', 'comments'].flatMap((n) => attrs.get(n) ?? []),
  ];
  for (const value of numeric) wholeNumber(value, 'a numeric newznab:attr');
  for (const name of ['comments', 'category']) text(name);
  return { title: text('title'), id: guid.split('/').at(-1) ?? '', guid, link, size, pubDate, attrs };
}

/** Reads a page of results as the strictest of the clients would; throws on what one of them refuses. */
export function parseFeed(text: string): Feed {
  must(text.startsWith('<?xml '), 'no XML declaration at its start');
  const rss = parseXml(text);
  must(rss.name === 'rss' && attributeOf(rss, 'version') === '2.0', `its root is <${rss.name}>`);
  must(attributeOf(rss, 'xmlns:newznab') === NEWZNAB_NAMESPACE, 'the namespace of newznab');
  const channel = childOf(rss, 'channel');
  const response = childOf(channel, 'newznab:response');
  const items = childrenOf(channel, 'item').map(feedItem);
  must(new Set(items.map((item) => item.guid)).size === items.length, 'a guid comes twice');
  return {
    offset: wholeNumber(attributeOf(response, 'offset'), 'offset'),
    total: wholeNumber(attributeOf(response, 'total'), 'total'),
    items,
  };
}

function nzbFile(element: XmlElement): NzbFileView {
  const groups = childrenOf(childOf(element, 'groups'), 'group').map((group) => group.text);
  must(groups.length > 0 && groups.every((group) => group !== ''), 'a file without a group');
  const segments = childrenOf(childOf(element, 'segments'), 'segment').map((segment) => ({
    number: wholeNumber(attributeOf(segment, 'number'), 'the number of a segment'),
    bytes: wholeNumber(attributeOf(segment, 'bytes'), 'the bytes of a segment'),
    messageId: segment.text,
  }));
  must(segments.length > 0, 'a file without a segment');
  must(new Set(segments.map((s) => s.number)).size === segments.length, 'a segment number comes twice in a file');
  for (const { number, bytes, messageId } of segments) {
    must(number >= 1 && bytes >= 1 && bytes <= 8_388_607, `segment ${number} of ${bytes} bytes`);
    must(/^[^<>\s]+$/.test(messageId), `the message-id "${messageId}"`);
  }
  const date = wholeNumber(attributeOf(element, 'date'), 'the date of a file');
  return { subject: attributeOf(element, 'subject'), poster: attributeOf(element, 'poster'), date, groups, segments };
}

/** Reads an NZB strictly: at least one file, in each at least one group and one segment. */
export function parseNzb(text: string): readonly NzbFileView[] {
  must(text.startsWith('<?xml version="1.0" encoding="UTF-8"?>'), 'no XML declaration at its start');
  must(text.includes('"-//newzBin//DTD NZB 1.1//EN"'), 'no DOCTYPE of NZB 1.1');
  const nzb = parseXml(text);
  must(nzb.name === 'nzb' && nzb.uri === NZB_NAMESPACE, `its root is <${nzb.name}> in "${nzb.uri}"`);
  const files = childrenOf(nzb, 'file').map(nzbFile);
  must(files.length > 0, 'an NZB without a file');
  return files;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Asks `<address>/api` with these parameters. */
export async function ask(address: string, parameters: Readonly<Record<string, string | number>>): Promise<Answer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  const response = await fetch(`${address}/api?${query}`, { signal: AbortSignal.timeout(30_000) });
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
}
