import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connect } from 'nats';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { startEmbeddedNats, startEmbeddedPostgres, stopLeftovers } from '../../infra/embedded/index.ts';
import { identityOf, isRunning } from '../../infra/embedded/processIdentity.ts';
import { allMet, apt, root, titled } from '../kit/machine.ts';
import { natsCache, temporaryFolder } from '../kit/services.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
let folder: string;
const owners: ChildProcess[] = [];
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const owner of owners.splice(0)) {
    if (owner.exitCode !== null || owner.signalCode !== null) continue;
    owner.kill('SIGKILL');
    await once(owner, 'exit');
  }
  await stopLeftovers(folder);
  await rm(folder, { recursive: true, force: true });
});

interface Started {
  readonly owner: ChildProcess;
  readonly nats: { readonly pid: number; readonly url: string; readonly version: string };
  readonly postgres: { readonly pid: number; readonly url: string };
}

/** Starts both servers in a process of their own, as another Headwater would. */
async function startOwner(env: NodeJS.ProcessEnv = {}, uid?: number): Promise<Started> {
  const args = ['--import', 'tsx', join(CHECKOUT, 'test/kit/embeddedOwner.ts'), folder, 'nats', 'postgres'];
  const owner = spawn(process.execPath, args, {
    cwd: CHECKOUT,
    env: { ...process.env, HEADWATER_NATS_CACHE: natsCache(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  owners.push(owner);
  let said = '';
  owner.stderr!.on('data', (chunk) => {
    said += chunk;
  });
  const line = await new Promise<string>((done, failed) => {
    owner.stdout!.once('data', (chunk) => done(String(chunk)));
    owner.once('exit', () => failed(new Error(`the owner ended: ${said}`)));
  });
  return { owner, ...JSON.parse(line) };
}

async function killOwner(owner: ChildProcess): Promise<void> {
  owner.kill('SIGKILL');
  await once(owner, 'exit');
}

const isUp = async (pid: number) => (await identityOf(pid)) !== null;

describe('a Headwater that was killed', () => {
  test('leaves its servers running; stopLeftovers stops them and says so', async () => {
    const { owner, nats, postgres } = await startOwner();
    await killOwner(owner);
    expect([await isUp(nats.pid), await isUp(postgres.pid)]).toEqual([true, true]);
    const stopped = await stopLeftovers(folder);
    expect(stopped.map(({ name, pid, outcome }) => ({ name, pid, outcome }))).toEqual([
      { name: 'nats', pid: nats.pid, outcome: 'stopped' },
      { name: 'postgres', pid: postgres.pid, outcome: 'stopped' },
    ]);
    expect([await isUp(nats.pid), await isUp(postgres.pid)]).toEqual([false, false]);
    expect(await stopLeftovers(folder)).toEqual([]);
  });

  test('is followed by a start that stops them and takes over on the same ports', async () => {
    const before = await startOwner();
    await killOwner(before.owner);
    const env = { ...process.env, HEADWATER_NATS_CACHE: natsCache() };
    const options = { dataDir: folder, log: silentLog, clock: systemClock, env };
    const [nats, postgres] = await Promise.all([startEmbeddedNats(options), startEmbeddedPostgres(options)]);
    try {
      expect([nats.url, postgres.url]).toEqual([before.nats.url, before.postgres.url]);
      expect([await isUp(before.nats.pid), await isUp(before.postgres.pid)]).toEqual([false, false]);
      await (await connect({ servers: nats.url, user: nats.user, pass: nats.pass })).close();
    } finally {
      await Promise.all([nats.stop(10_000), postgres.stop(10_000)]);
    }
  });

  test('whose pid files are gone too is still found: two servers never share a store', async () => {
    const { owner, nats, postgres } = await startOwner();
    await killOwner(owner);
    for (const name of ['nats', 'postgres']) await rm(join(folder, 'runtime', `${name}.pid.json`));
    await startOwner();
    expect([await isUp(nats.pid), await isUp(postgres.pid)]).toEqual([false, false]);
  });
});

test('the servers of a folder are not those of its copy, whether their Headwater runs or was killed', async () => {
  const { owner, nats, postgres } = await startOwner();
  const copy = `${folder}-copy`;
  try {
    await cp(join(folder, 'runtime'), join(copy, 'runtime'), { recursive: true, preserveTimestamps: true });
    expect(await stopLeftovers(copy)).toEqual([]);
    await killOwner(owner);
    await cp(join(folder, 'runtime'), join(copy, 'runtime'), { recursive: true, preserveTimestamps: true });
    expect(await stopLeftovers(copy)).toEqual([]);
    expect([await isUp(nats.pid), await isUp(postgres.pid)]).toEqual([true, true]);
    expect((await stopLeftovers(folder)).map(({ pid }) => pid)).toEqual([nats.pid, postgres.pid]);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});

test('the servers of a Headwater that still runs are left alone', async () => {
  const { nats, postgres } = await startOwner();
  expect((await stopLeftovers(folder)).map((left) => left.outcome)).toEqual(['in_use', 'in_use']);
  expect([await isUp(nats.pid), await isUp(postgres.pid)]).toEqual([true, true]);
});

test('a process that got the recorded pid later is not signalled', async () => {
  const innocent = spawn('sleep', ['600'], { stdio: 'ignore' });
  owners.push(innocent);
  await once(innocent, 'spawn');
  const identity = (await identityOf(innocent.pid!))!;
  const earlier = { ...identity, startTicks: String(Number(identity.startTicks) - 100) };
  const otherBoot = { ...identity, bootId: '00000000-0000-0000-0000-000000000000' };
  await mkdir(join(folder, 'runtime'));
  for (const [name, server] of [
    ['nats', earlier],
    ['postgres', otherBoot],
  ] as const) {
    const owner = { ...identity, pid: 4_194_304 };
    await writeFile(
      join(folder, 'runtime', `${name}.pid.json`),
      JSON.stringify({ server, owner, stopSignal: 'SIGTERM' }),
    );
  }
  expect(await stopLeftovers(folder)).toEqual([]);
  expect(await isRunning(identity)).toBe(true);
});

const met = allMet(root(), apt());
test.skipIf(!met.ok)(titled('an ordinary user can do all of it, the download included', met), async () => {
  const nobody = Number(/^nobody:[^:]*:(\d+)/m.exec(await readFile('/etc/passwd', 'utf8'))![1]);
  await chown(folder, nobody, nobody);
  const { owner, nats } = await startOwner({ HEADWATER_NATS_CACHE: join(folder, 'cache'), HOME: folder }, nobody);
  expect(nats.version).toMatch(/^2\.1\d\./);
  owner.kill('SIGTERM');
  expect((await once(owner, 'exit'))[0]).toBe(0);
});
