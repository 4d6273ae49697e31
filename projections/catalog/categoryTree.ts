/** The common Newznab tree, as far as the rules of categoryRules.ts file releases under it. */
export interface Category {
  readonly id: number;
  readonly name: string;
  readonly children: readonly { readonly id: number; readonly name: string }[];
}

/** What no rule knows, and what has a name that tells nothing. */
export const MISC = 8010;
export const HASHED = 8020;

/** A parent from its children, one a line: `1010 NDS`. */
const parent = (id: number, name: string, children: string): Category => ({
  id,
  name,
  children: children
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => ({ id: Number(line.slice(0, 4)), name: line.slice(5) })),
});

export const CATEGORIES: readonly Category[] = [
  parent(
    1000,
    'Console',
    `1010 NDS
     1020 PSP
     1030 Wii
     1040 XBox
     1050 XBox 360
     1060 Wiiware
     1070 XBox 360 DLC
     1080 PS3
     1090 Other
     1110 3DS
     1120 PS Vita
     1130 WiiU
     1140 XBox One
     1180 PS4`,
  ),
  parent(
    2000,
    'Movies',
    `2010 Foreign
     2020 Other
     2030 SD
     2040 HD
     2045 UHD
     2050 BluRay
     2060 3D
     2070 DVD
     2080 WEB-DL
     2090 x265`,
  ),
  parent(
    3000,
    'Audio',
    `3010 MP3
     3020 Video
     3030 Audiobook
     3040 Lossless
     3050 Other`,
  ),
  parent(
    4000,
    'PC',
    `4010 0day
     4020 ISO
     4030 Mac
     4040 Mobile-Other
     4050 Games
     4060 Mobile-iOS
     4070 Mobile-Android`,
  ),
  parent(
    5000,
    'TV',
    `5010 WEB-DL
     5020 Foreign
     5030 SD
     5040 HD
     5045 UHD
     5050 Other
     5060 Sport
     5070 Anime
     5080 Documentary
     5090 x265`,
  ),
  parent(
    6000,
    'XXX',
    `6010 DVD
     6020 WMV
     6030 XviD
     6040 x264
     6045 UHD
     6050 Pack
     6060 ImageSet
     6070 Other
     6080 SD
     6090 WEB-DL`,
  ),
  parent(
    7000,
    'Books',
    `7010 Mags
     7020 EBook
     7030 Comics
     7040 Technical
     7050 Other
     7060 Foreign`,
  ),
  parent(
    8000,
    'Other',
    `8010 Misc
     8020 Hashed`,
  ),
];

/** Every id that a release can be stored under. */
export const LEAVES: readonly number[] = CATEGORIES.flatMap((c) => c.children.map((child) => child.id));

/**
 * Where a leaf is filed besides: clients ask for HD by default and would never see HD that is kept apart by its source
 * or codec. The rules put only HD (720p and 1080p) under these leaves.
 */
const FILED_TOO: Readonly<Record<number, number>> = {
  2050: 2040,
  2060: 2040,
  2080: 2040,
  2090: 2040,
  5010: 5040,
  5090: 5040,
  6090: 6040,
};

/** All ids that a stored leaf is served under: its parent first, the leaf last. */
export function categoriesOf(leaf: number): readonly number[] {
  const also = FILED_TOO[leaf];
  return [leaf - (leaf % 1000), ...(also === undefined ? [] : [also]), leaf];
}

/** The leaves that are served under any of these ids, ascending; ids that are not in the tree count for nothing. */
export function leavesUnder(ids: Iterable<number>): readonly number[] {
  const asked = new Set(ids);
  return LEAVES.filter((leaf) => categoriesOf(leaf).some((id) => asked.has(id)));
}
