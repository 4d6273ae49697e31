import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../infra/config/index.ts';
import { downCommand } from '../../../infra/processes/commands/down.ts';
import { findEndpoints, writeEndpoints } from '../../../infra/processes/endpoints.ts';
import { readServiceViews, writeServiceView } from '../../../infra/processes/serviceFile.ts';
import { lockDataFolder, runningUp } from '../../../infra/processes/up/lock.ts';

let root: string;
let data: string;
const running = { nats: { url: 'nats://127.0.0.1:1' }, databaseUrl: 'postgres://x' };

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hw-copy-'));
  data = join(root, 'data');
  mkdirSync(join(data, 'runtime'), { recursive: true });
  // As an `up` in this process would.
  await lockDataFolder(data);
  writeEndpoints(data, running);
  writeServiceView(data, { service: 'api', pid: process.pid, state: 'ready', startedAt: 1, conditions: [] });
});
afterEach(() => rmSync(root, { recursive: true }));

const configOf = (dataDir: string) => parseConfig(`dataDir: ${dataDir}`, 'f', {});
const seen = async (dataDir: string) => ({
  up: (await runningUp(dataDir))?.pid ?? null,
  services: readServiceViews(dataDir).map((view) => view.service),
});

describe('a data folder on which an `up` runs', () => {
  it('still is that one after it was moved', async () => {
    renameSync(data, join(root, 'moved'));
    expect(await seen(join(root, 'moved'))).toEqual({ up: process.pid, services: ['api'] });
    expect(findEndpoints(configOf(join(root, 'moved')), {})).toEqual(running);
  });

  it('has nothing to do with its copy: nothing runs there, and `down` stops nothing', async () => {
    const copy = join(root, 'copy');
    cpSync(data, copy, { recursive: true, preserveTimestamps: true });
    expect(await seen(copy)).toEqual({ up: null, services: [] });
    expect(() => findEndpoints(configOf(copy), {})).toThrow(/PROCESS_NOT_RUNNING/);
    const said: string[] = [];
    const context = { configFile: null, env: {}, signal: new AbortController().signal, isTerminal: false };
    await downCommand({ ...context, config: configOf(copy), print: (line) => said.push(line) });
    expect(said).toEqual(['nothing was running']);
    expect(await seen(data)).toEqual({ up: process.pid, services: ['api'] });
  });
});
