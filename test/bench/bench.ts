/**
 * `make bench [ARGS="name ..."]`: runs the measurements, each in a process of its own, and prints what each prints.
 * Timings live here and never in a test: the machine they run on is not the reader's.
 */
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';

interface Bench {
  readonly file: string;
  /** What the figures are held against. */
  readonly target: string;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  headers: {
    file: 'test/bench/headersCore.ts',
    target: '1.2 million lines/s, or 0.40 of inflating the same bytes where the machine is slow',
  },
  chunks: {
    file: 'test/bench/chunkBytes.ts',
    target: 'the default mix at 128 segments a chunk: at most 1.10 x floor and 18 bytes a segment',
  },
  fetch: { file: 'test/bench/nntpOver.ts', target: '0.8 of a bare reader of the same lines' },
};

const asked = process.argv.slice(2);
if (asked.includes('--help')) {
  console.log(`make bench                  runs them all: ${Object.keys(BENCHES).join(', ')}`);
  console.log('make bench ARGS="name ..."  runs those');
  console.log('npx tsx test/bench/generateOverview.ts --lines=1000000 > overview.tsv   makes overview lines to import');
  process.exit(0);
}
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}
let worst = 0;
for (const [name, { file, target }] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n== ${name} (load ${loadavg()[0]?.toFixed(1)})`);
  console.log(`target: ${target}`);
  const run = spawnSync(process.execPath, ['--import', 'tsx', file], { stdio: 'inherit' });
  worst = Math.max(worst, run.status ?? 1);
}
process.exit(worst);
