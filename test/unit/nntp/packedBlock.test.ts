import { crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyForm } from '../../../infra/nntp/bodyForm.ts';
import { BrokenReply } from '../../../infra/nntp/brokenReply.ts';
import { Adler32, Crc32 } from '../../../infra/nntp/checksums.ts';
import { PackedBlock } from '../../../infra/nntp/packedBlock.ts';
import { compressedParts, REPLY_FORMS, type ReplyForm, yencMember } from '../../kit/compressedReply.ts';
import { blockReply } from '../../kit/fakeNews.ts';
import { EVERY, propertyRuns } from '../../kit/propertyRuns.ts';

const LIMITS = { lineBytes: 1 << 16, inflatedBytes: 1 << 24 };
const NEXT = Buffer.from('423 nothing there\r\n');

interface Read {
  readonly text: string;
  /** What was left behind the member, of all that was given. */
  readonly rest: string;
}

/** Feeds `bytes` in pieces of `sizes` to whatever the first bytes tell; null when it did not come to its end. */
async function unpack(bytes: Buffer, sizes: readonly number[] = [bytes.length], limits = LIMITS): Promise<Read | null> {
  let block: PackedBlock | null = null;
  let head = Buffer.alloc(0);
  try {
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const end = at + Math.max(1, sizes[i % sizes.length] ?? 1);
      head = Buffer.concat([head, bytes.subarray(at, end)]);
      at = end;
      const form = block ? null : bodyForm(head, 'overview');
      if (form === 'plain') throw new Error('taken for plain');
      if (form) block = new PackedBlock(form, limits);
      if (!block) continue;
      const whole = await block.feed(head);
      head = Buffer.alloc(0);
      if (!whole) continue;
      const rest = Buffer.concat([whole.rest, bytes.subarray(at)]);
      return { text: Buffer.concat([...whole.lines]).toString('latin1'), rest: rest.toString('latin1') };
    }
    return null;
  } finally {
    block?.close();
  }
}

const onWire = (lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join('');
const line = fc.tuple(fc.nat(2 ** 40), fc.uint8Array({ maxLength: 80 })).map(
  ([n, bytes]) =>
    `${n}\t${Buffer.from(bytes)
      .toString('latin1')
      .replace(/[\r\n]/g, ' ')}`,
);
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
const member = (form: ReplyForm, lines: readonly string[]) => {
  const { member, after } = compressedParts(form, blockReply('224 over', lines));
  return { member, after, whole: Buffer.concat([member, Buffer.from(after)]) };
};

describe('a compressed block', () => {
  it.each(REPLY_FORMS)('gives the same lines however it is cut, and leaves what follows alone (%s)', async (form) => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), sizes, fc.boolean(), async (lines, cuts, followed) => {
        const { whole, after } = member(form, lines);
        const next = followed ? NEXT : Buffer.alloc(0);
        const read = await unpack(Buffer.concat([whole, next]), cuts);
        expect(read).toEqual({ text: onWire(lines), rest: `${after}${next}` });
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it('is ended by its own end, though the bytes of a terminator occur inside', async () => {
    const lines = ['1\tends with a dot.', '2\tas this one does.', '3\tlast'];
    const [text, whole] = [Buffer.from(onWire(lines)), Buffer.from(`${onWire(lines)}.\r\n`)];
    const stored = { level: 0 };
    const members = [
      gzipSync(text, stored),
      deflateSync(whole, stored),
      deflateRawSync(whole, stored),
      yencMember(deflateRawSync(text, stored)),
    ];
    for (const packed of members) {
      const read = await unpack(Buffer.concat([packed, NEXT]), [7]);
      expect(read).toEqual({ text: onWire(lines), rest: NEXT.toString() });
    }
    expect(members[0]?.includes('.\r\n')).toBe(true);
    expect(members[1]?.includes('\r\n.\r\n')).toBe(true);
  });

  it('unstuffs the dots of lines', async () => {
    expect(await unpack(member('highwinds', ['.dot', '..', '1\tx']).whole)).toMatchObject({
      text: '.dot\r\n..\r\n1\tx\r\n',
    });
  });

  it('reads a gzip header with every optional field', async () => {
    const plain = gzipSync('1\tx\r\n');
    const fields = [
      Buffer.from([5, 0, 1, 2, 3, 4, 5]),
      Buffer.from('name\0'),
      Buffer.from('note\0'),
      Buffer.from([9, 9]),
    ];
    const full = Buffer.concat([plain.subarray(0, 3), Buffer.from([4 | 8 | 16 | 2]), plain.subarray(4, 10), ...fields]);
    const read = await unpack(Buffer.concat([full, plain.subarray(10)]), [1]);
    expect(read).toEqual({ text: '1\tx\r\n', rest: '' });
  });

  it.each(REPLY_FORMS)('that ends early never passes for a whole one (%s)', async (form) => {
    const lines = Array.from({ length: 40 }, (_, i) => `${i + 1}\tsubject ${i * 7919}`);
    const packed = member(form, lines).member;
    for (let length = 1; length < packed.length; length += 3 * EVERY) {
      const followed = Buffer.concat([packed.subarray(0, length), Buffer.from('.\r\n'), NEXT]);
      const read = await unpack(followed).catch((error: unknown) => error);
      expect(read === null || read instanceof BrokenReply, `cut at ${length}`).toBe(true);
    }
  });

  it.each(['highwinds', 'diablo', 'astraweb', 'gzip outside', 'gzip inside', 'zlib outside'] as const)(
    'with any one bit turned gives no other lines (%s)',
    async (form) => {
      const lines = Array.from({ length: 30 }, (_, i) => `${i + 1}\tsubject ${i * 104_729}`);
      const { whole } = member(form, lines);
      for (let at = 0; at < whole.length; at += 2 * EVERY) {
        const spoiled = Buffer.from(whole);
        spoiled[at] = (spoiled[at] ?? 0) ^ (1 << (at % 8));
        const read = await unpack(spoiled).catch((error: unknown) => error);
        // Some bits mean nothing: the compression level, a time, a comment in a header.
        const harmless = read !== null && typeof read === 'object' && 'text' in read && read.text === onWire(lines);
        const plain = read instanceof Error && read.message === 'taken for plain';
        expect(harmless || plain || read === null || read instanceof BrokenReply, `byte ${at}`).toBe(true);
      }
    },
  );

  it('is broken by a wrong checksum, a wrong length, lines behind the terminator and a cut last line', async () => {
    const text = Buffer.from('1\tx\r\n');
    const wrongCrc = gzipSync(text);
    wrongCrc.writeUInt32LE(crc32(text) ^ 1, wrongCrc.length - 8);
    const wrongLength = gzipSync(text);
    wrongLength.writeUInt32LE(text.length + 1, wrongLength.length - 4);
    const wrongAdler = deflateSync(text);
    wrongAdler[wrongAdler.length - 1] = (wrongAdler[wrongAdler.length - 1] ?? 0) ^ 1;
    const cases: readonly (readonly [Buffer, RegExp])[] = [
      [wrongCrc, /checksum/],
      [wrongLength, /length/],
      [wrongAdler, /checksum/],
      [yencMember(deflateRawSync(text), 1), /checksum/],
      [deflateSync('1\tx\r\n.\r\n2\ty\r\n'), /follows its last line/],
      [deflateSync('1\tx\r\n2\ty'), /last line is cut/],
      [Buffer.from('=ybegin line=128 size=-1\r\n.\r\n'), /without =yend/],
    ];
    for (const [packed, reason] of cases) await expect(unpack(packed)).rejects.toThrow(reason);
  });

  it('may not inflate to more than its limit, nor hold a line longer than that', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, '1\tx\r\n'));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(unpack(bomb)).rejects.toThrow('it inflates to more than 16777216 bytes');
    await expect(unpack(deflateSync(Buffer.alloc(100_000, 'x')))).rejects.toThrow('a line of more than 65536 bytes');
    await expect(unpack(yencMember(deflateRawSync(Buffer.alloc(20_000_000, '1\tx\r\n'))))).rejects.toThrow('inflates');
  });
});

describe('the form of a body', () => {
  it('is seen from its first bytes, as soon as they are there', () => {
    const cases: readonly (readonly [string, 'overview' | 'list', ReturnType<typeof bodyForm>])[] = [
      ['', 'overview', null],
      ['.', 'overview', 'plain'],
      ['12', 'overview', null],
      ['12\t', 'overview', 'plain'],
      ['5\x8d', 'overview', 'raw'],
      ['=', 'overview', null],
      ['=ybegin ', 'overview', 'yenc'],
      ['=\x8f', 'overview', 'raw'],
      ['\x1f', 'overview', 'gzip'],
      ['x', 'overview', null],
      ['x\x9c', 'overview', 'zlib'],
      ['\xed', 'overview', 'raw'],
      ['alt.x', 'list', 'plain'],
      ['x.y', 'list', 'plain'],
      ['=x', 'list', 'plain'],
      ['x\x01', 'list', 'zlib'],
      ['\x1f\x8b', 'list', 'gzip'],
    ];
    for (const [head, plain, form] of cases) expect(bodyForm(Buffer.from(head, 'latin1'), plain), head).toBe(form);
  });
});

describe('checksums', () => {
  it('of zlib and gzip are the same however the bytes come in pieces', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20_000 }), fc.nat(20_000), (array, cut) => {
        const bytes = Buffer.from(array);
        const [adler, crc] = [new Adler32(), new Crc32()];
        for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
          adler.update(part);
          crc.update(part);
        }
        expect(adler.value).toBe(deflateSync(bytes).readUInt32BE(deflateSync(bytes).length - 4));
        expect(crc.value).toBe(crc32(bytes));
      }),
      { numRuns: 50 },
    );
  });

  it('of zlib holds for the largest bytes', () => {
    const bytes = Buffer.alloc(1 << 20, 255);
    const adler = new Adler32();
    adler.update(bytes);
    const packed = deflateSync(bytes);
    expect(adler.value).toBe(packed.readUInt32BE(packed.length - 4));
  });
});
