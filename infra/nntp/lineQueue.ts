import type { LineSink } from './replyReader.ts';

/** Above this many bytes that nobody took, the sink holds the server back. */
const HIGH_WATER = 1 << 20;

/** Turns lines that are pushed into lines that are pulled, with back-pressure. One reader. */
export class LineQueue {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #ended: { readonly error: unknown } | null = null;
  #news: (() => void) | null = null;
  #space: (() => void) | null = null;

  readonly push: LineSink = (lines) => {
    this.#pieces.push(lines);
    this.#bytes += lines.length;
    this.#wakeReader();
    if (this.#bytes < HIGH_WATER) return;
    return new Promise((resolve) => {
      this.#space = resolve;
    });
  };

  /** No more lines come; `error` is what the reader gets after the last one, undefined for a good end. */
  end(error?: unknown): void {
    this.#ended ??= { error };
    this.#wakeReader();
  }

  /** `onLeave` is called when the reader stops before the end. */
  async *pieces(onLeave: () => void): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece) {
          this.#bytes -= piece.length;
          if (this.#bytes < HIGH_WATER) this.#wakeWriter();
          yield piece;
        } else if (this.#ended) {
          if (this.#ended.error !== undefined) throw this.#ended.error;
          return;
        } else await this.#more();
      }
    } finally {
      if (!this.#ended || this.#pieces.length > 0) onLeave();
      this.#wakeWriter();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#news = resolve;
    });
  }

  #wakeReader(): void {
    this.#news?.();
    this.#news = null;
  }

  #wakeWriter(): void {
    this.#space?.();
    this.#space = null;
  }
}
