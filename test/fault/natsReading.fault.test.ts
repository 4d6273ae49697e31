/** How much is under way at once, and consumers and connections that disappear, on a real NATS. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  applyTopology,
  createEventLog,
  createEventReader,
  createEventSink,
  createEventSource,
  type NatsLink,
} from '../../infra/nats/index.ts';
import type { Appended, Delivery } from '../../processors/ports.ts';
import type { Position } from '../../streams/ids.ts';
import { fetchConsumer } from '../../streams/topology.ts';
import { altered, testLink } from '../kit/natsLink.ts';
import { sampleBackbone, sampleBatch, samplePlanned } from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

const MB = 1_000_000;
const start: Position = { number: 1, sequence: 0 };
let services: Services;
let link: NatsLink;

beforeAll(async () => {
  services = await startServices({ postgres: false, natsMaxFileBytes: 2000 * MB });
});
afterAll(() => services?.stop());

beforeEach(async () => {
  await services.freshNats();
  ({ link } = await testLink(services.natsUrlWithLogin));
  await applyTopology(link, { replicas: 1, overviewMaxBytes: 100 * MB, backbones: [sampleBackbone] });
});
afterEach(async () => {
  await services.startNats();
  await link.close();
});

describe('bytes under way', () => {
  it('are bounded while appending, whatever is started at once', async () => {
    let now = 0;
    let most = 0;
    const publish = async (...args: Parameters<NatsLink['js']['publish']>) => {
      const bytes = (args[1] as Uint8Array).length;
      now += bytes;
      most = Math.max(most, now);
      try {
        return await link.js.publish(...args);
      } finally {
        now -= bytes;
      }
    };
    const js = Object.assign(Object.create(link.js), { publish });
    const sink = createEventSink(altered(link, { js }));
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => sink.append(sampleBatch({ group: 'a.b' }, i, Buffer.alloc(5 * MB)))),
    );
    expect(most).toBeGreaterThan(10 * MB);
    expect(most).toBeLessThanOrEqual(16 * MB);
  });

  it('are bounded while reading: a reader that stands still gets no more than 16 MB', async () => {
    const sink = createEventSink(link);
    for (let i = 0; i < 12; i++) await sink.append(sampleBatch({ group: 'a.b' }, i, Buffer.alloc(7 * MB, i)));
    const stop = new AbortController();
    const before = link.nc.stats().inBytes;
    const wishes = { subjects: [], eventsMax: 1, bytesMax: MB, idleMs: 10, signal: stop.signal };
    const seen: number[] = [];
    for await (const batch of createEventLog(link).read('OVERVIEW', start, wishes)) {
      seen.push(...batch.events.map((e) => e.position.sequence));
      await until('the server to have nothing left that was asked for', quiet());
      // One event was taken, at most 16 MB wait behind it.
      expect(link.nc.stats().inBytes - before).toBeLessThanOrEqual(seen.length * 7.01 * MB + 16.1 * MB);
      if (seen.length === 12) stop.abort();
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  /** True once the count of bytes that came in stood still for 100 ms. */
  function quiet(): () => boolean {
    let last = -1;
    let since = performance.now();
    return () => {
      const { inBytes } = link.nc.stats();
      if (inBytes !== last) since = performance.now();
      last = inBytes;
      return performance.now() - since > 100;
    };
  }
});

describe('a consumer that disappears', () => {
  it('is made again: the work goes on, with what was not finished handed out anew', async () => {
    const sink = createEventSink(link);
    const spec = fetchConsumer('backfill', sampleBackbone);
    const stop = new AbortController();
    const got: Delivery[] = [];
    const working = (async () => {
      for await (const d of createEventSource(link).take(spec, { maxInFlight: 10, signal: stop.signal })) {
        got.push(d);
        await d.ack();
      }
    })();
    const send = (run: number): Promise<Appended> => sink.append(samplePlanned({ group: 'a.b', run }));
    await send(1);
    await until('the first', () => got.length === 1);
    await link.jsm.consumers.delete('RANGES', spec.durable);
    await send(2);
    const again = () => got.some((d) => d.event.id === samplePlanned({ group: 'a.b', run: 2 }).id);
    await until('the second', again, { deadlineMs: 120_000 });
    stop.abort();
    await working;
  });

  it('does not make the log lose its place', async () => {
    const sink = createEventSink(link);
    const stop = new AbortController();
    const got: number[] = [];
    const wishes = { subjects: [], eventsMax: 10, bytesMax: MB, idleMs: 10, signal: stop.signal };
    const reading = (async () => {
      for await (const batch of createEventLog(link).read('RANGES', start, wishes)) {
        got.push(...batch.events.map((e) => e.position.sequence));
      }
    })();
    await sink.append(samplePlanned({ group: 'a.b', run: 1 }));
    await until('the first', () => got.length === 1);
    const names: string[] = [];
    for await (const info of link.jsm.consumers.list('RANGES'))
      if (info.name.startsWith('reader-')) names.push(info.name);
    expect(names).toHaveLength(1);
    await link.jsm.consumers.delete('RANGES', names[0] ?? '');
    await sink.append(samplePlanned({ group: 'a.b', run: 2 }));
    await sink.append(samplePlanned({ group: 'a.b', run: 3 }));
    await until('the others', () => got.length === 3, { deadlineMs: 120_000 });
    stop.abort();
    await reading;
    expect(got).toEqual([1, 2, 3]);
    // It cleans up behind itself.
    const left: string[] = [];
    for await (const info of link.jsm.consumers.list('RANGES'))
      if (info.name.startsWith('reader-')) left.push(info.name);
    expect(left).toEqual([]);
  });
});

describe('a stream that is made anew', () => {
  it('ends the reading of the log, although it has grown past what was read', async () => {
    const sink = createEventSink(link);
    const got: number[] = [];
    const wishes = { subjects: [], eventsMax: 10, bytesMax: MB, idleMs: 10, signal: AbortSignal.timeout(60_000) };
    const reading = (async () => {
      for await (const batch of createEventLog(link).read('RANGES', start, wishes)) {
        got.push(...batch.events.map((e) => e.position.sequence));
      }
    })();
    for (const run of [1, 2]) await sink.append(samplePlanned({ group: 'a.b', run }));
    await until('what was there before', () => got.length === 2);
    await link.jsm.streams.delete('RANGES');
    await applyTopology(link, { replicas: 1, overviewMaxBytes: 100 * MB, backbones: [sampleBackbone] });
    for (const run of [11, 12, 13, 14]) await sink.append(samplePlanned({ group: 'a.b', run }));
    await reading;
    expect(wishes.signal.aborted).toBe(false);
    expect(got).toEqual([1, 2]);
  });
});

describe('closing', () => {
  it('ends what waits for the server without a signal of its own', async () => {
    const { link: other } = await testLink(services.natsUrlWithLogin);
    await services.killNats();
    await until('the loss to be noticed', () => other.session.aborted);
    const reading = createEventReader(other).state('RANGES');
    const outcome = expect(reading).rejects.toMatchObject({ code: 'NATS_CLOSED' });
    await other.close();
    await outcome;
    expect(await other.closed).toBeNull();
  });
});
