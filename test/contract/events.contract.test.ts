/**
 * What every implementation of the event ports does. It runs on the in-memory one, on which processors are tested, and on
 * a real NATS, so that what holds there holds here.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import {
  applyTopology,
  connectNats,
  createEventLog,
  createEventReader,
  createEventSink,
  createEventSource,
  createOverviewStore,
  type NatsLink,
} from '../../infra/nats/index.ts';
import type { Ports } from '../kit/eventPorts.ts';
import { MemoryEvents } from '../kit/memoryEvents.ts';
import { RecordedConditions } from '../kit/recordedConditions.ts';
import { sampleBackbone } from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { readingContract } from './readingContract.ts';
import { writingContract } from './writingContract.ts';

describe('events in memory', () => {
  const memory = new MemoryEvents();
  const ports: Ports = {
    sink: memory,
    source: memory,
    reader: memory,
    overview: memory,
    log: memory.log,
    putRaw: async (family, wire) => void memory.putRaw(family, wire),
  };
  writingContract(() => ports);
  readingContract(() => ports);
});

describe('events in NATS', () => {
  let services: Services;
  let link: NatsLink;
  let ports: Ports;

  beforeAll(async () => {
    services = await startServices({ postgres: false });
    link = await connectNats({
      url: services.natsUrlWithLogin,
      name: 'contract',
      log: silentLog,
      conditions: new RecordedConditions(),
      clock: systemClock,
    });
    await applyTopology(link, { replicas: 1, overviewMaxBytes: 2 ** 30, backbones: [sampleBackbone] });
    ports = {
      sink: createEventSink(link),
      source: createEventSource(link),
      reader: createEventReader(link),
      overview: createOverviewStore(link),
      log: createEventLog(link),
      putRaw: async (_, wire) => {
        const { headers } = await import('nats');
        const own = headers();
        for (const [key, value] of Object.entries(wire.headers)) own.set(key, value);
        await link.js.publish(wire.subject, wire.payload, { headers: own });
      },
    };
  });

  afterAll(async () => {
    await link?.close();
    await services?.stop();
  });

  writingContract(() => ports);
  readingContract(() => ports);
});
