import { constants, crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { dotStuff, yencLines } from './yenc.ts';

/**
 * The forms in which servers send a compressed multi-line reply, byte for byte.
 * - `highwinds`: XZVER and XFEATURE ... TERMINATOR: a zlib member with the terminator inside, nothing behind it.
 * - `diablo`: the same from another server, in many deflate blocks, with zlib's version in the status line.
 * - `astraweb`: raw deflate in yEnc lines, no size, the checksum over the compressed bytes, the terminator in clear.
 * - `gzip outside`, `zlib outside`: XFEATURE COMPRESS GZIP, the terminator behind the member, in clear.
 * - `gzip inside`: the label taken at its word.
 * - `raw inside`, `raw outside`: deflate without any frame.
 */
export type ReplyForm =
  | 'highwinds'
  | 'diablo'
  | 'astraweb'
  | 'gzip outside'
  | 'zlib outside'
  | 'gzip inside'
  | 'raw inside'
  | 'raw outside';

export const REPLY_FORMS: readonly ReplyForm[] = [
  'highwinds',
  'diablo',
  'astraweb',
  'gzip outside',
  'zlib outside',
  'gzip inside',
  'raw inside',
  'raw outside',
];

const LABEL = ' [COMPRESS=GZIP]';
const TERMINATOR = '.\r\n';

/** The parts of a compressed reply, so that a test can spoil one of them. */
export interface ReplyParts {
  /** The status line with its CRLF. */
  readonly status: string;
  readonly member: Buffer;
  /** What follows the member in clear. */
  readonly after: string;
}

/** `reply`: a plain status line and block. */
export function compressedParts(form: ReplyForm, reply: string): ReplyParts {
  const end = reply.indexOf('\r\n') + 2;
  const status = reply.slice(0, end - 2);
  const whole = Buffer.from(reply.slice(end), 'latin1');
  const lines = whole.subarray(0, whole.length - TERMINATOR.length);
  const code = status.slice(0, 3);
  const labelled = `${status}${LABEL}\r\n`;
  switch (form) {
    case 'highwinds':
      return { status: labelled, member: deflateSync(whole, { level: 1 }), after: '' };
    case 'diablo':
      return {
        status: `${code} compressed data follows (zlib version 1.2.13)\r\n`,
        member: deflateSync(whole, { memLevel: 1 }),
        after: '',
      };
    case 'astraweb':
      return {
        status: `${code} compressed data follows\r\n`,
        member: yencMember(deflateRawSync(lines)),
        after: TERMINATOR,
      };
    case 'gzip outside':
      return { status: labelled, member: gzipSync(lines), after: TERMINATOR };
    case 'zlib outside':
      return { status: labelled, member: deflateSync(lines), after: TERMINATOR };
    case 'gzip inside':
      return { status: labelled, member: gzipSync(whole), after: '' };
    case 'raw inside':
      return { status: labelled, member: deflateRawSync(whole), after: '' };
    case 'raw outside':
      return { status: labelled, member: deflateRawSync(lines), after: TERMINATOR };
  }
}

export function compressedReply(form: ReplyForm, reply: string): Buffer {
  const { status, member, after } = compressedParts(form, reply);
  return Buffer.concat([Buffer.from(status, 'latin1'), member, Buffer.from(after, 'latin1')]);
}

/** As Astraweb framed it; `stated` is the checksum that it claims. */
export function yencMember(packed: Buffer, stated = crc32(packed)): Buffer {
  const frame = (line: string) => Buffer.from(`${line}\r\n`, 'latin1');
  const end = `=yend crc32=${stated.toString(16).padStart(8, '0')}`;
  return Buffer.concat([frame('=ybegin line=128 size=-1'), dotStuff(yencLines(packed)), frame(end)]);
}

/** A raw deflate stream whose bytes are `inside` among others, by a stored block: the bytes of a terminator may occur in one. */
export function storedDeflate(inside: Buffer): Buffer {
  return deflateRawSync(inside, { level: constants.Z_NO_COMPRESSION });
}
