import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const COMPILED = join(CHECKOUT, 'dist/infra/processes/cli.js');
const SOURCE = join(CHECKOUT, 'infra/processes/cli.ts');
const SOURCE_FOLDERS = ['streams', 'processors', 'projections', 'api', 'infra'] as const;

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function newestSource(): number {
  const files = SOURCE_FOLDERS.flatMap((name) =>
    readdirSync(join(CHECKOUT, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|sql|mjs|gz)$/.test(file))
      .map((file) => join(CHECKOUT, name, file)),
  );
  return Math.max(...files.map(timeOf));
}

export type ProgramKind = 'dist' | 'source';

/** The compiled program when it is there and no source is newer, as after `make`; else the sources. */
export const freshestProgram = (): ProgramKind => (timeOf(COMPILED) > newestSource() ? 'dist' : 'source');

/** Arguments to `node` that run `headwater` from any folder. */
export function programArguments(kind: ProgramKind): readonly string[] {
  if (kind === 'dist') return [COMPILED];
  return ['--import', createRequire(import.meta.url).resolve('tsx'), SOURCE];
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly deadlineMs: number;
  readonly onStart?: ((pid: number) => void) | undefined;
}

/** Runs node to its end. Rejects (and kills it) when the deadline passes, with what it had printed. */
export function runNode(options: CliOptions): Promise<CliResult> {
  const { args, cwd, env } = options;
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  if (child.pid !== undefined) options.onStart?.(child.pid);
  return new Promise((done, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${args.join(' ')} did not end in ${options.deadlineMs} ms:\n${stdout}\n${stderr}`));
    }, options.deadlineMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      done({ code, stdout, stderr });
    });
  });
}
