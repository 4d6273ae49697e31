import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { BUILD } from '../build.ts';
import type { CommandContext } from '../commands/client.ts';
import { createConditionBoard } from '../conditions.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { createLog } from '../log.ts';
import { openRotatingFile } from '../rotatingFile.ts';
import { runChildService } from './childService.ts';
import { type ServiceWishes, serviceArguments } from './serviceArguments.ts';

const STOP_MS = 12_000;

interface RunContext extends CommandContext {
  readonly program: string;
  readonly execArgv: readonly string[];
  readonly order?: ServiceWishes['order'];
}

/** `headwater run <service>`: one child, started again when it ends, its log also on standard error. */
export async function runWithRestarts(name: string, context: RunContext): Promise<ExitCode> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const log = createLog({ level: context.config.log.level as 'info', service: `run ${name}`, build: BUILD });
  const logFile = openRotatingFile(join(context.config.dataDir, 'logs', `${name}.log`));
  const child = runChildService({
    name,
    program: context.program,
    args: serviceArguments(name, context),
    execArgv: context.execArgv,
    env: context.env,
    logFile,
    onLine: (line) => process.stderr.write(`${line}\n`),
    clock: systemClock,
    conditions: createConditionBoard({
      service: 'supervisor',
      clock: systemClock,
      log,
      signal: stop.signal,
      changed() {},
    }),
  });
  await new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }));
  await child.stop(STOP_MS);
  logFile.close();
  return EXIT.ok;
}
