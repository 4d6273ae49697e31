import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib';
import { compressedReply, type ReplyForm } from './compressedReply.ts';

/** What of compression the fake server offers; all else it does not know. */
export interface FakeCompression {
  /** RFC 8054. It is listed in CAPABILITIES, as far as these are the server's own. */
  readonly deflate?: boolean;
  /** How replies come under XFEATURE COMPRESS GZIP, and under the same with TERMINATOR. */
  readonly xfeature?: { readonly plain?: ReplyForm; readonly terminator?: ReplyForm };
  readonly xzver?: ReplyForm;
}

/** The compression of one session. */
export class SessionCompression {
  readonly #offer: FakeCompression;
  #mode: ReplyForm | null = null;

  constructor(offer: FakeCompression) {
    this.#offer = offer;
  }

  get capabilities(): readonly string[] {
    return this.#offer.deflate ? ['COMPRESS DEFLATE'] : [];
  }

  /** The answer to a command that switches a mode; null for any other. COMPRESS is the session's matter. */
  switched(command: string): string | null {
    const found = /^XFEATURE COMPRESS GZIP( TERMINATOR)?$/.exec(command);
    if (!found) return null;
    const form = found[1] ? this.#offer.xfeature?.terminator : this.#offer.xfeature?.plain;
    if (!form) return '500 unknown command\r\n';
    this.#mode = form;
    return '290 feature enabled\r\n';
  }

  /** The plain command that stands behind `command`, and what becomes of its answer. */
  behind(command: string): { readonly command: string; readonly pack: (answer: string) => string | Buffer } {
    const form = command.startsWith('XZVER ') ? (this.#offer.xzver ?? null) : this.#mode;
    const inner = form && command.startsWith('XZVER ') ? command.replace('XZVER', 'XOVER') : command;
    // Nothing tells bare deflate from the lines of a list; no server is known to send it.
    const packed = form?.startsWith('raw') ? /^224 / : /^(?:215|224) /;
    return { command: inner, pack: (answer) => (form && packed.test(answer) ? compressedReply(form, answer) : answer) };
  }
}

/** Both directions of a session after COMPRESS DEFLATE. */
export class DeflatedSession {
  readonly #out = new Collected(createDeflateRaw());
  readonly #in = new Collected(createInflateRaw());

  /** What goes on the wire for `bytes`, flushed. */
  deflate(bytes: Buffer): Promise<Buffer> {
    return this.#out.put(bytes);
  }

  inflate(bytes: Buffer): Promise<Buffer> {
    return this.#in.put(bytes);
  }
}

/** What a zlib stream makes of its input, put by put. */
class Collected {
  readonly #zlib: DeflateRaw | InflateRaw;
  readonly #pieces: Buffer[] = [];
  #failed: (error: Error) => void = () => {};

  constructor(zlib: DeflateRaw | InflateRaw) {
    this.#zlib = zlib;
    zlib.on('data', (piece: Buffer) => this.#pieces.push(piece)).on('error', (error) => this.#failed(error));
  }

  put(bytes: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#failed = reject;
      this.#zlib.write(bytes);
      this.#zlib.flush(constants.Z_SYNC_FLUSH, () => {
        while (this.#zlib.read() !== null);
        resolve(Buffer.concat(this.#pieces.splice(0)));
      });
    });
  }
}
