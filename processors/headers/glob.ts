/** A pattern where `*` stands for any number of characters and `?` for one; letter case does not matter. */
export interface Glob {
  readonly codes: Uint16Array;
  /** How many characters at its end are literal ASCII: most texts are refused there. */
  readonly tail: number;
}

const STAR = 42;
const QUESTION = 63;

export const compileGlob = (pattern: string): Glob => {
  const lower = pattern.toLowerCase();
  const codes = Uint16Array.from({ length: lower.length }, (_, i) => lower.charCodeAt(i));
  let tail = 0;
  while (tail < codes.length && isPlain(codes[codes.length - 1 - tail]!)) tail++;
  return { codes, tail };
};

const isPlain = (code: number): boolean => code !== STAR && code !== QUESTION && code < 128;

/** Folds the letters of ASCII; others have to be folded before. */
const lowerCase = (code: number): number => (code >= 65 && code <= 90 ? code | 32 : code);

/** Whether the literal end of the pattern fits: said of bytes in any charset that extends ASCII. */
export function tailFits({ codes, tail }: Glob, text: ArrayLike<number>, start: number, end: number): boolean {
  if (end - start < tail) return false;
  for (let k = 1; k <= tail; k++) if (codes[codes.length - k] !== lowerCase(text[end - k]!)) return false;
  return true;
}

/**
 * Whether the whole of `text[start..end)` fits. At most pattern times text steps: it goes back to the last star only.
 * `text`: bytes of ASCII or latin1 letters as they are, or UTF-16 units in lower case.
 */
export function globMatches(glob: Glob, text: ArrayLike<number>, start: number, end: number): boolean {
  if (!tailFits(glob, text, start, end)) return false;
  const { codes } = glob;
  let at = start;
  let p = 0;
  let star = -1;
  let resume = start;
  while (at < end) {
    const code = codes[p];
    if (code === STAR) {
      star = p++;
      resume = at;
    } else if (code !== undefined && (code === QUESTION || code === lowerCase(text[at]!))) {
      p++;
      at++;
    } else if (star >= 0) {
      p = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (codes[p] === STAR) p++;
  return p === codes.length;
}
