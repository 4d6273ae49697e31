import { systemClock } from '../../base/clock.ts';
import { stopLeftovers } from '../../embedded/index.ts';
import { isRunning } from '../../embedded/processIdentity.ts';
import { waitUntil } from '../../embedded/waiting.ts';
import { removeEndpoints } from '../endpoints.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { isAlive, readServiceViews, writeServiceView } from '../serviceFile.ts';
import { runningUp } from '../up/lock.ts';
import type { CommandContext } from './client.ts';

/** `up` stops services, then the database, then NATS; each has its own deadline below this. */
const UP_STOP_MS = 60_000;

/** What a crashed `up` could not take back itself: its address, and the last word of processes that were killed. */
function clearTraces(dataDir: string): void {
  removeEndpoints(dataDir);
  for (const view of readServiceViews(dataDir)) {
    if (view.state === 'stopped' || isAlive(view.pid)) continue;
    writeServiceView(dataDir, { ...view, state: 'stopped', conditions: [] });
  }
}

/** `headwater down`: stops the `up` of this data folder if one runs, and the servers that a crashed one left. */
export async function downCommand({ config, print }: CommandContext): Promise<ExitCode> {
  const running = await runningUp(config.dataDir);
  if (running) {
    print(`stopping headwater up (pid ${running.pid}) ...`);
    process.kill(running.pid, 'SIGTERM');
    const gone = async () => ((await isRunning(running)) ? undefined : true);
    if (!(await waitUntil(systemClock, UP_STOP_MS, gone))) {
      print(`it did not stop within ${UP_STOP_MS / 1000} s`);
      return EXIT.failed;
    }
  }
  const left = await stopLeftovers(config.dataDir);
  for (const server of left) print(`${server.name} (pid ${server.pid}): ${server.outcome.replace('_', ' ')}`);
  // A service ends by itself once its `up` is gone; it may need a moment to hand back its work.
  const services = readServiceViews(config.dataDir).filter((v) => v.state !== 'stopped' && isAlive(v.pid));
  const ended = async () => (services.some((v) => isAlive(v.pid)) ? undefined : true);
  await waitUntil(systemClock, UP_STOP_MS, ended);
  clearTraces(config.dataDir);
  print(running || left.length > 0 ? 'stopped' : 'nothing was running');
  return EXIT.ok;
}
