interface Waiter {
  readonly resolve: (bytes: Buffer | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Where the bytes come from: asked to stop while too many wait, and to go on. */
export interface ByteSource {
  pause(): void;
  resume(): void;
}

/** Above this many unread bytes the source is paused. */
const HIGH_WATER = 512 * 1024;

/** Turns bytes that are pushed into bytes that are pulled, with back-pressure. One reader. */
export class ByteQueue {
  readonly #source: ByteSource;
  readonly #chunks: Buffer[] = [];
  #buffered = 0;
  #paused = false;
  #waiter: Waiter | null = null;
  #ended = false;
  #failed: { readonly error: unknown } | null = null;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get stopped(): boolean {
    return this.#ended || this.#failed !== null;
  }

  /** Bytes that came in and were not read yet. */
  get buffered(): number {
    return this.#buffered;
  }

  /** The next bytes; null after the last ones when they ended in good order. */
  read(): Promise<Buffer | null> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#buffered -= chunk.length;
      if (this.#paused && this.#buffered < HIGH_WATER) this.#hold(false);
      return Promise.resolve(chunk);
    }
    if (this.#failed) return Promise.reject(this.#failed.error);
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  push(chunk: Buffer): void {
    if (this.#waiter) {
      this.#take().resolve(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (!this.#paused && this.#buffered >= HIGH_WATER) this.#hold(true);
  }

  end(): void {
    this.#ended = true;
    this.#settle();
  }

  /** What was pushed before can still be read; then every read rejects with `error`. */
  fail(error: unknown): void {
    this.#failed ??= { error };
    this.#settle();
  }

  /** Forgets what was not read. */
  clear(): void {
    this.#chunks.length = 0;
    this.#buffered = 0;
  }

  #hold(paused: boolean): void {
    this.#paused = paused;
    if (paused) this.#source.pause();
    else this.#source.resume();
  }

  #settle(): void {
    if (!this.#waiter) return;
    const waiter = this.#take();
    if (this.#failed) waiter.reject(this.#failed.error);
    else waiter.resolve(null);
  }

  #take(): Waiter {
    const waiter = this.#waiter;
    if (waiter === null) throw new TypeError('no reader waits');
    this.#waiter = null;
    return waiter;
  }
}
