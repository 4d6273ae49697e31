import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asUser } from '../kit/daemon.ts';
import { freePorts } from '../kit/ports.ts';
import { isSameRunning, killAll, type ProcessInfo, processTree } from '../kit/processTree.ts';
import { freshestProgram, programArguments, runNode } from '../kit/program.ts';
import { natsCache, ownFolder, removeAbandoned, temporaryFolder } from '../kit/services.ts';
import { until } from '../kit/until.ts';

const STOP_MS = 45_000;

interface Starting {
  readonly child: ChildProcess;
  output(): string;
  readonly exit: Promise<number | null>;
}

describe('Ctrl-C while up starts', () => {
  let folder: string;
  let port: number;
  let seen: readonly ProcessInfo[] = [];
  const command = (...args: string[]) => [...programArguments(freshestProgram()), ...args];
  const env = () => {
    const { NATS_URL, DATABASE_URL, HEADWATER_CONFIG, NODE_OPTIONS, ...inherited } = process.env;
    return { ...inherited, HEADWATER_NATS_CACHE: natsCache() };
  };

  beforeEach(async () => {
    await removeAbandoned();
    folder = await temporaryFolder();
    await ownFolder(folder);
    [port = 0] = await freePorts(1);
    // JSON is YAML.
    writeFileSync(join(folder, 'headwater.yaml'), JSON.stringify({ dataDir: 'data', api: { port } }));
  });
  afterEach(() => {
    killAll(seen.filter(isSameRunning));
    seen = [];
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  function start(): Starting {
    const [program, args] = asUser(undefined, process.execPath, command('up'));
    const child = spawn(program, args, {
      cwd: folder,
      env: env(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
    }
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { child, output: () => text, exit };
  }

  /** SIGINT once `text` was printed; `up` must end by itself, and everything that it started with it. */
  async function stopAt(up: Starting, text: string): Promise<void> {
    const shown = () => up.output().includes(text) || up.child.exitCode !== null;
    await until(`up to print "${text}"`, shown, { deadlineMs: 120_000, everyMs: 20 }).catch((error: Error) => {
      throw new Error(`${error.message}\n${up.output()}`);
    });
    seen = processTree(up.child.pid!);
    up.child.kill('SIGINT');
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`up did not end:\n${up.output()}`)), STOP_MS).unref();
    });
    expect(await Promise.race([up.exit, late])).toBe(0);
    expect(up.output()).toContain('stopped');
    await until('all that up started to end', () => seen.filter(isSameRunning).length === 0);
    const down = await runNode({ args: command('down'), cwd: folder, env: env(), deadlineMs: 120_000 });
    expect(down).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was running') });
  }

  it('ends it while the services start', async () => {
    await stopAt(start(), 'starting the services');
  });

  it('ends it while a program of somebody else has the port of the API, which it says it keeps trying', async () => {
    const other = await new Promise<Server>((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
    try {
      const up = start();
      await stopAt(up, 'tried again every half minute');
      expect(up.output()).toContain(`API_CANNOT_LISTEN: the API cannot listen on 127.0.0.1:${port}`);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });
});
