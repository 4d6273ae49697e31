/** What the body behind a status line is packed as; `yenc` holds a raw deflate member. */
export type PackedForm = 'yenc' | 'gzip' | 'zlib' | 'raw';

/** Which lines the body has where it is not packed. */
export type PlainBody = 'overview' | 'list';

type Form = PackedForm | 'plain';

const YENC = '=ybegin ';
const GZIP = 0x1f;
const ZLIB = 0x78;
const DOT = 0x2e;
const EQUALS = 0x3d;

/**
 * Tells by its first bytes what a body is, because labels lie; null while more bytes are needed to tell.
 *
 * For what servers are known to send, the first byte is enough. Bare raw deflate may start with `=`, `x` or a digit too,
 * so these are looked at a little further. Lines of a list may start with anything, bare raw deflate is no choice there.
 */
export function bodyForm(head: Buffer, plain: PlainBody): Form | null {
  const unknown: Form = plain === 'list' ? 'plain' : 'raw';
  const [first, second] = head;
  switch (first) {
    case undefined:
      return null;
    case DOT:
      return 'plain';
    case GZIP:
      return 'gzip';
    case EQUALS:
      return yencOr(unknown, head);
    case ZLIB:
      // The header of zlib is a multiple of 31.
      if (second === undefined) return null;
      return (first * 256 + second) % 31 === 0 ? 'zlib' : unknown;
    default:
      return plain === 'list' ? 'plain' : numberedOr(unknown, head);
  }
}

function yencOr(unknown: Form, head: Buffer): Form | null {
  const start = head.toString('latin1', 0, YENC.length);
  if (start === YENC) return 'yenc';
  return YENC.startsWith(start) ? null : unknown;
}

/** An overview line is an article number and a TAB; at most 20 bytes are looked at. */
function numberedOr(unknown: Form, head: Buffer): Form | null {
  const start = head.toString('latin1', 0, 20);
  if (/^\d+[\t \r]/.test(start)) return 'plain';
  return /^\d{1,19}$/.test(start) ? null : unknown;
}
