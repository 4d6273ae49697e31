import { join, relative } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { type Config, providersOf } from '../../config/index.ts';
import { migrate } from '../../migrations/index.ts';
import { applyTopology } from '../../nats/index.ts';
import { waitForDatabase } from '../../postgres/index.ts';
import { BUILD, VERSION } from '../build.ts';
import { type CommandContext, withDatabase, withNats } from '../commands/client.ts';
import { watchTrouble } from '../commands/patience.ts';
import { type ConditionBoard, createConditionBoard } from '../conditions.ts';
import { type Endpoints, removeEndpoints, writeEndpoints } from '../endpoints.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { createLog } from '../log.ts';
import { openRotatingFile, type RotatingFile } from '../rotatingFile.ts';
import { writeServiceView } from '../serviceFile.ts';
import { topologyWishes } from '../topologyWishes.ts';
import { bannerLines } from './banner.ts';
import { type ChildService, runChildService } from './childService.ts';
import { startEmbeddedServers } from './embeddedServers.ts';
import { firstKey } from './firstKey.ts';
import { loadSample } from './loadSample.ts';
import { lockDataFolder } from './lock.ts';
import { type ServiceWishes, serviceArguments } from './serviceArguments.ts';
import { UP_SERVICES } from './table.ts';
import { terminalLine } from './terminal.ts';
import { untilReady } from './untilReady.ts';

/** A service hands back its leases and commits within 10 s; a little more before it is killed. */
const SERVICE_STOP_MS = 12_000;
const SERVER_STOP_MS = 15_000;

/** Things to close, closed in the opposite order, each even when another fails. */
class Closers {
  readonly #closers: (() => Promise<unknown>)[] = [];
  add(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }
  async closeAll(): Promise<void> {
    for (const close of this.#closers.reverse()) await close().catch(() => {});
  }
}

interface UpContext extends CommandContext {
  readonly program: string;
  readonly execArgv: readonly string[];
  readonly order?: ServiceWishes['order'];
}

interface Parts {
  readonly context: UpContext;
  readonly conditions: ConditionBoard;
  readonly closers: Closers;
}

function startServices({ context, conditions, closers }: Parts): readonly ChildService[] {
  const { config, env, print } = context;
  const services = UP_SERVICES.map((name) => {
    const logFile = openRotatingFile(join(config.dataDir, 'logs', `${name}.log`));
    const service = runChildService({
      name,
      program: context.program,
      args: serviceArguments(name, context),
      execArgv: context.execArgv,
      env,
      logFile,
      onLine: terminalLine(name, print),
      clock: systemClock,
      conditions,
    });
    return { service, logFile };
  });
  closers.add(async () => {
    await Promise.all(services.map(({ service }) => service.stop(SERVICE_STOP_MS)));
    for (const { logFile } of services) logFile.close();
  });
  return services.map(({ service }) => service);
}

/** Tables and streams exist before the first service looks for them, and a server that drops an option is refused here. */
async function prepare(context: UpContext, endpoints: Endpoints, log: Log): Promise<void> {
  const wishes = await topologyWishes(context.config, endpoints, context.signal);
  await withNats(context, ({ link }) => applyTopology(link, wishes), endpoints);
  const trouble = watchTrouble({ patience: 'endless', clock: systemClock, print: context.print, limitMs: 0 });
  const waiting = { clock: systemClock, signal: context.signal, conditions: trouble.conditions };
  await withDatabase(context, (db) => waitForDatabase(db, waiting), endpoints);
  trouble.end();
  await migrate(endpoints.databaseUrl, log);
}

const logOptions = (config: Config, file: RotatingFile, terminal: (line: string) => void) => ({
  level: config.log.level as 'info',
  service: 'supervisor',
  build: BUILD,
  write: (line: string) => {
    file.write(line);
    terminal(line);
  },
});

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** From nothing to ready; what it opens is in `closers` at once. Returns when everything works. */
async function bringUp(parts: Parts, log: Log): Promise<void> {
  const { context, conditions, closers } = parts;
  const { config, env, print, signal } = context;
  const startedAt = systemClock.now();
  print('starting NATS and PostgreSQL ...');
  const servers = await startEmbeddedServers({ config, env, clock: systemClock, log, conditions, signal });
  closers.add(() => servers.stop(SERVER_STOP_MS));
  signal.throwIfAborted();
  writeEndpoints(config.dataDir, servers.endpoints);
  closers.add(async () => removeEndpoints(config.dataDir));
  await prepare(context, servers.endpoints, log);
  print('starting the services ...');
  const services = startServices(parts);
  await untilReady(services, { clock: systemClock, signal, print });
  await loadSample(context, servers.endpoints);
  const key = await withDatabase(context, (db) => firstKey(db, config.dataDir), servers.endpoints);
  const lines = bannerLines({
    version: VERSION,
    address: config.api.publicUrl ?? `http://${shownHost(config.api.host)}:${config.api.port}`,
    key,
    keyFile: relative(process.cwd(), join(config.dataDir, 'runtime', 'first-key')),
    logFolder: relative(process.cwd(), join(config.dataDir, 'logs')),
    providers: providersOf(config).length,
    notes: servers.notes,
    seconds: Math.round((systemClock.now() - startedAt) / 1000),
  });
  for (const line of lines) print(line);
}

const shownHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host);

/**
 * `headwater up`: the servers that are not given, every service, the sample while there is no provider; in the
 * foreground until Ctrl-C or SIGTERM, which stop all of it in order. Whatever ends is started again meanwhile.
 */
export async function up(context: UpContext): Promise<ExitCode> {
  const { config, signal, print } = context;
  const unlock = await lockDataFolder(config.dataDir);
  const closers = new Closers();
  closers.add(unlock);
  const logFile = openRotatingFile(join(config.dataDir, 'logs', 'up.log'));
  closers.add(async () => logFile.close());
  const startedAt = systemClock.now();
  const log = createLog(logOptions(config, logFile, terminalLine('up', print)));
  const conditions = createConditionBoard({
    service: 'supervisor',
    clock: systemClock,
    log,
    signal,
    changed: (open) => show(open, 'ready'),
  });
  const show = (open: ReturnType<typeof conditions.current>, state: 'starting' | 'ready' | 'stopped') =>
    writeServiceView(config.dataDir, { service: 'supervisor', pid: process.pid, state, startedAt, conditions: open });
  show([], 'starting');
  signal.addEventListener('abort', () => print('stopping ... (again: at once, without order)'), { once: true });
  try {
    await bringUp({ context, conditions, closers }, log);
    show(conditions.current(), 'ready');
    await aborted(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await closers.closeAll();
    show([], 'stopped');
  }
  print('stopped');
  return EXIT.ok;
}
