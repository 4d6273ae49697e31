import type { Socket } from 'node:net';
import { nntpError, type ServerIdentity } from './refusal.ts';

/**
 * Bytes to and from a server. A layer that inflates is another `ByteTransport` around this one: the reply reader above
 * cannot tell them apart.
 */
export interface ByteTransport {
  /** The next bytes, never empty; null once the server has ended the stream in good order. One reader at a time. */
  read(): Promise<Buffer | null>;
  write(text: string, encoding: 'utf8' | 'latin1'): void;
  /** Breaks the connection at once; the pending read and all later ones reject with `error`. */
  fail(error: unknown): void;
  /** Sends `last` and ends the stream; resolves once the socket is gone. */
  end(last: string): Promise<void>;
  /** True once nothing can be sent any more. */
  readonly closed: boolean;
  /** Bytes that came in and were not read yet. */
  readonly buffered: number;
}

/** Above this many unread bytes the socket is paused: TCP then slows the server down. */
const HIGH_WATER = 512 * 1024;

interface Waiter {
  readonly resolve: (bytes: Buffer | null) => void;
  readonly reject: (error: unknown) => void;
}

export class SocketTransport implements ByteTransport {
  readonly #socket: Socket;
  readonly #server: ServerIdentity;
  readonly #chunks: Buffer[] = [];
  #buffered = 0;
  #waiter: Waiter | null = null;
  #ended = false;
  #failed: { readonly error: unknown } | null = null;

  constructor(socket: Socket, server: ServerIdentity) {
    this.#socket = socket;
    this.#server = server;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose);
  }

  get closed(): boolean {
    return this.#ended || this.#failed !== null || this.#socket.destroyed;
  }

  get buffered(): number {
    return this.#buffered;
  }

  read(): Promise<Buffer | null> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#buffered -= chunk.length;
      if (this.#socket.isPaused() && this.#buffered < HIGH_WATER) this.#socket.resume();
      return Promise.resolve(chunk);
    }
    if (this.#failed) return Promise.reject(this.#failed.error);
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  write(text: string, encoding: 'utf8' | 'latin1'): void {
    if (!this.closed) this.#socket.write(text, encoding);
  }

  fail(error: unknown): void {
    this.#failed ??= { error };
    // Unlike after an error of the socket, what came before is not read any more: the client itself gave up.
    this.#chunks.length = 0;
    this.#buffered = 0;
    this.#socket.destroy();
    this.#settle();
  }

  end(last: string): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.resume();
      this.#socket.end(last);
    });
  }

  /** Hands the socket over to a TLS layer. Throws when bytes are unread: they came unprotected. */
  detach(): Socket {
    if (this.#buffered > 0) {
      const error = nntpError('NNTP_CONNECTION_CLOSED', this.#server, { reason: 'plain text after the TLS upgrade' });
      this.fail(error);
      throw error;
    }
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    this.#socket.pause();
    return this.#socket;
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#waiter) {
      this.#take().resolve(chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (this.#buffered >= HIGH_WATER) this.#socket.pause();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#settle();
  };

  readonly #onError = (error: Error & { code?: string }): void => {
    const reason = error.code ?? error.message;
    this.#failed ??= { error: nntpError('NNTP_CONNECTION_CLOSED', this.#server, { reason }, error) };
    this.#settle();
  };

  readonly #onClose = (): void => this.#onEnd();

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
