/** Connecting, the topology and numbered streams, on a real server. */
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Log } from '../../infra/base/log.ts';
import {
  applyTopology,
  createEventLog,
  createEventReader,
  createEventSink,
  type NatsLink,
  readDurability,
} from '../../infra/nats/index.ts';
import type { LogBatch } from '../../projections/ports.ts';
import { consumersFor, headersConsumer, STREAMS, type StreamFamily, streamName } from '../../streams/topology.ts';
import { altered, testLink } from '../kit/natsLink.ts';
import { startPlainNats } from '../kit/natsServer.ts';
import { sampleBackbone, sampleBatch, sampleOpened, sampleRun } from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

let services: Services;

beforeAll(async () => {
  services = await startServices({ postgres: false });
});
afterAll(() => services?.stop());

const options = { replicas: 1, overviewMaxBytes: 100_000_000, backbones: [sampleBackbone] };

describe('connecting', () => {
  it('refuses wrong credentials at once: waiting would not make them right', async () => {
    const url = services.natsUrl.replace('nats://', `nats://${services.natsUser}:wrong@`);
    await expect(testLink(url)).rejects.toMatchObject({ code: 'NATS_WRONG_CREDENTIALS' });
    await expect(testLink(services.natsUrl)).rejects.toMatchObject({ code: 'NATS_WRONG_CREDENTIALS' });
    await expect(testLink(url)).rejects.not.toThrow(/:wrong/);
  });

  it('refuses a server older than 2.10 and names its version', async () => {
    const server = await oldServer('2.9.10');
    try {
      await expect(testLink(server.url)).rejects.toMatchObject({
        code: 'NATS_TOO_OLD',
        fields: { version: '2.9.10' },
      });
    } finally {
      server.stop();
    }
  });

  it('refuses a server without JetStream, and one that takes small messages only', async () => {
    const plain = await startPlainNats(() => '');
    const small = await startPlainNats((folder) => `jetstream { store_dir: "${folder}/js" }`);
    try {
      await expect(testLink(plain.url)).rejects.toMatchObject({ code: 'NATS_NO_JETSTREAM' });
      await expect(testLink(small.url)).rejects.toMatchObject({
        code: 'NATS_PAYLOAD_LIMIT',
        fields: { got: 1_048_576 },
      });
      expect(await readDurability(small.monitorUrl)).toEqual({ kind: 'interval', seconds: 120 });
    } finally {
      await Promise.all([plain.stop(), small.stop()]);
    }
  });

  it('waits for a server that is down, with a condition, and goes on when it is up', async () => {
    const url = services.natsUrlWithLogin;
    await services.stopNats();
    const warnings: string[] = [];
    const log = { ...silent, warn: (message: string) => void warnings.push(message) };
    const stop = new AbortController();
    const abandoned = testLink(url, { signal: stop.signal, log });
    await until('the first attempt', () => warnings.length > 1);
    stop.abort(new Error('shutting down'));
    await expect(abandoned).rejects.toThrow('shutting down');
    const waiting = testLink(url);
    await services.startNats();
    const { link, conditions } = await waiting;
    expect(conditions.ever.map((c) => c.about)).toContain('nats');
    expect(conditions.now.size).toBe(0);
    expect(link.serverVersion).toMatch(/^2\.\d+\.\d+/);
    await link.close();
    expect(await link.closed).toBeNull();
  });

  it('tells when the connection was closed for good, and ends what waits for it', async () => {
    const { link, conditions } = await testLink(services.natsUrlWithLogin);
    const stuck = link.up();
    await link.nc.close();
    await stuck;
    expect(await link.closed).toMatchObject({ code: 'NATS_CLOSED' });
    expect(conditions.code('nats')).toBe('NATS_CLOSED');
    await expect(createEventReader(link).state('RANGES')).rejects.toMatchObject({ code: 'NATS_CLOSED' });
  });

  it('tells that acknowledged means on disk, where the server says so', async () => {
    expect(await readDurability(services.natsMonitorUrl)).toEqual({ kind: 'always' });
    expect(await readDurability('http://127.0.0.1:1')).toMatchObject({ kind: 'unknown' });
    expect(await readDurability(null)).toMatchObject({ kind: 'unknown' });
  });
});

describe('the topology on a server', () => {
  let link: NatsLink;
  const logged: string[] = [];

  beforeAll(async () => {
    await services.freshNats();
    const log: Log = {
      ...silent,
      info: (message) => void logged.push(message),
      warn: (message) => void logged.push(message),
    };
    ({ link } = await testLink(services.natsUrlWithLogin, { log }));
  });
  afterAll(() => link?.close());

  it('is created by several processes at once, and a second time changes nothing', async () => {
    await Promise.all([applyTopology(link, options), applyTopology(link, options)]);
    for (const family of Object.keys(STREAMS) as StreamFamily[]) {
      const { config } = await link.jsm.streams.info(streamName(family));
      const { subjects, denyPurge } = STREAMS[family];
      expect(config).toMatchObject({ subjects, deny_purge: denyPurge, storage: 'file', discard: 'new' });
    }
    for (const { family, durable, filter } of consumersFor([sampleBackbone])) {
      const { config } = await link.jsm.consumers.info(streamName(family), durable);
      expect(config).toMatchObject({ filter_subject: filter, max_deliver: -1 });
    }
    logged.length = 0;
    await applyTopology(link, options);
    expect(logged).toEqual([]);
  });

  it('is refused when the server dropped an option without a word', async () => {
    const info = async (...args: Parameters<NatsLink['jsm']['streams']['info']>) => {
      const { config, ...rest } = await link.jsm.streams.info(...args);
      const { compression: _, ...dropped } = config;
      return { ...rest, config: dropped } as Awaited<ReturnType<NatsLink['jsm']['streams']['info']>>;
    };
    const streams = Object.assign(Object.create(link.jsm.streams), { info });
    const jsm = Object.assign(Object.create(link.jsm), { streams });
    await expect(applyTopology(altered(link, { jsm }), options)).rejects.toMatchObject({
      code: 'NATS_OPTION_DROPPED',
      fields: { what: 'stream CONTROL', option: 'compression', wanted: '"s2"', got: 'nothing' },
    });
  });

  it('is brought up to date where that loses nothing', async () => {
    await link.jsm.streams.update('SHADOW', { duplicate_window: 1e9 });
    await link.jsm.consumers.update('RANGES', 'headers', { ack_wait: 5e9 });
    await applyTopology(link, { ...options, overviewMaxBytes: 200_000_000 });
    expect((await link.jsm.streams.info('SHADOW')).config.duplicate_window).toBe(600e9);
    expect((await link.jsm.consumers.info('RANGES', 'headers')).config.ack_wait).toBe(headersConsumer.ackWaitMs * 1e6);
    expect((await link.jsm.streams.info('OVERVIEW')).config.max_bytes).toBe(200_000_000);
  });

  it('never takes a limit that would remove events, or more room than the server has', async () => {
    await createEventSink(link).append(sampleBatch({ group: 'a.b' }, 0, Buffer.alloc(50_000)));
    await expect(applyTopology(link, { ...options, overviewMaxBytes: 20_000 })).rejects.toMatchObject({
      code: 'NATS_LIMIT_TOO_LOW',
      fields: { stream: 'OVERVIEW', option: 'max_bytes' },
    });
    await expect(applyTopology(link, { ...options, overviewMaxBytes: 2 ** 40 })).rejects.toMatchObject({
      code: 'NATS_STORE_TOO_SMALL',
      fields: { stream: 'OVERVIEW' },
    });
    expect((await link.jsm.streams.info('OVERVIEW')).config.max_bytes).toBe(200_000_000);
    await applyTopology(link, options);
    expect((await link.jsm.streams.info('OVERVIEW')).config.max_bytes).toBe(options.overviewMaxBytes);
  });

  it('is refused when another program made a stream or consumer with options that cannot be changed', async () => {
    await link.jsm.consumers.delete('RANGES', 'headers');
    const other = { durable_name: 'headers', ack_policy: 'explicit', deliver_policy: 'new' } as const;
    await link.jsm.consumers.add('RANGES', other);
    await expect(applyTopology(link, options)).rejects.toMatchObject({
      code: 'NATS_OPTION_DROPPED',
      fields: { what: 'consumer headers of RANGES', option: 'deliver_policy' },
    });
    await link.jsm.consumers.delete('RANGES', 'headers');
    await link.jsm.streams.delete('OPS');
    await link.jsm.streams.add({ name: 'OPS', subjects: ['ops.>'], storage: 'memory' });
    await expect(applyTopology(link, options)).rejects.toMatchObject({
      code: 'NATS_OPTION_DROPPED',
      fields: { what: 'stream OPS', option: 'storage', wanted: '"file"', got: '"memory"' },
    });
    await link.jsm.streams.delete('OPS');
    await applyTopology(link, options);
  });
});

describe('a numbered stream that rolled', () => {
  let link: NatsLink;

  beforeAll(async () => {
    await services.freshNats();
    ({ link } = await testLink(services.natsUrlWithLogin));
    await applyTopology(link, options);
  });
  afterAll(() => link?.close());

  /** What rolling does: the subjects of the open stream move away, and the next number takes them over. */
  async function roll(): Promise<void> {
    const { config } = await link.jsm.streams.info('RELEASES-0001');
    await link.jsm.streams.update('RELEASES-0001', { subjects: ['sealed.RELEASES-0001.>'] });
    await link.jsm.streams.add({ ...config, name: 'RELEASES-0002' });
  }

  it('is appended to at its highest number and read through all of them, in order', async () => {
    const sink = createEventSink(link);
    const first = await sink.append(sampleOpened({ group: 'a.b' }, 1));
    expect(first).toEqual({ kind: 'stored', position: { number: 1, sequence: 1 } });
    const stop = new AbortController();
    const got: LogBatch[] = [];
    const reading = (async () => {
      const wishes = { subjects: [], eventsMax: 10, bytesMax: 1e6, idleMs: 10, signal: stop.signal };
      for await (const batch of createEventLog(link).read('RELEASES', { number: 0, sequence: 0 }, wishes)) {
        got.push(batch);
        if (got.flatMap((b) => b.events).length === 3) stop.abort();
      }
    })();
    await until('the first event', () => got.length > 0);
    await roll();
    const second = await sink.append(sampleOpened({ group: 'a.b' }, 2));
    expect(second).toEqual({ kind: 'stored', position: { number: 2, sequence: 1 } });
    await sink.append(sampleOpened({ group: 'a.b' }, 3));
    await reading;
    const positions = got.flatMap((b) => b.events).map((e) => `${e.position.number}:${e.position.sequence}`);
    expect(positions).toEqual(['1:1', '2:1', '2:2']);
    await applyTopology(link, options);
  });

  it('is one to a reader: state, last event and all events over its numbers', async () => {
    const reader = createEventReader(link);
    const { backbone, group } = sampleRun({ group: 'a.b' });
    const subject = { verb: 'release.opened' as const, backbone, group };
    const state = await reader.state('RELEASES');
    expect(state).toMatchObject({ first: { number: 1, sequence: 1 }, last: { number: 2, sequence: 2 }, messages: 3 });
    expect((await reader.last('RELEASES', subject))?.position).toEqual({ number: 2, sequence: 2 });
    const all = await reader.allOn('RELEASES', subject, 10);
    expect(all.map((e) => e.position.number)).toEqual([1, 2, 2]);
    const page = await reader.allOn('RELEASES', subject, 10, { number: 2, sequence: 1 });
    expect(page.map((e) => e.position)).toEqual([{ number: 2, sequence: 2 }]);
    expect((await reader.get('RELEASES', { number: 2, sequence: 1 }))?.event.data).toMatchObject({ pass: 2 });
    const old = await createEventSink(link).append(sampleOpened({ group: 'a.b' }, 2), { lastOnSubject: 0 });
    expect(old).toEqual({ kind: 'repeated', position: { number: 2, sequence: 1 } });
  });
});

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** Greets like a server of a version, and answers what a client needs to connect. */
async function oldServer(version: string): Promise<{ url: string; stop(): void }> {
  const info = {
    server_id: 'x',
    server_name: 'x',
    version,
    proto: 1,
    go: '',
    host: '127.0.0.1',
    port: 1,
    headers: true,
  };
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(`INFO ${JSON.stringify({ ...info, max_payload: 8_388_608, jetstream: true, client_id: 1 })}\r\n`);
    socket.on('data', (data) => {
      if (data.includes('PING')) socket.write('PONG\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `nats://127.0.0.1:${port}`, stop: () => server.close() };
}
