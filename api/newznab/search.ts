import { parseQuery, searchReleases } from '../../projections/catalog/rows.ts';
import type { Sql } from '../../projections/ports.ts';
import { askedCategories } from './categories.ts';
import { feedDocument } from './feed.ts';
import type { Links } from './links.ts';
import { limitOf, offsetOf, type Parameters } from './parameters.ts';

export interface SearchContext {
  readonly sql: Sql;
  readonly title: string;
  readonly links: Links;
  /** Milliseconds since 1970: `maxage` counts back from it. */
  readonly now: number;
}

const DAY_MS = 86_400_000;

/** Ids of other catalogues that a client may search by. None is known yet, so none can match. */
const ID_PARAMETERS = ['imdbid', 'tvdbid', 'rid', 'tvmazeid', 'tmdbid', 'traktid', 'doubanid'] as const;

/** t=search: newest first; without q simply the newest. Unknown categories, or an id, find nothing. */
export async function search(parameters: Parameters, context: SearchContext): Promise<string> {
  const limit = limitOf(parameters);
  const offset = offsetOf(parameters);
  const words = parseQuery(parameters.text('q') ?? '');
  const daysAgo = (days: number | undefined) => (days === undefined ? undefined : context.now - days * DAY_MS);
  const query = {
    ...words,
    matchesNothing: words.matchesNothing || parameters.text(...ID_PARAMETERS) !== undefined,
    categories: askedCategories(parameters.list('cat')),
    minBytes: parameters.whole('minsize'),
    maxBytes: parameters.whole('maxsize'),
    postedAfter: daysAgo(parameters.whole('maxage')),
    postedBefore: daysAgo(parameters.whole('minage')),
    group: parameters.text('group'),
    limit,
    offset,
  };
  const found = await searchReleases(context.sql, query);
  return feedDocument({
    title: context.title,
    offset,
    total: found.total,
    releases: found.rows,
    links: context.links,
    extended: parameters.text('extended') === '1',
    attrs: parameters.list('attrs').map((name) => name.toLowerCase()),
  });
}
