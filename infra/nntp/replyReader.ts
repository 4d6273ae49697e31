import { isHeadwaterError } from '../base/errors/index.ts';
import { bodyForm, type PackedForm, type PlainBody } from './bodyForm.ts';
import { BrokenReply } from './brokenReply.ts';
import { DotBlock } from './dotBlock.ts';
import { PackedBlock } from './packedBlock.ts';
import { nntpError, printable, type ServerIdentity, type StatusLine } from './refusal.ts';
import type { ByteTransport } from './transport.ts';
import type { Limit, Watchdog } from './watchdog.ts';

/** Takes whole lines (each ended by CRLF). While a returned promise is pending nothing more is read. */
export type LineSink = (lines: Buffer) => void | Promise<void>;

export interface ReaderLimits {
  readonly lineBytes: number;
  readonly silenceMs: number;
}

export interface BlockRequest {
  /** Label without credentials, for errors. */
  readonly command: string;
  /** Bytes that the block may have in all. */
  readonly maxBytes: number;
  readonly sink: LineSink;
  /** Set where the body may be one compressed member; what it is then is found out from its first bytes. */
  readonly packed?: PackedRequest | undefined;
}

export interface PackedRequest {
  readonly plain: PlainBody;
  /** Bytes that the member may inflate to: unlike plain lines they are held until the last one is there. */
  readonly inflatedBytes: number;
}

const LF = 10;
const STATUS_LINE_BYTES = 8192;
const TERMINATOR_BYTES = 3;
const NOTHING: Buffer = Buffer.alloc(0);

/** Reads replies off a transport, one after the other. Errors that it throws leave the stream at an unknown place. */
export class ReplyReader {
  readonly #bytes: ByteTransport;
  readonly #watchdog: Watchdog;
  readonly #server: ServerIdentity;
  readonly #limits: ReaderLimits;
  #rest: Buffer = NOTHING;
  /** The command whose compressed body is being read. */
  #unpacking: string | null = null;
  /** After a compressed body a terminator may follow in clear, or not. */
  #dotMayCome = false;

  constructor(bytes: ByteTransport, watchdog: Watchdog, server: ServerIdentity, limits: ReaderLimits) {
    this.#bytes = bytes;
    this.#watchdog = watchdog;
    this.#server = server;
    this.#limits = limits;
  }

  /** Bytes that were read and belong to no reply yet. */
  get buffered(): number {
    const all = this.#rest.length + this.#bytes.buffered;
    return this.#dotMayCome ? Math.max(0, all - TERMINATOR_BYTES) : all;
  }

  /** Hands over what was read behind the last reply; what the transport still has is not part of it. */
  takeRest(): Buffer {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return rest;
  }

  /** The status line of the next reply; `firstByte` bounds the wait for its first byte. */
  async status(command: string, firstByte: Limit): Promise<StatusLine> {
    let line = this.#rest;
    this.#rest = NOTHING;
    let end = line.indexOf(LF);
    while (end < 0) {
      if (line.length > STATUS_LINE_BYTES) throw this.#tooLarge('a status line', STATUS_LINE_BYTES, command);
      const bytes = await this.#next(line.length === 0 ? firstByte : this.#silence());
      line = line.length === 0 ? bytes : Buffer.concat([line, bytes]);
      end = line.indexOf(LF);
    }
    this.#rest = line.subarray(end + 1);
    const text = line.toString('utf8', 0, Math.min(end, STATUS_LINE_BYTES));
    const terminator = this.#dotMayCome && text === '.\r';
    this.#dotMayCome = false;
    return terminator ? this.status(command, firstByte) : this.#parse(text, command);
  }

  /** Gives the lines of the multi-line block to the sink; returns the bytes of it. */
  async block(request: BlockRequest): Promise<number> {
    const form = request.packed ? await this.#form(request.packed.plain) : 'plain';
    return form === 'plain' ? this.#plain(request) : this.#packed(form, request);
  }

  /** The error as which `error` is to be reported: a compressed body that does not come to its end is a broken one. */
  blame(error: unknown): unknown {
    const command = this.#unpacking;
    if (command === null || !(error instanceof BrokenReply || isHeadwaterError(error))) return error;
    if (isHeadwaterError(error) && error.code === 'NNTP_COMPRESSION_BROKEN') return error;
    return nntpError('NNTP_COMPRESSION_BROKEN', this.#server, { command, reason: error.message }, error);
  }

  async #form(plain: PlainBody): Promise<PackedForm | 'plain'> {
    for (;;) {
      const form = bodyForm(this.#rest, plain);
      if (form !== null) return form;
      const bytes = await this.#next(this.#silence());
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    }
  }

  async #packed(form: PackedForm, request: BlockRequest): Promise<number> {
    const { lines, rest } = await this.#unpack(form, request);
    this.#rest = rest;
    this.#dotMayCome = true;
    let total = 0;
    for (const piece of lines) {
      total += piece.length;
      const taken = request.sink(piece);
      if (taken) await taken;
    }
    return total;
  }

  async #unpack(form: PackedForm, { command, maxBytes, packed }: BlockRequest) {
    const inflatedBytes = Math.min(maxBytes, packed?.inflatedBytes ?? maxBytes);
    const block = new PackedBlock(form, { lineBytes: this.#limits.lineBytes, inflatedBytes });
    this.#unpacking = command;
    try {
      let bytes = this.#rest;
      this.#rest = NOTHING;
      for (;;) {
        const whole = await block.feed(bytes);
        if (whole) return whole;
        bytes = await this.#next(this.#silence());
      }
    } catch (error) {
      throw this.blame(error);
    } finally {
      this.#unpacking = null;
      block.close();
    }
  }

  async #plain(request: BlockRequest): Promise<number> {
    const block = new DotBlock(this.#limits.lineBytes);
    let total = 0;
    let bytes = this.#rest;
    this.#rest = NOTHING;
    for (;;) {
      const fed = this.#feed(block, bytes, request.command);
      for (const lines of fed.lines) {
        total += lines.length;
        if (total > request.maxBytes) throw this.#tooLarge('a reply', request.maxBytes, request.command);
        const taken = request.sink(lines);
        if (taken) await taken;
      }
      if (fed.rest) {
        this.#rest = fed.rest;
        return total;
      }
      bytes = await this.#next(this.#silence());
    }
  }

  #feed(block: DotBlock, bytes: Buffer, command: string) {
    try {
      return block.feed(bytes);
    } catch (error) {
      if (error instanceof RangeError) throw this.#tooLarge('one line', this.#limits.lineBytes, command);
      throw error;
    }
  }

  /** The watchdog runs only while the client waits for the server, never while a sink is busy. */
  async #next(limit: Limit): Promise<Buffer> {
    this.#watchdog.arm(limit);
    const bytes = await this.#bytes.read();
    this.#watchdog.disarm();
    if (bytes === null) throw nntpError('NNTP_CONNECTION_CLOSED', this.#server, { reason: 'the server ended it' });
    return bytes;
  }

  #silence(): Limit {
    return { kind: 'silence', ms: this.#limits.silenceMs };
  }

  #parse(line: string, command: string): StatusLine {
    const found = /^([1-5]\d\d)(?:[ \t]+(.*?))?\s*$/.exec(line);
    if (found) return { code: Number(found[1]), text: found[2] ?? '' };
    const text = printable(line, this.#server.secrets);
    throw nntpError('NNTP_UNEXPECTED_REPLY', this.#server, { command, reply: 'no status line', text });
  }

  #tooLarge(what: string, limit: number, command: string) {
    return nntpError('NNTP_REPLY_TOO_LARGE', this.#server, { what, limit, command, class: 'unsupported' });
  }
}
