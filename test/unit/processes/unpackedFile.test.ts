import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileSize, unpackedFile } from '../../../infra/processes/commands/unpackedFile.ts';
import { unpackZstd } from '../../../infra/processes/commands/zstdFile.ts';

/** 350,000 bytes: more than two blocks of zstd. */
const text = Buffer.from('1\ta\tb\r\n'.repeat(50_000));
const base64 = (data: string) => Buffer.from(data, 'base64');

/** What the program `zstd` 1.5.4 makes of the text. */
const ZSTD = {
  'a file, level 3': base64('KLUv/aQwVwUAfAAAODEJYQliDQoBAPb/yosRTAAACGIBAPz/ORACTQAACAkBACxXORACbGewMg=='),
  'level 19 without checksum': base64('KLUv/aAwVwUAfAAAODEJYQliDQoBAPb/yosRRAAAAAEA/f/KCxBFAAAAAQAtVzkAAg=='),
  'a pipe, without a stated size': base64('KLUv/QRYfAAAODEJYQliDQoBAPb/yosRTAAACGIBAPz/ORACTQAACAkBACxXORACbGewMg=='),
  'pzstd, with a frame to be skipped': base64(
    'UCpNGAQAAAA0AAAAKLUv/QRYfAAAODEJYQliDQoBAPb/yosRTAAACGIBAPz/ORACTQAACAkBACxXORACbGewMg==',
  ),
};
const LARGE_WINDOW = base64('KLUv/QSIfAAAODEJYQliDQoBAPb/yosRRAAAAAEA/f/KCxBFAAAAAQAtVzkAAmxnsDI=');

async function* pieces(bytes: Buffer, size = bytes.length): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function gathered(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of source) all.push(piece);
  return Buffer.concat(all);
}

describe('zstd data', () => {
  it.each(Object.entries(ZSTD))('of %s unpacks to what was packed', async (_, packed) => {
    expect((await gathered(unpackZstd(pieces(packed)))).equals(text)).toBe(true);
    expect((await gathered(unpackZstd(pieces(packed, 1)))).equals(text)).toBe(true);
  });

  it('of several frames unpacks to all of them, in pieces of bounded size', async () => {
    const frames = Buffer.concat(Object.values(ZSTD));
    const sizes: number[] = [];
    for await (const piece of unpackZstd(pieces(frames))) sizes.push(piece.length);
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(4 * text.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1 << 17);
  });

  it('of no bytes is nothing', async () => {
    expect((await gathered(unpackZstd(pieces(Buffer.alloc(0))))).length).toBe(0);
  });

  it('is refused wherever it was cut', async () => {
    const packed = ZSTD['a file, level 3'];
    for (let length = 1; length < packed.length; length++) {
      await expect(gathered(unpackZstd(pieces(packed.subarray(0, length)))), `${length} bytes`).rejects.toThrow(
        /ends in the middle/,
      );
    }
  });

  it('with any byte changed is refused or still the same text, never another one', async () => {
    const packed = ZSTD['a file, level 3'];
    let refused = 0;
    for (let at = 0; at < packed.length; at++) {
      const changed = Buffer.from(packed);
      changed[at]! ^= 0x55;
      const result = await gathered(unpackZstd(pieces(changed))).catch((error: Error) => error);
      if (result instanceof Error) refused++;
      else expect(result.equals(text), `byte ${at}`).toBe(true);
    }
    expect(refused).toBeGreaterThan(packed.length * 0.8);
    expect((await gathered(unpackZstd(pieces(packed)))).equals(text)).toBe(true);
  });

  it('with a window that is too large, or followed by something else, is refused with the reason', async () => {
    await expect(gathered(unpackZstd(pieces(LARGE_WINDOW)))).rejects.toThrow(/window of 128 MiB, 8 MiB at most/);
    const followed = Buffer.concat([ZSTD['a file, level 3'], Buffer.from('1\ta\tb\r\n')]);
    await expect(gathered(unpackZstd(pieces(followed)))).rejects.toThrow(/something else follows/);
  });
});

describe('a file to import', () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hw-unpack-'));
    const gzip = gzipSync(text);
    const zstd = ZSTD['a file, level 3'];
    const all = { plain: text, gzip, zstd, cutgzip: gzip.subarray(0, -20), cutzstd: zstd.subarray(0, -5), empty: '' };
    for (const [name, bytes] of Object.entries(all)) writeFileSync(path(name), bytes);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const read = async (name: string) => {
    let fileBytes = 0;
    const bytes = await gathered(unpackedFile(path(name), (n) => (fileBytes += n)));
    return { bytes, fileBytes };
  };

  it.each(['plain', 'gzip', 'zstd'])('that is %s gives its content and counts its own bytes', async (name) => {
    const { bytes, fileBytes } = await read(name);
    expect(bytes.equals(text)).toBe(true);
    expect(fileBytes).toBe(fileSize(path(name)));
  });

  it('that is empty gives nothing', async () => {
    expect(await read('empty')).toEqual({ bytes: Buffer.alloc(0), fileBytes: 0 });
  });

  it.each(['cutgzip', 'cutzstd', 'missing'])('is refused by name where it is %s', async (name) => {
    await expect(read(name)).rejects.toThrow(new RegExp(`IMPORT_FILE_UNREADABLE.*${name}`));
  });

  it('is read as the installed zstd packed it, where one is installed', async (context) => {
    let packed: Buffer;
    try {
      packed = execFileSync('zstd', ['-q', '-c', '-9', path('plain')], { maxBuffer: 1 << 24 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return context.skip('no zstd is installed (Debian package zstd)');
    }
    writeFileSync(path('own'), packed);
    expect((await read('own')).bytes.equals(text)).toBe(true);
  });

  it('is none where a folder is named', () => {
    expect(() => fileSize(tmpdir())).toThrow(/IMPORT_FILE_UNREADABLE: .*it is a folder/);
  });
});
