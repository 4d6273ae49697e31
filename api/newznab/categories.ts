/** The part of the Newznab tree that releases are filed under so far; caps list just these. */
export interface Category {
  readonly id: number;
  readonly name: string;
  readonly children: readonly { readonly id: number; readonly name: string }[];
}

export const MISC = 8010;
export const HASHED = 8020;

export const CATEGORIES: readonly Category[] = [
  {
    id: 8000,
    name: 'Other',
    children: [
      { id: MISC, name: 'Misc' },
      { id: HASHED, name: 'Hashed' },
    ],
  },
];

/** The categories of a release, parent first. */
export const categoriesOf = (release: { readonly obfuscated: boolean }): readonly number[] => [
  8000,
  release.obfuscated ? HASHED : MISC,
];

export const categoryName = (id: number): string => {
  for (const parent of CATEGORIES) {
    if (parent.id === id) return parent.name;
    const child = parent.children.find((c) => c.id === id);
    if (child) return `${parent.name} > ${child.name}`;
  }
  return 'Other';
};

/** Which of our leaves a `cat` list asks for; null: no filter, empty: nothing that we have. A parent includes its children. */
export function askedCategories(cat: readonly string[]): readonly number[] | null {
  if (cat.length === 0) return null;
  const asked = new Set(cat.filter((c) => /^\d{1,9}$/.test(c)).map(Number));
  return CATEGORIES.flatMap((parent) =>
    parent.children.filter((c) => asked.has(c.id) || asked.has(parent.id)).map((c) => c.id),
  );
}
