import { BrokenReply } from './brokenReply.ts';
import { Crc32 } from './checksums.ts';
import { Inflation } from './inflation.ts';

const [DOT, EQUALS] = [46, 61];
const CRLF = Buffer.from('\r\n');
const LINE_BYTES_MAX = 65_536;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Raw deflate in yEnc lines, as Astraweb sent it: `=ybegin line=128 size=-1`, data, `=yend crc32=...` over the compressed
 * bytes. The size says nothing.
 */
export class YencMember {
  readonly #inflation: Inflation;
  readonly #crc = new Crc32();
  #carry: Buffer = NOTHING;
  #begun = false;
  /** Whether the last byte of the line before was the escape sign. */
  #escaped = false;

  constructor(onBytes: (bytes: Buffer) => void) {
    this.#inflation = new Inflation(onBytes);
  }

  /** What lies behind the `=yend` line, or null while it goes on. Rejects with `BrokenReply`. */
  async feed(input: Buffer): Promise<Buffer | null> {
    const bytes = this.#carry.length === 0 ? input : Buffer.concat([this.#carry, input]);
    const packed = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    let start = 0;
    for (let end = bytes.indexOf(CRLF); end >= 0; end = bytes.indexOf(CRLF, start)) {
      const line = bytes.subarray(start, end);
      start = end + 2;
      if (this.#isFrame(line, '=yend')) {
        await this.#inflate(packed.subarray(0, length));
        await this.#finish(line);
        return bytes.subarray(start);
      }
      if (this.#begun) length = this.#decode(line, packed, length);
      else if (this.#isFrame(line, '=ybegin ')) this.#begun = true;
      else throw new BrokenReply('no =ybegin line');
    }
    this.#carry = bytes.subarray(start);
    if (this.#carry.length > LINE_BYTES_MAX) throw new BrokenReply('an endless yEnc line');
    await this.#inflate(packed.subarray(0, length));
    return null;
  }

  close(): void {
    this.#inflation.close();
  }

  /** An escaped `y` never occurs, so no data line starts like a frame line. */
  #isFrame(line: Buffer, start: string): boolean {
    return line[0] === EQUALS && line.toString('latin1', 0, start.length) === start;
  }

  /** Appends the bytes of `line` to `out` at `at`; returns where they end. */
  #decode(line: Buffer, out: Buffer, at: number): number {
    if (line.length === 1 && line[0] === DOT) throw new BrokenReply('it ends without =yend');
    let to = at;
    let escaped = this.#escaped;
    // A dot that was doubled. A server that doubles none sends two of them only by a rare chance; the checksum tells.
    for (let i = line[0] === DOT && line[1] === DOT ? 1 : 0; i < line.length; i++) {
      const byte = line[i] ?? 0;
      if (escaped) {
        out[to++] = byte - 64 - 42;
        escaped = false;
      } else if (byte === EQUALS) escaped = true;
      else out[to++] = byte - 42;
    }
    this.#escaped = escaped;
    return to;
  }

  async #inflate(packed: Buffer): Promise<void> {
    if (packed.length === 0) return;
    this.#crc.update(packed);
    const rest = await this.#inflation.feed(packed);
    if (rest !== null) throw new BrokenReply('something follows the compressed data');
  }

  async #finish(yend: Buffer): Promise<void> {
    const stated = /\bcrc32=([0-9a-f]{1,8})\b/i.exec(yend.toString('latin1'))?.[1];
    if (stated === undefined || Number.parseInt(stated, 16) !== this.#crc.value) {
      throw new BrokenReply('its checksum is wrong');
    }
    await this.#inflation.finish();
  }
}
