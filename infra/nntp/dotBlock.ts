const CR = 13;
const LF = 10;
const DOT = 46;
const CRLF = Buffer.from('\r\n');
const CRLF_DOT = Buffer.from('\r\n.');

/** What one `feed` made of its bytes. */
export interface Fed {
  /** Buffers of whole lines, each line ended by CRLF, dots unstuffed. They are the caller's to keep. */
  readonly lines: readonly Buffer[];
  /** Null while the block goes on; else the bytes behind its end, which belong to the next reply. */
  readonly rest: Buffer | null;
}

/**
 * Finds the lines and the end of a multi-line block (RFC 3977 3.1.1) in bytes that may be cut anywhere.
 *
 * A line ends at CRLF only. A bare CR or LF is content: a server stuffs dots behind CRLF alone, so taking a bare LF for
 * a line end could see the end of the block where there is none. Bytes are passed on as they came but for the stuffed
 * dots, mostly as views on the input; only a line that two inputs share is copied.
 */
export class DotBlock {
  readonly #maxLine: number;
  #carry = Buffer.allocUnsafe(1024);
  #carried = 0;

  /** `maxLine`: bytes of the longest line accepted, its CRLF included. */
  constructor(maxLine: number) {
    this.#maxLine = maxLine;
  }

  /** Whether a line has begun and not ended. */
  get unfinished(): boolean {
    return this.#carried > 0;
  }

  /** Throws RangeError when a line is longer than `maxLine`. */
  feed(bytes: Buffer): Fed {
    const lines: Buffer[] = [];
    let start = 0;
    if (this.#carried > 0) {
      start = this.#endOfCarried(bytes);
      this.#keep(bytes, 0, start < 0 ? bytes.length : start);
      if (start < 0) return { lines, rest: null };
      const line = this.#takeCarried();
      if (isEnd(line, 0)) return { lines, rest: bytes.subarray(start) };
      lines.push(line[0] === DOT ? line.subarray(1) : line);
    }
    const rest = this.#whole(bytes, start, lines);
    return { lines, rest };
  }

  /** Splits `bytes` from a line start on; keeps the unfinished last line. Returns what lies behind the end, or null. */
  #whole(bytes: Buffer, from: number, lines: Buffer[]): Buffer | null {
    const last = bytes.lastIndexOf(CRLF);
    const limit = last < 0 ? 0 : last + 2;
    let start = from;
    let dot = bytes[from] === DOT ? from : nextDot(bytes, from);
    while (dot >= 0 && dot < limit) {
      if (dot > start) lines.push(bytes.subarray(start, dot));
      if (isEnd(bytes, dot)) return bytes.subarray(dot + 3);
      start = dot + 1;
      dot = nextDot(bytes, start);
    }
    const whole = Math.max(limit, from);
    if (whole > start) lines.push(bytes.subarray(start, whole));
    this.#keep(bytes, whole, bytes.length);
    return null;
  }

  /** Where in `bytes` the line that was begun earlier ends, behind its CRLF; -1 when it goes on. */
  #endOfCarried(bytes: Buffer): number {
    if (this.#carry[this.#carried - 1] === CR && bytes[0] === LF) return 1;
    const at = bytes.indexOf(CRLF);
    return at < 0 ? -1 : at + 2;
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const needed = this.#carried + to - from;
    if (needed > this.#maxLine) throw new RangeError(`a line of more than ${this.#maxLine} bytes`);
    if (needed > this.#carry.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#carry.length * 2));
      this.#carry.copy(larger, 0, 0, this.#carried);
      this.#carry = larger;
    }
    bytes.copy(this.#carry, this.#carried, from, to);
    this.#carried = needed;
  }

  #takeCarried(): Buffer {
    const line = Buffer.from(this.#carry.subarray(0, this.#carried));
    this.#carried = 0;
    return line;
  }
}

/** Where the next line that starts with a dot starts, or -1. The line at `from` itself does not count. */
function nextDot(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(CRLF_DOT, from);
  return at < 0 ? -1 : at + 2;
}

/** Whether the line at `at` is the single dot that ends a block. */
const isEnd = (bytes: Buffer, at: number): boolean => bytes[at] === DOT && bytes[at + 1] === CR && bytes[at + 2] === LF;
