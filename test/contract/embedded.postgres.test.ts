import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { postgresAccount } from '../../infra/embedded/account.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../infra/embedded/index.ts';
import { findPostgresBinaries, reachableBinaries } from '../../infra/embedded/postgresBinary.ts';
import { createCluster } from '../../infra/embedded/postgresCluster.ts';
import { root, titled } from '../kit/machine.ts';
import { temporaryFolder } from '../kit/services.ts';

let folder: string;
const running: EmbeddedPostgres[] = [];
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop(10_000)));
  await rm(folder, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const externalRoot = join(folder, 'outside');
  const defaults = { dataDir: join(folder, 'data'), externalRoot, log: silentLog, clock: systemClock };
  const server = await startEmbeddedPostgres({ ...defaults, ...options });
  running.push(server);
  return server;
}

async function rows(url: string, sql: string): Promise<readonly any[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const save = (server: EmbeddedPostgres) => rows(server.url, 'create table kept as select 42 as n');
const saved = async (server: EmbeddedPostgres) => (await rows(server.url, 'select n from kept'))[0].n as number;

describe('start and stop', () => {
  test('a restart keeps data, port and password, after an orderly stop with a client connected and after SIGKILL', async () => {
    const first = await start();
    await save(first);
    const idle = new Client({ connectionString: first.url });
    idle.on('error', () => {});
    await idle.connect();
    await first.stop(10_000);
    expect(await first.exited).toEqual({ code: 0, signal: null });
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await saved(second)).toBe(42);
    // A backend in the middle of a query outlives its postmaster for a moment.
    const busy = rows(second.url, 'select count(*) from generate_series(1, 30000000)').catch(() => 'cut');
    second.kill();
    await second.exited;
    expect(await saved(await start())).toBe(42);
    expect(await busy).toBe('cut');
  });

  test('it is UTF-8, on loopback without a socket, safe, and asks for a password', async () => {
    const server = await start();
    const show = async (name: string) => (await rows(server.url, `select current_setting('${name}') as v`))[0].v;
    const settings = [
      'server_encoding',
      'listen_addresses',
      'unix_socket_directories',
      'synchronous_commit',
      'fsync',
      'jit',
    ];
    expect(await Promise.all(settings.map(show))).toEqual(['UTF8', '127.0.0.1', '', 'on', 'on', 'off']);
    expect(await rows(server.url, `select lower('ÄÉ') as l`)).toEqual([{ l: 'äé' }]);
    const wrong = server.url.replace(/:[0-9a-f]+@/, ':wrong@');
    await expect(rows(wrong, 'select 1')).rejects.toThrow('password authentication failed');
    expect((await stat(join(folder, 'data/runtime/postgres.json'))).mode & 0o777).toBe(0o600);
  });

  test('operator.conf has the last word', async () => {
    const first = await start();
    await first.stop(10_000);
    await writeFile(join(first.folder, 'cluster/operator.conf'), `work_mem = '5MB'\n`, { mode: 0o644 });
    expect(await rows((await start()).url, 'show work_mem')).toEqual([{ work_mem: '5MB' }]);
  });

  test('a port that another program took is replaced', async () => {
    const first = await start();
    await save(first);
    await first.stop(10_000);
    const taken = await occupy(first.port);
    const second = await start();
    expect(second.port).not.toBe(first.port);
    expect(await saved(second)).toBe(42);
    await new Promise((resolve) => taken.close(resolve));
  });

  test('a postmaster.pid that names a living process of somebody else does not stop the start', async () => {
    const first = await start();
    await save(first);
    const pidPath = join(first.folder, 'cluster/postmaster.pid');
    const text = await readFile(pidPath, 'utf8');
    first.kill();
    await first.exited;
    await writeFile(pidPath, text.replace(/^\d+/, String(process.pid)));
    expect(await saved(await start())).toBe(42);
  });
});

describe('what was lost', () => {
  test('the runtime folder: the password is set anew and the data stays', async () => {
    const first = await start();
    await save(first);
    await first.stop(10_000);
    await rm(join(folder, 'data/runtime'), { recursive: true });
    const second = await start();
    expect(second.url).not.toBe(first.url);
    expect(await saved(second)).toBe(42);
  });

  test('the server of its major version: EMBEDDED_POSTGRES_MAJOR, and nothing is touched', async () => {
    await mkdir(join(folder, 'data/postgres/cluster'), { recursive: true });
    await writeFile(join(folder, 'data/postgres/cluster/PG_VERSION'), '11\n');
    const error = await start({ sources: ['machine', 'npm'] }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_POSTGRES_MAJOR', fields: { wanted: 11 } });
    expect(await readdir(join(folder, 'data/postgres/cluster'))).toEqual(['PG_VERSION']);
  });

  test('an interrupted first start: the half-made cluster is made again', async () => {
    await mkdir(join(folder, 'data/postgres/cluster.new'), { recursive: true });
    await writeFile(join(folder, 'data/postgres/cluster.new/PG_VERSION'), '15\n');
    const server = await start();
    await save(server);
    expect((await readdir(server.folder)).sort()).toEqual(['cluster']);
  });

  test('a new cluster that cannot be made is EMBEDDED_INITDB_FAILED with the words of initdb', async () => {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'initdb'), '#!/bin/sh\necho "no room on the moon" >&2; exit 1\n');
    await chmod(join(bin, 'initdb'), 0o755);
    const cluster = { home: folder, dir: join(folder, 'cluster'), account: null, env: {}, clock: systemClock };
    const broken = createCluster({ ...cluster, log: silentLog, binaries: { dir: bin, version: [15, 0, 0] } }, 'ab');
    await expect(broken).rejects.toThrow(/EMBEDDED_INITDB_FAILED.*no room on the moon/);
    expect(await readdir(folder)).toEqual(['bin']);
  });
});

describe.skipIf(!root().ok)(titled('root with a data folder that other users cannot enter', root()), () => {
  const closedData = async () => {
    await mkdir(join(folder, 'closed'), { mode: 0o700 });
    return join(folder, 'closed/data');
  };

  test('the cluster lies outside, is found again, and is not taken for the one of a new data folder', async () => {
    const dataDir = await closedData();
    const first = await start({ dataDir });
    await save(first);
    const link = await readlink(join(dataDir, 'postgres'));
    expect(first.folder).toBe(link);
    expect(link.startsWith(join(folder, 'outside/'))).toBe(true);
    expect((await stat(link)).mode & 0o777).toBe(0o700);
    await first.stop(10_000);
    const second = await start({ dataDir });
    expect(await saved(second)).toBe(42);
    await second.stop(10_000);
    await rm(dataDir, { recursive: true });
    const third = await start({ dataDir });
    expect(third.folder).not.toBe(link);
    await expect(saved(third)).rejects.toThrow('does not exist');
  });

  test('a cluster made before the folder was closed moves outside with its data', async () => {
    await mkdir(join(folder, 'closed'), { mode: 0o755 });
    const dataDir = join(folder, 'closed/data');
    const first = await start({ dataDir });
    await save(first);
    expect(first.folder).toBe(join(dataDir, 'postgres'));
    await first.stop(10_000);
    await chmod(join(folder, 'closed'), 0o700);
    const second = await start({ dataDir });
    expect((await lstat(join(dataDir, 'postgres'))).isSymbolicLink()).toBe(true);
    expect(await saved(second)).toBe(42);
  });

  test('a copy of the data folder is refused, a moved one is not', async () => {
    const dataDir = await closedData();
    const first = await start({ dataDir });
    await save(first);
    await first.stop(10_000);
    const copy = join(folder, 'closed/copy');
    await cp(dataDir, copy, { recursive: true, verbatimSymlinks: true });
    const error = await start({ dataDir: copy }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_CLUSTER_SHARED', fields: { owner: dataDir, target: first.folder } });
    // As the hint says.
    await rm(join(copy, 'postgres'));
    const empty = await start({ dataDir: copy });
    expect(empty.folder).not.toBe(first.folder);
    await expect(saved(empty)).rejects.toThrow('does not exist');
    const moved = join(folder, 'closed/moved');
    await rename(dataDir, moved);
    expect(await saved(await start({ dataDir: moved }))).toBe(42);
  });

  test('a link that leads nowhere is EMBEDDED_CLUSTER_MISSING, not an empty database', async () => {
    const dataDir = await closedData();
    const first = await start({ dataDir });
    await first.stop(10_000);
    await rm(first.folder, { recursive: true });
    const error = await start({ dataDir }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_CLUSTER_MISSING', fields: { target: first.folder } });
  });

  test('the server does not run as root', async () => {
    const server = await start({ dataDir: await closedData() });
    const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
    const uids = /^Uid:\s+(.*)$/m.exec(status)![1]!.split(/\s+/);
    expect(uids).not.toContain('0');
    // Only its own group: none of root's may come along.
    expect(/^Groups:\s*(.*)$/m.exec(status)![1]!.trim().split(/\s+/)).not.toContain('0');
  });

  test('binaries in a closed folder are copied to where the account can execute them', async () => {
    const npm = { wantedMajor: null, folder, env: process.env, log: silentLog, sources: ['npm'] as const };
    const found = await findPostgresBinaries(npm);
    const closed = await mkdtemp(join(folder, 'native-'));
    await cp(join(found.dir, '..'), closed, { recursive: true, verbatimSymlinks: true });
    const account = await postgresAccount('/nonexistent', silentLog);
    const copied = await reachableBinaries({ ...found, dir: join(closed, 'bin') }, account, join(folder, 'outside'));
    expect(copied).toEqual({ dir: join(folder, 'outside/postgres-15.18.0/bin'), version: found.version });
  });
});

test('the npm package serves when the machine has no server', async () => {
  const server = await start({ sources: ['npm'] });
  await save(server);
  expect(await saved(server)).toBe(42);
  const [{ program }] = await rows(server.url, `select setting as program from pg_config where name = 'BINDIR'`);
  expect(program).toContain('embedded-postgres');
});

/** A program of somebody else on that port. */
const occupy = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
