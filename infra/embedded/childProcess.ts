import { spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Account } from './account.ts';
import { lastLines } from './command.ts';
import { folderIdentity } from './folderIdentity.ts';
import { identityOf } from './processIdentity.ts';
import { errno, writeJson } from './runtimeFile.ts';
import { settlesWithin } from './waiting.ts';

export type ServerName = 'nats' | 'postgres';

export interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running server of ours. It lives in a process group of its own: Ctrl-C in the terminal does not reach it. */
export interface EmbeddedServer {
  readonly pid: number;
  /** Resolves when the process has ended, however it did; never rejects. */
  readonly exited: Promise<ServerExit>;
  /** Orderly stop; after `deadlineMs` its process group (and nothing else) is killed. Resolves once it has ended. */
  stop(deadlineMs: number): Promise<void>;
  /** SIGKILL to its process group, at once. */
  kill(): void;
}

export interface ServerCommand {
  readonly name: ServerName;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The user it runs as; null: ours. */
  readonly account: Account | null;
  /** Gets what it prints before its own log file is open; truncated at each start. */
  readonly outputFile: string;
  readonly runtimeDir: string;
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  readonly clock: Clock;
}

export const pidFile = (runtimeDir: string, name: ServerName): string => join(runtimeDir, `${name}.pid.json`);

/** Sends a signal to a process group (or one process); a target that is gone already is no error. */
export function signalProcess(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    if (errno(error) !== 'ESRCH') throw error;
  }
}

/**
 * Starts a server and records it in `<runtimeDir>/<name>.pid.json`, where the next start finds it when we die before it.
 * Throws EMBEDDED_START_FAILED when the program cannot be executed.
 */
export async function startChild(command: ServerCommand): Promise<EmbeddedServer> {
  const { name, clock, account } = command;
  // A file, not a pipe: a server must survive the death of its parent without a SIGPIPE in the middle of a write.
  const output = await open(command.outputFile, 'w', 0o600);
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  });
  let ended = false;
  const end = new Promise<ServerExit>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = true;
      resolve({ code, signal });
    });
  });
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  } catch (error) {
    throw new HeadwaterError('EMBEDDED_START_FAILED', { server: name, how: 'not executed', output: String(error) });
  } finally {
    await output.close();
  }
  const pid = child.pid!;
  const kill = () => {
    // Once it has ended the pid may belong to somebody else.
    if (!ended) signalProcess(-pid, 'SIGKILL');
  };
  await recordProcess(command, pid);
  const forget = () => rm(pidFile(command.runtimeDir, name), { force: true }).catch(() => {});
  // Told only after the record is gone, so that it cannot take the record of the next start with it.
  const exited = end.then((exit) => forget().then(() => exit));
  const stop = async (deadlineMs: number) => {
    if (!ended) signalProcess(pid, command.stopSignal);
    if (!(await settlesWithin(clock, deadlineMs, exited))) kill();
    await exited;
  };
  return { pid, exited, stop, kill };
}

async function recordProcess(command: ServerCommand, pid: number): Promise<void> {
  const [server, owner] = await Promise.all([identityOf(pid), identityOf(process.pid)]);
  if (!server || !owner) return;
  const folder = folderIdentity(dirname(command.runtimeDir));
  await writeJson(pidFile(command.runtimeDir, command.name), { server, owner, stopSignal: command.stopSignal, folder });
}

/** What a server that ended early had to say, as EMBEDDED_START_FAILED. */
export async function startFailure(
  name: ServerName,
  exit: ServerExit,
  logs: readonly string[],
): Promise<HeadwaterError> {
  const texts = await Promise.all(logs.map((path) => readFile(path, 'utf8').catch(() => '')));
  const how = exit.signal ? `killed by ${exit.signal}` : `exit status ${exit.code}`;
  return new HeadwaterError('EMBEDDED_START_FAILED', { server: name, how, output: lastLines(texts.join('\n')) });
}
