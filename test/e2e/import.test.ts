import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateOverview } from '../bench/overviewGenerator.ts';
import { type Headwater, startHeadwater } from '../kit/headwater.ts';
import { peakMemory } from '../kit/processTree.ts';
import type { CliResult } from '../kit/program.ts';

const FULL = process.env.HEADWATER_TEST_FULL === '1';
const LINES = FULL ? 1_000_000 : 50_000;
const MEMORY_MAX = 1024 ** 3;
const GROUP = 'alt.binaries.example';
const INDEXED_MS = 600_000;

interface RangeView {
  readonly backbone: string;
  readonly state: string;
  readonly lines: number;
}

function* blocks(lines: Iterable<string>): Generator<Buffer> {
  let block: string[] = [];
  for (const line of lines) {
    block.push(line);
    if (block.length < 2000) continue;
    yield Buffer.from(`${block.join('\r\n')}\r\n`, 'latin1');
    block = [];
  }
  if (block.length > 0) yield Buffer.from(`${block.join('\r\n')}\r\n`, 'latin1');
}

/** Runs a command and watches how much memory it has at most. */
async function measured(headwater: Headwater, args: readonly string[]): Promise<CliResult & { memory: number }> {
  let memory = 0;
  let pid = 0;
  const look = () => {
    memory = Math.max(memory, peakMemory(pid));
  };
  const timer = setInterval(look, 50);
  const onStart = (started: number) => {
    pid = started;
  };
  try {
    const result = await headwater.cli(args, { deadlineMs: INDEXED_MS, onStart });
    return { ...result, memory };
  } finally {
    clearInterval(timer);
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

describe(`the import of a file of ${LINES} overview lines`, () => {
  let headwater: Headwater;
  let plain: string;
  let packed: string;

  const importOf = (file: string, backbone: string) =>
    measured(headwater, ['import', 'overview', file, '--group', GROUP, '--backbone', backbone]);
  const ranges = async (backbone: string): Promise<readonly RangeView[]> => {
    const { stdout } = await headwater.cli(['ranges', 'list', '--json', '--limit', '100000']);
    return (JSON.parse(stdout) as RangeView[]).filter((range) => range.backbone === backbone);
  };
  const messages = async (): Promise<Readonly<Record<string, number>>> => {
    const { streams } = await headwater.look();
    const said = streams.filter((s) => /^(RANGES|RELEASES|CHUNKS|OVERVIEW)/.test(s.stream));
    return Object.fromEntries(said.map((s) => [s.stream, s.last]));
  };

  beforeAll(async () => {
    headwater = await startHeadwater({ config: { sample: false } });
    plain = join(headwater.folder, 'overview.tsv');
    packed = join(headwater.folder, 'overview.tsv.gz');
    const lines = generateOverview({ lines: LINES, seed: 11, group: GROUP, volumeScale: FULL ? 1 : 0.05 });
    await pipeline(Readable.from(blocks(lines)), createWriteStream(plain));
    writeFileSync(packed, gzipSync(readFileSync(plain), { level: 1 }));
  });
  afterAll(() => headwater?.dispose());

  it('prints its rate, counts every line, and keeps every process below 1 GiB', async () => {
    const startedAt = performance.now();
    const result = await importOf(plain, 'plain');
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    expect(result.stdout).toContain(`${LINES.toLocaleString('en-US')} lines, `);
    expect(result.stdout).toMatch(/[\d,]+ lines\/s/);
    const done = ({ catalog, ranges: r }: { catalog: unknown; ranges: Readonly<Record<string, number>> | null }) =>
      catalog !== null && (r?.parsed ?? 0) > 0;
    const view = await headwater.untilIdle({ done, deadlineMs: INDEXED_MS });
    const seconds = (performance.now() - startedAt) / 1000;
    const peaks = headwater.processes().map((p) => ({ command: p.command.slice(-60), memory: peakMemory(p.pid) }));
    console.log(
      `${result.stdout.trim()}\nindexed after ${seconds.toFixed(1)} s, ${Math.round(LINES / seconds)} lines/s`,
    );
    console.log([`import ${mib(result.memory)}`, ...peaks.map((p) => `${mib(p.memory)} ${p.command}`)].join('\n'));
    for (const { command, memory } of [{ command: 'import', memory: result.memory }, ...peaks]) {
      expect(memory, command).toBeLessThan(MEMORY_MAX);
    }
    expect(result.memory).toBeGreaterThan(0);
    expect(view.catalog?.listed).toBeGreaterThan(10);
    const mine = await ranges('plain');
    expect(mine.filter((range) => range.state !== 'parsed' && range.state !== 'short')).toEqual([]);
    expect(mine.reduce((sum, range) => sum + range.lines, 0)).toBe(LINES);
  }, 900_000);

  it('changes nothing when the same file is imported again', async () => {
    const before = await messages();
    const result = await importOf(plain, 'plain');
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('0 new ranges');
    await headwater.untilIdle();
    expect(await messages()).toEqual(before);
  }, 900_000);

  it('reads gzip just as well; the same articles on another backbone are the same releases', async () => {
    const before = await headwater.searchAll();
    const result = await importOf(packed, 'packed');
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    expect(result.memory).toBeLessThan(MEMORY_MAX);
    await headwater.untilIdle({ deadlineMs: INDEXED_MS });
    expect((await ranges('packed')).reduce((sum, range) => sum + range.lines, 0)).toBe(LINES);
    const after = await headwater.searchAll();
    const shown = (items: typeof before) => items.map((item) => `${item.id} ${item.size} ${item.title}`);
    expect(shown(after)).toEqual(shown(before));
  }, 900_000);

  it('refuses a file that is not there or cut in the middle, with exit code 1 and a reason', async () => {
    const absent = await importOf(join(headwater.folder, 'absent.tsv'), 'absent');
    expect(absent.code).toBe(1);
    expect(absent.stderr).toContain('absent.tsv');
    const cut = join(headwater.folder, 'cut.tsv.gz');
    writeFileSync(cut, readFileSync(packed).subarray(0, 100_000));
    const broken = await importOf(cut, 'cut');
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain('cut.tsv.gz');
  });
});
