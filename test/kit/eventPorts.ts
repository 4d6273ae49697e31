import type { Delivery, EventReader, EventSink, EventSource, OverviewStore } from '../../processors/ports.ts';
import type { EventLog, LogBatch, ReadOptions } from '../../projections/ports.ts';
import type { WireMessage } from '../../streams/envelope.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import { type ConsumerSpec, fetchConsumer, type StreamFamily } from '../../streams/topology.ts';
import { sampleBackbone } from '../kit/sampleEvents.ts';

export interface Ports {
  readonly sink: EventSink;
  readonly source: EventSource;
  readonly reader: EventReader;
  readonly overview: OverviewStore;
  readonly log: EventLog;
  putRaw(family: StreamFamily, wire: WireMessage): Promise<void>;
}

let tests = 0;
/** A group that no other test uses: the streams are shared, nothing in them can be deleted. */
export const freshGroup = (): string => `alt.test.g${++tests}`;
export const bytes = (text: string): Buffer => Buffer.from(text);
export const ids = (events: readonly { event: HeadwaterEvent }[]) => events.map((e) => e.event.id);

export const consumerOn = (group: string, other: Partial<ConsumerSpec> = {}): ConsumerSpec => ({
  ...fetchConsumer('backfill', sampleBackbone),
  durable: `test-${group.replaceAll('.', '-')}`,
  filter: `range.planned.backfill.${sampleBackbone}.${group}`,
  ...other,
});

export const readOptions = (signal: AbortSignal, other: Partial<ReadOptions> = {}): ReadOptions => ({
  subjects: [],
  eventsMax: 100,
  bytesMax: 4_000_000,
  idleMs: 20,
  signal,
  ...other,
});

/** Takes deliveries until there are `count`, then lets go of the source. */
export async function takeSome(ports: Ports, spec: ConsumerSpec, count: number, each?: (d: Delivery) => unknown) {
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
export async function readUntil(
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

export const eventsOf = (batches: readonly LogBatch[]) => batches.flatMap((batch) => batch.events);
