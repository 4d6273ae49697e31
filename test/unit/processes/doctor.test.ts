import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../infra/config/index.ts';
import { examine } from '../../../infra/processes/commands/doctor.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hw-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What doctor finds before anything runs, by what was looked at. */
async function found(settings: object, env: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'headwater.yaml');
  writeFileSync(file, JSON.stringify({ dataDir: join(folder, 'data'), ...settings }));
  const { config } = loadConfig({ path: file, env, cwd: folder, secrets: 'optional' });
  const surroundings = { print() {}, isTerminal: false, signal: AbortSignal.timeout(20_000) };
  const findings = await examine({ config, configFile: file, env, ...surroundings });
  return Object.fromEntries(findings.map((f) => [f.check, f]));
}

/** Says that it is a NATS which is too old. */
function oldNats(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.9.1","proto":1,"max_payload":1048576}\r\n');
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (data.toString().includes('PING')) socket.write('PONG\r\n');
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `nats://127.0.0.1:${port}`, close: () => server.close() });
    });
  });
}

// Nothing listens on port 1.
const NOBODY = '127.0.0.1:1';

describe('doctor before up', () => {
  it('takes servers that are not given for embedded ones that do not run', async () => {
    const { nats, postgres, configuration } = await found({});
    expect([nats, postgres]).toMatchObject(Array(2).fill({ level: 'ok', text: expect.stringContaining('embedded') }));
    expect(configuration?.level).toBe('ok');
  });

  it('looks at a database that is given alone', async () => {
    const { nats, postgres } = await found({ postgres: { url: `postgres://u:p@${NOBODY}/x` } });
    expect(postgres).toMatchObject({ level: 'fail', text: expect.stringContaining('POSTGRES_UNAVAILABLE') });
    expect(nats?.level).toBe('ok');
  });

  it('looks at an event log that is given alone', async () => {
    const server = await oldNats();
    const { nats, postgres } = await found({ nats: { url: server.url } });
    server.close();
    expect(nats).toMatchObject({ level: 'fail', text: expect.stringContaining('NATS_TOO_OLD') });
    expect(postgres?.level).toBe('ok');
  });

  it('names an address of the environment that is none', async () => {
    const { nats } = await found({}, { NATS_URL: 'http://x' });
    expect(nats).toMatchObject({ level: 'fail', text: expect.stringContaining('"NATS_URL" takes nats://') });
  });

  it('says which secret is missing, and checks the rest', async () => {
    const provider = { name: 'mine', host: '127.0.0.1', port: 1, tls: false, user: 'me', pass: '${NEWS_PASS}' };
    const other = { name: 'other', host: '127.0.0.1', port: 1, tls: false };
    const all = await found({ providers: [provider, other] });
    expect(all.configuration).toMatchObject({
      level: 'fail',
      text: expect.stringMatching(/MISSING_SECRET.*NEWS_PASS/),
    });
    expect(all['provider/mine']).toMatchObject({ level: 'fail', todo: expect.stringContaining('NEWS_PASS') });
    expect(all['provider/other']).toMatchObject({
      level: 'fail',
      text: expect.stringContaining('NNTP_CONNECT_FAILED'),
    });
    expect(all.disk?.check).toBe('disk');
  });
});
