import type { ArticleTable } from './articles.ts';
import type { FileTable } from './files.ts';

/** What the winning articles of a file say about its parts. */
export interface Completeness {
  /** The total that most of them state, of two as frequent the larger; 0 when none states one. */
  readonly total: number;
  /** Parts that there should be: the total, or the highest part seen. */
  readonly expected: number;
  /** Parts 1 to `expected` are all there; false when none is expected. */
  readonly complete: boolean;
}

/** `unionOf` of `streams/union.ts` says the same of segments. `rows`: the winners by part, at least one. */
export function completenessOf(articles: ArticleTable, files: FileTable, rows: Uint32Array): Completeness {
  const { part } = articles;
  const total = statedTotal(articles, files, rows);
  const expected = total > 0 ? total : part[rows[rows.length - 1]!]!;
  let there = 0;
  for (const row of rows) if (part[row]! >= 1 && part[row]! <= expected) there++;
  return { total, expected, complete: there === expected && expected > 0 };
}

function statedTotal(articles: ArticleTable, files: FileTable, rows: Uint32Array): number {
  const { subject } = articles;
  const first = subject[rows[0]!]!;
  if (rows.every((row) => subject[row] === first)) return files.total(first);
  const stated = totalsOf(articles, files, rows).filter(([total]) => total > 0);
  return stated.sort(([a, m], [b, n]) => n - m || b - a)[0]?.[0] ?? 0;
}

/** Stated totals with how many rows state each, by total; 0 stands for rows without one. */
export function totalsOf(articles: ArticleTable, files: FileTable, rows: Uint32Array): [total: number, rows: number][] {
  const counts = new Map<number, number>();
  for (const row of rows) {
    const total = files.total(articles.subject[row]!);
    counts.set(total, (counts.get(total) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b);
}
