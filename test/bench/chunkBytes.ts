/**
 * Bytes a segment of the chunk codec by posting tool, beside the entropy floor of the same input, zstd of the plain list and
 * gzip of the NZB, and its speed.
 * Run: npx tsx test/bench/chunkBytes.ts [--chunks=N] [--segments=N]
 */
import { gzipSync } from 'node:zlib';
import { decodeChunkColumns, encodeChunkColumns } from '../../streams/codec/chunk.ts';
import { compressFrame, initCompression } from '../../streams/codec/compression.ts';
import { type ChunkColumns, columnsOf } from '../../streams/codec/segmentColumns.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { CHUNK_TOOLS, type ChunkTool, sampleChunks } from '../kit/chunkSamples.ts';

const option = (name: string, fallback: number): number => {
  const given = process.argv.find((a) => a.startsWith(`--${name}=`));
  return given ? Number(given.slice(name.length + 3)) : fallback;
};

const countSegments = (files: readonly ChunkFile[]): number => files.reduce((sum, f) => sum + f.segments.length, 0);

/** The plain list that a general compressor would get: id, size, part a line. */
const plainList = (files: readonly ChunkFile[]): Buffer =>
  Buffer.from(files.flatMap((f) => f.segments.map((s) => `${s.messageId} ${s.bytes} ${s.part}\n`)).join(''), 'latin1');

/** The NZB of the files, as any poster writes it. */
const nzb = (files: readonly ChunkFile[]): Buffer => {
  const file = (f: ChunkFile): string => {
    const head = `<file poster="${f.poster}" date="${Math.round(f.postedAt / 1000)}" subject="${f.subject}">`;
    const groups = f.groups.map((group) => `<group>${group}</group>`).join('\n');
    const segment = ({ bytes, part, messageId }: ChunkFile['segments'][number]): string =>
      `<segment bytes="${bytes}" number="${part}">${messageId}</segment>`;
    return `${head}\n<groups>\n${groups}\n</groups>\n<segments>\n${f.segments.map(segment).join('\n')}\n</segments>\n</file>\n`;
  };
  return Buffer.from(`<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb">\n${files.map(file).join('')}</nzb>\n`);
};

interface Measured {
  readonly floor: number;
  readonly codec: number;
  readonly zstd: number;
  readonly nzb: number;
  readonly encode: number;
  readonly decode: number;
}

/** Repeats the work for about half a second; million segments a second. */
const speed = (segments: number, work: () => void): number => {
  work();
  const from = performance.now();
  let rounds = 0;
  while (performance.now() - from < 500) {
    work();
    rounds++;
  }
  return (segments * rounds) / (performance.now() - from) / 1000;
};

const measure = (tool: ChunkTool, chunks: number, perChunk: number): Measured => {
  const samples = sampleChunks(tool, chunks, perChunk, 7);
  const columns: readonly ChunkColumns[] = samples.map(columnsOf);
  const payloads = columns.map((c) => encodeChunkColumns(c));
  const segments = samples.reduce((sum, files) => sum + countSegments(files), 0);
  const total = (sizes: readonly number[]): number => sizes.reduce((a, b) => a + b, 0) / segments;
  return {
    floor: tool.floor,
    codec: total(payloads.map((p) => p.length)),
    zstd: total(samples.map((files) => compressFrame(plainList(files), 'zstd').length)),
    nzb: total(samples.map((files) => gzipSync(nzb(files)).length)),
    encode: speed(segments, () => {
      for (const c of columns) encodeChunkColumns(c);
    }),
    decode: speed(segments, () => payloads.forEach(decodeChunkColumns)),
  };
};

const row = (name: string, m: Measured): string =>
  [
    name.padEnd(14),
    m.floor.toFixed(2).padStart(8),
    m.codec.toFixed(2).padStart(8),
    (m.codec - m.floor).toFixed(2).padStart(8),
    (m.codec / m.floor).toFixed(3).padStart(8),
    m.zstd.toFixed(2).padStart(8),
    m.nzb.toFixed(2).padStart(10),
    m.encode.toFixed(2).padStart(10),
    m.decode.toFixed(2).padStart(10),
  ].join('');

await initCompression();
const chunks = option('chunks', 100);
const perChunk = option('segments', 128);
console.log(`${chunks} chunks a tool, ${perChunk} segments a chunk; speeds in million segments a second on one core`);
console.log('tool             floor   codec    over   ratio    zstd  gzip nzb    encode    decode');
const mix = { floor: 0, codec: 0, zstd: 0, nzb: 0, encode: 0, decode: 0 };
for (const tool of CHUNK_TOOLS) {
  const m = measure(tool, chunks, perChunk);
  console.log(row(tool.name, m));
  for (const key of ['floor', 'codec', 'zstd', 'nzb'] as const) mix[key] += tool.share * m[key];
  // Times add up, rates do not.
  for (const key of ['encode', 'decode'] as const) mix[key] += tool.share / m[key];
}
console.log(row('default mix', { ...mix, encode: 1 / mix.encode, decode: 1 / mix.decode }));
