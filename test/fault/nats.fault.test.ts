/** NATS that is killed, full, slow to answer or loses what it was asked: nothing acknowledged is lost, nothing is doubled. */
import { randomBytes } from 'node:crypto';
import { JetStreamApiError, type PubAck } from '@nats-io/jetstream';
import { TimeoutError } from 'nats';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  applyTopology,
  createEventLog,
  createEventSink,
  createEventSource,
  createOverviewStore,
  type NatsLink,
} from '../../infra/nats/index.ts';
import type { Appended, EventSink } from '../../processors/ports.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { Position } from '../../streams/ids.ts';
import { fetchConsumer, type StreamFamily } from '../../streams/topology.ts';
import { altered, type TestLink, testLink } from '../kit/natsLink.ts';
import {
  sampleBackbone,
  sampleBatch,
  sampleOpened,
  samplePlanned,
  sampleRetired,
  sampleRun,
  sampleWritten,
} from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

const MB = 1_000_000;
let services: Services;
let connected: TestLink;
let link: NatsLink;

beforeAll(async () => {
  services = await startServices({ postgres: false });
});
afterAll(() => services?.stop());

const options = { replicas: 1, overviewMaxBytes: 100 * MB, backbones: [sampleBackbone] };
beforeEach(async () => {
  await services.freshNats({ maxFileBytes: 2000 * MB });
  connected = await testLink(services.natsUrlWithLogin);
  ({ link } = connected);
  await applyTopology(link, options);
});
afterEach(async () => {
  await services.startNats();
  await link.close();
});

const start: Position = { number: 1, sequence: 0 };

/** Everything in a stream, read by the log until its end as it is now. */
async function everything(family: StreamFamily, over: NatsLink = link): Promise<StoredEvent[]> {
  const stop = new AbortController();
  const end = (await createEventLog(over).state(family)).last;
  const events: StoredEvent[] = [];
  const wishes = { subjects: [], eventsMax: 500, bytesMax: 4 * MB, idleMs: 20, signal: stop.signal };
  if (end.sequence === 0) return events;
  for await (const batch of createEventLog(over).read(family, start, wishes)) {
    events.push(...batch.events);
    if (batch.upTo.sequence >= end.sequence) stop.abort();
  }
  return events;
}

/** `js.publish` that sends, loses the first `count` answers, and remembers what it sent. */
function deaf(count: number): { link: NatsLink; sent: () => number } {
  let left = count;
  let sent = 0;
  const publish = async (...args: Parameters<NatsLink['js']['publish']>): Promise<PubAck> => {
    sent++;
    const ack = await link.js.publish(...args);
    if (left-- > 0) throw new TimeoutError();
    return ack;
  };
  const js = Object.assign(Object.create(link.js), { publish });
  return { link: altered(link, { js }), sent: () => sent };
}

const sequenceOf = (appended: Appended): number => (appended.kind === 'conflict' ? 0 : appended.position.sequence);

describe('NATS killed in the middle of appending', () => {
  it('loses no acknowledged event and stores none twice, over three kills', async () => {
    const sink = createEventSink(link);
    const stop = new AbortController();
    const acked = new Map<string, Position>();
    let next = 0;
    const appendOn = async () => {
      while (!stop.signal.aborted) {
        const event = sampleOpened({ group: 'a.b', run: ++next });
        const appended = await sink.append(event);
        if (appended.kind === 'conflict') throw new Error('nothing was expected');
        acked.set(event.id, appended.position);
      }
    };
    const workers = Array.from({ length: 20 }, appendOn);
    for (let kills = 0; kills < 3; kills++) {
      const before = acked.size;
      await until('some events', () => acked.size > before + 50);
      await services.killNats();
      await services.startNats();
    }
    const before = acked.size;
    await until('some more', () => acked.size > before + 50);
    stop.abort();
    await Promise.all(workers);
    const stored = await everything('RELEASES');
    expect(new Set(stored.map((e) => e.event.id)).size).toBe(stored.length);
    expect(new Map(stored.map((e) => [e.event.id as string, e.position]))).toEqual(acked);
    expect(connected.conditions.ever.map((c) => c.about)).toContain('nats');
    expect(connected.conditions.now.size).toBe(0);
  });

  it('keeps a chain of conditional appends whole, and calls none of its own a conflict', async () => {
    const sink = createEventSink(link);
    const kinds = new Set<string>();
    const chain: number[] = [];
    let lastOnSubject = 0;
    const appendNext = async () => {
      const appended = await sink.append(sampleBatch({ group: 'a.b' }, chain.length, Buffer.alloc(10_000)), {
        lastOnSubject,
      });
      kinds.add(appended.kind);
      lastOnSubject = sequenceOf(appended);
      chain.push(lastOnSubject);
    };
    for (let kills = 0; kills < 3; kills++) {
      for (let i = 0; i < 20; i++) await appendNext();
      const killed = services.killNats().then(() => services.startNats());
      for (let i = 0; i < 20; i++) await appendNext();
      await killed;
    }
    expect(kinds).not.toContain('conflict');
    expect((await everything('OVERVIEW')).map((e) => e.position.sequence)).toEqual(chain);
  });

  it('hands every work item out until it is acknowledged, and reads on over kills', async () => {
    const sink = createEventSink(link);
    const stop = new AbortController();
    const worked = new Set<string>();
    const acks: Promise<unknown>[] = [];
    const spec = { ...fetchConsumer('backfill', sampleBackbone), ackWaitMs: 2000 };
    const working = (async () => {
      const taken = createEventSource(link).take(spec, { maxInFlight: 5, signal: stop.signal });
      for await (const delivery of taken) acks.push(delivery.ack().then(() => worked.add(delivery.event.id)));
    })();
    const reading: string[] = [];
    const wishes = { subjects: [], eventsMax: 10, bytesMax: MB, idleMs: 10, signal: stop.signal };
    const reader = (async () => {
      for await (const batch of createEventLog(link).read('RANGES', start, wishes)) {
        reading.push(...batch.events.map((e) => e.event.id));
      }
    })();
    const planned: string[] = [];
    for (let kills = 0; kills < 2; kills++) {
      for (let i = 0; i < 30; i++) {
        const event = samplePlanned({ group: 'a.b', run: planned.length + 1 });
        await sink.append(event);
        planned.push(event.id);
      }
      await services.killNats();
      await services.startNats();
    }
    await until('all work', () => worked.size === planned.length, { deadlineMs: 120_000 });
    await until('the reader', () => reading.length === planned.length, { deadlineMs: 120_000 });
    stop.abort();
    await Promise.all([working, reader, ...acks]);
    expect([...worked].sort()).toEqual([...planned].sort());
    expect(reading).toEqual(planned);
  });
});

describe('an answer that was lost', () => {
  it('is asked for again: the event is stored once and counts as a repeat', async () => {
    const { link: other, sent } = deaf(2);
    const event = sampleRetired({ group: 'a.b' });
    expect(await createEventSink(other).append(event)).toEqual({
      kind: 'repeated',
      position: { number: 1, sequence: 1 },
    });
    expect(sent()).toBe(3);
    expect((await everything('RANGES')).map((e) => e.event.id)).toEqual([event.id]);
  });

  it("does not make a conflict of one's own conditional append, on the subject or on the stream", async () => {
    const first = await createEventSink(deaf(1).link).append(sampleBatch({ group: 'a.b' }, 0, Buffer.from('x')), {
      lastOnSubject: 0,
    });
    expect(first).toEqual({ kind: 'repeated', position: { number: 1, sequence: 1 } });
    const second = await createEventSink(deaf(1).link).append(sampleOpened({ group: 'a.b' }), { lastInStream: 0 });
    expect(second).toEqual({ kind: 'repeated', position: { number: 1, sequence: 1 } });
  });

  it('is a conflict when another worker was faster meanwhile', async () => {
    const fast = createEventSink(link);
    const publish = async (...args: Parameters<NatsLink['js']['publish']>) => {
      await fast.append(sampleBatch({ group: 'a.b' }, 5, Buffer.from('other')), { lastOnSubject: 0 });
      return link.js.publish(...args);
    };
    const js = Object.assign(Object.create(link.js), { publish });
    const slow = createEventSink(altered(link, { js }));
    expect(await slow.append(sampleBatch({ group: 'a.b' }, 0, Buffer.from('x')), { lastOnSubject: 0 })).toEqual({
      kind: 'conflict',
      last: 1,
    });
  });

  it('is waited for no longer than the caller wants', async () => {
    await services.killNats();
    const stop = new AbortController();
    const appending = createEventSink(link).append(sampleRetired({ group: 'a.b' }), { signal: stop.signal });
    await until('the condition', () => connected.conditions.code('nats') === 'NATS_UNAVAILABLE');
    stop.abort(new Error('shutting down'));
    await expect(appending).rejects.toThrow('shutting down');
  });

  it('ends by what the server refuses for good, without a retry', async () => {
    let sent = 0;
    const publish = async () => {
      sent++;
      throw new JetStreamApiError({ code: 400, err_code: 10054, description: 'message size exceeds maximum allowed' });
    };
    const js = Object.assign(Object.create(link.js), { publish });
    const sink = createEventSink(altered(link, { js }));
    await expect(sink.append(sampleRetired({ group: 'a.b' }))).rejects.toMatchObject({ code: 'NATS_REFUSED' });
    expect(sent).toBe(1);
  });
});

describe('a stream or store that is full', () => {
  const fill = async (sink: EventSink, group: string, done: { count: number }) => {
    for (let i = 0; i < 40; i++) {
      await sink.append(sampleBatch({ group }, i, Buffer.alloc(3 * MB, i)));
      done.count++;
    }
  };

  it('is the condition STREAM_FULL while it lasts; appending goes on once a finished range is purged', async () => {
    const sink = createEventSink(link);
    await sink.append(sampleBatch({ group: 'first' }, 0, Buffer.alloc(7 * MB)));
    await sink.append(sampleBatch({ group: 'first' }, 1, Buffer.alloc(7 * MB)));
    await sink.append(sampleBatch({ group: 'first' }, 2, Buffer.alloc(7 * MB)));
    const done = { count: 0 };
    const filling = fill(sink, 'second', done);
    await until('the condition', () => connected.conditions.code('stream/OVERVIEW') === 'STREAM_FULL');
    const before = done.count;
    expect(before).toBeLessThan(40);
    const { epoch: _e, lo: _l, hi: _h, ...first } = sampleRun({ group: 'first' });
    await createOverviewStore(link).purge(first);
    await until('more room to be used', () => done.count > before + 3);
    // The rest does not fit: raise the limit of the stream.
    await until('the condition again', () => connected.conditions.code('stream/OVERVIEW') === 'STREAM_FULL');
    await applyTopology(link, { ...options, overviewMaxBytes: 500 * MB });
    await filling;
    expect(connected.conditions.now.size).toBe(0);
    expect((await everything('OVERVIEW')).length).toBe(40);
  });

  it('goes on when the limit of the whole store was raised and the server started again', async () => {
    await link.close();
    await services.freshNats({ maxFileBytes: 120 * MB });
    connected = await testLink(services.natsUrlWithLogin);
    ({ link } = connected);
    await applyTopology(link, options);
    const sink = createEventSink(link);
    const done = { count: 0 };
    // CHUNKS has no limit of its own: that of the store stops it.
    const filling = (async () => {
      for (let k = 0; k < 45; k++) {
        await sink.append(sampleWritten({ group: 'a.b' }, k, randomBytes(3 * MB)));
        done.count++;
      }
    })();
    const full = () => connected.conditions.code('stream/CHUNKS') === 'STREAM_FULL';
    await until('the condition', full, { deadlineMs: 120_000 });
    const before = done.count;
    await services.stopNats();
    await services.startNats({ maxFileBytes: 2000 * MB });
    await filling;
    expect(before).toBeLessThan(45);
    expect(connected.conditions.now.size).toBe(0);
    expect((await everything('CHUNKS')).map((e) => e.position.sequence)).toEqual(
      Array.from({ length: 45 }, (_, i) => i + 1),
    );
  });
});
