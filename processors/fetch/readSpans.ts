import type { Interval } from '../../streams/records.ts';
import type { Articles } from '../ports.ts';

/** [lo..hi] in pieces of at most `size` numbers. */
export function* spansOf(lo: number, hi: number, size: number): Generator<Interval> {
  for (let at = lo; at <= hi; at += size) yield [at, Math.min(at + size - 1, hi)];
}

/**
 * The overview lines of the selected group, span by span in order. `ahead` spans are asked for before the first of them is
 * read to its end, so that the server is never idle. Leaving early costs the connection, which its pool then closes.
 */
export async function* readSpans(
  articles: Articles,
  spans: Iterable<Interval>,
  ahead: number,
  signal: AbortSignal,
): AsyncGenerator<{ readonly span: Interval; readonly piece: Buffer }> {
  const source = spans[Symbol.iterator]();
  const asked: { readonly span: Interval; readonly pieces: AsyncIterable<Buffer> }[] = [];
  const ask = () => {
    const next = source.next();
    if (!next.done) asked.push({ span: next.value, pieces: articles.over(next.value, signal) });
  };
  for (let i = 0; i < Math.max(1, ahead); i++) ask();
  for (let current = asked.shift(); current; current = asked.shift()) {
    for await (const piece of current.pieces) yield { span: current.span, piece };
    ask();
  }
}
