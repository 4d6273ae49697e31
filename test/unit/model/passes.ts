/** What one pass over a range says: the real headers core, its messages small, so that a crash may fall between any two. */

import { ArticleTable } from '../../../processors/headers/articles.ts';
import { overviewFormat } from '../../../processors/headers/lines.ts';
import { createRangeParser } from '../../../processors/headers/parseRange.ts';
import { groupRanksOf } from '../../../processors/headers/xref.ts';
import { encodeChunkColumns } from '../../../streams/codec/chunk.ts';
import type { GroupList } from '../../../streams/events/control.ts';
import { EVENTS, type HeadwaterEvent, makeEvent } from '../../../streams/events/index.ts';
import { ArticleNumber, Backbone, Epoch, type EpochMs, Group, RangeId } from '../../../streams/ids.ts';
import type { Contribution, EncodedChunk } from '../../../streams/records.ts';
import { GROUPS, type Numbered, type World } from './world.ts';

const FORMAT = ['Subject:', 'From:', 'Date:', 'Message-ID:', 'References:', ':bytes', ':lines', 'Xref:full'];
const EPOCH = Epoch(0);

export interface Span {
  readonly lo: number;
  readonly hi: number;
}

/** One parsing of a range of a place: which articles its batches held. */
export interface Pass extends Span {
  readonly place: Numbered;
  readonly run: number;
  readonly pass: number;
  readonly articles: Numbered['articles'];
}

/** Both groups, listed for every backbone from the first number on. */
export function listFor(world: World): GroupList {
  const entries = GROUPS.map((name, i) => ({
    group: Group(name),
    rank: i + 1,
    backfill: { kind: 'all' as const },
    spans: world.places
      .filter((p) => p.group === name)
      .map((p) => ({
        backbone: Backbone(p.backbone),
        epoch: EPOCH,
        from: ArticleNumber(p.low),
        liveFrom: ArticleNumber(p.high + 1),
        to: null,
      })),
    removed: false,
  }));
  return { origin: 'operator', listVersion: 1, entries };
}

const lineOf = (place: Numbered, { number, article }: Numbered['articles'][number]): string =>
  [
    number,
    article.subject,
    article.poster,
    new Date(article.at).toUTCString(),
    `<${article.messageId}>`,
    '',
    article.bytes,
    '100',
    place.xref.get(article.messageId) ?? '',
  ].join('\t');

const columns = new ArticleTable();

function parse(pass: Pass, list: GroupList, seed: number) {
  const { place, lo, hi, run } = pass;
  const [backbone, group] = [Backbone(place.backbone), Group(place.group)];
  const numbers = { lo: ArticleNumber(lo), hi: ArticleNumber(hi) };
  const rangeId = RangeId.of(EPOCH, numbers.lo, numbers.hi);
  const range = { backbone, group, epoch: EPOCH, rangeId, ...numbers, run, lane: 'backfill' as const };
  const groupRanks = groupRanksOf(list, backbone, group, EPOCH);
  const parser = createRangeParser({
    range,
    groupRanks,
    format: overviewFormat(FORMAT),
    garbage: [],
    seed,
    columns,
    chunkSegments: 3,
  });
  const lines = pass.articles.map((article) => `${lineOf(place, article)}\r\n`).join('');
  parser.addBatch(Buffer.from(lines, 'latin1'));
  return { range, parsed: parser.finish() };
}

/** Every event of the pass in the order in which the headers processor appends them. */
export function saidBy(pass: Pass, list: GroupList, at: EpochMs, seed: number): readonly HeadwaterEvent[] {
  const { range, parsed } = parse(pass, list, seed);
  const { backbone, group, epoch, rangeId, run, lo, hi } = range;
  const named = { backbone, group, epoch, rangeId, run, pass: pass.pass };
  const said: HeadwaterEvent[] = [
    makeEvent(EVENTS['release.opened'], at, { ...named, lo, hi }),
    makeEvent(EVENTS['chunks.opened'], at, { ...named, lo, hi }),
  ];
  let k = 0;
  for (const { contribution, chunks } of parsed.releases()) {
    const encoded = chunks.map(
      ({ content, ...head }): EncodedChunk => ({ ...head, payload: encodeChunkColumns(content) }),
    );
    const seen: Contribution = { ...contribution, chunksPosition: { number: 1, sequence: 1 } };
    said.push(makeEvent(EVENTS['chunks.written'], at, { ...named, k, body: encoded }));
    said.push(makeEvent(EVENTS['release.seen'], at, { origin: 'headers' as const, ...named, k, body: [seen] }));
    k++;
  }
  let f = 0;
  for (const piece of parsed.pieces()) {
    said.push(makeEvent(EVENTS['release.fragments'], at, { ...named, k: f++, body: { pieces: [piece], lone: [] } }));
  }
  for (const blob of parsed.lone()) {
    said.push(makeEvent(EVENTS['release.fragments'], at, { ...named, k: f++, body: { pieces: [], lone: [blob] } }));
  }
  return said;
}
