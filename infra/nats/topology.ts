import { type ConsumerInfo, JetStreamApiError, type StreamConfig, type StreamInfo } from '@nats-io/jetstream';
import type { Backbone } from '../../streams/ids.ts';
import {
  type ConsumerSpec,
  consumersFor,
  STREAMS,
  type StreamFamily,
  type StreamSpec,
  streamName,
} from '../../streams/topology.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import { consumerConfig, differences, type StreamWishes, streamConfig } from './desired.ts';
import type { NatsLink } from './link.ts';
import { isMissing, retrying } from './outage.ts';
import { streamNumbers } from './stored.ts';

/** Insufficient resources, memory or storage. */
const STORE_CODES: readonly number[] = [10023, 10028, 10047];

export interface TopologyOptions extends StreamWishes {
  /** Each gets its queues: one a lane. */
  readonly backbones: readonly Backbone[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates or updates every stream and durable consumer, then reads all of them back: an option that is not in force is
 * NATS_OPTION_DROPPED, a limit that would remove events is NATS_LIMIT_TOO_LOW. Safe to run in several processes at once.
 */
export async function applyTopology(link: NatsLink, options: TopologyOptions): Promise<void> {
  for (const family of Object.keys(STREAMS) as StreamFamily[]) await applyFamily(link, family, options);
  for (const spec of consumersFor(options.backbones)) await ensureConsumer(link, spec, options.signal);
}

async function applyFamily(link: NatsLink, family: StreamFamily, options: TopologyOptions): Promise<void> {
  await retrying(link, { stream: family, signal: options.signal }, async () => {
    // Sealed numbers keep what they have; the open one is the highest.
    const number = (await streamNumbers(link, family)).at(-1) ?? 1;
    await applyStream(link, STREAMS[family], streamName(family, number), options);
  });
}

/** A stream's limit is reserved when it is created or raised: a store that is too small is no outage that passes. */
async function reserving<T>(wanted: Partial<StreamConfig>, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || !STORE_CODES.includes(error.code)) throw error;
    const fields = { stream: wanted.name, bytes: wanted.max_bytes, reason: error.message };
    throw new HeadwaterError('NATS_STORE_TOO_SMALL', fields, { cause: error });
  }
}

async function applyStream(link: NatsLink, spec: StreamSpec, name: string, options: TopologyOptions): Promise<void> {
  const wanted = streamConfig(spec, name, options);
  const existing = await found(() => link.jsm.streams.info(name));
  if (existing === null) {
    link.log.info('creating stream', { stream: name });
    await reserving(wanted, () => link.jsm.streams.add(wanted));
  } else if (differences(wanted, existing.config).length > 0) {
    await updateStream(link, existing, wanted);
  }
  const got = (await link.jsm.streams.info(name)).config;
  refuseDropped(`stream ${name}`, wanted, got);
}

async function updateStream(link: NatsLink, existing: StreamInfo, wanted: Partial<StreamConfig>): Promise<void> {
  const { name } = existing.config;
  const changes = differences(wanted, existing.config);
  // These cannot be changed: the read-back names them.
  if (changes.some(({ option }) => option === 'storage' || option === 'retention')) return;
  refuseLoss(existing, wanted);
  for (const change of changes) link.log.warn('changing an option of a stream', { stream: name, ...change });
  await reserving(wanted, () => link.jsm.streams.update(name, { ...existing.config, ...wanted }));
}

const unlimited = (value: number | undefined): boolean => value === undefined || value <= 0;

/** A limit below what a stream holds would remove events at once. */
function refuseLoss(existing: StreamInfo, wanted: Partial<StreamConfig>): void {
  const { name, max_age: age } = existing.config;
  const stream = { stream: name };
  if (!unlimited(wanted.max_bytes) && existing.state.bytes > wanted.max_bytes!) {
    const fields = { ...stream, option: 'max_bytes', wanted: wanted.max_bytes ?? 0, got: existing.state.bytes };
    throw new HeadwaterError('NATS_LIMIT_TOO_LOW', fields);
  }
  const shorter = !unlimited(wanted.max_age) && (unlimited(age) || age > wanted.max_age!);
  if (shorter && existing.state.messages > 0) {
    throw new HeadwaterError('NATS_LIMIT_TOO_LOW', { ...stream, option: 'max_age', wanted: wanted.max_age!, got: age });
  }
}

/** Creates the consumer or brings it up to date. Throws NATS_OPTION_DROPPED when it is not as wanted afterwards. */
export async function ensureConsumer(link: NatsLink, spec: ConsumerSpec, signal?: AbortSignal): Promise<void> {
  await retrying(link, { stream: spec.family, signal }, async () => {
    const number = (await streamNumbers(link, spec.family)).at(-1) ?? 1;
    await applyConsumer(link, spec, streamName(spec.family, number));
  });
}

async function applyConsumer(link: NatsLink, spec: ConsumerSpec, stream: string): Promise<void> {
  const wanted = consumerConfig(spec);
  const existing = await found(() => link.jsm.consumers.info(stream, spec.durable));
  if (existing === null) {
    link.log.info('creating consumer', { stream, consumer: spec.durable });
    await link.jsm.consumers.add(stream, wanted);
  } else if (mayUpdate(existing, wanted)) {
    await link.jsm.consumers.update(stream, spec.durable, wanted);
  }
  const got = (await link.jsm.consumers.info(stream, spec.durable)).config;
  refuseDropped(`consumer ${spec.durable} of ${stream}`, wanted, got);
}

const FIXED_OF_CONSUMER: readonly string[] = ['ack_policy', 'deliver_policy', 'replay_policy'];

function mayUpdate(existing: ConsumerInfo, wanted: object): boolean {
  const changes = differences(wanted, existing.config);
  return changes.length > 0 && changes.every(({ option }) => !FIXED_OF_CONSUMER.includes(option));
}

/** Old servers drop what they do not know without a word, so only what is read back counts. */
function refuseDropped(what: string, wanted: object, got: object): void {
  const [first] = differences(wanted, got);
  if (first !== undefined) throw new HeadwaterError('NATS_OPTION_DROPPED', { what, ...first });
}

async function found<T>(get: () => Promise<T>): Promise<T | null> {
  try {
    return await get();
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
