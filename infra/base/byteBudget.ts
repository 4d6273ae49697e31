import { orAborted } from './orAborted.ts';

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * Bounds the bytes that are under way at once. First come, first served, so that a large request is not overtaken for
 * ever by small ones; one that is larger than the whole budget is admitted alone.
 */
export class ByteBudget {
  readonly #limit: number;
  #used = 0;
  #queue: Waiting[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes taken and not yet released. */
  get used(): number {
    return this.#used;
  }

  /** Resolves with the function that gives the bytes back (once); rejects with the reason of the signal. */
  async take(bytes: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#queue.length > 0 || !this.#fits(bytes)) await this.#wait(bytes, signal);
    else this.#used += bytes;
    let held = true;
    return () => {
      if (held) this.#release(bytes);
      held = false;
    };
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit;
  }

  async #wait(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    let waiting: Waiting | undefined;
    const admitted = new Promise<void>((resolve) => {
      waiting = { bytes, admit: resolve };
      this.#queue.push(waiting);
    });
    try {
      await orAborted(admitted, [signal]);
    } catch (error) {
      // Admitted in the same turn as the abort: the bytes are already counted.
      if (this.#queue.includes(waiting!)) this.#queue = this.#queue.filter((w) => w !== waiting);
      else this.#release(bytes);
      this.#admit();
      throw error;
    }
  }

  #release(bytes: number): void {
    this.#used -= bytes;
    this.#admit();
  }

  #admit(): void {
    for (let next = this.#queue[0]; next !== undefined && this.#fits(next.bytes); next = this.#queue[0]) {
      this.#queue.shift();
      this.#used += next.bytes;
      next.admit();
    }
  }
}
