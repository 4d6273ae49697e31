import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { systemClock } from '../../infra/base/clock.ts';
import { type Log, silentLog } from '../../infra/base/log.ts';
import {
  type EmbeddedNats,
  type EmbeddedPostgres,
  startEmbeddedNats,
  startEmbeddedPostgres,
  stopLeftovers,
} from '../../infra/embedded/index.ts';
import { identityOf, isRunning, type ProcessIdentity } from '../../infra/embedded/processIdentity.ts';

/**
 * One real NATS and one real Postgres for a test file, on free ports of the loopback address, in a temporary data folder
 * of their own. Use:
 *
 *     let services: Services;
 *     beforeAll(async () => { services = await startServices(); });
 *     afterAll(() => services.stop());
 *     const url = await services.freshDatabase();   // an empty database for this test alone
 *
 * NATS: `natsUrl` + `natsUser` + `natsPass` for `connect({ servers, user, pass })`; `natsUrlWithLogin` is the same in one
 * string, for NATS_URL of a child process. Ports and passwords stay the same over kill and start.
 * Streams are shared by the tests of a file: `freshNats()` stops NATS, empties its store and starts it again.
 */
export interface Services {
  /** The data folder (mode 0755); removed by `stop`. */
  readonly dataDir: string;
  readonly natsUrl: string;
  readonly natsUser: string;
  readonly natsPass: string;
  /** `nats://user:password@127.0.0.1:port`. */
  readonly natsUrlWithLogin: string;
  /** `http://127.0.0.1:port`: /varz, /jsz. */
  readonly natsMonitorUrl: string;
  /** The database `headwater`, shared by the file. Prefer `freshDatabase`. */
  readonly databaseUrl: string;
  /** Makes an empty database and gives its URL. It lives until `stop`. */
  freshDatabase(): Promise<string>;
  /** Orderly stop; a stopped server stays stopped. */
  stopNats(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  killNats(): Promise<void>;
  /** Starts it again on the same port with the same store, also with another disk limit. No-op while it runs. */
  startNats(options?: { readonly maxFileBytes?: number }): Promise<void>;
  freshNats(options?: { readonly maxFileBytes?: number }): Promise<void>;
  stopPostgres(): Promise<void>;
  killPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  /** Pids, for SIGSTOP and the like. Throws while the server is down. */
  natsPid(): number;
  postgresPid(): number;
  /** Stops everything and removes the folder. */
  stop(): Promise<void>;
}

export interface ServicesOptions {
  /** Default true each. With false, everything about that server throws. */
  readonly nats?: boolean;
  readonly postgres?: boolean;
  /** Disk limit of all NATS streams, bytes; default 4 GiB. */
  readonly natsMaxFileBytes?: number;
  readonly log?: Log;
}

const PREFIX = 'headwater-test-';
const STOP_MS = 10_000;
const GIB = 1024 ** 3;
const CHECKOUT = resolve(import.meta.dirname, '../..');

/** Where downloaded nats-server binaries are kept for all tests: HEADWATER_NATS_CACHE, else `data/nats/bin` here. */
export const natsCache = (): string => resolve(process.env.HEADWATER_NATS_CACHE || join(CHECKOUT, 'data/nats/bin'));

/** A temporary folder that other users may enter, so that a server of another user can work below it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  await chmod(folder, 0o755);
  return folder;
}

/** Starts the servers. Takes about 3 s; the very first run on a machine also fetches nats-server. */
export async function startServices(options: ServicesOptions = {}): Promise<Services> {
  await removeAbandoned();
  const dataDir = await temporaryFolder();
  const log = options.log ?? silentLog;
  const settings = { dataDir, log, clock: systemClock };
  const env = { ...process.env, HEADWATER_NATS_CACHE: natsCache() };
  let maxFileBytes = options.natsMaxFileBytes ?? 4 * GIB;
  const nats = slot<EmbeddedNats>('NATS', () => startEmbeddedNats({ ...settings, env, maxFileBytes }));
  const postgres = slot<EmbeddedPostgres>('Postgres', () => startEmbeddedPostgres(settings));
  const stop = async () => {
    await Promise.all([nats.end('stop'), postgres.end('stop')]);
    await removeFolder(dataDir);
  };
  try {
    const wanted = [options.nats === false ? null : nats, options.postgres === false ? null : postgres];
    // Both settle before an error is thrown on, so that `stop` sees every server that came up.
    const results = await Promise.allSettled(wanted.map((server) => server?.start()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  } catch (error) {
    await stop();
    throw error;
  }
  const startNats = (again: { readonly maxFileBytes?: number } = {}) => {
    maxFileBytes = again.maxFileBytes ?? maxFileBytes;
    return nats.start();
  };
  return {
    dataDir,
    get natsUrl() {
      return nats.last().url;
    },
    get natsUser() {
      return nats.last().user;
    },
    get natsPass() {
      return nats.last().pass;
    },
    get natsUrlWithLogin() {
      const { url, user, pass } = nats.last();
      return url.replace('nats://', `nats://${user}:${pass}@`);
    },
    get natsMonitorUrl() {
      return nats.last().monitorUrl;
    },
    get databaseUrl() {
      return postgres.last().url;
    },
    freshDatabase: () => createDatabase(postgres.last().url),
    stopNats: () => nats.end('stop'),
    killNats: () => nats.end('kill'),
    startNats,
    freshNats: async (again = {}) => {
      await nats.end('kill');
      await rm(join(dataDir, 'nats/js'), { recursive: true, force: true });
      await startNats(again);
    },
    stopPostgres: () => postgres.end('stop'),
    killPostgres: () => postgres.end('kill'),
    startPostgres: () => postgres.start(),
    natsPid: () => nats.running().pid,
    postgresPid: () => postgres.running().pid,
    stop,
  };
}

/** One server that is started, ended and started again. */
function slot<S extends EmbeddedNats | EmbeddedPostgres>(name: string, start: () => Promise<S>) {
  let last: S | undefined;
  let up = false;
  const need = (server: S | undefined): S => {
    if (server) return server;
    throw new Error(`${name} is not running in this test`);
  };
  return {
    last: () => need(last),
    running: () => need(up ? last : undefined),
    async start() {
      if (up) return;
      last = await start();
      up = true;
      const self = last;
      void self.exited.then(() => {
        if (last === self) up = false;
      });
    },
    async end(how: 'stop' | 'kill') {
      if (!last) return;
      if (how === 'stop') await last.stop(STOP_MS);
      else last.kill();
      await last.exited;
      up = false;
    },
  };
}

async function createDatabase(adminUrl: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

const ownerFile = (folder: string): string => join(folder, 'test-process.json');

/** Writes down that this process uses the folder, so that tests beside it leave alone what looks abandoned there. */
export async function ownFolder(folder: string): Promise<void> {
  await writeFile(ownerFile(folder), JSON.stringify(await identityOf(process.pid)));
}

async function isOwned(folder: string): Promise<boolean> {
  const text = await readFile(ownerFile(folder), 'utf8').catch(() => 'null');
  const owner = JSON.parse(text) as ProcessIdentity | null;
  return owner !== null && isRunning(owner);
}

/** Ends what a test run that was killed left behind: its servers (found by their pid files) and its folder. */
export async function removeAbandoned(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const folder = join(tmpdir(), name);
    if (await isOwned(folder)) continue;
    // The data folder of a whole Headwater lies one deeper.
    for (const dataDir of [folder, join(folder, 'data')]) {
      const runtime = await readdir(join(dataDir, 'runtime')).catch(() => [] as string[]);
      // Without a pid file it is either being set up by a neighbour, or it was left after its servers had ended.
      if (!runtime.some((file) => file.endsWith('.pid.json'))) continue;
      const left = await stopLeftovers(dataDir).catch(() => null);
      const inUse = left === null || left.some((server) => server.outcome === 'in_use');
      if (!inUse && left.length > 0) await removeFolder(folder);
    }
  }
}

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
