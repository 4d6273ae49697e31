import { constants, deflateRawSync } from 'node:zlib';
import { BrokenReply } from './brokenReply.ts';
import { ByteQueue } from './byteQueue.ts';
import { Inflation } from './inflation.ts';
import { nntpError, type ServerIdentity } from './refusal.ts';
import type { ByteTransport } from './transport.ts';

/**
 * RFC 8054: both directions are one raw deflate stream each, flushed after every command and reply. There is no checksum
 * in it; what does not inflate breaks the connection with NNTP_COMPRESSION_BROKEN.
 */
export class DeflateTransport implements ByteTransport {
  readonly #inner: ByteTransport;
  readonly #server: ServerIdentity;
  readonly #queue: ByteQueue;
  readonly #inflation: Inflation;

  /** `first`: bytes of the stream that were read together with the 206. */
  constructor(inner: ByteTransport, first: Buffer, server: ServerIdentity) {
    this.#inner = inner;
    this.#server = server;
    this.#inflation = new Inflation((bytes) => this.#queue.push(bytes));
    this.#queue = new ByteQueue(this.#inflation);
    void this.#pump(first);
  }

  get closed(): boolean {
    return this.#queue.stopped || this.#inner.closed;
  }

  get buffered(): number {
    return this.#queue.buffered;
  }

  read(): Promise<Buffer | null> {
    return this.#queue.read();
  }

  write(bytes: Buffer): void {
    this.#inner.write(deflated(bytes));
  }

  fail(error: unknown): void {
    this.#queue.clear();
    this.#inner.fail(error);
    this.#inflation.close();
    this.#queue.fail(error);
  }

  end(last: Buffer): Promise<void> {
    return this.#inner.end(deflated(last));
  }

  /**
   * Inflates ahead of the reader, up to the limit of the queue: the flush at the end of a reply gives no text, and would
   * else look like bytes that nobody asked for.
   */
  async #pump(first: Buffer): Promise<void> {
    try {
      for (let bytes: Buffer | null = first; bytes !== null; bytes = await this.#inner.read()) {
        if (bytes.length === 0) continue;
        if ((await this.#inflation.feed(bytes)) !== null) throw new BrokenReply('the compressed stream ended');
      }
      this.#queue.end();
      this.#inflation.close();
    } catch (error) {
      if (!(error instanceof BrokenReply)) this.#queue.fail(error);
      else if (!this.#queue.stopped) this.fail(this.#broken(error));
    }
  }

  #broken(error: BrokenReply) {
    const fields = { command: 'COMPRESS DEFLATE', reason: error.message };
    return nntpError('NNTP_COMPRESSION_BROKEN', this.#server, fields, error);
  }
}

/**
 * One command as blocks of its own, ended by a sync flush. Blocks that refer to nothing before them make a stream like
 * any other, so no state is kept; the smallest window does for a line.
 */
const deflated = (bytes: Buffer): Buffer =>
  deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, windowBits: 9, memLevel: 1 });
