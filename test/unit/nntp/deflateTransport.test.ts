import { constants, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeflateTransport } from '../../../infra/nntp/deflateTransport.ts';
import type { ByteTransport } from '../../../infra/nntp/transport.ts';
import { DeflatedSession } from '../../kit/fakeCompression.ts';

const SERVER = { host: 'news.test', port: 119, secrets: [] };

/** A transport that has these pieces to read, then the end of the stream. */
class Pieces implements ByteTransport {
  readonly written: Buffer[] = [];
  readonly #pieces: Buffer[];
  failed: unknown = null;
  closed = false;
  buffered = 0;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = [...pieces];
  }

  async read(): Promise<Buffer | null> {
    return this.#pieces.shift() ?? null;
  }

  write(bytes: Buffer): void {
    this.written.push(bytes);
  }

  fail(error: unknown): void {
    this.failed ??= error;
  }

  async end(last: Buffer): Promise<void> {
    this.written.push(last);
  }
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

async function readAll(transport: ByteTransport): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let piece = await transport.read(); piece !== null; piece = await transport.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

const payloads = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 8 });
const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });

describe('a deflated connection', () => {
  it('reads what was sent, however it was flushed and cut', async () => {
    await fc.assert(
      fc.asyncProperty(payloads, sizes, fc.nat(9), async (sent, cuts, first) => {
        const session = new DeflatedSession();
        const wire: Buffer[] = [];
        for (const bytes of sent) wire.push(await session.deflate(Buffer.from(bytes)));
        const all = Buffer.concat(wire);
        const inner = new Pieces(cut(all.subarray(first), cuts));
        const transport = new DeflateTransport(inner, all.subarray(0, first), SERVER);
        expect(await readAll(transport)).toEqual(Buffer.concat(sent.map((bytes) => Buffer.from(bytes))));
        expect(transport.buffered).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('writes one stream, each command complete in itself', async () => {
    const inner = new Pieces([]);
    const transport = new DeflateTransport(inner, Buffer.alloc(0), SERVER);
    const commands = ['GROUP alt.test\r\n', 'OVER 1-9\r\n', 'OVER 10-19\r\n'];
    for (const command of commands) transport.write(Buffer.from(command));
    await transport.end(Buffer.from('QUIT\r\n'));
    const inflated = (buffers: readonly Buffer[]) =>
      inflateRawSync(Buffer.concat(buffers), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
    expect(inflated(inner.written.slice(0, 2))).toBe(commands.slice(0, 2).join(''));
    expect(inflated(inner.written)).toBe(`${commands.join('')}QUIT\r\n`);
  });

  it('that does not inflate, or that the server ends by a last block, breaks with NNTP_COMPRESSION_BROKEN', async () => {
    for (const bytes of [Buffer.from([0xff, 0xff]), Buffer.from([3, 0, 1, 2])]) {
      const inner = new Pieces([bytes]);
      const transport = new DeflateTransport(inner, Buffer.alloc(0), SERVER);
      await expect(readAll(transport)).rejects.toMatchObject({ code: 'NNTP_COMPRESSION_BROKEN' });
      expect(inner.failed).toMatchObject({ code: 'NNTP_COMPRESSION_BROKEN' });
      expect(transport.closed).toBe(true);
    }
  });
});
