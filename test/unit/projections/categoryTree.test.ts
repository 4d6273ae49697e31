import { describe, expect, it } from 'vitest';
import { categoryOf } from '../../../projections/catalog/categoryOf.ts';
import {
  CATEGORIES,
  categoriesOf,
  HASHED,
  LEAVES,
  leavesUnder,
  MISC,
} from '../../../projections/catalog/categoryTree.ts';
import { SAMPLE_RELEASES } from '../../bench/sampleReleases.ts';

describe('the category tree', () => {
  it('numbers parents by the thousand and children within theirs, each id once and with a name', () => {
    const all = CATEGORIES.flatMap((c) => [c, ...c.children]);
    expect(CATEGORIES.map((c) => c.id)).toEqual([1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]);
    expect(new Set(all.map((c) => c.id)).size).toBe(all.length);
    expect(all.filter((c) => c.name.trim() === '')).toEqual([]);
    for (const { id, children } of CATEGORIES) {
      const ids = children.map((child) => child.id);
      expect(ids.every((child) => Number.isInteger(child) && child > id && child < id + 1000)).toBe(true);
      expect(ids).toEqual([...ids].sort());
    }
  });

  it.each([
    [5010, [5000, 5040, 5010]],
    [5090, [5000, 5040, 5090]],
    [2080, [2000, 2040, 2080]],
    [2050, [2000, 2040, 2050]],
    [5045, [5000, 5045]],
    [MISC, [8000, 8010]],
    [HASHED, [8000, 8020]],
  ])('serves %i under %j', (leaf, ids) => {
    expect(categoriesOf(leaf)).toEqual(ids);
  });

  it('serves every leaf under its parent and itself, and under nothing that the tree does not have', () => {
    const known = new Set([...CATEGORIES.map((c) => c.id), ...LEAVES]);
    for (const leaf of LEAVES) {
      const ids = categoriesOf(leaf);
      expect([ids[0], ids.at(-1)]).toEqual([leaf - (leaf % 1000), leaf]);
      expect(ids.filter((id) => !known.has(id))).toEqual([]);
    }
  });

  it('finds under an id what is served under it, and skips ids that it does not have', () => {
    expect(leavesUnder([5040])).toEqual([5010, 5040, 5090]);
    expect(leavesUnder([8000, 8020])).toEqual([8010, 8020]);
    expect(leavesUnder([1, 9999, -5040])).toEqual([]);
    expect(leavesUnder(CATEGORIES.map((c) => c.id))).toEqual(LEAVES);
    for (const leaf of LEAVES) for (const id of categoriesOf(leaf)) expect(leavesUnder([id])).toContain(leaf);
  });
});

describe('the bundled sample', () => {
  it('is filed with the programs, most of it as images of systems', () => {
    const readable = SAMPLE_RELEASES.filter(({ kind }) => kind === undefined);
    const filed = readable.map(({ name, groups }) => [categoryOf({ name, groups, obfuscated: false }), name] as const);
    expect(filed.filter(([leaf]) => leaf === 4020).length).toBeGreaterThan(0.7 * filed.length);
    expect(filed.filter(([leaf]) => leaf !== 4020)).toEqual([
      [7040, 'meadow-linux-12.4-handbook'],
      [4010, 'basalt-linux-current-2026-01-15'],
      [8010, 'driftwood-router-23.05.5-images'],
      [8010, 'tern-kernel-6.18.14-source'],
      [4010, 'tern-kernel-6.18.14-modules-amd64'],
      [7040, 'open-handbook-of-packet-filters-2nd-edition'],
    ]);
  });
});
