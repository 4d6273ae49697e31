import type { Sql, SqlRow, SqlValue } from '../ports.ts';
import { LEAVES } from './categoryTree.ts';
import { chunksUpTo, RELEASE_COLUMNS, type ReleaseRow, releaseRow } from './releaseRow.ts';
import { type SearchWords, tsQueryOf } from './tokens.ts';

export interface ReleaseQuery extends SearchWords {
  readonly obfuscated?: boolean | undefined;
  readonly minBytes?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Milliseconds since 1970: posted then or later. */
  readonly postedAfter?: number | undefined;
  /** Leaves of the category tree: what is filed under one of them. None named: no release. */
  readonly categories?: readonly number[] | undefined;
  /** Posted then or earlier. */
  readonly postedBefore?: number | undefined;
  /** Main group or cross-posted to it. */
  readonly group?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface ReleasePage {
  /** Releases that match; never more than 10,000: beyond that it says "at least". */
  readonly total: number;
  readonly rows: readonly ReleaseRow[];
}

const TOTAL_MAX = 10_000;
/** Hits that are fetched from the index and sorted; a query with more is answered by walking from the newest. */
const CANDIDATES_MAX = 20_000;

const NOTHING: ReleasePage = { total: 0, rows: [] };

/** A WHERE clause that collects its parameters. */
class Filter {
  readonly values: SqlValue[] = [];
  readonly #parts: string[] = [];
  /** `condition` with `$?` for the value, in every place. */
  and(condition: string, value: SqlValue | undefined): this {
    if (value === undefined) return this;
    this.#parts.push(condition.replaceAll('$?', this.value(value)));
    return this;
  }
  value(value: SqlValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
  get sql(): string {
    return this.#parts.join(' and ');
  }
}

function filterOf(query: ReleaseQuery, upTo: number, groupId: number | undefined): Filter {
  return new Filter()
    .and('r.chunks_position <= $?::int8', upTo)
    .and('r.obfuscated = $?', query.obfuscated)
    .and('r.bytes >= $?', query.minBytes)
    .and('r.bytes <= $?', query.maxBytes)
    .and('r.first_at >= $?', query.postedAfter)
    .and('r.first_at <= $?', query.postedBefore)
    .and('(r.group_id = $? or $? = any (r.groups))', groupId);
}

/**
 * The same order twice. Each is that of one index, so that the planner cannot take the other: for a category that many
 * releases have it would rather read the newest of all, and those may all be of others.
 */
const newestBy = ({ categories }: ReleaseQuery): string =>
  categories === undefined
    ? 'order by r.first_at desc, r.release_id'
    : 'order by r.first_at desc nulls last, r.release_id';

/** The releases that a walk reads, as something to select from. With categories: up to `most` of each, newest first. */
function walked(query: ReleaseQuery, filter: Filter, most: number): string {
  const { categories } = query;
  if (categories === undefined) return `catalog.release r where ${filter.sql}`;
  const limit = filter.value(most);
  const of = (leaf: number) =>
    `(select * from catalog.release r where r.category = ${filter.value(leaf)}::int2 and ${filter.sql}
       ${newestBy(query)} limit ${limit})`;
  return `(${categories.map(of).join(' union all ')}) r`;
}

/** Walks from the newest release until the page is full: right for no words, and for words that very many releases have. */
async function walk(sql: Sql, query: ReleaseQuery, filterOfWalk: () => Filter): Promise<ReleasePage> {
  const page = filterOfWalk();
  const from = walked(query, page, query.offset + query.limit);
  const rows = await sql.query(
    `select ${RELEASE_COLUMNS} from ${from}
      ${newestBy(query)} limit ${page.value(query.limit)} offset ${page.value(query.offset)}`,
    page.values,
  );
  const all = filterOfWalk();
  const [count] = await sql.query<{ n: number }>(
    `select count(*) as n from (select from ${walked(query, all, TOTAL_MAX)}
      ${newestBy(query)} limit ${all.value(TOTAL_MAX)}) found`,
    all.values,
  );
  return { total: count?.n ?? 0, rows: rows.map(releaseRow) };
}

interface HitsRow extends SqlRow {
  readonly hits: number;
  readonly total: number;
  readonly page: readonly string[];
}

/** All hits of the word index, filtered and sorted; null when they are too many for that. */
async function byWords(sql: Sql, query: ReleaseQuery, filter: Filter, words: string): Promise<ReleasePage | null> {
  const where = filter.sql;
  const [hits, most] = [filter.value(words), filter.value(CANDIDATES_MAX + 1)];
  const [limit, offset] = [filter.value(query.limit), filter.value(query.offset)];
  const [found] = await sql.query<HitsRow>(
    `with hit as materialized (select * from catalog.release_hits(${hits}::tsquery, ${most}::int4)),
          r as materialized (select r.release_id, r.first_at from hit r where ${where})
     select (select count(*) from hit) as hits, (select count(*) from r) as total,
            array(select r.release_id::text from r order by r.first_at desc, r.release_id
                   limit ${limit} offset ${offset}) as page`,
    filter.values,
  );
  if (!found || found.hits > CANDIDATES_MAX) return null;
  if (found.page.length === 0) return { total: Math.min(found.total, TOTAL_MAX), rows: [] };
  const rows = await sql.query(
    `select ${RELEASE_COLUMNS} from catalog.release r where r.release_id = any ($1::uuid[])
      order by r.first_at desc, r.release_id`,
    [found.page],
  );
  return { total: Math.min(found.total, TOTAL_MAX), rows: rows.map(releaseRow) };
}

/** Each leaf once, since a walk reads one after the other; undefined when they are all that there are. */
function distinctCategories({ categories }: ReleaseQuery): readonly number[] | undefined {
  const leaves = categories && LEAVES.filter((leaf) => categories.includes(leaf));
  return leaves?.length === LEAVES.length ? undefined : leaves;
}

/**
 * Releases that match, newest first, those of one time by id. Only releases whose chunks are projected are listed. Which
 * way the table is read follows from how many releases have the words, never from the planner's guess.
 */
export async function searchReleases(sql: Sql, asked: ReleaseQuery): Promise<ReleasePage> {
  const query = { ...asked, categories: distinctCategories(asked) };
  if (query.matchesNothing || query.categories?.length === 0) return NOTHING;
  const upTo = await chunksUpTo(sql);
  let groupId: number | undefined;
  if (query.group !== undefined) {
    const [group] = await sql.query<{ id: number }>('select id from catalog.group_name where name = $1', [query.group]);
    if (!group) return NOTHING;
    groupId = group.id;
  }
  const words = tsQueryOf(query);
  if (query.words.length > 0 && words !== null) {
    const filter = filterOf(query, upTo, groupId).and('r.category = any ($?::int2[])', query.categories);
    const page = await byWords(sql, query, filter, words);
    if (page) return page;
  }
  // The IS TRUE keeps the planner from the word index, which cannot give the newest first.
  const condition = '(r.tokens @@ $?::tsquery) is true';
  return walk(sql, query, () => filterOf(query, upTo, groupId).and(condition, words ?? undefined));
}
