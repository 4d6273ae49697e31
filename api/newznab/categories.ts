import { CATEGORIES, leavesUnder } from '../../projections/catalog/rows.ts';

/** `TV > HD`: what downloaders map to folders. */
export const categoryName = (id: number): string => {
  for (const parent of CATEGORIES) {
    if (parent.id === id) return parent.name;
    const child = parent.children.find((c) => c.id === id);
    if (child) return `${parent.name} > ${child.name}`;
  }
  return 'Other';
};

/**
 * The leaves that a `cat` list asks for; undefined: no filter, empty: nothing that we have. A parent includes its
 * children, ids that we do not have count for nothing.
 */
export function askedCategories(cat: readonly string[]): readonly number[] | undefined {
  if (cat.length === 0) return undefined;
  return leavesUnder(cat.filter((c) => /^\d{1,9}$/.test(c)).map(Number));
}
