import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from 'nats';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { readDebianSources, withUnpackedPackage } from '../../infra/embedded/aptDownload.ts';
import { withSuite } from '../../infra/embedded/aptSources.ts';
import { runCommand } from '../../infra/embedded/command.ts';
import { type EmbeddedNats, type EmbeddedNatsOptions, startEmbeddedNats } from '../../infra/embedded/index.ts';
import { fakeNatsServer } from '../kit/fakeNatsServer.ts';
import { apt, titled } from '../kit/machine.ts';
import { natsCache, temporaryFolder } from '../kit/services.ts';

let folder: string;
const running: EmbeddedNats[] = [];
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop(10_000)));
  await rm(folder, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedNatsOptions> = {}): Promise<EmbeddedNats> {
  const env = { ...process.env, HEADWATER_NATS_CACHE: natsCache(), ...options.env };
  const server = await startEmbeddedNats({
    ...{ dataDir: folder, log: silentLog, clock: systemClock, maxFileBytes: 1024 ** 3 },
    ...options,
    env,
  });
  running.push(server);
  return server;
}

async function using<T>(server: EmbeddedNats, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const nc = await connect({ servers: server.url, user: server.user, pass: server.pass, reconnect: false });
  try {
    return await work(nc);
  } finally {
    await nc.close();
  }
}

const addStream = (server: EmbeddedNats, max_bytes = -1) =>
  using(server, async (nc) => (await jetstreamManager(nc)).streams.add({ name: 'S', subjects: ['s.>'], max_bytes }));
const publish = (server: EmbeddedNats, bytes = 10) =>
  using(server, async (nc) => (await jetstream(nc).publish('s.a', new Uint8Array(bytes))).seq);
const stored = (server: EmbeddedNats) =>
  using(server, async (nc) => (await (await jetstreamManager(nc)).streams.info('S')).state.messages);

/** A program of somebody else on that port. */
const occupy = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });

describe('start and stop', () => {
  test('a restart keeps streams, ports and password, and a stop removes the pid file', async () => {
    const first = await start();
    await addStream(first);
    await publish(first);
    expect(JSON.parse(await readFile(join(folder, 'runtime/nats.pid.json'), 'utf8')).server.pid).toBe(first.pid);
    await first.stop(10_000);
    expect(await first.exited).toMatchObject({ signal: null });
    await expect(stat(join(folder, 'runtime/nats.pid.json'))).rejects.toThrow('ENOENT');
    const second = await start();
    expect([second.url, second.pass, second.monitorUrl]).toEqual([first.url, first.pass, first.monitorUrl]);
    expect(await stored(second)).toBe(1);
  });

  test('everything that was acknowledged is there after SIGKILL', async () => {
    const first = await start();
    await addStream(first);
    for (let i = 0; i < 20; i++) await publish(first);
    first.kill();
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await stored(await start())).toBe(20);
  });

  test('it syncs every write, takes 8 MB messages, and says what an acknowledgement means', async () => {
    const server = await start();
    const get = async (path: string) => (await fetch(server.monitorUrl + path)).json() as Promise<any>;
    expect((await get('/jsz')).config.sync_always).toBe(true);
    expect(await get('/varz')).toMatchObject({
      max_payload: 8 * 1024 * 1024,
      host: '127.0.0.1',
      version: server.version,
    });
    expect(server.durability).toContain('synced to disk');
  });

  test('nobody without the password gets in, and the files with the password are ours alone', async () => {
    const server = await start();
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
    for (const path of ['nats/nats.conf', 'runtime/nats.json']) {
      expect((await stat(join(folder, path))).mode & 0o777).toBe(0o600);
    }
  });

  test('the disk limit is the server’s own: a stream that asks for more is refused', async () => {
    const server = await start({ maxFileBytes: 2 * 1024 * 1024 });
    await expect(addStream(server, 3 * 1024 * 1024)).rejects.toThrow(/insufficient/i);
    await addStream(server);
    const fill = async () => {
      for (let i = 0; i < 5; i++) await publish(server, 1024 * 1024);
    };
    await expect(fill()).rejects.toThrow(/insufficient|resource/i);
  });

  test('onExit tells of an end that nobody asked for', async () => {
    const exits: unknown[] = [];
    const server = await start({ onExit: (exit) => exits.push(exit) });
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    expect(exits).toContainEqual({ code: null, signal: 'SIGKILL' });
  });
});

test('a port that another program took is replaced, and the new one is kept', async () => {
  const first = await start();
  await first.stop(10_000);
  const taken = await occupy(first.port);
  const second = await start();
  expect(second.port).not.toBe(first.port);
  await second.stop(10_000);
  await new Promise((resolve) => taken.close(resolve));
  expect((await start()).port).toBe(second.port);
});

describe('which server', () => {
  test('one on PATH below 2.10 is passed over', async () => {
    await fakeNatsServer(join(folder, 'bin'), { version: '2.9.10', behaviour: 'exits' });
    const server = await start({ env: { PATH: `${folder}/bin:${process.env.PATH}` } });
    expect(server.version).not.toBe('2.9.10');
  });

  test('an old one and no way to fetch another is an error that names it', async () => {
    await fakeNatsServer(join(folder, 'bin'), { version: '2.9.10', behaviour: 'exits' });
    const nothing = { systemDirs: [], aptFolder: join(folder, 'apt') };
    const env = { PATH: join(folder, 'bin'), HEADWATER_NATS_CACHE: join(folder, 'cache') };
    const error = await start({ env, ...nothing }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_NATS_MISSING' });
    expect(String(error)).toContain('bin/nats-server is 2.9.10');
  });

  const fromApt = apt();
  describe.skipIf(!fromApt.ok)(titled('fetched with apt', fromApt), () => {
    test('without one on PATH it is fetched from Debian once, below a folder that others cannot enter', async () => {
      const closed = join(folder, 'closed');
      await mkdir(closed, { mode: 0o700 });
      const bin = await emptyPath(join(folder, 'path'));
      const options = { dataDir: join(closed, 'data'), systemDirs: [], env: { PATH: bin, HEADWATER_NATS_CACHE: '' } };
      const first = await start(options);
      const cached = join(closed, 'data/nats/bin', first.version, 'nats-server');
      const before = await stat(cached);
      await addStream(first);
      await first.stop(10_000);
      // The second start may not need apt: it is told of no source.
      const second = await start({ ...options, aptFolder: join(folder, 'no-apt') });
      expect(second.version).toBe(first.version);
      expect((await stat(cached)).mtimeMs).toBe(before.mtimeMs);
    });

    test('trixie’s server can be fetched from a one-line source as well, and is 2.10', async () => {
      const aptFolder = join(folder, 'apt');
      await mkdir(aptFolder);
      const [source] = await readDebianSources('/etc/apt');
      const field = (name: string) => source!.fields.find(([n]) => n.toLowerCase() === name)?.[1].trim();
      const key = field('signed-by');
      const line = `deb ${key ? `[signed-by=${key}] ` : ''}${field('uris')} stable main\n`;
      await writeFile(join(aptFolder, 'sources.list'), source!.kind === 'deb822' ? line : withSuite(source!, 'stable'));
      const wanted = { packageName: 'nats-server', suite: 'trixie', aptFolder, env: process.env };
      const result = await withUnpackedPackage(wanted, (files) =>
        runCommand(join(files, 'usr/sbin/nats-server'), ['--version']),
      );
      expect(result).toMatchObject({ ok: true, value: { stdout: expect.stringContaining('v2.10.') } });
    });

    test('an archive whose signature cannot be checked is refused', async () => {
      const aptFolder = join(folder, 'apt');
      await mkdir(aptFolder);
      const [source] = await readDebianSources('/etc/apt');
      const uri = source!.fields.find(([n]) => /^uris?$/i.test(n))?.[1].trim();
      await writeFile(join(folder, 'empty.gpg'), '');
      await chmod(join(folder, 'empty.gpg'), 0o644);
      await writeFile(join(aptFolder, 'sources.list'), `deb [signed-by=${folder}/empty.gpg] ${uri} stable main\n`);
      const wanted = { packageName: 'nats-server', suite: 'trixie', aptFolder, env: process.env };
      const result = await withUnpackedPackage(wanted, async () => 'unpacked');
      expect(result).toMatchObject({ ok: false, reason: expect.stringMatching(/not signed|NO_PUBKEY|verif/i) });
    });
  });
});

describe('a server that does not do as it should', () => {
  const fakeStart = async (behaviour: Parameters<typeof fakeNatsServer>[1]['behaviour'], more = {}) => {
    await fakeNatsServer(join(folder, 'bin'), { version: '2.11.0', behaviour });
    return start({ env: { PATH: `${folder}/bin:${process.env.PATH}` }, ...more }).catch((e: unknown) => e);
  };

  test('ends at once: EMBEDDED_START_FAILED with its last words', async () => {
    const error = await fakeStart('exits');
    expect(error).toMatchObject({ code: 'EMBEDDED_START_FAILED', fields: { server: 'nats', how: 'exit status 3' } });
    expect(String(error)).toContain('cannot bind the moon');
  });

  test('never becomes healthy: EMBEDDED_START_TIMEOUT with its reason, and it is not left running', async () => {
    const error = await fakeStart('never healthy', { startDeadlineMs: 1_500 });
    expect(error).toMatchObject({ code: 'EMBEDDED_START_TIMEOUT', fields: { reason: 'still recovering' } });
    await expect(stat(join(folder, 'runtime/nats.pid.json'))).rejects.toThrow('ENOENT');
  });

  test('acknowledges before the data is on disk: EMBEDDED_NOT_DURABLE', async () => {
    expect(await fakeStart('not durable')).toMatchObject({ code: 'EMBEDDED_NOT_DURABLE' });
  });
});

describe('a data folder that cannot be used', () => {
  test('whose runtime file is damaged: EMBEDDED_FILE_DAMAGED names the file', async () => {
    await mkdir(join(folder, 'runtime'));
    await writeFile(join(folder, 'runtime/nats.json'), '{"port": 1');
    const error = await start().catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_FILE_DAMAGED', fields: { path: join(folder, 'runtime/nats.json') } });
  });

  test('below something that is no folder: EMBEDDED_FORBIDDEN', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(start({ dataDir: join(folder, 'file/data') })).rejects.toMatchObject({ code: 'EMBEDDED_FORBIDDEN' });
  });

  test('that is in use already: EMBEDDED_IN_USE, and the running server goes on', async () => {
    const first = await start();
    await expect(start()).rejects.toMatchObject({ code: 'EMBEDDED_IN_USE', fields: { owner: process.pid } });
    await using(first, async (nc) => expect(nc.isClosed()).toBe(false));
  });
});

/** A PATH on which apt and its tools are, but no nats-server. */
async function emptyPath(dir: string): Promise<string> {
  const tools = await runCommand('sh', [
    '-c',
    'mkdir -p "$1" && for t in /usr/bin/* /bin/*; do ln -sf "$t" "$1"/; done; rm -f "$1"/nats-server',
    'sh',
    dir,
  ]);
  expect(tools.code).toBe(0);
  return dir;
}
