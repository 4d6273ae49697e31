import { constants, createInflateRaw, type InflateRaw } from 'node:zlib';
import { BrokenReply } from './brokenReply.ts';

/** Larger output pieces double the throughput against Node's default of 16 KiB. */
const OUTPUT_BYTES = 256 * 1024;

interface Step {
  readonly resolve: (rest: Buffer | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Inflates one raw deflate stream (RFC 1951) that comes in pieces, and finds what follows it. */
export class Inflation {
  readonly #zlib: InflateRaw;
  #step: Step | null = null;
  #failed: { readonly error: unknown } | null = null;

  /** `onBytes` gets the inflated bytes, which are its to keep; what it throws ends the inflation. */
  constructor(onBytes: (bytes: Buffer) => void) {
    this.#zlib = createInflateRaw({ chunkSize: OUTPUT_BYTES, flush: constants.Z_SYNC_FLUSH });
    this.#zlib.on('data', (bytes: Buffer) => {
      if (this.#failed) return;
      try {
        onBytes(bytes);
      } catch (error) {
        this.#fail(error);
      }
    });
    this.#zlib.on('error', (error) => this.#fail(new BrokenReply(error.message, { cause: error })));
  }

  /**
   * Inflates `input`; not to be called again before it settles. Resolves to what lies behind the end of the stream, or to
   * null when all of it was used: then the stream goes on, or ends exactly here. Rejects with `BrokenReply`.
   */
  feed(input: Buffer): Promise<Buffer | null> {
    const before = this.#zlib.bytesWritten;
    return this.#run(() =>
      this.#zlib.write(input, () => {
        // Inflated bytes that wait inside the stream are given out by a read.
        while (this.#zlib.read() !== null);
        const used = this.#zlib.bytesWritten - before;
        this.#done(used < input.length ? input.subarray(used) : null);
      }),
    );
  }

  /** The stream must have ended with what was fed; rejects with `BrokenReply` when it did not. */
  async finish(): Promise<void> {
    await this.#run(() => {
      this.#zlib.once('end', () => this.#done(null));
      this.#zlib.end();
    });
  }

  /** Holds the output back, and `feed` with it. */
  pause(): void {
    this.#zlib.pause();
  }

  resume(): void {
    this.#zlib.resume();
  }

  /** Frees the memory; a pending `feed` rejects. */
  close(): void {
    this.#fail(new BrokenReply('the inflation was given up'));
  }

  #run(start: () => void): Promise<Buffer | null> {
    if (this.#failed) return Promise.reject(this.#failed.error);
    return new Promise((resolve, reject) => {
      this.#step = { resolve, reject };
      start();
    });
  }

  #done(rest: Buffer | null): void {
    const step = this.#step;
    this.#step = null;
    step?.resolve(rest);
  }

  #fail(error: unknown): void {
    this.#failed ??= { error };
    this.#zlib.destroy();
    const step = this.#step;
    this.#step = null;
    step?.reject(this.#failed.error);
  }
}
