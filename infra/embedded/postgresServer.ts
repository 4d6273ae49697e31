import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { postgresAccount } from './account.ts';
import { type EmbeddedServer, type ServerExit, startChild, startFailure } from './childProcess.ts';
import { clearTheWay } from './leftovers.ts';
import { asPort, choosePort, isPortFree, LOOPBACK } from './ports.ts';
import { findPostgresBinaries, type PostgresSource, reachableBinaries } from './postgresBinary.ts';
import {
  type Cluster,
  clearCluster,
  clusterMajor,
  configureCluster,
  createCluster,
  DB_USER,
  resetPassword,
} from './postgresCluster.ts';
import { EXTERNAL_ROOT, knownClusterId, postgresFolder } from './postgresFolder.ts';
import { ensureRuntimeDir, readJson, writeJson } from './runtimeFile.ts';
import { showVersion } from './version.ts';
import { waitUntil } from './waiting.ts';

export interface EmbeddedPostgresOptions {
  /** The data folder; the cluster lies in its `postgres/` (which may be a link, see postgresFolder.ts). */
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly env?: NodeJS.ProcessEnv;
  readonly onExit?: (exit: ServerExit) => void;
  /** How long a running server may take to accept connections (it may have to recover first), ms. */
  readonly startDeadlineMs?: number;
  /** Where the cluster goes when the server's account cannot enter the data folder; default /var/lib/headwater. */
  readonly externalRoot?: string;
  /** Where server binaries may come from, in this order; default machine, apt, npm. */
  readonly sources?: readonly PostgresSource[];
  /** Ends the search for a server; an installation that runs is finished first. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres extends EmbeddedServer {
  /** `postgres://user:password@127.0.0.1:port/headwater`: holds the password, never log it. */
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Where the files really lie. */
  readonly folder: string;
}

interface PostgresState {
  readonly clusterId: string;
  readonly port: number;
  readonly pass: string;
}

const DATABASE = 'headwater';
const START_TRIES = 4;
const START_DEADLINE_MS = 15 * 60_000;
type Kept = Readonly<Record<string, unknown>> | undefined;

/**
 * Starts PostgreSQL under `<dataDir>/postgres` on loopback, as another user when we are root, makes the cluster and the
 * database `headwater` when they are missing, and waits until it accepts connections. Port and password are kept.
 * Throws the EMBEDDED_POSTGRES_*, EMBEDDED_CLUSTER_MISSING, EMBEDDED_CLUSTER_SHARED, EMBEDDED_INITDB_FAILED, EMBEDDED_NO_ACCOUNT,
 * EMBEDDED_IN_USE and EMBEDDED_START_* errors.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { clock, log } = options;
  const dataDir = resolve(options.dataDir);
  await ensureRuntimeDir(dataDir);
  const leftover = await clearTheWay(dataDir, 'postgres', clock);
  if (leftover) log.warn('stopped the PostgreSQL that an earlier Headwater left', { pid: leftover.pid });
  const kept = await readJson(statePath(dataDir));
  const externalRoot = options.externalRoot ?? EXTERNAL_ROOT;
  const known = await knownClusterId(dataDir, hex(kept?.clusterId), externalRoot);
  const clusterId = known ?? randomBytes(8).toString('hex');
  const cluster = await findCluster(options, dataDir, clusterId);
  const state = await prepareCluster(cluster, dataDir, clusterId, kept);
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort({ server: 'postgres', kept: state.port });
    await writeJson(statePath(dataDir), { ...state, port });
    await configureCluster(cluster, port);
    try {
      return await launch(options, dataDir, cluster, { ...state, port });
    } catch (error) {
      // Between the check and the start another program may have taken the port: then, and only then, try another.
      if ((await isPortFree(port)) || attempt === START_TRIES) throw error;
    }
  }
}

const statePath = (dataDir: string): string => join(dataDir, 'runtime', 'postgres.json');
const hex = (value: unknown): string | null =>
  typeof value === 'string' && /^[0-9a-f]{8,}$/.test(value) ? value : null;

async function findCluster(options: EmbeddedPostgresOptions, dataDir: string, clusterId: string): Promise<Cluster> {
  const { log, clock } = options;
  const env = options.env ?? process.env;
  const externalRoot = options.externalRoot ?? EXTERNAL_ROOT;
  const inPlace = join(dataDir, 'postgres', 'cluster');
  const wantedMajor = await clusterMajor(inPlace);
  const { signal } = options;
  const search = {
    wantedMajor,
    folder: inPlace,
    env,
    log,
    signal,
    ...(options.sources ? { sources: options.sources } : {}),
  };
  // Before the account: installing the package makes the user `postgres`.
  const found = await findPostgresBinaries(search);
  const account = await postgresAccount(inPlace, log);
  const binaries = await reachableBinaries(found, account, externalRoot);
  const home = await postgresFolder({ dataDir, clusterId, account, externalRoot, log });
  log.info('using PostgreSQL', { program: binaries.dir, version: showVersion(binaries.version), folder: home });
  // Not our whole environment: it may hold passwords of providers, and PG* variables change what the programs do.
  const childEnv = { PATH: env.PATH, LD_LIBRARY_PATH: env.LD_LIBRARY_PATH, LC_ALL: 'C' };
  return { home, dir: join(home, 'cluster'), account, binaries, env: childEnv, clock, log };
}

async function prepareCluster(
  cluster: Cluster,
  dataDir: string,
  clusterId: string,
  kept: Kept,
): Promise<PostgresState> {
  const known = hex(kept?.pass);
  const pass = known ?? randomBytes(24).toString('hex');
  const state = { clusterId, pass, port: await choosePort({ server: 'postgres', kept: asPort(kept?.port) }) };
  const exists = (await clusterMajor(cluster.dir)) !== null;
  if (exists) await clearCluster(cluster);
  if (exists && !known) await resetPassword(cluster, pass);
  // The password is kept before the cluster has it: a crash in between makes a new cluster, never a lost password.
  await writeJson(statePath(dataDir), state);
  if (!exists) await createCluster(cluster, pass);
  return state;
}

async function launch(
  options: EmbeddedPostgresOptions,
  dataDir: string,
  cluster: Cluster,
  state: PostgresState,
): Promise<EmbeddedPostgres> {
  const outputFile = join(dataDir, 'runtime', 'postgres.start.log');
  const child = await startChild({
    name: 'postgres',
    file: join(cluster.binaries.dir, 'postgres'),
    args: ['-D', cluster.dir],
    cwd: cluster.home,
    env: cluster.env,
    account: cluster.account,
    outputFile,
    runtimeDir: join(dataDir, 'runtime'),
    // Fast shutdown: SIGTERM would wait for every client to leave by itself.
    stopSignal: 'SIGINT',
    clock: options.clock,
  });
  try {
    await waitForConnections(options, child, cluster, state, outputFile);
    await ensureDatabase(state);
    if (options.onExit) void child.exited.then(options.onExit);
    const version = showVersion(cluster.binaries.version);
    return { ...child, url: urlOf(state, DATABASE), port: state.port, version, folder: cluster.home };
  } catch (error) {
    child.kill();
    await child.exited;
    throw error;
  }
}

const urlOf = (state: PostgresState, database: string): string =>
  `postgres://${DB_USER}:${state.pass}@${LOOPBACK}:${state.port}/${database}`;

async function withClient<T>(state: PostgresState, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: urlOf(state, 'postgres'), connectionTimeoutMillis: 5_000 });
  // Without a listener a connection that breaks while it is idle would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function waitForConnections(
  options: EmbeddedPostgresOptions,
  child: EmbeddedServer,
  cluster: Cluster,
  state: PostgresState,
  outputFile: string,
): Promise<void> {
  let exit: ServerExit | undefined;
  void child.exited.then((e) => {
    exit = e;
  });
  const deadlineMs = options.startDeadlineMs ?? START_DEADLINE_MS;
  const logs = [join(cluster.dir, 'log', `postgres-${weekday(options.clock)}.log`), outputFile];
  let reason = '';
  const answered = await waitUntil(options.clock, deadlineMs, async () => {
    if (exit) throw await startFailure('postgres', exit, logs);
    try {
      return await withClient(state, async (client) => {
        const { rows } = await client.query<{ dir: string }>(`select current_setting('data_directory') as dir`);
        // Another program that took the port in the same moment is not ours: ask again until ours has failed.
        return rows[0]?.dir === cluster.dir ? true : undefined;
      });
    } catch (error) {
      reason = String(error);
      return undefined;
    }
  });
  if (answered) return;
  throw new HeadwaterError('EMBEDDED_START_TIMEOUT', { server: 'postgres', seconds: deadlineMs / 1000, reason });
}

const weekday = (clock: Clock): string => new Date(clock.now()).toUTCString().slice(0, 3);

async function ensureDatabase(state: PostgresState): Promise<void> {
  await withClient(state, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (!rowCount) await client.query(`create database ${DATABASE}`);
  });
}
