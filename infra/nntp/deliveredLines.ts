import { crc32 } from 'node:zlib';
import type { LineSink } from './replyReader.ts';

/**
 * Remembers which bytes a sink has been given, so that a reply that broke off can be read again from its start: what the
 * sink has is compared and left out. Nothing is kept but a length and a checksum.
 */
export class DeliveredLines {
  readonly #sink: LineSink;
  #bytes = 0;
  #crc = 0;

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  /** For the first reading. */
  readonly first: LineSink = (lines) => {
    this.#bytes += lines.length;
    this.#crc = crc32(lines, this.#crc);
    return this.#sink(lines);
  };

  /** For the second reading; throws `differs()` where it does not begin with what the sink has. */
  again(differs: () => Error): { readonly sink: LineSink; readonly finish: () => void } {
    let left = this.#bytes;
    let crc = 0;
    const compare = (lines: Buffer): Buffer => {
      const known = lines.subarray(0, left);
      crc = crc32(known, crc);
      left -= known.length;
      if (left === 0 && crc !== this.#crc) throw differs();
      return lines.subarray(known.length);
    };
    return {
      sink: (lines) => {
        const fresh = left > 0 ? compare(lines) : lines;
        return fresh.length > 0 ? this.#sink(fresh) : undefined;
      },
      finish: () => {
        if (left > 0) throw differs();
      },
    };
  }
}
