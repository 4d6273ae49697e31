import type { DueContribution, Figures } from './ports.ts';

/** In the order in which sums are compared: the same as the catalog shows before a release is settled. */
const NAMES = [
  'segments',
  'bytes',
  'filesComplete',
  'files',
  'segmentsTotal',
  'par2Segments',
  'par2Bytes',
  'par2Files',
  'par2SegmentsTotal',
] as const satisfies readonly (keyof Figures)[];

/** Each figure of its name; posters may state any total, and what is no whole number of JSON would break the event. */
const figures = (of: (name: keyof Figures) => number): Figures =>
  Object.fromEntries(
    NAMES.map((name) => [name, Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, of(name)))]),
  ) as unknown as Figures;

export const NO_FIGURES: Figures = figures(() => 0);

export const sumOf = (list: Iterable<Figures>): Figures => {
  let sum = NO_FIGURES;
  for (const item of list) sum = figures((name) => sum[name] + item[name]);
  return sum;
};

/** `all` without `some`; never below 0. */
export const without = (all: Figures, some: Figures): Figures => figures((name) => all[name] - some[name]);

const compare = (a: Figures, b: Figures): number => {
  for (const name of NAMES) if (a[name] !== b[name]) return a[name] - b[name];
  return 0;
};

/** The largest of the sums within one (backbone, epoch): counts nothing twice that a second backbone or epoch has too. */
export function largestSum(contributions: readonly DueContribution[]): Figures {
  const series = new Map<string, Figures>();
  for (const c of contributions) {
    const name = `${c.backbone}/${c.epoch}`;
    series.set(name, sumOf([series.get(name) ?? NO_FIGURES, c]));
  }
  return [...series.values()].reduce((a, b) => (compare(a, b) < 0 ? b : a), NO_FIGURES);
}
