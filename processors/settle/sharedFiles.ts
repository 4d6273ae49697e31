import { decodeChunk } from '../../streams/codec/chunk.ts';
import type { ChunkFile } from '../../streams/records.ts';
import type { ChunkPayloads, DueContribution, DueRelease } from './ports.ts';
import type { SettleSettings } from './settings.ts';
import { type Share, sharedHashes, shareOf } from './settlement.ts';

type Limits = Pick<SettleSettings, 'segmentsHeld' | 'passesMax'>;

/** Segments that the contributions may hold of shared files, taken all files as being of one size. */
const estimate = (contributions: readonly DueContribution[], shared: ReadonlySet<string>): number =>
  contributions.reduce((sum, { fileHashes, segments }) => {
    const ours = fileHashes.filter((hash) => shared.has(hash)).length;
    return sum + (segments * ours) / Math.max(1, fileHashes.length);
  }, 0);

/** Which of the passes over the chunks takes a file. */
const passOf = (fileHash: string, passes: number): number => Number.parseInt(fileHash.slice(0, 8), 16) % passes;

interface Reading {
  readonly release: DueRelease;
  readonly chunks: ChunkPayloads;
  readonly shared: ReadonlySet<string>;
  readonly most: number;
  readonly signal: AbortSignal;
}

/** By contribution the files for which `takes` holds; null when they have more than `most` segments. */
async function readFiles(reading: Reading, takes: (fileHash: string) => boolean): Promise<ChunkFile[][] | null> {
  const { release, chunks, most, signal } = reading;
  let held = 0;
  const all: ChunkFile[][] = [];
  for (const contribution of release.contributions) {
    const files: ChunkFile[] = [];
    all.push(files);
    if (!contribution.fileHashes.some(takes)) continue;
    for await (const payload of chunks.of(release.key, contribution)) {
      signal.throwIfAborted();
      for (const file of decodeChunk(payload)) {
        if (!takes(file.fileHash)) continue;
        held += file.segments.length;
        if (held > most) return null;
        files.push(file);
      }
    }
  }
  return all;
}

async function readInPasses(reading: Reading, passes: number): Promise<readonly Share[] | null> {
  const shares: Share[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const takes = (hash: string) => reading.shared.has(hash) && passOf(hash, passes) === pass;
    const held = await readFiles(reading, takes);
    if (held === null) return null;
    shares.push(shareOf(held));
  }
  return shares;
}

/**
 * The shared files of a release, each in one share; none when no file is shared, and then no chunk is read. What is held at
 * a time is bounded: the chunks are gone through several times, each time for other files. Null when that would be more than
 * `passesMax` times, or one file alone is too large. Throws what `chunks` throws, and CorruptPayload.
 */
export async function readShares(
  release: DueRelease,
  chunks: ChunkPayloads,
  limits: Limits,
  signal: AbortSignal,
): Promise<readonly Share[] | null> {
  const shared = sharedHashes(release.contributions);
  if (shared.size === 0) return [];
  const reading = { release, chunks, shared, most: 2 * limits.segmentsHeld, signal };
  const first = Math.max(1, Math.ceil(estimate(release.contributions, shared) / limits.segmentsHeld));
  for (let passes = first; passes <= limits.passesMax; passes *= 2) {
    const shares = await readInPasses(reading, passes);
    if (shares !== null) return shares;
  }
  return null;
}
