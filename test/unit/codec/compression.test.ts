import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../streams/codec/bytes.ts';
import {
  type Compression,
  compressFrame,
  expandFrame,
  initCompression,
  MAX_ZSTD_INPUT,
  zstdReady,
} from '../../../streams/codec/compression.ts';
import { CorruptPayload } from '../../../streams/codec/errors.ts';
import { nativeZstd, wasmZstd, type Zstd, zstdContentSize } from '../../../streams/codec/zstd.ts';

const WAYS: readonly Compression[] = ['none', 'deflate-raw', 'zstd'];
const text = Buffer.from('[01/27] - "Some.Name.part01.rar" yEnc (1/137)\n'.repeat(60));
const frameOf = (tag: number, rawLength: number, content: Uint8Array): Uint8Array => {
  const out = new ByteWriter();
  out.u8(tag);
  out.varint(rawLength);
  out.raw(content);
  return out.finish();
};

beforeAll(initCompression);

describe('a compression frame', () => {
  it('gives back any bytes, whichever way they were compressed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.constantFrom(...WAYS), (bytes, how) => {
        expect(Buffer.compare(expandFrame(compressFrame(bytes, how)), bytes)).toBe(0);
      }),
    );
  });

  it('chooses zstd once it is ready, and keeps what does not shrink as it is', () => {
    expect(zstdReady()).toBe(true);
    expect(compressFrame(text)[0]).toBe(2);
    expect(compressFrame(text, 'deflate-raw')[0]).toBe(1);
    expect(compressFrame(randomBytes(600))[0]).toBe(0);
  });

  it('takes inputs above 2 MiB by deflate, since the wasm heap is 16 MiB', () => {
    const large = new Uint8Array(MAX_ZSTD_INPUT + 1);
    expect(compressFrame(large)[0]).toBe(1);
    expect(() => compressFrame(large, 'zstd')).toThrow(RangeError);
    expect(expandFrame(compressFrame(large)).length).toBe(large.length);
  });

  it('survives many frames of the largest zstd size', () => {
    const large = Buffer.alloc(MAX_ZSTD_INPUT, text);
    for (let i = 0; i < 20; i++) expect(expandFrame(compressFrame(large, 'zstd')).length).toBe(large.length);
  });

  it('is refused when it claims more than the limit', () => {
    for (const how of WAYS) {
      const frame = compressFrame(text, how);
      expect(() => expandFrame(frame, text.length - 1)).toThrow(expect.objectContaining({ reason: 'limit' }));
    }
  });

  it('is refused when it gives more or less than it claims', () => {
    for (const how of WAYS) {
      const frame = compressFrame(text, how);
      const content = frame.subarray(3);
      for (const claimed of [text.length - 1, text.length + 1, 0]) {
        expect(() => expandFrame(frameOf(frame[0]!, claimed, content))).toThrow(CorruptPayload);
      }
    }
  });

  it('is refused when a zstd frame states gigabytes, before any memory is taken for them', () => {
    const bomb = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0xff, 0, 0, 0]);
    expect(zstdContentSize(bomb)).toBe(0xff000000);
    expect(() => expandFrame(frameOf(2, 1000, bomb))).toThrow(CorruptPayload);
  });

  it('never ends in another error, whatever the bytes are', () => {
    const noise = fc.uint8Array({ maxLength: 200 });
    const framed = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.nat({ max: 500 }), noise).map((f) => frameOf(...f));
    fc.assert(
      fc.property(fc.oneof(noise, framed), (bytes) => {
        try {
          expandFrame(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptPayload);
        }
      }),
    );
  });

  it('is refused or comes back whole when one of its bytes is flipped', () => {
    for (const how of ['deflate-raw', 'zstd'] as const) {
      const frame = compressFrame(text, how);
      for (let i = 0; i < frame.length; i++) {
        const bytes = Uint8Array.from(frame);
        bytes[i]! ^= 0x10;
        try {
          // A frame has no checksum of its own: wrong bytes are caught by the payload around it.
          expect(expandFrame(bytes).length).toBe(text.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptPayload);
        }
      }
    }
  });
});

describe('zstd', () => {
  it('of the wasm build and of Node, where it has one, read each other', async () => {
    const wasm = await wasmZstd();
    const others: readonly Zstd[] = [wasm, nativeZstd() ?? wasm];
    for (const writer of others) {
      const frame = writer.compress(text, 3);
      expect(zstdContentSize(frame)).toBe(text.length);
      for (const reader of others) expect(Buffer.from(reader.decompress(frame, text.length)!).equals(text)).toBe(true);
    }
  });
});
