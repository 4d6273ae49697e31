/** The file counter `[i/N]` of a subject (which file of how many), found in its text outside the file name. */
export interface FileCounter {
  readonly index: number | null;
  readonly total: number | null;
  /** The counter with its brackets: text[start..end). */
  readonly start: number;
  readonly end: number;
}

const BRACKETED =
  /[[({<]\s*(\d{1,5})\s*(?:\/|\s+of\s+|of)\s*(\d{1,5})(?:\s+-[^\])}>]*)?\s*[\])}>]?|(?<![\d/])(\d{1,5})\s*(?:\/|\s+of\s+)\s*(\d{1,5})\s*[\])}>]/gi;
const FILE_OF = /\b(?:file|bestand|datei)\s*[[(]?\s*(\d{1,5})\s*(?:of|von|\/)\s*(\d{1,5})\s*[\])]?:?/gi;
const DASHED = /[[(]\s*(\d{2,3})-(\d{2,3})\s*[\])]|[[(]\s*(\d{1,4})_(\d{1,4})\s*[\])]/g;
const BARE = /(?<![\d./A-Za-z-])(\d{1,5})\/(\d{1,5})(?![\d/A-Za-z])|(?<=[\s-])(\d{1,5})\s+of\s+(\d{1,5})(?=\s|$)/gi;
const UNIT_AFTER = /^\s*(?:[kmgt]i?b|bytes?|disc|parts)\b/i;
/** `Disc 1 of 2`: counts something else. */
const OTHER_BEFORE = /\b(?:disc|disk|cd|dvd|vol|volume|season|chapter|part)\s*$/i;

/** What every form has: two numbers and something between them. */
const COUNTED = /\d\s*(?:\/|of|von|[-_])\s*\d/i;

interface Found extends FileCounter {
  readonly index: number;
  readonly total: number;
}

const matches = (pattern: RegExp, text: string): Found[] =>
  [...text.matchAll(pattern)]
    .map((m) => ({
      index: Number(m[1] ?? m[3]),
      total: Number(m[2] ?? m[4]),
      start: m.index,
      end: m.index + m[0].length,
    }))
    .filter((f) => !UNIT_AFTER.test(text.slice(f.end)) && !OTHER_BEFORE.test(text.slice(0, f.start)));

const plausible = (f: Found): boolean => f.index <= f.total && f.total >= 1;

/**
 * Looks in `text`, from which the part counter is gone. `nameStart` is where the file name begins (text.length when
 * there is none): the last counter before it wins, else the first after it. Brackets first, then `File i of N`, then
 * bare ones that make sense (i not above N).
 */
export function findFileCounter(text: string, nameStart: number): FileCounter | null {
  if (!COUNTED.test(text)) return null;
  const pick = (found: readonly Found[]): Found | undefined =>
    found.findLast((f) => f.end <= nameStart) ?? found.find((f) => f.start >= nameStart);
  return (
    pick(matches(FILE_OF, text)) ??
    pick(matches(BRACKETED, text).filter((f) => f.total > 0)) ??
    pick(matches(DASHED, text).filter(plausible)) ??
    pick(matches(BARE, text).filter(plausible)) ??
    null
  );
}
