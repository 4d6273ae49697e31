import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../infra/base/log.ts';
import { findNatsBinary } from '../../infra/embedded/natsBinary.ts';
import { identityOf } from '../../infra/embedded/processIdentity.ts';
import { until } from '../kit/until.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hw-download-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** An apt that downloads for a minute, and says so in the file `started`. */
function slowApt(): { readonly env: NodeJS.ProcessEnv; readonly aptFolder: string; readonly started: string } {
  const started = join(folder, 'started');
  const aptFolder = join(folder, 'etc');
  mkdirSync(join(folder, 'bin'));
  mkdirSync(aptFolder);
  writeFileSync(join(aptFolder, 'sources.list'), 'deb http://archive.test/debian stable main\n');
  writeFileSync(join(folder, 'bin', 'apt-get'), `#!/bin/sh\necho $$ > '${started}'\nexec /bin/sleep 60\n`, {
    mode: 0o755,
  });
  return { env: { ...process.env, PATH: join(folder, 'bin') }, aptFolder, started };
}

test('a stop during the first download ends apt, and nothing is said to have failed or tried elsewhere', async () => {
  const { started, ...apt } = slowApt();
  const said: string[] = [];
  const keep = (level: string) => (message: string) => {
    said.push(`${level} ${message}`);
  };
  const log: Log = { debug() {}, info: keep('info'), warn: keep('warn'), error: keep('error'), child: () => log };
  const stop = new AbortController();
  // Nothing is installed, and nothing was downloaded before.
  const search = {
    cacheDir: join(folder, 'none'),
    systemDirs: [],
    log,
    signal: stop.signal,
  } as const;
  const found = findNatsBinary({ ...search, ...apt }).catch((error: unknown) => error);
  await until('apt to run', async () => existsSync(started) && readFileSync(started, 'utf8').endsWith('\n'));
  const pid = Number(readFileSync(started, 'utf8'));
  stop.abort(new Error('stopped by SIGINT'));
  expect(await found).toEqual(new Error('stopped by SIGINT'));
  expect(said).toEqual(['info fetching nats-server with apt']);
  await until('apt to be gone', async () => (await identityOf(pid)) === null);
});
