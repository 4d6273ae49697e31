import { inflateRawSync } from 'node:zlib';
import { BrokenReply } from './brokenReply.ts';
import { Adler32, type Checksum, Crc32, NoChecksum } from './checksums.ts';
import { Inflation } from './inflation.ts';

export type MemberForm = 'gzip' | 'zlib' | 'raw';

const NOTHING: Buffer = Buffer.alloc(0);
const HEADER_BYTES_MAX = 65_536;
const TRAILER_BYTES = { gzip: 8, zlib: 4, raw: 0 } as const;
const checksumOf = { gzip: () => new Crc32(), zlib: () => new Adler32(), raw: () => new NoChecksum() } as const;

/**
 * One compressed member that comes in pieces, checked and ended by its own end. Node's gunzip cannot be used: it takes
 * what follows a member on the wire for a further member, and reports an end only when something follows.
 */
export class Member {
  readonly #form: MemberForm;
  readonly #checksum: Checksum;
  readonly #inflation: Inflation;
  #stage: 'header' | 'deflate' | 'trailer' = 'header';
  /** Of header or trailer, while they are incomplete. */
  #carry: Buffer = NOTHING;
  #inflated = 0;
  /** Only of a raw member, whose end cannot be seen from what follows. */
  readonly #raw: Buffer[] = [];

  constructor(form: MemberForm, onBytes: (bytes: Buffer) => void) {
    this.#form = form;
    this.#checksum = checksumOf[form]();
    this.#inflation = new Inflation((bytes) => {
      this.#inflated += bytes.length;
      this.#checksum.update(bytes);
      onBytes(bytes);
    });
  }

  /** What lies behind the member, or null while it goes on. Rejects with `BrokenReply`. */
  async feed(input: Buffer): Promise<Buffer | null> {
    let bytes: Buffer | null = input;
    if (this.#stage === 'header') bytes = this.#header(bytes);
    if (bytes === null || bytes.length === 0) return null;
    if (this.#stage === 'deflate') {
      if (this.#form === 'raw') this.#raw.push(bytes);
      bytes = await this.#inflation.feed(bytes);
      if (bytes === null) return null;
      this.#stage = 'trailer';
    }
    return this.#trailer(bytes);
  }

  /** Whether a raw member of which everything was fed is complete. Costs as much as inflating it. */
  isWholeRaw(): boolean {
    if (this.#form !== 'raw') return false;
    try {
      inflateRawSync(Buffer.concat(this.#raw), { maxOutputLength: Math.max(1, this.#inflated) });
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#inflation.close();
  }

  /** What lies behind the header, or null while it is incomplete. */
  #header(bytes: Buffer): Buffer | null {
    const all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    const length = headerLength(this.#form, all);
    if (length === null) {
      if (all.length > HEADER_BYTES_MAX) throw new BrokenReply('an endless gzip header');
      this.#carry = all;
      return null;
    }
    this.#carry = NOTHING;
    this.#stage = 'deflate';
    return all.subarray(length);
  }

  #trailer(bytes: Buffer): Buffer | null {
    const length = TRAILER_BYTES[this.#form];
    const all = Buffer.concat([this.#carry, bytes]);
    this.#carry = all;
    if (all.length < length) return null;
    this.#check(all);
    return all.subarray(length);
  }

  #check(trailer: Buffer): void {
    if (this.#form === 'raw') return;
    const stated = this.#form === 'zlib' ? trailer.readUInt32BE(0) : trailer.readUInt32LE(0);
    if (stated !== this.#checksum.value) throw new BrokenReply('its checksum is wrong');
    if (this.#form === 'gzip' && trailer.readUInt32LE(4) !== this.#inflated % 2 ** 32) {
      throw new BrokenReply('it has another length than it states');
    }
  }
}

/** Bytes of the header in front of the deflate data; null while that is not known. Throws `BrokenReply`. */
function headerLength(form: MemberForm, bytes: Buffer): number | null {
  if (form === 'raw') return 0;
  return form === 'zlib' ? zlibHeaderLength(bytes) : gzipHeaderLength(bytes);
}

function zlibHeaderLength(bytes: Buffer): number | null {
  if (bytes.length < 2) return null;
  const head = bytes.readUInt16BE(0);
  const usable = head % 31 === 0 && ((head >> 8) & 15) === 8 && (head & 32) === 0;
  if (!usable) throw new BrokenReply('a wrong zlib header');
  return 2;
}

/** RFC 1952 2.3: ten bytes, then what the flags announce. */
function gzipHeaderLength(bytes: Buffer): number | null {
  if (bytes.length < 10) return null;
  if (bytes.readUInt16BE(0) !== 0x1f8b || bytes[2] !== 8) throw new BrokenReply('a wrong gzip header');
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & 4) {
    if (bytes.length < at + 2) return null;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const text of [8, 16]) {
    if ((flags & text) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return null;
    at = end + 1;
  }
  if (flags & 2) at += 2;
  return at <= bytes.length ? at : null;
}
