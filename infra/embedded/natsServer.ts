import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { type EmbeddedServer, type ServerExit, startChild, startFailure } from './childProcess.ts';
import { clearTheWay, stopProcess } from './leftovers.ts';
import { findNatsBinary, type NatsBinary } from './natsBinary.ts';
import { defaultMaxFileBytes, type NatsSettings, natsConfig } from './natsConfig.ts';
import { asPort, choosePort, isPortFree, LOOPBACK } from './ports.ts';
import { argumentsOf, findProcesses } from './processIdentity.ts';
import { ensureRuntimeDir, readJson, writeJson, writePrivate } from './runtimeFile.ts';
import { parseVersion, showVersion } from './version.ts';
import { waitUntil } from './waiting.ts';

export interface EmbeddedNatsOptions {
  /** The data folder; everything lies in its `nats/` and `runtime/`. */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Limit of all file streams together, bytes; default 60 % of the free disk. */
  readonly maxFileBytes?: number;
  /** Environment for the search and the server; default `process.env`. HEADWATER_NATS_CACHE moves `nats/bin`. */
  readonly env?: NodeJS.ProcessEnv;
  readonly onExit?: (exit: ServerExit) => void;
  /** How long a running server may take to answer (it reads its store first), ms. */
  readonly startDeadlineMs?: number;
  /** Folders searched after PATH, and apt's folder: tests narrow them. */
  readonly systemDirs?: readonly string[];
  readonly aptFolder?: string;
  /** Ends the search for a server: what is downloaded then is given up. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedNats extends EmbeddedServer {
  /** `nats://127.0.0.1:<port>`, without credentials. */
  readonly url: string;
  readonly user: string;
  readonly pass: string;
  readonly port: number;
  /** `http://127.0.0.1:<port>`: /varz, /jsz, /healthz. */
  readonly monitorUrl: string;
  readonly version: string;
  /** What an acknowledgement of this server means, for people. */
  readonly durability: string;
}

interface NatsState {
  readonly serverName: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly user: string;
  readonly pass: string;
  readonly version: string;
}

const START_TRIES = 4;
const START_DEADLINE_MS = 15 * 60_000;

/**
 * Starts nats-server with JetStream under `<dataDir>/nats` on loopback and waits until it answers.
 * Port and password are chosen once and kept. What a dead Headwater left running is stopped first.
 * Throws EMBEDDED_NATS_MISSING, EMBEDDED_IN_USE, EMBEDDED_START_FAILED, EMBEDDED_START_TIMEOUT, EMBEDDED_NOT_DURABLE.
 */
export async function startEmbeddedNats(options: EmbeddedNatsOptions): Promise<EmbeddedNats> {
  const { clock, log } = options;
  const dataDir = resolve(options.dataDir);
  const folder = join(dataDir, 'nats');
  await ensureRuntimeDir(dataDir);
  await mkdir(join(folder, 'js'), { recursive: true });
  const configPath = join(folder, 'nats.conf');
  const leftover = await clearTheWay(dataDir, 'nats', clock);
  if (leftover) log.warn('stopped the nats-server that an earlier Headwater left', { pid: leftover.pid });
  await stopStrays(configPath, clock);
  const kept = await readJson(statePath(dataDir));
  const binary = await findBinary(options, dataDir, kept);
  const maxFileBytes = options.maxFileBytes ?? (await diskShare(join(folder, 'js')));
  for (let attempt = 1; ; attempt++) {
    const state = await chooseState(kept, binary);
    const settings = { ...state, storeDir: join(folder, 'js'), logFile: join(folder, 'nats-server.log'), maxFileBytes };
    await writePrivate(configPath, natsConfig(settings));
    await writeJson(statePath(dataDir), state);
    try {
      return await launch(options, dataDir, binary, settings);
    } catch (error) {
      // Between the check and the start another program may have taken a port: then, and only then, try others.
      const portsFree = (await isPortFree(state.port)) && (await isPortFree(state.monitorPort));
      if (portsFree || attempt === START_TRIES) throw error;
    }
  }
}

const statePath = (dataDir: string): string => join(dataDir, 'runtime', 'nats.json');
type Kept = Readonly<Record<string, unknown>> | undefined;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value ? value : undefined);

async function findBinary(options: EmbeddedNatsOptions, dataDir: string, kept: Kept): Promise<NatsBinary> {
  const env = options.env ?? process.env;
  const binary = await findNatsBinary({
    cacheDir: resolve(env.HEADWATER_NATS_CACHE || join(dataDir, 'nats', 'bin')),
    env,
    log: options.log,
    lastVersion: parseVersion(text(kept?.version) ?? ''),
    ...(options.systemDirs ? { systemDirs: options.systemDirs } : {}),
    signal: options.signal,
    ...(options.aptFolder ? { aptFolder: options.aptFolder } : {}),
  });
  options.log.info('using nats-server', { path: binary.path, version: showVersion(binary.version) });
  return binary;
}

async function chooseState(kept: Kept, binary: NatsBinary): Promise<NatsState> {
  const port = await choosePort({ server: 'nats', kept: asPort(kept?.port) });
  const monitorPort = await choosePort({ server: 'nats', kept: asPort(kept?.monitorPort), except: [port] });
  return {
    serverName: text(kept?.serverName) ?? `headwater-${randomBytes(4).toString('hex')}`,
    port,
    monitorPort,
    user: 'headwater',
    pass: text(kept?.pass) ?? randomBytes(24).toString('hex'),
    version: showVersion(binary.version),
  };
}

async function launch(
  options: EmbeddedNatsOptions,
  dataDir: string,
  binary: NatsBinary,
  settings: NatsSettings & NatsState,
): Promise<EmbeddedNats> {
  const folder = join(dataDir, 'nats');
  const env = options.env ?? process.env;
  const outputFile = join(folder, 'start.log');
  const child = await startChild({
    name: 'nats',
    file: binary.path,
    args: ['-c', join(folder, 'nats.conf')],
    cwd: folder,
    // Not our whole environment: it may hold passwords of providers.
    env: { PATH: env.PATH, HOME: env.HOME, GOMEMLIMIT: env.GOMEMLIMIT, GOMAXPROCS: env.GOMAXPROCS },
    account: null,
    outputFile,
    runtimeDir: join(dataDir, 'runtime'),
    stopSignal: 'SIGTERM',
    clock: options.clock,
  });
  try {
    const monitorUrl = `http://${LOOPBACK}:${settings.monitorPort}`;
    const logs = [settings.logFile, outputFile];
    const facts = await waitForAnswer(options, child, monitorUrl, settings.serverName, logs);
    if (options.onExit) void child.exited.then(options.onExit);
    const { port, user, pass } = settings;
    return { ...child, url: `nats://${LOOPBACK}:${port}`, port, user, pass, monitorUrl, ...facts };
  } catch (error) {
    child.kill();
    await child.exited;
    throw error;
  }
}

interface NatsFacts {
  readonly version: string;
  readonly durability: string;
}

async function waitForAnswer(
  options: EmbeddedNatsOptions,
  child: EmbeddedServer,
  monitorUrl: string,
  serverName: string,
  logs: readonly string[],
): Promise<NatsFacts> {
  let exit: ServerExit | undefined;
  void child.exited.then((e) => {
    exit = e;
  });
  const deadlineMs = options.startDeadlineMs ?? START_DEADLINE_MS;
  let reason = 'it does not listen yet';
  const facts = await waitUntil(options.clock, deadlineMs, async () => {
    if (exit) throw await startFailure('nats', exit, logs);
    const healthy = await getJson(`${monitorUrl}/healthz`);
    if (healthy?.status !== 'ok') {
      reason = text(healthy?.error) ?? reason;
      return undefined;
    }
    return readFacts(monitorUrl, serverName);
  });
  if (facts) return facts;
  throw new HeadwaterError('EMBEDDED_START_TIMEOUT', {
    server: 'nats',
    seconds: Math.round(deadlineMs / 1000),
    reason,
  });
}

/** Version and durability of the server that answers; undefined while that is another program than ours. */
async function readFacts(monitorUrl: string, serverName: string): Promise<NatsFacts | undefined> {
  const [varz, jsz] = await Promise.all([getJson(`${monitorUrl}/varz`), getJson(`${monitorUrl}/jsz`)]);
  if (varz?.server_name !== serverName || !jsz) return undefined;
  const syncAlways = (jsz.config as { sync_always?: unknown } | undefined)?.sync_always;
  if (syncAlways !== true) throw new HeadwaterError('EMBEDDED_NOT_DURABLE', { syncAlways: String(syncAlways) });
  return { version: String(varz.version), durability: 'sync always: acknowledged means written and synced to disk' };
}

async function getJson(url: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return (await response.json()) as Record<string, unknown>;
  } catch {
    // Nobody listens yet, or somebody else does: the caller asks again.
    return undefined;
  }
}

/**
 * JetStream does not lock its store, so two servers on one would destroy it. A server can run without a pid file (we
 * died between its start and the record); its command line names our configuration file.
 */
async function stopStrays(configPath: string, clock: Clock): Promise<void> {
  const strays = await findProcesses(async (pid) => {
    const [, ...args] = await argumentsOf(pid);
    return args[0] === '-c' && args[1] === configPath;
  });
  for (const stray of strays) await stopProcess(stray, 'SIGTERM', clock);
}

async function diskShare(storeDir: string): Promise<number> {
  const disk = await statfs(storeDir);
  return defaultMaxFileBytes(disk.bavail * disk.bsize, await bytesUnder(storeDir));
}

async function bytesUnder(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries) {
    // Allocated blocks, not length: sparse files take no disk.
    if (entry.isFile())
      bytes += await stat(join(entry.parentPath, entry.name)).then(
        (s) => s.blocks * 512,
        () => 0,
      );
  }
  return bytes;
}
