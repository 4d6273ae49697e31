import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Conditions } from '../../../processors/ports.ts';
import type { Clock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import type { RotatingFile } from '../rotatingFile.ts';
import { restartDelays } from './backoff.ts';

export interface ChildServiceOptions {
  readonly name: string;
  /** The compiled (or, in development, the source) command line program and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  readonly execArgv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: RotatingFile;
  /** One line of its log, for those that the terminal shows too. */
  readonly onLine: (line: string) => void;
  readonly clock: Clock;
  readonly conditions: Conditions;
}

export interface ChildService {
  readonly name: string;
  /** Resolves when the service said that it is ready; a restarted one says so again. */
  readonly ready: Promise<void>;
  pid(): number | undefined;
  /** SIGTERM, then SIGKILL of its process group when the deadline passes. It is not started again. */
  stop(deadlineMs: number): Promise<void>;
}

const STOP_SIGNAL = 'SIGTERM';

function start(options: ChildServiceOptions, onReady: () => void): { child: ChildProcess; ended: Promise<string> } {
  const child = fork(options.program, [...options.args], {
    execArgv: [...options.execArgv],
    env: options.env,
    // A group of its own: Ctrl-C reaches `up`, which then stops the services in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => {
      options.logFile.write(`${line}\n`);
      options.onLine(line);
    });
  }
  child.on('message', (message) => {
    if ((message as { ready?: boolean } | null)?.ready === true) onReady();
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit status ${code}`));
  });
  return { child, ended };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended in this very moment.
  }
}

/** Runs a service as a child process and starts it again whenever it ends, until `stop`. */
export function runChildService(options: ChildServiceOptions): ChildService {
  const { clock, conditions, name } = options;
  const about = `service/${name}`;
  const stopping = new AbortController();
  const delays = restartDelays();
  let current: { child: ChildProcess; ended: Promise<string> } | null = null;
  let becameReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    becameReady = resolve;
  });

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const startedAt = clock.now();
      current = start(options, () => {
        conditions.clear(about);
        becameReady();
      });
      const reason = await current.ended;
      if (stopping.signal.aborted) return;
      const delayMs = delays.next(clock.now() - startedAt);
      const seconds = Math.round(delayMs / 1000);
      conditions.report(about, new HeadwaterError('SERVICE_DISCONNECTED', { service: name, reason, seconds }));
      await clock.sleep(delayMs, stopping.signal).catch(() => {});
    }
  };
  const done = loop();

  return {
    name,
    ready,
    pid: () => current?.child.pid,
    async stop(deadlineMs) {
      stopping.abort();
      const running = current;
      if (running === null) return;
      running.child.kill(STOP_SIGNAL);
      const late = new AbortController();
      const timer = clock.sleep(deadlineMs, late.signal).then(
        () => killGroup(running.child),
        () => {},
      );
      await running.ended;
      late.abort();
      await Promise.all([timer, done]);
    },
  };
}
