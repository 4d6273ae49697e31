import type { ZstdModule } from 'zstd-codec/lib/module.js';

/** Takes exact counts of bytes from a source of pieces of any size. */
class ByteTaker {
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  /** Whether there is another byte. */
  async more(): Promise<boolean> {
    return this.#held.length > 0 || (await this.#fill());
  }

  /** The next `count` bytes. Throws when the source ends before. */
  async take(count: number): Promise<Buffer> {
    while (this.#held.length < count) {
      if (!(await this.#fill())) throw new Error('the zstd data ends in the middle');
    }
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; ) left -= (await this.take(Math.min(left, SKIP_BYTES))).length;
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #fill(): Promise<boolean> {
    const next = await this.#pieces.next();
    if (next.done) return false;
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
    return true;
  }
}

const SKIP_BYTES = 1 << 16;
const MAGIC = 0xfd2fb528;
/** Frames that hold something else than content. */
const SKIPPABLE = 0x184d2a5;
const BLOCK_BYTES_MAX = 1 << 17;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
const SIZE_BYTES = [0, 2, 4, 8] as const;
/** What the decoder's memory of 16 MiB holds beside its other needs; `zstd -19` makes windows of this size, larger ones only `--ultra` and `--long`. */
const WINDOW_BYTES_MAX = 8 << 20;

/** By its first four bytes. */
export const isZstd = (start: Buffer): boolean =>
  start.length >= 4 && (start.readUInt32LE(0) === MAGIC || start.readUInt32LE(0) >>> 4 === SKIPPABLE);

function checkWindow(bytes: number): void {
  if (bytes <= WINDOW_BYTES_MAX) return;
  const mib = (n: number) => Math.ceil(n / 2 ** 20);
  const said = `it was compressed with a window of ${mib(bytes)} MiB, ${mib(WINDOW_BYTES_MAX)} MiB at most can be read`;
  throw new Error(`${said} (unpack it, or compress it without --ultra and --long)`);
}

const windowOf = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
};

/** The frame's header behind the magic number; whether a checksum follows its blocks. */
async function takeHeader(bytes: ByteTaker): Promise<{ readonly header: Buffer; readonly hasChecksum: boolean }> {
  const descriptor = await bytes.take(1);
  const flags = descriptor[0]!;
  const single = (flags & 0x20) !== 0;
  const sizeBytes = flags >>> 6 === 0 && single ? 1 : SIZE_BYTES[(flags >>> 6) as 0 | 1 | 2 | 3];
  const fixed = (single ? 0 : 1) + DICTIONARY_BYTES[(flags & 3) as 0 | 1 | 2 | 3];
  const rest = await bytes.take(fixed + sizeBytes);
  if (!single) checkWindow(windowOf(rest[0]!));
  else if (sizeBytes >= 4)
    checkWindow(sizeBytes === 4 ? rest.readUInt32LE(fixed) : Number(rest.readBigUInt64LE(fixed)));
  return { header: Buffer.concat([descriptor, rest]), hasChecksum: (flags & 4) !== 0 };
}

/** Cuts zstd data into steps of which none unpacks to more than 128 KiB. Throws when it ends inside of a frame. */
async function* zstdSteps(bytes: ByteTaker): AsyncGenerator<Buffer> {
  while (await bytes.more()) {
    const magic = await bytes.take(4);
    if (magic.readUInt32LE(0) >>> 4 === SKIPPABLE) {
      await bytes.skip((await bytes.take(4)).readUInt32LE(0));
      continue;
    }
    if (magic.readUInt32LE(0) !== MAGIC) throw new Error('something else follows the zstd data');
    const { header, hasChecksum } = await takeHeader(bytes);
    yield Buffer.concat([magic, header]);
    for (let last = false; !last; ) {
      const head = await bytes.take(3);
      const word = head.readUIntLE(0, 3);
      last = (word & 1) === 1;
      const kind = (word >>> 1) & 3;
      const size = word >>> 3;
      if (kind === 3 || size > BLOCK_BYTES_MAX) throw new Error('the zstd data is damaged');
      // A block of one repeated byte names its length, and holds the byte once.
      yield Buffer.concat([head, await bytes.take(kind === 1 ? 1 : size)]);
    }
    if (hasChecksum) yield await bytes.take(4);
  }
}

let module: Promise<ZstdModule> | null = null;

/** Once a process. It has a method `then`, so that it must not be what a promise resolves to as it is. */
function zstdModule(): Promise<ZstdModule> {
  module ??= (async () => {
    const { run } = await import('zstd-codec/lib/module.js');
    return await new Promise<ZstdModule>((resolve) => {
      run(({ ZstdDecompressStreamBinding }) => resolve({ ZstdDecompressStreamBinding }));
    });
  })();
  return module;
}

/**
 * What zstd data unpacks to, in pieces of at most 128 KiB: any number of frames, with or without stated sizes. Throws an
 * Error with a sentence for the operator when it is damaged, cut, or needs more memory than there is.
 */
export async function* unpackZstd(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { ZstdDecompressStreamBinding } = await zstdModule();
  const stream = new ZstdDecompressStreamBinding();
  const bytes = new ByteTaker(source);
  let pieces: Buffer[] = [];
  // The decoder's memory is used again for the next piece: it has to be copied.
  const onPiece = (piece: Uint8Array): void => void pieces.push(Buffer.from(piece));
  try {
    stream.begin();
    for await (const step of zstdSteps(bytes)) {
      if (!stream.transform(step, onPiece)) throw new Error('the zstd data is damaged');
      yield* pieces;
      pieces = [];
    }
  } finally {
    stream.delete();
    await bytes.close();
  }
}
