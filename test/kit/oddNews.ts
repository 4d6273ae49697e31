import type { FakeGroup, FakeNews } from './fakeNews.ts';

/** Parts of one made-up file: a release of this many articles. */
export const POST_PARTS = 10;
/** The first article of every made-up group: some months ago, so that no backfill leaves it out. */
const START_S = 1_767_225_600;

/** One overview line without CRLF: part `n % 10` of the file that its number falls into. */
export function oddLine(number: number, group: string): string {
  const post = Math.floor(number / POST_PARTS);
  const part = (number % POST_PARTS) + 1;
  const date = new Date((START_S + (number % 100_000)) * 1000).toUTCString();
  return [
    `${number}`,
    `"${oddName(number, group)}.rar" yEnc (${part}/${POST_PARTS})`,
    'Poster <poster@example.org>',
    date,
    `<part${part}of${POST_PARTS}.p${post}@odd.example.org>`,
    '',
    '750000',
    '5800',
    `Xref: news.example.org ${group}:${number}`,
  ].join('\t');
}

/** The name of the release that the article of this number belongs to. */
export const oddName = (number: number, group: string): string =>
  `Odd.${group.split('.').at(-1)}.Disc.${Math.floor(number / POST_PARTS)}.2026-HW`;

/** A group whose numbers lo..hi have one line each, whole posts when lo is a multiple of ten and hi the end of one. */
export function oddGroup(name: string, lo: number, hi: number): FakeGroup {
  const overview = new Map<number, string>();
  for (let n = lo; n <= hi; n++) overview.set(n, oddLine(n, name));
  return { name, low: lo, high: hi, overview };
}

/** News whose groups can be exchanged while the server runs. */
export class ChangingNews implements FakeNews {
  readonly #groups = new Map<string, FakeGroup>();

  set(group: FakeGroup): void {
    this.#groups.set(group.name, group);
  }

  get(name: string): FakeGroup {
    const group = this.#groups.get(name);
    if (!group) throw new Error(`no group ${name}`);
    return group;
  }

  get groups(): readonly FakeGroup[] {
    return [...this.#groups.values()];
  }
}
