/**
 * yEnc encoding (http://www.yenc.org/yenc-draft.1.3.txt): every byte plus 42 modulo 256; NUL, LF, CR and `=` as `=` and
 * the byte plus 64 more. Pure; dots at the start of a line are the transport's matter (`dotStuff`).
 */
import { crc32 } from 'node:zlib';

const CR = 13;
const LF = 10;
const ESCAPE = 61;
const DOT = 46;

const isCritical = (byte: number): boolean => byte === 0 || byte === LF || byte === CR || byte === ESCAPE;

/** The encoded lines of `data`, each of `width` characters (one more where an escape pair would be split), CRLF ended. */
export function yencLines(data: Uint8Array, width = 128): Buffer {
  // Worst case: every byte escaped, plus two line-end bytes for each `width` of them.
  const out = Buffer.allocUnsafe(data.length * 2 + Math.ceil((data.length * 2) / width) * 2 + 2);
  let at = 0;
  let column = 0;
  for (let i = 0; i < data.length; i++) {
    const byte = (data[i]! + 42) & 255;
    if (isCritical(byte)) {
      out[at++] = ESCAPE;
      out[at++] = (byte + 64) & 255;
      column += 2;
    } else {
      out[at++] = byte;
      column++;
    }
    if (column >= width) {
      out[at++] = CR;
      out[at++] = LF;
      column = 0;
    }
  }
  if (column > 0) {
    out[at++] = CR;
    out[at++] = LF;
  }
  return out.subarray(0, at);
}

/** One article of a file. */
export interface YencPart {
  readonly name: string;
  /** Size of the whole file in bytes. */
  readonly fileSize: number;
  readonly part: number;
  readonly parts: number;
  /** Where `data` begins in the file, from 0. */
  readonly offset: number;
  readonly data: Uint8Array;
  /** CRC-32 of the whole file; stated in the last part. */
  readonly fileCrc: number;
}

const hex = (crc: number): string => crc.toString(16).padStart(8, '0');

/** The complete yEnc body of one article, CRLF ended. A file of one part has the single-part form without `=ypart`. */
export function yencBody(part: YencPart, width = 128): Buffer {
  const { name, fileSize, offset, data } = part;
  const crc = hex(crc32(data));
  const [head, tail] =
    part.parts === 1
      ? [`=ybegin line=${width} size=${fileSize} name=${name}\r\n`, `=yend size=${fileSize} crc32=${crc}\r\n`]
      : [
          `=ybegin part=${part.part} total=${part.parts} line=${width} size=${fileSize} name=${name}\r\n` +
            `=ypart begin=${offset + 1} end=${offset + data.length}\r\n`,
          `=yend size=${data.length} part=${part.part} pcrc32=${crc}` +
            `${part.part === part.parts ? ` crc32=${hex(part.fileCrc)}` : ''}\r\n`,
        ];
  return Buffer.concat([Buffer.from(head, 'latin1'), yencLines(data, width), Buffer.from(tail, 'latin1')]);
}

/** Doubles the dot at the start of each line, as NNTP wants it. `body` must be CRLF ended lines. */
export function dotStuff(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = body.indexOf(DOT); at !== -1; at = body.indexOf(DOT, at + 1)) {
    if (at > 0 && body[at - 1] !== LF) continue;
    pieces.push(body.subarray(from, at), Buffer.from('.'));
    from = at;
  }
  pieces.push(body.subarray(from));
  return Buffer.concat(pieces);
}
