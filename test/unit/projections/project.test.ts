import { describe, expect, it } from 'vitest';
import { catalog } from '../../../projections/catalog/index.ts';
import { projectCatalog } from '../../../projections/catalog/project.ts';
import { projectChunks } from '../../../projections/chunks/project.ts';
import {
  chunksOpened,
  contribution,
  encodedChunk,
  keyOf,
  opened,
  seen,
  stored,
  T0,
  written,
} from '../../kit/releaseEvents.ts';

describe('a batch of RELEASES', () => {
  it('names each source, group, group list and name once', () => {
    const cross = { groups: ['a.main', 'a.second', 'a.third'] };
    const rows = projectCatalog(
      stored([
        opened(),
        seen({}, [contribution('Some.Name', cross), contribution('some name', cross)]),
        opened({ lo: 1001, hi: 2000 }),
        seen({ lo: 1001, hi: 2000 }, [contribution('Some.Name')]),
      ]),
    );
    expect(rows.stage_catalog_source).toEqual([
      [0, 'bb', 'alt.binaries.test', 0, 1, 1000, 1, 1],
      [1, 'bb', 'alt.binaries.test', 0, 1001, 2000, 1, 1],
    ]);
    expect(rows.stage_catalog_group?.map(([, name]) => name)).toEqual([
      'alt.binaries.test',
      'a.main',
      'a.second',
      'a.third',
    ]);
    expect(rows.stage_catalog_list).toEqual([[0, ['a.second', 'a.third']]]);
    expect(rows.stage_catalog_name).toEqual([
      ['Some.Name', ['some', 'name']],
      ['some name', ['some', 'name']],
    ]);
    expect(rows.stage_catalog_contribution?.length).toBe(3);
  });

  it('files a contribution by its own name and groups', () => {
    const linux = { groups: ['alt.binaries.misc', 'alt.binaries.linux.iso'] };
    const reordered = { groups: [linux.groups[0]!, 'alt.binaries.test', linux.groups[1]!] };
    const plain = [contribution('Some Thing'), contribution('Show.S01E02.720p')];
    const said = [...plain, contribution('some thing', linux), contribution('some thing', reordered)];
    const rows = projectCatalog(stored([opened(), seen({}, said)]));
    const at = catalog.staging
      .find((table) => table.name === 'stage_catalog_contribution')!
      .columns.findIndex(([name]) => name === 'category');
    expect(rows.stage_catalog_contribution?.map((row) => row[at])).toEqual([8010, 5040, 4020, 4020]);
  });

  it('ends with the highest pair, and drops what came below it', () => {
    const rows = projectCatalog(
      stored([
        opened({ run: 2 }),
        seen({ run: 1, pass: 9 }, [contribution('zombie')]),
        seen({ run: 2 }, [contribution('before')]),
        opened({ run: 2, pass: 2 }),
        seen({ run: 2, pass: 2 }, [contribution('after')]),
        seen({ run: 2, pass: 1 }, [contribution('late')], 1),
      ]),
    );
    expect(rows.stage_catalog_source?.[0]?.slice(-2)).toEqual([2, 2]);
    // `before` was accepted when it came: it leaves a birth, and merge.sql keeps it out of the live ones.
    expect(rows.stage_catalog_name?.map(([name]) => name)).toEqual(['before', 'after']);
  });

  it('cuts what posters made up to what the columns hold', () => {
    const absurd = { segmentsTotal: 2 ** 50, name: `\0${'x'.repeat(5_000)}`, lastAt: (T0 - 5) as typeof T0 };
    const rows = projectCatalog(stored([seen({}, [contribution('n', absurd)])]));
    const [row] = rows.stage_catalog_contribution!;
    expect(row).toContain(2 ** 31 - 1);
    expect(rows.stage_catalog_name?.[0]?.[0]).toBe(`\ufffd${'x'.repeat(999)}`);
    // Never before its first article.
    expect(row?.slice(10, 12)).toEqual([T0, T0]);
  });
});

describe('a batch of CHUNKS', () => {
  it('passes payloads on as they are and drops those of replaced passes', () => {
    const rows = projectChunks(
      stored([
        chunksOpened(),
        written({}, [encodedChunk('a', 'one')]),
        chunksOpened({ pass: 2 }),
        written({ pass: 2 }, [encodedChunk('a', 'two', { k: 1 })]),
        written({}, [encodedChunk('a', 'zombie')], 1),
      ]),
    );
    expect(rows.stage_chunks_source).toEqual([[0, 'bb', 'alt.binaries.test', 0, 1, 1000, 1, 2]]);
    expect(rows.stage_chunks_chunk).toEqual([
      [0, 1, 1, keyOf('a'), 0, 0, T0, T0, 10, Buffer.from('one')],
      [0, 1, 2, keyOf('a'), 0, 1, T0, T0, 10, Buffer.from('two')],
    ]);
  });
});
