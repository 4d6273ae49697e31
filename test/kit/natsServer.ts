import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../infra/base/log.ts';
import { findNatsBinary } from '../../infra/embedded/natsBinary.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { answers, freePorts } from './ports.ts';
import { natsCache } from './services.ts';
import { until } from './until.ts';

export interface PlainNats {
  readonly url: string;
  readonly monitorUrl: string;
  stop(): Promise<void>;
}

const search = { cacheDir: natsCache(), env: process.env, log: silentLog };

/** A nats-server with a configuration of the test's own; `extra` gives what follows the addresses. */
export async function startPlainNats(extra: (folder: string) => string): Promise<PlainNats> {
  const folder = await mkdtemp(join(tmpdir(), 'headwater-nats-'));
  const [port = 0, monitor = 0] = await freePorts(2);
  const config = join(folder, 'nats.conf');
  const listen = `listen: "127.0.0.1:${port}"\nhttp: "127.0.0.1:${monitor}"\n`;
  await writeFile(config, `${listen}${extra(folder)}\n`);
  const daemon: Daemon = await startDaemon({
    name: 'nats',
    program: (await findNatsBinary(search)).path,
    args: ['-c', config],
    folder,
  });
  await until('nats-server to listen', () => answers(port), { deadlineMs: 20_000 }).catch(async (error: unknown) => {
    throw new Error(`${String(error)}: ${await readFile(join(folder, 'nats.log'), 'utf8').catch(() => '')}`);
  });
  return {
    url: `nats://127.0.0.1:${port}`,
    monitorUrl: `http://127.0.0.1:${monitor}`,
    stop: async () => {
      await daemon.stop('SIGKILL', 5_000);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
