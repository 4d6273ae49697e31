/**
 * Writes generated overview lines (CRLF ended) to the standard output.
 *
 *   npx tsx test/bench/generateOverview.ts --lines=1000000 --seed=7 > overview.tsv
 *   npx tsx test/bench/generateOverview.ts --lines=1000000 --gzip --truth=posts.jsonl > overview.tsv.gz
 *
 * Numbers of `OverviewOptions` are given as --name=value, also --group, --host, --crossGroups=a,b and
 * --mix=nyuu:0.5,ngpost:0.5. --truth writes one JSON line a post. --help lists all. Unknown names are errors (exit code 2).
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { TOOLS, type Tool } from './messageIds.ts';
import { generateOverview, OVERVIEW_DEFAULTS, type OverviewOptions, type PostTruth } from './overviewGenerator.ts';

const LINES_A_WRITE = 2048;

interface Settings {
  readonly options: Partial<OverviewOptions>;
  readonly gzip: boolean;
  readonly truth: string | null;
}

function parseMix(value: string): Record<Tool, number> {
  const shares = new Map(value.split(',').map((pair) => pair.split(':') as [string, string]));
  const unknown = [...shares.keys()].filter((name) => !TOOLS.includes(name as Tool));
  if (unknown.length > 0) throw new RangeError(`--mix: no tool ${unknown.join(', ')}; there are ${TOOLS.join(', ')}`);
  return Object.fromEntries(TOOLS.map((tool) => [tool, Number(shares.get(tool) ?? 0)])) as Record<Tool, number>;
}

function parseValue(name: string, value: string): unknown {
  if (name === 'group' || name === 'host') return value;
  if (name === 'crossGroups') return value === '' ? [] : value.split(',');
  if (name === 'mix') return parseMix(value);
  const number = Number(value);
  if (value === '' || !Number.isFinite(number)) throw new RangeError(`--${name}: not a number: ${value}`);
  return number;
}

/** Reads the command line; throws RangeError for what it does not know. */
export function parseArguments(args: readonly string[]): Settings {
  const options: Record<string, unknown> = {};
  let gzip = false;
  let truth: string | null = null;
  for (const arg of args) {
    const [, name = '', value = ''] = /^--([a-zA-Z]+)(?:=(.*))?$/.exec(arg) ?? [];
    if (name === 'gzip') gzip = true;
    else if (name === 'truth') truth = value;
    else if (name in OVERVIEW_DEFAULTS && name !== 'onPost') options[name] = parseValue(name, value);
    else throw new RangeError(`unknown argument ${arg}; --help lists them`);
  }
  return { options, gzip, truth };
}

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object') return String(value ?? '<number>');
  return Object.entries(value as object)
    .map(([name, share]) => `${name}:${share}`)
    .join(',');
};

/** What `--help` prints: every name with its default. */
export function usage(): string {
  const names = Object.entries(OVERVIEW_DEFAULTS).filter(([name]) => name !== 'onPost');
  return [
    'Writes generated overview lines to the standard output; OverviewOptions in overviewGenerator.ts says what each means.',
    '',
    '  npx tsx test/bench/generateOverview.ts --lines=1000000 --seed=7 > overview.tsv',
    '',
    '  --gzip               the lines are compressed',
    '  --truth=<file>       one JSON line a post goes there',
    ...names.map(([name, value]) => `  --${name}=${shown(value)}`),
    '',
    `Tools of --mix: ${TOOLS.join(', ')}`,
    '',
  ].join('\n');
}

function* blocks(lines: Iterable<string>): Generator<Buffer> {
  let block: string[] = [];
  for (const line of lines) {
    block.push(line, '\r\n');
    if (block.length < LINES_A_WRITE * 2) continue;
    yield Buffer.from(block.join(''), 'latin1');
    block = [];
  }
  if (block.length > 0) yield Buffer.from(block.join(''), 'latin1');
}

async function main({ options, gzip, truth }: Settings): Promise<void> {
  const file = truth === null ? null : openSync(truth, 'w');
  const onPost = (post: PostTruth) => {
    if (file !== null) writeSync(file, `${JSON.stringify(post)}\n`);
  };
  const text = Readable.from(blocks(generateOverview({ ...options, onPost })));
  if (gzip) await pipeline(text, createGzip(), process.stdout);
  else await pipeline(text, process.stdout);
  if (file !== null) closeSync(file);
}

if (import.meta.filename === process.argv[1]) {
  const args = process.argv.slice(2);
  try {
    if (args.includes('--help') || args.includes('-h')) process.stdout.write(usage());
    else await main(parseArguments(args));
  } catch (error) {
    // A reader such as `head` that has seen enough is no error.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') {
      process.stderr.write(`generateOverview: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 2;
    }
  }
}
