/**
 * Throughput of the headers core on one core: overview lines from a file (or standard input) in batches of 20,000 lines,
 * parsed and grouped, every release asked for, every chunk encoded. Rates are
 * lines by processor time. Usage: `tsx test/bench/headersCore.ts <overview-file> [runs]`.
 */
import { readFileSync } from 'node:fs';
import { ArticleTable } from '../../processors/headers/articles.ts';
import { DEFAULT_GARBAGE } from '../../processors/headers/garbage.ts';
import { STANDARD_FORMAT } from '../../processors/headers/lines.ts';
import { createRangeParser } from '../../processors/headers/parseRange.ts';
import { encodeChunkColumns } from '../../streams/codec/chunk.ts';
import { ArticleNumber, Backbone, Epoch, Group, RangeId } from '../../streams/ids.ts';
import type { RangeRef } from '../../streams/records.ts';

const LINES_A_BATCH = 20_000;
const LF = 10;

/** Cuts a buffer after every 20,000th line. */
function batchesOf(bytes: Uint8Array): Uint8Array[] {
  const batches: Uint8Array[] = [];
  let start = 0;
  let lines = 0;
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, end + 1)) {
    if (++lines % LINES_A_BATCH === 0) {
      batches.push(bytes.subarray(start, end + 1));
      start = end + 1;
    }
  }
  if (start < bytes.length) batches.push(bytes.subarray(start));
  return batches;
}

const group = Group('alt.binaries.example');
const [lo, hi] = [ArticleNumber(0), ArticleNumber(Number.MAX_SAFE_INTEGER)];
const range: RangeRef = {
  backbone: Backbone('bench'),
  group,
  epoch: Epoch(0),
  rangeId: RangeId.of(Epoch(0), lo, hi),
  lo,
  hi,
  run: 1,
  lane: 'import',
};

const columns = new ArticleTable();

function run(batches: readonly Uint8Array[]): void {
  const began = process.cpuUsage();
  /** Processor time, which other work on the machine does not stretch as it does wall time. */
  const ms = () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  const parser = createRangeParser({
    range,
    groupRanks: new Map(),
    format: STANDARD_FORMAT,
    garbage: DEFAULT_GARBAGE,
    seed: 7,
    columns,
  });
  for (const batch of batches) parser.addBatch(batch);
  const parsedMs = ms();
  const result = parser.finish();
  const groupedMs = ms();
  let [releases, files, chunks, segments] = [0, 0, 0, 0];
  for (const { contribution, chunks: list } of result.releases()) {
    releases++;
    files += contribution.files;
    segments += contribution.segments;
    chunks += list.length;
  }
  const totalMs = ms();
  let payload = 0;
  for (const { chunks: list } of result.releases()) {
    for (const chunk of list) payload += encodeChunkColumns(chunk.content).length;
  }
  const encodedMs = ms();
  const { lines, kept, skipped } = result.counts;
  const rate = (time: number) => `${(lines / time / 1000).toFixed(2)} M lines/s`;
  console.log(
    `${lines} lines: parse ${rate(parsedMs)}, with grouping ${rate(groupedMs)}, with records ${rate(totalMs)}, ` +
      `with records once more and chunks encoded ${rate(encodedMs)} (${(payload / segments).toFixed(1)} bytes a segment); ` +
      `${releases} releases, ${files} files, ${chunks} chunks, ${segments} segments (kept ${kept}), ` +
      `skipped ${JSON.stringify(skipped)}; resident ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
  );
}

const path = process.argv[2] ?? '/dev/stdin';
const batches = batchesOf(readFileSync(path));
for (let i = 0; i < Number(process.argv[3] ?? 3); i++) run(batches);
