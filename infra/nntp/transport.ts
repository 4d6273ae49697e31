import type { Socket } from 'node:net';
import { ByteQueue } from './byteQueue.ts';
import { nntpError, type ServerIdentity } from './refusal.ts';

/**
 * Bytes to and from a server. A layer that inflates is another `ByteTransport` around this one: the reply reader above
 * cannot tell them apart.
 */
export interface ByteTransport {
  /** The next bytes, never empty; null once the server has ended the stream in good order. One reader at a time. */
  read(): Promise<Buffer | null>;
  write(bytes: Buffer): void;
  /** Breaks the connection at once; the pending read and all later ones reject with `error`. */
  fail(error: unknown): void;
  /** Sends `last` and ends the stream; resolves once the socket is gone. */
  end(last: Buffer): Promise<void>;
  /** True once nothing can be sent any more. */
  readonly closed: boolean;
  /** Bytes that came in and were not read yet. */
  readonly buffered: number;
}

export class SocketTransport implements ByteTransport {
  /** Resolves once the socket is closed, however that came. */
  readonly gone: Promise<void>;
  readonly #socket: Socket;
  readonly #server: ServerIdentity;
  readonly #queue: ByteQueue;

  constructor(socket: Socket, server: ServerIdentity) {
    this.#socket = socket;
    this.#server = server;
    // A paused socket makes TCP slow the server down.
    this.#queue = new ByteQueue(socket);
    this.gone = new Promise((resolve) => {
      if (socket.closed) resolve();
      else socket.once('close', () => resolve());
    });
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onEnd);
  }

  get closed(): boolean {
    return this.#queue.stopped || this.#socket.destroyed;
  }

  get buffered(): number {
    return this.#queue.buffered;
  }

  read(): Promise<Buffer | null> {
    return this.#queue.read();
  }

  write(bytes: Buffer): void {
    if (!this.closed) this.#socket.write(bytes);
  }

  fail(error: unknown): void {
    // Unlike after an error of the socket, what came before is not read any more: the client itself gave up.
    this.#queue.clear();
    this.#socket.destroy();
    this.#queue.fail(error);
  }

  end(last: Buffer): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.resume();
      this.#socket.end(last);
    });
  }

  /** Hands the socket over to a TLS layer. Throws when bytes are unread: they came unprotected. */
  detach(): Socket {
    if (this.buffered > 0) {
      const error = nntpError('NNTP_CONNECTION_CLOSED', this.#server, { reason: 'plain text after the TLS upgrade' });
      this.fail(error);
      throw error;
    }
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd);
    this.#socket.pause();
    return this.#socket;
  }

  readonly #onData = (chunk: Buffer): void => this.#queue.push(chunk);

  readonly #onEnd = (): void => this.#queue.end();

  readonly #onError = (error: Error & { code?: string }): void => {
    const reason = error.code ?? error.message;
    this.#queue.fail(nntpError('NNTP_CONNECTION_CLOSED', this.#server, { reason }, error));
  };
}
