import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { categoryOf } from '../../../projections/catalog/categoryOf.ts';
import { KINDS, LEAF_RULES } from '../../../projections/catalog/categoryRules.ts';
import { categoriesOf, LEAVES } from '../../../projections/catalog/categoryTree.ts';
import { BY_GROUP, BY_NAME, BY_PRE, TRAPS } from './categoryCases.ts';

const plain = { groups: ['alt.binaries.misc'], obfuscated: false };
const rows = (cases: Readonly<Record<string, string>>) =>
  Object.entries(cases).flatMap(([leaf, names]) =>
    names
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => [line, Number(leaf.slice(0, 4))] as const),
  );

describe('the category of a release', () => {
  it.each(rows(BY_NAME))('%s is %i', (name, leaf) => {
    expect(categoryOf({ ...plain, name })).toBe(leaf);
  });

  it.each(TRAPS)('%s is %i, because %s', (name, leaf) => {
    expect(categoryOf({ ...plain, name })).toBe(leaf);
  });

  it.each(BY_GROUP)('%s in %s is %i', (name, groups, leaf) => {
    expect(categoryOf({ ...plain, name, groups: groups.split(' ') })).toBe(leaf);
  });

  it.each(BY_PRE)('%s that was announced as %s is %i', (name, preCategory, leaf) => {
    expect(categoryOf({ ...plain, name, preCategory })).toBe(leaf);
  });

  it('is Hashed when the name tells nothing, whatever the groups, unless a pre tells it', () => {
    const hidden = { name: 'Kx81LpQz0aVd', groups: ['alt.binaries.teevee'], obfuscated: true };
    expect(categoryOf(hidden)).toBe(8020);
    expect(categoryOf({ ...hidden, preCategory: 'TV-X264' })).toBe(5030);
  });

  it('is a leaf of the tree for anything that a poster can write, and the same one every time', () => {
    const group = fc.constantFrom('alt.binaries.misc', 'alt.binaries.sounds.mp3', 'alt.binaries.erotica', '');
    const pre = fc.option(fc.oneof(fc.string(), fc.constantFrom('TV', 'GAMES', 'XXX', 'MP3')), { nil: undefined });
    const name = fc.oneof(
      fc.string({ maxLength: 1_200, unit: 'binary' }),
      fc
        .array(fc.constantFrom('S01', 'E02', '.', '-', ' ', '[', ']', '2024', 'x264', 'German', 'Linux', 'DL'))
        .map((words) => words.join('')),
    );
    fc.assert(
      fc.property(name, fc.array(group), pre, fc.boolean(), (text, groups, preCategory, obfuscated) => {
        const leaf = categoryOf({ name: text, groups, preCategory, obfuscated });
        expect(LEAVES).toContain(leaf);
        expect(categoryOf({ name: text, groups, preCategory, obfuscated })).toBe(leaf);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['- ', '[a] ', 'linux ', 'german dl ', 'a-', '2024 ', 's01 ', '([0', 'xxx', ' - 01 [', 'part 1 of '])(
    'takes no longer for names that repeat %j than their length explains',
    (piece) => {
      const of = (length: number) => {
        const name = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
        const started = performance.now();
        for (let i = 0; i < 20; i++) categoryOf({ ...plain, name: `${name}` });
        return performance.now() - started;
      };
      of(400);
      // 20 names of the greatest length: a pattern that tries all ways to part them would take seconds.
      expect(of(100_000)).toBeLessThan(500);
    },
  );
});

describe('the rules', () => {
  const leaves = Object.values(LEAF_RULES).flat();

  it('file under every leaf of the tree and under nothing else', () => {
    expect([...new Set(leaves.map((rule) => rule.leaf))].sort()).toEqual([...LEAVES].sort());
  });

  it('have a last row without a condition for every kind, and an unconditional one nowhere before', () => {
    const conditions = ({ leaf, ...rest }: (typeof leaves)[number]) => Object.keys(rest).length;
    for (const [kind, table] of Object.entries(LEAF_RULES)) {
      expect(
        table.filter((rule) => conditions(rule) === 0).map((rule) => rule.leaf),
        kind,
      ).toEqual([table.at(-1)?.leaf]);
    }
    expect(KINDS.filter(({ is, ...rest }) => Object.keys(rest).length === 0)).toEqual([]);
  });

  it('have no pattern that remembers where it stopped', () => {
    const patterns = [...KINDS, ...leaves].flatMap((rule) => Object.values(rule).filter((v) => v instanceof RegExp));
    expect(patterns.length).toBeGreaterThan(100);
    expect(patterns.filter((p) => p.global || p.sticky)).toEqual([]);
  });

  it('keep the leaves of a kind under one parent', () => {
    for (const [kind, table] of Object.entries(LEAF_RULES)) {
      expect(new Set(table.map((rule) => categoriesOf(rule.leaf)[0])).size, kind).toBe(1);
    }
  });
});
