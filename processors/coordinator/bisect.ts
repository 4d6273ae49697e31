/**
 * The first article of the span and a date that is typical of its first few lines (one poster's clock may be wrong); null
 * when the span holds no dated line. One question costs a server a few lines.
 */
export type Probe = (from: number, to: number) => Promise<{ readonly number: number; readonly date: number } | null>;

/**
 * How far a probe looks past missing numbers, step by step: the next is taken when the one before held nothing. All lines of
 * the one that holds something are sent, so each is only a few times as wide as the hole before it.
 */
const WIDTHS = [50, 200, 1000, 5000, 20_000, 75_000] as const;

/** The first dated article from `from` on, looked for further and further, up to `to`. */
export async function firstDated(from: number, to: number, probe: Probe) {
  let start = from;
  for (const width of WIDTHS) {
    if (start > to) return null;
    const found = await probe(start, Math.min(start + width - 1, to));
    if (found) return found;
    start += width;
  }
  return null;
}

/**
 * The number at which a backfill that wants everything since a time begins, by bisecting low..high: about log2 of the
 * group's size questions. Numbers ascend with time only roughly, and so is the answer. Where nothing dated is found (a long
 * hole) the earlier half is taken: that may want too much, never too little.
 * Gives high + 1 when everything is older. `slack`: by how many numbers the answer may be too high; each halving that
 * is spared is a question less.
 */
export async function firstNumberSince(
  since: number,
  low: number,
  high: number,
  probe: Probe,
  slack = 0,
): Promise<number> {
  let lo = low;
  let hi = high + 1;
  while (lo + slack < hi) {
    const middle = lo + Math.floor((hi - lo) / 2);
    const found = await firstDated(middle, hi - 1, probe);
    if (found === null || found.date >= since) hi = middle;
    else lo = found.number + 1;
  }
  return hi;
}
