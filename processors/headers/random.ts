/** Whether a name tells a person anything. Pure functions of the name; ASCII rules, other letters count as readable. */

/** How a token of letters and digits is put together. */
interface Shape {
  digits: number;
  letters: number;
  vowels: number;
  digitRuns: number;
  /** Changes of class (upper, lower, digit), but not from upper to lower: words begin that way. */
  turns: number;
  /** Letters beyond `f`, and whether both letter cases occur: what keeps a token from being hexadecimal. */
  beyondHex: number;
  lower: number;
  upper: number;
}

const DIGIT = 1;
const LOWER = 2;
const UPPER = 3;

const classOf = (c: number): number => {
  if (c >= 97 && c <= 122) return LOWER;
  if (c >= 48 && c <= 57) return DIGIT;
  return c >= 65 && c <= 90 ? UPPER : 0;
};

/** Bits of the letters a, e, i, o, u, y, counted from a. */
const VOWELS = (1 << 0) | (1 << 4) | (1 << 8) | (1 << 14) | (1 << 20) | (1 << 24);

/** The shape of `b[start..end)`, null when a byte is no letter or digit of ASCII. */
function shapeOf(b: Uint8Array, start: number, end: number): Shape | null {
  const s: Shape = { digits: 0, letters: 0, vowels: 0, digitRuns: 0, turns: 0, beyondHex: 0, lower: 0, upper: 0 };
  let last = 0;
  for (let i = start; i < end; i++) {
    const c = b[i]!;
    const now = classOf(c);
    if (now === 0) return null;
    if (now === DIGIT) {
      s.digits++;
      if (last !== DIGIT) s.digitRuns++;
    } else {
      const letter = (c | 32) - 97;
      s.letters++;
      if (letter > 5) s.beyondHex++;
      if ((VOWELS >> letter) & 1) s.vowels++;
      if (now === LOWER) s.lower++;
      else s.upper++;
    }
    if (last !== 0 && now !== last && !(last === UPPER && now === LOWER)) s.turns++;
    last = now;
  }
  return s;
}

const isHexDigit = (c: number): boolean => classOf(c) === DIGIT || ((c | 32) >= 97 && (c | 32) <= 102);

/** 8-4-4-4-12 hexadecimal digits. */
function isUuid(b: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 36) return false;
  for (let i = 0; i < 36; i++) {
    const dash = i === 8 || i === 13 || i === 18 || i === 23;
    if (dash ? b[start + i] !== 45 : !isHexDigit(b[start + i]!)) return false;
  }
  return true;
}

/** Words run together: title case or lower case of two letters and more, perhaps a number behind. */
const CAMEL = /^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,})+\d{0,4}$/;
const latin1 = (b: Uint8Array, start: number, end: number): string =>
  Buffer.from(b.buffer, b.byteOffset + start, end - start).toString('latin1');

/** True when one token of letters and digits looks drawn at random. */
export function isRandomTokenAt(b: Uint8Array, start: number, end: number): boolean {
  if (isUuid(b, start, end)) return true;
  const length = end - start;
  const s = length < 10 || length > LONGEST_TOKEN ? null : shapeOf(b, start, end);
  if (s === null) return false;
  if (length >= 16 && s.beyondHex === 0 && (s.lower === 0 || s.upper === 0)) return s.digits >= 2;
  const sparse = s.letters > 0 && s.vowels * 4 < s.letters;
  if (!sparse && s.digitRuns <= 1 && CAMEL.test(latin1(b, start, end))) return false;
  if (s.turns >= 4 && (length >= 16 || s.turns * 3 >= length)) return true;
  if (sparse && (s.digitRuns >= 2 || (length >= 14 && s.turns >= 3))) return true;
  return length >= 24 && (sparse || s.digitRuns >= 3);
}

export const isRandomToken = (token: string): boolean => {
  const bytes = Buffer.from(token);
  return isRandomTokenAt(bytes, 0, bytes.length);
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NUMERIC = /^\d{5,}(?:[-_.][A-Za-z0-9]{1,3}){0,3}$/;
const PIECE = /[^\s._\-[\](){}]+/g;

/** True when a name (a file name without suffixes, or a title) tells nothing: random, or a bare number of five digits and up. */
export function looksObfuscated(name: string): boolean {
  const plain = name.trim();
  if (UUID.test(plain) || NUMERIC.test(plain)) return true;
  const pieces = plain.match(PIECE) ?? [];
  let longest = '';
  let total = 0;
  for (const piece of pieces) {
    total += piece.length;
    if (piece.length > longest.length) longest = piece;
  }
  return longest.length * 2 >= total && isRandomToken(longest);
}

const GENERIC =
  /^(?:(?:sample|cover|front|back|proof|subs?|info|readme|extras?|bonus|video|movie|film|audio|music|images?|pics?|pictures?|scans?|index|files?|test|untitled|unknown|password|nzb|vbr|nfo)\d*|(?:cd|dvd|disc|disk|track|vol|volume|part|img|dsc|dscn|dscf|pict|vts|ep|chapter|page)\d*|\d{1,4}|[a-z]{0,3})$/;

/** True when a folded base could belong to anybody's post (`sample`, `01`, `cd1`); the poster then joins the identity. */
export const isGeneric = (foldedBase: string): boolean => GENERIC.test(foldedBase);

/** No token of a posting tool is longer. */
const LONGEST_TOKEN = 128;

/** A subject that is one random token and nothing else, brackets, quotes and the word yEnc aside; also an empty one. */
export function isBareRandom(text: string): boolean {
  const token = text.replace(/\byenc\b/gi, '').replace(/^[\s"'[\](){}<>-]+|[\s"'[\](){}<>-]+$/g, '');
  return token === '' || isRandomToken(token);
}

/** Quotes, brackets, hyphens, blanks and control bytes. */
const SEPARATOR = new Uint8Array(256);
for (let c = 0; c <= 32; c++) SEPARATOR[c] = 1;
for (const c of '"\'-()<>[]{}') SEPARATOR[c.charCodeAt(0)] = 1;

const isTokenByte = (c: number): boolean => classOf(c) !== 0 || c === 45;

/**
 * `isBareRandom` on bytes, for the hot path: most subjects are decided by their first separator inside. It never says
 * yes where `isBareRandom` says no; an empty subject is left to that.
 */
export function isBareRandomBytes(b: Uint8Array, s: number, e: number): boolean {
  let start = s;
  let end = e;
  while (start < end && SEPARATOR[b[start]!] === 1) start++;
  let stop = start;
  while (stop < end && isTokenByte(b[stop]!)) stop++;
  if (stop - start < 10) return false;
  while (end > stop && SEPARATOR[b[end - 1]!] === 1) end--;
  if (end > stop && !isYenc(b, stop, end)) return false;
  while (stop > start && b[stop - 1] === 45) stop--;
  return isRandomTokenAt(b, start, stop);
}

/** True when a yEnc (any letter case) ends at `end`. */
const endsInYenc = (b: Uint8Array, end: number): boolean =>
  (b[end - 1]! | 32) === 99 && (b[end - 2]! | 32) === 110 && (b[end - 3]! | 32) === 101 && (b[end - 4]! | 32) === 121;

/** Separators, then the word yEnc, and nothing else. */
function isYenc(b: Uint8Array, start: number, end: number): boolean {
  if (end - start < 5 || !endsInYenc(b, end)) return false;
  for (let i = start; i < end - 4; i++) if (SEPARATOR[b[i]!] !== 1) return false;
  return true;
}

/** Bytes that a file name, a tag, an entity or an encoded word would need. */
const NAME_MARK = new Uint8Array(256);
for (const c of '".[;=\0') NAME_MARK[c.charCodeAt(0)] = 1;

/**
 * True for a subject (without a part counter) of words only: no quote, dot, bracket, entity or yEnc, and a blank between
 * two words. The full reading says `text` of each of these; the hot path need not ask it.
 */
export function isPlainTalk(b: Uint8Array, start: number, end: number): boolean {
  let word = false;
  let blank = false;
  let words = 0;
  for (let i = start; i < end; i++) {
    const c = b[i]!;
    if (NAME_MARK[c] === 1) return false;
    if ((c | 32) === 99 && i - start >= 3 && endsInYenc(b, i + 1)) return false;
    if (classOf(c) === 0) {
      if (c === 32) blank = true;
      word = false;
    } else if (!word) {
      if (words === 0 || blank) words++;
      word = true;
      blank = false;
    }
  }
  return words >= 2;
}
