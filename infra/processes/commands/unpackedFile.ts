import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { HeadwaterError } from '../../base/errors/index.ts';
import { isZstd, unpackZstd } from './zstdFile.ts';

const unreadable = (file: string, error: unknown): HeadwaterError =>
  new HeadwaterError('IMPORT_FILE_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });

const PIECE_BYTES = 1 << 20;

/** Its first bytes: a name says little about how it is compressed. */
function startOf(file: string): Buffer {
  const start = Buffer.alloc(4);
  const fd = openSync(file, 'r');
  try {
    return start.subarray(0, readSync(fd, start));
  } finally {
    closeSync(fd);
  }
}

const isGzip = (start: Buffer): boolean => start[0] === 0x1f && start[1] === 0x8b;

async function* counted(file: string, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
    onRead((piece as Buffer).length);
    yield piece as Buffer;
  }
}

/**
 * The unpacked bytes of a plain, gzip or zstd file; `onRead` counts the bytes of the file itself, for the progress. Throws
 * IMPORT_FILE_UNREADABLE, also in the middle, when the disk fails or the compressed data is damaged or cut.
 */
export async function* unpackedFile(file: string, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  try {
    const start = startOf(file);
    const source = counted(file, onRead);
    if (isZstd(start)) yield* unpackZstd(source);
    else if (!isGzip(start)) yield* source;
    else {
      // pipeline hands an error of the file on to the reader of the unpacked side.
      const unpacked = pipeline(source, createGunzip({ chunkSize: PIECE_BYTES }), () => {});
      for await (const piece of unpacked) yield piece as Buffer;
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Bytes of the file as it lies there. Throws IMPORT_FILE_UNREADABLE. */
export function fileSize(file: string): number {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new Error('it is a folder');
    return found.size;
  } catch (error) {
    throw unreadable(file, error);
  }
}
