import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dotStuff, yencBody, yencLines } from '../../kit/yenc.ts';

/** The plainest possible decoder, written from the yEnc draft alone. */
function decode(lines: Buffer): Buffer {
  const out: number[] = [];
  let escaped = false;
  for (const byte of lines) {
    if (byte === 13 || byte === 10) continue;
    if (byte === 61 && !escaped) escaped = true;
    else {
      out.push((byte - 42 - (escaped ? 64 : 0) + 512) & 255);
      escaped = false;
    }
  }
  return Buffer.from(out);
}

describe('the yEnc encoder', () => {
  it('gives back every byte sequence when it is decoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (data) => {
        expect(decode(yencLines(data)).equals(Buffer.from(data))).toBe(true);
      }),
    );
  });

  it('escapes NUL, LF, CR and the escape character, and nothing else', () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const escapes = [...yencLines(all, 10_000)].filter((byte) => byte === 61);
    expect(escapes).toHaveLength(4);
  });

  it('ends lines at the width and never between an escape and its byte', () => {
    const critical = new Uint8Array(300).fill((0 - 42) & 255);
    const lines = yencLines(critical, 127).toString('latin1').split('\r\n');
    expect(lines.slice(0, -2).every((line) => line.length === 128)).toBe(true);
    expect(lines.every((line) => line.split('=@').join('') === '')).toBe(true);
  });

  it('states position and checksums as the draft does', () => {
    // CRC-32 of "123456789" is the check value of the algorithm, cbf43926.
    const data = Buffer.from('123456789');
    const part = { name: 'a b.bin', fileSize: 9, part: 1, parts: 1, offset: 0, data, fileCrc: 0xcbf43926 };
    const single = yencBody(part).toString('latin1').split('\r\n');
    expect(single[0]).toBe('=ybegin line=128 size=9 name=a b.bin');
    expect(single.at(-2)).toBe('=yend size=9 crc32=cbf43926');
    const last = yencBody({ ...part, fileSize: 19, part: 2, parts: 2, offset: 10 })
      .toString('latin1')
      .split('\r\n');
    expect(last.slice(0, 2)).toEqual([
      '=ybegin part=2 total=2 line=128 size=19 name=a b.bin',
      '=ypart begin=11 end=19',
    ]);
    expect(last.at(-2)).toBe('=yend size=9 part=2 pcrc32=cbf43926 crc32=cbf43926');
  });

  it('doubles dots at the start of a line only', () => {
    expect(dotStuff(Buffer.from('.a.b\r\n..\r\nc.\r\n')).toString()).toBe('..a.b\r\n...\r\nc.\r\n');
    expect(dotStuff(Buffer.from('abc\r\n')).toString()).toBe('abc\r\n');
  });
});
