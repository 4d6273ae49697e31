/**
 * What every implementation of the event ports does. It runs on the in-memory one, on which processors are tested, and on
 * a real NATS, so that what holds there holds here.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
import type { Delivery, EventReader, EventSink, EventSource, OverviewStore } from '../../processors/ports.ts';
import type { EventLog, LogBatch, ReadOptions } from '../../projections/ports.ts';
import { encodeEvent, TYPE_HEADER, type WireMessage } from '../../streams/envelope.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import { type ConsumerSpec, fetchConsumer, type StreamFamily } from '../../streams/topology.ts';
import { MemoryEvents } from '../kit/memoryEvents.ts';
import { RecordedConditions } from '../kit/recordedConditions.ts';
import {
  sampleBackbone,
  sampleBatch,
  sampleFailed,
  sampleGroups,
  sampleOpened,
  samplePlanned,
  sampleRetired,
  sampleRun,
} from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

interface Ports {
  readonly sink: EventSink;
  readonly source: EventSource;
  readonly reader: EventReader;
  readonly overview: OverviewStore;
  readonly log: EventLog;
  putRaw(family: StreamFamily, wire: WireMessage): Promise<void>;
}

let tests = 0;
/** A group that no other test uses: the streams are shared, nothing in them can be deleted. */
const freshGroup = (): string => `alt.test.g${++tests}`;
const bytes = (text: string): Buffer => Buffer.from(text);
const ids = (events: readonly { event: HeadwaterEvent }[]) => events.map((e) => e.event.id);

const consumerOn = (group: string, other: Partial<ConsumerSpec> = {}): ConsumerSpec => ({
  ...fetchConsumer('backfill', sampleBackbone),
  durable: `test-${group.replaceAll('.', '-')}`,
  filter: `range.planned.backfill.${sampleBackbone}.${group}`,
  ...other,
});

const readOptions = (signal: AbortSignal, other: Partial<ReadOptions> = {}): ReadOptions => ({
  subjects: [],
  eventsMax: 100,
  bytesMax: 4_000_000,
  idleMs: 20,
  signal,
  ...other,
});

/** Takes deliveries until there are `count`, then lets go of the source. */
async function takeSome(ports: Ports, spec: ConsumerSpec, count: number, each?: (d: Delivery) => unknown) {
  const stop = new AbortController();
  const got: Delivery[] = [];
  for await (const delivery of ports.source.take(spec, { maxInFlight: count, signal: stop.signal })) {
    got.push(delivery);
    await (each ?? ((d: Delivery) => d.ack()))(delivery);
    if (got.length === count) stop.abort();
  }
  return got;
}

/** Reads batches until `enough` is satisfied with what came. */
async function readUntil(
  ports: Ports,
  family: StreamFamily,
  from: { number: number; sequence: number },
  options: Partial<ReadOptions>,
  enough: (batches: readonly LogBatch[]) => boolean,
) {
  const stop = new AbortController();
  const batches: LogBatch[] = [];
  for await (const batch of ports.log.read(family, from, readOptions(stop.signal, options))) {
    batches.push(batch);
    if (enough(batches)) stop.abort();
  }
  return batches;
}

const eventsOf = (batches: readonly LogBatch[]) => batches.flatMap((batch) => batch.events);

function contract(ports: () => Ports): void {
  describe('appending', () => {
    it('stores an event once: a repeat is answered with the position of the first', async () => {
      const event = sampleRetired({ group: freshGroup() });
      const first = await ports().sink.append(event);
      expect(first.kind).toBe('stored');
      expect(await ports().sink.append(event)).toEqual({ ...first, kind: 'repeated' });
    });

    it('takes the same fact noticed at another time as a repeat', async () => {
      const group = freshGroup();
      const first = await ports().sink.append(sampleRetired({ group }));
      const later = sampleRetired({ group }, (sampleRetired({ group }).at + 5000) as never);
      expect(await ports().sink.append(later)).toEqual({ ...first, kind: 'repeated' });
    });

    it('refuses another event under an id that is taken: EVENT_ID_CONFLICT', async () => {
      const group = freshGroup();
      await ports().sink.append(sampleFailed({ group }, 'one reason'));
      await expect(ports().sink.append(sampleFailed({ group }, 'another'))).rejects.toMatchObject({
        code: 'EVENT_ID_CONFLICT',
      });
    });

    it('appends under an expected last sequence of the subject, and tells the last one when it does not hold', async () => {
      const run = { group: freshGroup() };
      const { sink } = ports();
      const first = await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 });
      if (first.kind !== 'stored') throw new Error(`it is ${first.kind}`);
      const last = first.position.sequence;
      expect(await sink.append(sampleBatch(run, 5, bytes('other')), { lastOnSubject: 0 })).toEqual({
        kind: 'conflict',
        last,
      });
      expect((await sink.append(sampleBatch(run, 1, bytes('b')), { lastOnSubject: last })).kind).toBe('stored');
    });

    it('recognises its own event behind the expected sequence as a repeat, also when more was appended since', async () => {
      const run = { group: freshGroup() };
      const { sink } = ports();
      const first = await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 });
      if (first.kind !== 'stored') throw new Error(`it is ${first.kind}`);
      expect(await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 })).toEqual({
        ...first,
        kind: 'repeated',
      });
      await sink.append(sampleBatch(run, 1, bytes('b')), { lastOnSubject: first.position.sequence });
      expect(await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 })).toEqual({
        ...first,
        kind: 'repeated',
      });
    });

    it('appends under an expected last sequence of the stream: of two with the same expectation one wins', async () => {
      const { sink, reader } = ports();
      const { last } = await reader.state('CONTROL');
      const version = last.sequence + 1;
      const expectation = { lastInStream: last.sequence };
      const results = await Promise.all([
        sink.append(sampleGroups(version), expectation),
        sink.append(sampleGroups(version + 1_000_000), expectation),
      ]);
      expect(results.map((r) => r.kind).sort()).toEqual(['conflict', 'stored']);
      expect(results.find((r) => r.kind === 'conflict')).toEqual({ kind: 'conflict', last: version });
    });

    it('ends with the reason of an aborted signal and stores nothing', async () => {
      const group = freshGroup();
      const signal = AbortSignal.abort(new Error('shutting down'));
      await expect(ports().sink.append(sampleRetired({ group }), { signal })).rejects.toThrow('shutting down');
      const { verb, lane, ...run } = { verb: 'range.retired' as const, lane: 'live' as const, ...sampleRun({ group }) };
      expect(await ports().reader.last('RANGES', { verb, lane, backbone: run.backbone, group: run.group })).toBeNull();
    });

    it('refuses a payload beyond the limit before it is sent: EVENT_MALFORMED', async () => {
      const event = sampleBatch({ group: freshGroup() }, 0, Buffer.alloc(7_900_000));
      await expect(ports().sink.append(event)).rejects.toMatchObject({ code: 'EVENT_MALFORMED' });
    });
  });

  describe('leasing', () => {
    it('hands out what the filter matches, in order, and nothing that was acknowledged again', async () => {
      const group = freshGroup();
      const planned = [1, 2, 3].map((run) => samplePlanned({ group, run }));
      for (const event of planned) await ports().sink.append(event);
      await ports().sink.append(samplePlanned({ group: freshGroup() }));
      const got = await takeSome(ports(), consumerOn(group), 3);
      expect(ids(got)).toEqual(planned.map((event) => event.id));
      expect(got.map((d) => d.deliveries)).toEqual([1, 1, 1]);
      await ports().sink.append(samplePlanned({ group, run: 4 }));
      expect(ids(await takeSome(ports(), consumerOn(group), 1))).toEqual([samplePlanned({ group, run: 4 }).id]);
    });

    it('holds no more leases than asked for; an acknowledgement frees one', async () => {
      const group = freshGroup();
      for (const run of [1, 2, 3, 4]) await ports().sink.append(samplePlanned({ group, run }));
      const stop = new AbortController();
      const held: Delivery[] = [];
      const other: Delivery[] = [];
      const collect = async (into: Delivery[], maxInFlight: number) => {
        const taken = ports().source.take(consumerOn(group), { maxInFlight, signal: stop.signal });
        for await (const delivery of taken) into.push(delivery);
      };
      const first = collect(held, 2);
      await until('two leases', () => held.length === 2);
      const second = collect(other, 2);
      await until('the other two', () => other.length === 2);
      expect(held.map((d) => d.position.sequence)).not.toEqual(other.map((d) => d.position.sequence));
      await ports().sink.append(samplePlanned({ group, run: 5 }));
      await held[0]?.ack();
      await until('the fifth', () => held.length === 3);
      expect(other).toHaveLength(2);
      stop.abort();
      await Promise.all([first, second]);
    });

    it('hands a message out again when its lease ran out, and counts the deliveries', async () => {
      const group = freshGroup();
      const spec = consumerOn(group, { ackWaitMs: 1000 });
      await ports().sink.append(samplePlanned({ group }));
      const [lost] = await takeSome(ports(), spec, 1, () => undefined);
      const [again] = await takeSome(ports(), spec, 1);
      expect(again?.position).toEqual(lost?.position);
      expect([lost?.deliveries, again?.deliveries]).toEqual([1, 2]);
    });

    it('keeps a lease for as long as it is extended', async () => {
      const group = freshGroup();
      const spec = consumerOn(group, { ackWaitMs: 1000 });
      await ports().sink.append(samplePlanned({ group }));
      const [held] = await takeSome(ports(), spec, 1, () => undefined);
      const stop = new AbortController();
      const others: Delivery[] = [];
      const watcher = (async () => {
        for await (const d of ports().source.take(spec, { maxInFlight: 1, signal: stop.signal })) others.push(d);
      })();
      const started = performance.now();
      await until('three times the lease', () => {
        held?.working();
        return performance.now() - started > 3000;
      });
      expect(others).toHaveLength(0);
      await held?.ack();
      stop.abort();
      await watcher;
    });

    it('hands a message back after the asked delay, and never again once it was ended', async () => {
      const group = freshGroup();
      const spec = consumerOn(group);
      await ports().sink.append(samplePlanned({ group, run: 1 }));
      await ports().sink.append(samplePlanned({ group, run: 2 }));
      const started = performance.now();
      const seen: string[] = [];
      await takeSome(ports(), spec, 4, (d) => {
        seen.push(`${d.position.sequence}/${d.deliveries}`);
        if (d.event.id === samplePlanned({ group, run: 1 }).id) return d.deliveries < 3 ? d.nak(300) : d.ack();
        return d.term('it is broken\nbeyond repair');
      });
      expect(performance.now() - started).toBeGreaterThanOrEqual(550);
      expect(seen.filter((s) => s.endsWith('/1'))).toHaveLength(2);
      expect(seen.filter((s) => s.endsWith('/3'))).toHaveLength(1);
    });

    it('lets handlers acknowledge after the abort', async () => {
      const group = freshGroup();
      await ports().sink.append(samplePlanned({ group, run: 1 }));
      const spec = consumerOn(group, { ackWaitMs: 1000 });
      const [held] = await takeSome(ports(), spec, 1, () => undefined);
      await held?.ack();
      await ports().sink.append(samplePlanned({ group, run: 2 }));
      expect(ids(await takeSome(ports(), spec, 1))).toEqual([samplePlanned({ group, run: 2 }).id]);
    });

    it('ends with the error of a broken event', async () => {
      const group = freshGroup();
      const wire = encodeEvent(samplePlanned({ group }));
      await ports().putRaw('RANGES', { ...wire, headers: { ...wire.headers, [TYPE_HEADER]: 'range.planned/99' } });
      await expect(takeSome(ports(), consumerOn(group), 1)).rejects.toMatchObject({ code: 'EVENT_UNKNOWN_VERSION' });
    });
  });

  describe('reading single events', () => {
    it('gives the event at a position, the last on a subject, and all on it up to a limit', async () => {
      const run = { group: freshGroup() };
      const batches = ['a', 'b', 'c'].map((text, i) => sampleBatch(run, i, bytes(text)));
      const appended = [];
      for (const batch of batches) appended.push(await ports().sink.append(batch));
      const { epoch: _e, lo: _l, hi: _h, ...named } = sampleRun(run);
      const subject = { verb: 'overview' as const, ...named };
      const second = appended[1];
      if (second?.kind !== 'stored') throw new Error('not stored');
      const { reader } = ports();
      const event = await reader.get('OVERVIEW', second.position);
      expect(event?.event.id).toBe(batches[1]?.id);
      expect(event?.position).toEqual(second.position);
      expect((await reader.last('OVERVIEW', subject))?.event.id).toBe(batches[2]?.id);
      expect(ids(await reader.allOn('OVERVIEW', subject, 10))).toEqual(batches.map((b) => b.id));
      expect(ids(await reader.allOn('OVERVIEW', subject, 2))).toEqual(batches.slice(0, 2).map((b) => b.id));
      const page = await reader.allOn('OVERVIEW', subject, 10, second.position);
      expect(ids(page)).toEqual([batches[2]?.id]);
    });

    it('gives null for what is not there', async () => {
      const { reader } = ports();
      expect(await reader.get('OVERVIEW', { number: 1, sequence: 999_999 })).toBeNull();
      expect(await reader.get('OVERVIEW', { number: 1, sequence: 0 })).toBeNull();
      const group = sampleRun({ group: freshGroup() });
      const subject = { verb: 'release.opened' as const, backbone: group.backbone, group: group.group };
      expect(await reader.last('RELEASES', subject)).toBeNull();
      expect(await reader.allOn('RELEASES', subject, 10)).toEqual([]);
    });

    it('tells the state of a stream', async () => {
      const before = await ports().reader.state('RELEASES');
      await ports().sink.append(sampleOpened({ group: freshGroup() }));
      const after = await ports().reader.state('RELEASES');
      expect(after.messages).toBe(before.messages + 1);
      expect(after.last).toEqual({ number: 1, sequence: before.last.sequence + 1 });
      expect(after.bytes).toBeGreaterThan(before.bytes);
      expect(after.createdAt).toBe(before.createdAt);
      expect((await ports().reader.state('OVERVIEW')).maxBytes).toBeGreaterThan(0);
      expect(after.maxBytes).toBe(-1);
    });
  });

  describe('the overview store', () => {
    it('names the runs that hold batches, and forgets one that is purged', async () => {
      const group = freshGroup();
      for (const run of [1, 2]) {
        await ports().sink.append(sampleBatch({ group, run }, 0, bytes('x')));
        await ports().sink.append(sampleBatch({ group, run }, 1, bytes('y')));
      }
      const held = async () => (await ports().overview.held()).filter((r) => r.group === group).map((r) => r.run);
      expect((await held()).sort()).toEqual([1, 2]);
      const { backbone, rangeId, run } = sampleRun({ group });
      await ports().overview.purge({ backbone, group: sampleRun({ group }).group, rangeId, run });
      expect(await held()).toEqual([2]);
      const subject = { verb: 'overview' as const, backbone, group: sampleRun({ group }).group, rangeId, run };
      expect(await ports().reader.allOn('OVERVIEW', subject, 10)).toEqual([]);
    });
  });

  describe('the log', () => {
    it('gives every event after a position in order, in batches within the bound, and goes on with new ones', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('RANGES')).last;
      const events = [1, 2, 3, 4, 5].map((run) => samplePlanned({ group, run }));
      for (const event of events.slice(0, 4)) await ports().sink.append(event);
      const reading = readUntil(ports(), 'RANGES', from, { eventsMax: 3 }, (b) => eventsOf(b).length === 5);
      await ports().sink.append(events[4] as HeadwaterEvent);
      const batches = await reading;
      expect(ids(eventsOf(batches))).toEqual(events.map((e) => e.id));
      expect(Math.max(...batches.map((b) => b.events.length))).toBeLessThanOrEqual(3);
      for (const batch of batches) expect(batch.events.at(-1)?.position).toEqual(batch.upTo);
      expect(batches[0]?.events[0]?.position.sequence).toBe(from.sequence + 1);
    });

    it('keeps batches within the bound on bytes; a single event beyond it comes alone', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('OVERVIEW')).last;
      const sizes = [100, 100, 5000, 100];
      for (const [i, size] of sizes.entries()) {
        await ports().sink.append(sampleBatch({ group }, i, Buffer.alloc(size, i)));
      }
      const batches = await readUntil(ports(), 'OVERVIEW', from, { bytesMax: 2000 }, (b) => eventsOf(b).length === 4);
      expect(batches.map((b) => b.events.length)).toEqual([2, 1, 1]);
    });

    it('moves on while nothing matches, up to the end of the stream and not beyond', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('RANGES')).last;
      for (const run of [1, 2, 3]) await ports().sink.append(samplePlanned({ group, run }));
      const end = (await ports().log.state('RANGES')).last;
      const options = { subjects: [`range.retired.live.${sampleBackbone}.${group}`, 'range.parsed.>'] };
      const batches = await readUntil(ports(), 'RANGES', from, options, (b) => b.length === 1);
      expect(batches).toEqual([{ events: [], upTo: end }]);
      await ports().sink.append(samplePlanned({ group, run: 4 }));
      await ports().sink.append(sampleRetired({ group }));
      const later = await readUntil(ports(), 'RANGES', end, options, (b) => eventsOf(b).length === 1);
      expect(ids(eventsOf(later))).toEqual([sampleRetired({ group }).id]);
    });

    it('gives what lies before a broken event, then ends with its error', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('RANGES')).last;
      await ports().sink.append(samplePlanned({ group }));
      const wire = encodeEvent(samplePlanned({ group, run: 2 }));
      await ports().putRaw('RANGES', { ...wire, headers: { ...wire.headers, [TYPE_HEADER]: 'range.unheard/1' } });
      await ports().sink.append(samplePlanned({ group, run: 3 }));
      const stop = new AbortController();
      const got: LogBatch[] = [];
      const reading = (async () => {
        for await (const batch of ports().log.read('RANGES', from, readOptions(stop.signal))) got.push(batch);
      })();
      await expect(reading).rejects.toMatchObject({ code: 'EVENT_UNKNOWN_TYPE' });
      expect(ids(eventsOf(got))).toEqual([samplePlanned({ group }).id]);
      expect(got.at(-1)?.upTo.sequence).toBe(from.sequence + 1);
    });

    it('ends without an error when the signal aborts while it waits', async () => {
      const stop = new AbortController();
      const from = (await ports().log.state('CHUNKS')).last;
      const reading = (async () => {
        for await (const batch of ports().log.read('CHUNKS', from, readOptions(stop.signal))) return batch;
        return 'ended';
      })();
      stop.abort();
      expect(await reading).toBe('ended');
    });
  });
}

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
  contract(() => ports);
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

  contract(() => ports);
});
