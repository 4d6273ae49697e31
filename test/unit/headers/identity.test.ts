import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteTable } from '../../../processors/headers/byteTable.ts';
import { fileDigest, foldBase, releaseKey } from '../../../processors/headers/identity.ts';
import { groupRanksOf } from '../../../processors/headers/xref.ts';
import { ArticleNumber, Backbone, Epoch, Group } from '../../../streams/ids.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

describe('identities', () => {
  // They are stored for ever: a change here orphans every file and release that an installation knows.
  it('are the sha256 of what the contract says, and stay so', () => {
    const group = Group('alt.binaries.own');
    expect(fileDigest({ group, subject: '"a.rar" yEnc \0', poster: null })).toBe('38a7472407faf1437fc46e20a3881b81');
    expect(fileDigest({ group, subject: '"sample.avi" yEnc \0', poster: 'a' })).toBe(
      '3dc8352d660433bbb7d1687e73f378b3',
    );
    expect(releaseKey({ base: 'Some.Title-ABC', filesTotal: 24, poster: null })).toBe(
      '49c657d431dc966492f86bdf471d0671',
    );
    expect(releaseKey({ base: null, filesTotal: null, poster: 'a' })).toBe('0431c58370bac7722a5dc28c5e723355');
  });

  it('fold letter case and punctuation, and nothing else', () => {
    expect(foldBase('Harbor_Lights (2011) [X]')).toBe('harborlights2011x');
    expect(foldBase('Łódź.Żółw')).toBe('łódźżółw');
    expect(foldBase('Пример – 2010')).toBe('пример2010');
    expect(foldBase('某某动画「07」')).toBe('某某动画07');
    expect(foldBase('🎬 Emoji 🎬')).toBe('emoji');
    expect(foldBase('e\u0301')).toBe('é');
    expect(releaseKey({ base: '...', filesTotal: 1, poster: 'a' })).toBe(
      releaseKey({ base: null, filesTotal: 1, poster: 'a' }),
    );
  });

  it('differ with each of their fields, also where the texts joined would be equal', () => {
    const ids = [
      { base: 'a', filesTotal: null, poster: null },
      { base: 'a', filesTotal: 1, poster: null },
      { base: 'a', filesTotal: null, poster: '1' },
      { base: 'a1', filesTotal: null, poster: null },
      { base: null, filesTotal: null, poster: 'a' },
      { base: null, filesTotal: null, poster: null },
      { base: 'a', filesTotal: null, poster: '' },
    ];
    expect(new Set(ids.map(releaseKey)).size).toBe(ids.length);
  });
});

describe('ByteTable', () => {
  it('gives equal keys one id and different keys different ones, whatever the seed', () => {
    const keys = fc.array(fc.uint8Array({ maxLength: 6, max: 3 }), { maxLength: 3000 });
    fc.assert(
      fc.property(keys, fc.integer(), (list, seed) => {
        const table = new ByteTable(seed, 16);
        const ids = new Map<string, number>();
        for (const key of list) {
          const text = Buffer.from(key).toString('hex');
          const known = ids.get(text);
          const id = table.intern(key, 0, key.length);
          expect(id).toBe(known ?? ids.size);
          expect(table.added).toBe(known === undefined);
          ids.set(text, id);
          expect(Buffer.from(table.bytes(id)).toString('hex')).toBe(text);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it('tells pairs apart by where they are split', () => {
    const table = new ByteTable(3, 16);
    const b = Buffer.from('abc');
    expect(table.internPair(b, 0, 1, 1, 3)).toBe(0);
    expect(table.internPair(b, 0, 2, 2, 3)).toBe(1);
    expect(table.intern(b, 0, 3)).toBe(2);
    expect(table.internPair(b, 0, 1, 1, 3)).toBe(0);
  });
});

describe('groupRanksOf', () => {
  it('takes the spans of the backbone, of the range’s epoch in its own group and of the newest elsewhere', () => {
    const span = (backbone: string, epoch: number, from: number, to: number | null) => ({
      backbone: Backbone(backbone),
      epoch: Epoch(epoch),
      from: ArticleNumber(from),
      liveFrom: ArticleNumber(from),
      to: to === null ? null : ArticleNumber(to),
    });
    const spans = [span('one', 0, 1, 10), span('one', 1, 5, null), span('two', 0, 77, 78)];
    const entry = (group: string, rank: number) => ({
      group: Group(group),
      rank,
      backfill: { kind: 'all' as const },
      spans,
      removed: rank === 2,
    });
    const list = { origin: 'api' as const, listVersion: 1, entries: [entry('a.own', 1), entry('a.other', 2)] };
    const ranks = groupRanksOf(list, Backbone('one'), Group('a.own'), Epoch(0));
    expect(ranks.get(Group('a.own'))).toEqual({ rank: 1, spans: [[1, 10]] });
    expect(ranks.get(Group('a.other'))).toEqual({ rank: 2, spans: [[5, Number.MAX_SAFE_INTEGER]] });
    expect(groupRanksOf(list, Backbone('none'), Group('a.own'), Epoch(0)).get(Group('a.own'))?.spans).toEqual([]);
  });
});
