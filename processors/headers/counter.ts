/**
 * The part counter of a subject, found on its bytes from the right. `(n/m)`, also with square or curly brackets, blanks
 * or `of`; what decides between several counters is written at `find`.
 */
const SLASH = 47;
const QUOTE = 34;
const BLANK = 32;

const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isOpen = (c: number): boolean => c === 40 || c === 91 || c === 123;
const isClose = (c: number): boolean => c === 41 || c === 93 || c === 125;
const isAlnum = (c: number): boolean => isDigit(c) || ((c | 32) >= 97 && (c | 32) <= 122) || c >= 128;
/** Longer numbers are sizes or ids, not counters. */
const MAX_DIGITS = 7;

/** Which rule accepted the counter; kept for `explain`. */
export type CounterRule = 'after_yenc' | 'last_group' | 'at_end' | 'part_of' | 'none';

/** One counter found: digit spans of part and total, and the whole group with its brackets. */
interface Group {
  nStart: number;
  nEnd: number;
  mStart: number;
  mEnd: number;
  start: number;
  end: number;
  /** The opening bracket, 0 without one. */
  open: number;
  closed: boolean;
}

const newGroup = (): Group => ({ nStart: 0, nEnd: 0, mStart: 0, mEnd: 0, start: 0, end: 0, open: 0, closed: false });

export class PartCounter {
  /** Spans of the chosen counter; valid while `rule` is not 'none'. */
  nStart = 0;
  nEnd = 0;
  mStart = 0;
  mEnd = 0;
  /** The whole counter with its brackets. */
  start = 0;
  end = 0;
  rule: CounterRule = 'none';
  private readonly group = newGroup();

  /**
   * Looks at `b[s..e)`. Right to left: a counter right after the word yEnc wins (of several in a row, `yEnc (3/4) yEnc
   * (1/1)`, the leftmost). Else the last `(n/m)` that follows the last quote, or without quotes has text before it;
   * else a square or curly one, an unclosed one or `part n of m` that ends the subject. A counter inside or left of a
   * quoted name is never taken: it counts files.
   */
  find(b: Uint8Array, s: number, e: number): boolean {
    this.rule = 'none';
    let quoted = false;
    for (let i = e - 1; i > s; i--) {
      const c = b[i]!;
      if (c === QUOTE) quoted = true;
      if (c !== SLASH && !(c === 102 && (b[i - 1]! | 32) === 111)) continue;
      if (!this.expand(b, s, e, i, c === SLASH ? i : i - 1)) continue;
      if (this.followsYenc(b, s)) {
        this.take('after_yenc');
        this.stepLeft(b, s);
        return true;
      }
      if (this.rule === 'none' && !quoted) this.consider(b, s, e);
      i = this.group.nStart;
    }
    return this.rule !== 'none';
  }

  /** Reads the digits around a separator `b[left..right]` and the brackets around them. */
  private expand(b: Uint8Array, s: number, e: number, right: number, left: number): boolean {
    const g = this.group;
    let i = right + 1;
    while (i < e && b[i] === BLANK) i++;
    g.mStart = i;
    while (i < e && isDigit(b[i]!)) i++;
    g.mEnd = i;
    if (i === g.mStart || i - g.mStart > MAX_DIGITS) return false;
    let k = left - 1;
    while (k >= s && b[k] === BLANK) k--;
    g.nEnd = k + 1;
    while (k >= s && isDigit(b[k]!)) k--;
    g.nStart = k + 1;
    if (g.nEnd === g.nStart || g.nEnd - g.nStart > MAX_DIGITS) return false;
    while (i < e && b[i] === BLANK) i++;
    while (k >= s && b[k] === BLANK) k--;
    g.closed = i < e && isClose(b[i]!);
    g.open = k >= s && isOpen(b[k]!) ? b[k]! : 0;
    g.end = g.closed ? i + 1 : g.mEnd;
    g.start = g.open ? k : g.nStart;
    return true;
  }

  private followsYenc(b: Uint8Array, s: number): boolean {
    const g = this.group;
    return g.open !== 0 && this.yencBefore(b, s, g.start) >= 0;
  }

  /** Where a `yEnc` that ends right before `at` (blanks skipped) starts, -1 when there is none. */
  private yencBefore(b: Uint8Array, s: number, at: number): number {
    let k = at;
    while (k > s && b[k - 1] === BLANK) k--;
    if (k - s < 4) return -1;
    const is =
      (b[k - 1]! | 32) === 99 && (b[k - 2]! | 32) === 110 && (b[k - 3]! | 32) === 101 && (b[k - 4]! | 32) === 121;
    return is ? k - 4 : -1;
  }

  private take(rule: CounterRule): void {
    const g = this.group;
    this.nStart = g.nStart;
    this.nEnd = g.nEnd;
    this.mStart = g.mStart;
    this.mEnd = g.mEnd;
    this.start = g.start;
    this.end = g.end;
    this.rule = rule;
  }

  /** `yEnc (3/4) yEnc (1/1)`: the tool's own counter is the first, a relay appended the second. */
  private stepLeft(b: Uint8Array, s: number): void {
    for (;;) {
      let k = this.yencBefore(b, s, this.start) - 1;
      while (k > s && b[k] === BLANK) k--;
      if (k <= s || !isClose(b[k]!)) return;
      while (k > s && b[k] !== SLASH && !isOpen(b[k]!)) k--;
      if (b[k] !== SLASH || !this.expand(b, s, this.start, k, k) || !this.followsYenc(b, s)) return;
      this.take('after_yenc');
    }
  }

  private consider(b: Uint8Array, s: number, e: number): void {
    const g = this.group;
    const last = this.onlyTailAfter(b, g.end, e);
    if (g.open === 40 && (g.closed || last)) {
      if (this.hasTextBefore(b, s, g.start)) this.take('last_group');
    } else if (g.open !== 0 && g.closed && last) {
      if (this.hasTextBefore(b, s, g.start)) this.take('at_end');
    } else if (g.open === 0 && last && this.partBefore(b, s, g.nStart)) {
      this.take('part_of');
    }
  }

  private onlyTailAfter(b: Uint8Array, from: number, e: number): boolean {
    for (let i = from; i < e; i++) if (isAlnum(b[i]!)) return false;
    return true;
  }

  private hasTextBefore(b: Uint8Array, s: number, at: number): boolean {
    for (let i = at - 1; i >= s; i--) if (isAlnum(b[i]!)) return true;
    return false;
  }

  private partBefore(b: Uint8Array, s: number, at: number): boolean {
    let k = at;
    while (k > s && b[k - 1] === BLANK) k--;
    if (k - s < 4) return false;
    return [112, 97, 114, 116].every((c, i) => (b[k - 4 + i]! | 32) === c);
  }
}
