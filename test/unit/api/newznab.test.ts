import { createHash } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import { askedCategories } from '../../../api/newznab/categories.ts';
import { completionPercent, feedDocument, rfc822 } from '../../../api/newznab/feed.ts';
import { linksFor } from '../../../api/newznab/links.ts';
import { limitOf, offsetOf, Parameters } from '../../../api/newznab/parameters.ts';
import { createServer } from '../../../api/server.ts';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { silentLog } from '../../../infra/base/log.ts';
import { noMetrics } from '../../../infra/base/metrics.ts';
import { CATEGORIES, type ReleaseRow } from '../../../projections/catalog/rows.ts';
import type { Sql } from '../../../projections/ports.ts';
import type { EpochMs, Group, ReleaseId, ReleaseKey } from '../../../streams/ids.ts';

/** Every element of a document in order: name, attributes, own text. Throws on what is not well-formed. */
function elements(xml: string): { name: string; attributes: Record<string, string>; text: string }[] {
  const found: { name: string; attributes: Record<string, string>; text: string }[] = [];
  const open: number[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    open.push(found.push({ name: tag.name, attributes: tag.attributes as Record<string, string>, text: '' }) - 1);
  });
  parser.on('closetag', () => open.pop());
  parser.on('text', (text) => {
    const at = open.at(-1);
    if (at !== undefined) found[at]!.text += text;
  });
  parser.write(xml).close();
  return found;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  all: ['search', 'get'],
  getter: ['get'],
  searcher: ['search'],
};

/** A database that knows three keys and nothing else. */
function keysOnly(other: () => readonly Record<string, unknown>[] = () => []): Sql {
  const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
  return {
    async query(text: string, values: readonly unknown[] = []) {
      if (/FROM api_key WHERE key_hash/.test(text)) {
        const key = Object.keys(KEYS).find((k) => hashOf(k) === (values[0] as Buffer).toString('hex'));
        return (key ? [{ id: 1, name: key, scopes: KEYS[key] }] : []) as never;
      }
      if (/UPDATE api_key/.test(text)) return [] as never;
      return other() as never;
    },
    script: () => Promise.resolve(),
    copy: () => Promise.resolve(0),
  };
}

function server(changes: Partial<ApiDependencies> = {}) {
  return createServer({
    sql: keysOnly(),
    clock: { now: () => 1_700_000_000_000, sleep: () => Promise.resolve() },
    log: silentLog,
    metrics: noMetrics,
    metricsText: () => Promise.resolve('# none\n'),
    readiness: () => Promise.resolve({ postgres: null, nats: null }),
    settings: { title: 'Test & Co', version: '1.2.3' },
    ...changes,
  });
}

const ask = async (url: string, changes: Partial<ApiDependencies> = {}) => {
  const reply = await server(changes).inject({ method: 'GET', url });
  return { status: reply.statusCode, type: String(reply.headers['content-type']), body: reply.body };
};

const errorOf = (body: string) => {
  const [error] = elements(body);
  return [error?.name, error?.attributes.code, error?.attributes.description];
};

describe('caps', () => {
  it('need no key and say only what works', async () => {
    const { status, type, body } = await ask('/api?t=caps');
    expect([status, type]).toEqual([200, 'application/xml; charset=utf-8']);
    const all = elements(body);
    expect(body.startsWith('<?xml')).toBe(true);
    expect(all[0]).toMatchObject({ name: 'caps', attributes: {} });
    expect(all.find((e) => e.name === 'limits')?.attributes).toEqual({ max: '100', default: '100' });
    const searches = all.filter((e) => /search$/.test(e.name)).map((e) => [e.name, e.attributes.available]);
    expect(searches).toEqual([
      ['search', 'yes'],
      ['tv-search', 'no'],
      ['movie-search', 'no'],
      ['audio-search', 'no'],
      ['book-search', 'no'],
    ]);
    const listed = all.filter((e) => e.name === 'category' || e.name === 'subcat').map((e) => e.attributes);
    expect(listed).toEqual(
      CATEGORIES.flatMap((c) => [c, ...c.children]).map(({ id, name }) => ({ id: String(id), name })),
    );
    expect(listed).toContainEqual({ id: '5040', name: 'HD' });
    expect(all.find((e) => e.name === 'server')?.attributes.title).toBe('Test & Co');
  });

  it.each(['/api?T=CAPS', '/api/?t=c', '/api?&&t=caps&&x=y&'])('are found by %s', async (url) => {
    expect(elements((await ask(url)).body)[0]?.name).toBe('caps');
  });
});

describe('a search by an id', () => {
  it.each(['imdbid=1', 'tvdbid=5', 'q=a&rid=7'])('finds nothing, never everything: %s', async (query) => {
    const everything = () => {
      throw new Error('the catalog was asked');
    };
    const { status, body } = await ask(`/api?t=search&${query}&apikey=all`, { sql: keysOnly(everything) });
    expect(status).toBe(200);
    expect(elements(body).find((e) => e.name === 'newznab:response')?.attributes).toEqual({ offset: '0', total: '0' });
  });
});

describe('a request that cannot be served', () => {
  const cases: readonly [string, string, number, string][] = [
    ['has no function', '/api', 200, '200'],
    ['names an unknown function', '/api?t=frob', 200, '202'],
    ['names a function that is not there yet', '/api?t=tvsearch&apikey=all', 200, '203'],
    ['has no key', '/api?t=search', 200, '100'],
    ['has a wrong key', '/api?t=search&apikey=nope', 200, '100'],
    ['has a key that may not search', '/api?t=search&apikey=getter', 200, '102'],
    ['has a key that may not download', '/api?t=get&id=00&apikey=searcher', 403, '102'],
    ['downloads with a wrong key', '/api?t=get&id=00&apikey=nope', 401, '100'],
    ['downloads nothing', '/api?t=get&apikey=all', 400, '200'],
    ['downloads what is no id', '/api?t=get&id=../../etc&apikey=all', 404, '300'],
    ['downloads what is not there', `/api?t=get&id=${'a'.repeat(32)}&apikey=all`, 404, '300'],
    ['has an age that is no number', '/api?t=search&maxage=old&apikey=all', 200, '201'],
  ];
  it.each(cases)('because it %s gets its error as XML', async (_title, url, status, code) => {
    const reply = await ask(url);
    expect([reply.status, reply.type]).toEqual([status, 'application/xml; charset=utf-8']);
    expect(errorOf(reply.body).slice(0, 2)).toEqual(['error', code]);
    expect(errorOf(reply.body)[2]).not.toBe('');
  });

  it('gets 503 and code 910 while the database is away, and 500 with code 900 for a defect', async () => {
    const away = () => {
      throw new HeadwaterError('POSTGRES_UNAVAILABLE', { server: 'x', reason: 'gone' });
    };
    const broken = () => {
      throw new TypeError('x is not a function');
    };
    const url = '/api?t=search&q=a&apikey=all';
    expect(await ask(url, { sql: keysOnly(away) })).toMatchObject({ status: 503 });
    const defect = await ask(url, { sql: keysOnly(broken) });
    expect(defect.status).toBe(500);
    expect(errorOf(defect.body)[1]).toBe('900');
    expect(defect.body).not.toContain('not a function');
  });
});

describe('the parameters of a request', () => {
  it('are found in any letter case, an empty one counts as absent, the first of two wins', () => {
    const parameters = new Parameters('Q=&q=one+two&q=three&LIMIT=5&cat=,5030,,5040,');
    expect([parameters.text('q'), parameters.text('limit'), parameters.list('cat')]).toEqual([
      'one two',
      '5',
      ['5030', '5040'],
    ]);
  });

  it.each([
    ['', 100],
    ['limit=0', 100],
    ['limit=-5', 100],
    ['limit=abc', 100],
    ['limit=7', 7],
    ['limit=1000', 100],
    ['limit=', 100],
  ])('%s is a page of %i', (query, limit) => {
    expect(limitOf(new Parameters(query))).toBe(limit);
  });

  it.each([
    ['', 0],
    ['offset=-1', 0],
    ['offset=x', 0],
    ['offset=300', 300],
    ['offset=99999999999', 1_000_000],
  ])('%s begins at %i', (query, offset) => {
    expect(offsetOf(new Parameters(query))).toBe(offset);
  });

  it.each([
    [[], undefined],
    [['8000'], [8010, 8020]],
    [['8020', '9999', '8020'], [8020]],
    [['9999', 'x', '-1', '5030.5', ''], []],
    // What Sonarr asks for by default: HD that is kept apart by its source or codec is among it.
    [
      ['5030', '5040'],
      [5010, 5030, 5040, 5090],
    ],
    [['5010'], [5010]],
    [
      ['2000', '2040'],
      [2010, 2020, 2030, 2040, 2045, 2050, 2060, 2070, 2080, 2090],
    ],
  ])('categories %j ask for %j', (cat, leaves) => {
    expect(askedCategories(cat)).toEqual(leaves);
  });
});

const release = (changes: Partial<ReleaseRow> = {}): ReleaseRow => ({
  releaseId: 'a'.repeat(32) as ReleaseId,
  key: 'b'.repeat(32) as ReleaseKey,
  name: 'A <b> & "c"',
  poster: 'me',
  groups: ['alt.binaries.x' as Group],
  category: 5010,
  firstAt: Date.UTC(2026, 0, 2, 3, 4, 5) as EpochMs,
  lastAt: Date.UTC(2026, 0, 2, 3, 4, 5) as EpochMs,
  bytes: 5_000_000_000,
  files: 3,
  filesComplete: 3,
  filesTotal: 3,
  segments: 10,
  segmentsTotal: 10,
  par2Files: 0,
  par2Segments: 0,
  par2SegmentsTotal: 0,
  par2Bytes: 0,
  hasNfo: false,
  obfuscated: false,
  provisional: true,
  ...changes,
});

const page = (releases: readonly ReleaseRow[], changes: object = {}): string =>
  feedDocument({
    title: 'T',
    offset: 0,
    total: releases.length,
    releases,
    links: linksFor('http://h:1/', 'k&y'),
    extended: false,
    attrs: [],
    ...changes,
  });

const attrsOf = (xml: string) =>
  elements(xml)
    .filter((e) => e.name === 'newznab:attr')
    .map((e) => [e.attributes.name, e.attributes.value]);

describe('the feed', () => {
  it('declares its namespace and its totals also when it is empty', () => {
    const all = elements(page([]));
    expect(all[0]?.attributes['xmlns:newznab']).toBe('http://www.newznab.com/DTD/2010/feeds/attributes/');
    expect(all.find((e) => e.name === 'newznab:response')?.attributes).toEqual({ offset: '0', total: '0' });
  });

  it('has for each release what every client reads', () => {
    const all = elements(page([release()]));
    const text = (name: string) => all.find((e) => e.name === name && e.text !== 'T' && e.text !== 'http://h:1/')?.text;
    const download = `http://h:1/api?t=get&id=${'a'.repeat(32)}&apikey=k%26y`;
    expect(text('title')).toBe('A <b> & "c"');
    expect(all.find((e) => e.name === 'guid')).toMatchObject({
      text: `http://h:1/details/${'a'.repeat(32)}`,
      attributes: { isPermaLink: 'true' },
    });
    expect(text('link')).toBe(download);
    expect(text('pubDate')).toBe('Fri, 02 Jan 2026 03:04:05 +0000');
    expect(text('category')).toBe('TV > WEB-DL');
    expect(all.find((e) => e.name === 'enclosure')?.attributes).toEqual({
      url: download,
      length: '5000000000',
      type: 'application/x-nzb',
    });
  });

  it('gives size, category and guid always, the others when asked', () => {
    const always = [
      ['category', '5000'],
      ['category', '5040'],
      ['category', '5010'],
      ['size', '5000000000'],
      ['guid', 'a'.repeat(32)],
    ];
    expect(attrsOf(page([release()]))).toEqual(always);
    expect(attrsOf(page([release()], { attrs: ['files'] }))).toEqual([...always, ['files', '3']]);
    const extended = Object.fromEntries(attrsOf(page([release()], { extended: true })));
    expect(extended).toMatchObject({
      poster: 'me',
      group: 'alt.binaries.x',
      usenetdate: 'Fri, 02 Jan 2026 03:04:05 +0000',
    });
  });

  it('never has a blank title, which clients drop', () => {
    expect(elements(page([release({ name: ' ' })])).some((e) => e.name === 'title' && e.text === 'a'.repeat(32))).toBe(
      true,
    );
  });

  it('says 100 percent only when nothing is missing', () => {
    expect(completionPercent({ segments: 999, segmentsTotal: 1000 })).toBe(99);
    expect(completionPercent({ segments: 1000, segmentsTotal: 1000 })).toBe(100);
    expect(completionPercent({ segments: 5, segmentsTotal: 0 })).toBe(100);
  });

  it('writes dates as RFC 822 whatever the machine speaks', () => {
    expect(rfc822(0)).toBe('Thu, 01 Jan 1970 00:00:00 +0000');
  });
});

describe('the health of the API', () => {
  it('is alive whatever its needs, ready only with all of them', async () => {
    const readiness = () => Promise.resolve({ postgres: 'no answer', nats: null });
    expect(await ask('/healthz', { readiness })).toMatchObject({ status: 200 });
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
    const notReady = await ask('/readyz', { readiness });
    expect([notReady.status, JSON.parse(notReady.body).needs.postgres]).toEqual([503, 'no answer']);
  });

  it('is told to Prometheus as text', async () => {
    expect(await ask('/metrics')).toMatchObject({ status: 200, type: expect.stringContaining('text/plain') });
  });

  it('answers anything else with 404 and where the API is', async () => {
    expect(await ask('/nowhere')).toMatchObject({ status: 404, body: expect.stringContaining('/api?t=caps') });
  });
});
