import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FakeNatsServer {
  /** What `--version` prints. */
  readonly version: string;
  /** What it does when it is started with a configuration file. */
  readonly behaviour: 'exits' | 'never healthy' | 'not durable';
}

/** Writes a program `nats-server` into `folder` that acts like a broken one; `folder` goes on PATH. */
export async function fakeNatsServer(folder: string, fake: FakeNatsServer): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'nats-server');
  await writeFile(path, `#!${process.execPath}\n${program(fake)}`);
  await chmod(path, 0o755);
}

const program = ({ version, behaviour }: FakeNatsServer): string => `
if (process.argv[2] === '--version') { console.log('nats-server: v${version}'); process.exit(0); }
if ('${behaviour}' === 'exits') { console.error('cannot bind the moon'); process.exit(3); }
const conf = require('node:fs').readFileSync(process.argv[3], 'utf8');
const port = Number(/^http: "127.0.0.1:(\\d+)"/m.exec(conf)[1]);
const name = /^server_name: "(.*)"/m.exec(conf)[1];
const answers = {
  '/healthz': '${behaviour}' === 'never healthy' ? { error: 'still recovering' } : { status: 'ok' },
  '/varz': { server_name: name, version: '${version}' },
  '/jsz': { config: { sync_always: false } },
};
require('node:http').createServer((q, r) => r.end(JSON.stringify(answers[q.url] ?? {}))).listen(port, '127.0.0.1');
`;
