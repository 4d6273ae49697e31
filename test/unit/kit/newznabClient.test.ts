import { describe, expect, it } from 'vitest';
import { parseFeed, parseNzb } from '../../kit/newznabClient.ts';

const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const ID = 'a'.repeat(32);
const LINK = `http://127.0.0.1:1/api?t=get&amp;id=${ID}`;

const FEED = `${XML}<rss version="2.0" xmlns:newznab="http://www.newznab.com/DTD/2010/feeds/attributes/"><channel>
<newznab:response offset="0" total="1"/><item><title>A.Name</title><guid isPermaLink="true">http://127.0.0.1:1/details/${ID}</guid>
<link>${LINK}</link><comments>http://127.0.0.1:1/details/${ID}#comments</comments><pubDate>Thu, 01 Jan 2026 00:00:00 +0000</pubDate>
<category>Other &gt; Misc</category><enclosure url="${LINK}" length="5" type="application/x-nzb"/>
<newznab:attr name="category" value="8000"/><newznab:attr name="category" value="8010"/>
<newznab:attr name="size" value="5"/><newznab:attr name="guid" value="${ID}"/></item></channel></rss>`;

const NZB = `${XML}<!DOCTYPE nzb PUBLIC "-//newzBin//DTD NZB 1.1//EN" "http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd">
<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="p" date="1767225600" subject="&quot;a&quot; (1/2)"><groups>
<group>alt.binaries.test</group></groups><segments><segment bytes="7" number="1">a@b</segment>
<segment bytes="8" number="2">c&amp;d@b</segment></segments></file></nzb>`;

/** Replaces `from` in the sound document and says what the reader thinks of it. */
const damaged = (document: string, from: string, to: string): string => {
  expect(document).toContain(from);
  return document.replaceAll(from, to);
};

describe('the strict reader of feeds', () => {
  it('reads a sound page', () => {
    const feed = parseFeed(FEED);
    expect([feed.offset, feed.total, feed.items.length]).toEqual([0, 1, 1]);
    expect(feed.items[0]).toMatchObject({ title: 'A.Name', id: ID, size: 5 });
    expect(feed.items[0]?.attrs.get('category')).toEqual(['8000', '8010']);
  });

  it.each([
    ['another MIME type of the enclosure', 'application/x-nzb', 'application/xml'],
    ['a size that is not that of the enclosure', 'length="5"', 'length="6"'],
    ['an attribute before its name', 'name="size" value="5"', 'value="5" name="size"'],
    ['another prefix', 'newznab:', 'nn:'],
    ['a missing guid attribute', `<newznab:attr name="guid" value="${ID}"/>`, ''],
    ['no offset', ' offset="0"', ''],
    ['a blank title', '<title>A.Name</title>', '<title> </title>'],
    ['a date without its zone', ' +0000', ''],
    ['a bare ampersand', '&gt;', '&'],
    ['a category that is no number', '"8010"', '"misc"'],
  ])('refuses %s', (_, from, to) => {
    expect(() => parseFeed(damaged(FEED, from, to))).toThrow();
  });
});

describe('the strict reader of NZBs', () => {
  it('reads a sound document', () => {
    expect(parseNzb(NZB)).toEqual([
      {
        subject: '"a" (1/2)',
        poster: 'p',
        date: 1_767_225_600,
        groups: ['alt.binaries.test'],
        segments: [
          { number: 1, bytes: 7, messageId: 'a@b' },
          { number: 2, bytes: 8, messageId: 'c&d@b' },
        ],
      },
    ]);
  });

  it.each([
    ['another namespace', '/2003/nzb', '/2004/nzb'],
    ['a number that comes twice', 'number="2"', 'number="1"'],
    ['a number of 0', 'number="1"', 'number="0"'],
    ['a message-id in brackets', 'a@b', '&lt;a@b&gt;'],
    ['a segment of 0 bytes', 'bytes="7"', 'bytes="0"'],
    ['a file without a group', '<group>alt.binaries.test</group>', ''],
    ['no DOCTYPE', 'NZB 1.1', 'NZB 1.0'],
    ['an unclosed element', '</file>', ''],
  ])('refuses %s', (_, from, to) => {
    expect(() => parseNzb(damaged(NZB, from, to))).toThrow();
  });
});
