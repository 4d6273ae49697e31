import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { untilStoreNeedsStart } from '../../infra/embedded/index.ts';
import { RecordedConditions } from '../kit/recordedConditions.ts';
import { until } from '../kit/until.ts';

const FULL = "JetStream stream '$G > OVERVIEW' write error: write 1.blk: no space left on device";

let dataDir: string;
let server: Server;
let health: { readonly status: string; readonly error?: string } = { status: 'ok' };
let looks = 0;
let monitorUrl: string;
const conditions = new RecordedConditions();

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'hw-store-'));
  mkdirSync(join(dataDir, 'nats'));
  looks = 0;
  server = createServer((_request, response) => {
    looks++;
    response.end(JSON.stringify(health));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  monitorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  rmSync(dataDir, { recursive: true });
});

const watching = (roomBytes: number, signal = new AbortController().signal) =>
  untilStoreNeedsStart({ monitorUrl }, { dataDir, clock: systemClock, conditions, everyMs: 5, roomBytes }, signal);

test('a store that could not be written is told of, and started anew once there is room', async () => {
  health = { status: 'unavailable', error: FULL };
  expect(await watching(1)).toContain('could not be written');
  const error = conditions.now.get('store/nats');
  expect(conditions.code('store/nats')).toBe('EMBEDDED_STORE_UNWRITABLE');
  expect(error?.message).toContain('no space left on device');
  expect(error?.message).toContain(join(dataDir, 'nats'));
});

test('while there is no room it is left as it is; once it is well the condition goes', async () => {
  health = { status: 'unavailable', error: FULL };
  const stop = new AbortController();
  const ended = watching(2 ** 60, stop.signal);
  await until('some looks', () => looks > 3);
  expect(conditions.code('store/nats')).toBe('EMBEDDED_STORE_UNWRITABLE');
  health = { status: 'ok' };
  await until('the condition to go', () => !conditions.now.has('store/nats'));
  stop.abort(new Error('enough'));
  await expect(ended).rejects.toThrow('enough');
});

test('a server that starts, and one that does not answer, are no trouble of the store', async () => {
  conditions.now.clear();
  health = { status: 'unavailable', error: 'JetStream is not current with the meta leader' };
  const stop = new AbortController();
  const ended = watching(1, stop.signal);
  await until('some looks', () => looks > 2);
  server.closeAllConnections();
  server.close();
  await until('it to be asked again in vain', async () => (await fetch(monitorUrl).catch(() => 'gone')) === 'gone');
  stop.abort(new Error('enough'));
  await expect(ended).rejects.toThrow('enough');
  expect([...conditions.now]).toEqual([]);
});
