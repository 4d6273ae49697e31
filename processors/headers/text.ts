import { isAscii, isUtf8 } from 'node:buffer';

const windows1252 = new TextDecoder('windows-1252');

export type Charset = 'utf8' | 'windows-1252';

/** The charset of a whole field: UTF-8 when every byte fits it, else windows-1252. */
export const charsetOf = (field: Uint8Array): Charset => (isUtf8(field) ? 'utf8' : 'windows-1252');

/** Decodes a field, or a piece of one whose charset is known. */
export const readText = (bytes: Uint8Array, charset: Charset = charsetOf(bytes)): string => {
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return charset === 'utf8'
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
    : windows1252.decode(bytes);
};

/** The first `limit` UTF-16 units of a text, fewer where that would cut a character in two. */
export const cutText = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit);
};

const WORD = /=\?([A-Za-z0-9_.:-]{1,40})(?:\*[A-Za-z-]+)?\?([bBqQ])\?([^?]*)\?=/g;

const wordBytes = (encoding: string, payload: string): Uint8Array => {
  if (encoding === 'b' || encoding === 'B') return Buffer.from(payload, 'base64');
  const plain = payload.replace(/_/g, ' ');
  return Buffer.from(
    plain.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
};

/** RFC 2047 encoded words decoded; a word of an unknown charset stays as it is. Blanks between two words vanish. */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text;
  return text
    .replace(/(\?=)\s+(?==\?)/g, '$1')
    .replace(WORD, (word, charset: string, encoding: string, payload: string) => {
      try {
        return new TextDecoder(charset).decode(wordBytes(encoding, payload)).replace(/[\0\t\r\n]/g, ' ');
      } catch {
        return word;
      }
    });
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', apos: "'", nbsp: ' ' };
const ENTITY = /&(amp|quot|lt|gt|apos|nbsp);|&?#(\d{2,5});/gi;

/** HTML entities decoded, also doubly encoded ones, and `#34;` whose ampersand a web form lost. */
export function decodeEntities(text: string): string {
  let decoded = text;
  for (let round = 0; round < 3 && decoded.includes(';'); round++) {
    const next = decoded.replace(ENTITY, (all, name: string | undefined, code: string | undefined) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? all;
      const point = Number(code);
      return point >= 32 ? String.fromCharCode(point) : all;
    });
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}
