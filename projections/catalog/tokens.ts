/** How a name becomes the words it is found by. Names and queries go through the same function, so that they agree. */

const TOKEN_LENGTH_MAX = 100;
/** No name of a release has as many words; what has is not worth an index entry a word. */
const TOKENS_MAX = 100;

/** Letters that Unicode does not take apart into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ς: 'σ',
};
const SPECIAL = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    // A few capitals fall apart only when they are made small (İ).
    .replace(/\p{M}+/gu, '')
    .replace(SPECIAL, (letter) => LETTERS[letter]!);

const wordsOf = (text: string): string[] =>
  fold(text)
    .replace(/['’‘`´ʼ]/gu, '')
    .replaceAll('&', ' and ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, TOKEN_LENGTH_MAX));

/**
 * The distinct words of a name, at most 100 of at most 100 characters each: case and accents folded, every other
 * character a separator, `'` dropped (don't = dont), `&` the word and.
 */
export const tokensOf = (name: string): readonly string[] => [...new Set(wordsOf(name))].slice(0, TOKENS_MAX);

export interface SearchWords {
  /** Words that must all be there. */
  readonly words: readonly string[];
  /** Phrases of which none may have all its words there. */
  readonly excluded: readonly (readonly string[])[];
  /** True when the query asks for something that no name can have, e.g. only punctuation. */
  readonly matchesNothing: boolean;
}

/** Reads a query: words that must match, `-word`, `--word` or `!word` what must not. An empty query matches everything. */
export function parseQuery(query: string): SearchWords {
  const terms = query.split(/\s+/u).filter((term) => term !== '');
  const isExclusion = (term: string) => /^(--?|!)[^-!]/u.test(term);
  const wanted = terms.filter((term) => !isExclusion(term));
  const excluded = terms.filter(isExclusion).map((term) => tokensOf(term));
  const words = tokensOf(wanted.join(' '));
  return {
    words,
    excluded: excluded.filter((phrase) => phrase.length > 0),
    matchesNothing: words.length === 0 && wanted.length > 0,
  };
}

/** The tsquery of a search, or null when it has no words. Tokens hold only letters and digits: nothing to escape. */
export function tsQueryOf({ words, excluded }: Pick<SearchWords, 'words' | 'excluded'>): string | null {
  const all = (tokens: readonly string[]) => tokens.map((token) => `'${token}'`).join(' & ');
  const parts = [...(words.length > 0 ? [all(words)] : []), ...excluded.map((phrase) => `!(${all(phrase)})`)];
  return parts.length > 0 ? parts.join(' & ') : null;
}
