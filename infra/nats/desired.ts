/** The server's words for what `streams/topology.ts` wants. */
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';
import type { ConsumerSpec, StreamSpec } from '../../streams/topology.ts';

const NANOS_PER_MS = 1_000_000;

export interface StreamWishes {
  /** 1 on a single server, 3 in a cluster. */
  readonly replicas: number;
  /** Replaces the default limit of OVERVIEW. */
  readonly overviewMaxBytes?: number | undefined;
}

type Named<T> = Partial<T> & { readonly name: string };

export function streamConfig(spec: StreamSpec, name: string, wishes: StreamWishes): Named<StreamConfig> {
  const maxBytes = spec.family === 'OVERVIEW' ? (wishes.overviewMaxBytes ?? spec.maxBytes) : spec.maxBytes;
  return {
    name,
    subjects: [...spec.subjects],
    retention: 'limits',
    storage: 'file',
    discard: 'new',
    max_age: spec.maxAgeMs * NANOS_PER_MS,
    max_bytes: maxBytes,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    duplicate_window: spec.duplicateWindowMs * NANOS_PER_MS,
    num_replicas: wishes.replicas,
    deny_delete: spec.denyDelete,
    deny_purge: spec.denyPurge,
    allow_direct: spec.allowDirect,
    compression: spec.compression,
  };
}

/** No inactivity limit: it would delete a durable too. Redelivered for ever: a message left out silently is a lost range. */
export const consumerConfig = (spec: ConsumerSpec): Partial<ConsumerConfig> & { readonly durable_name: string } => ({
  durable_name: spec.durable,
  ack_policy: 'explicit',
  deliver_policy: 'all',
  replay_policy: 'instant',
  filter_subject: spec.filter,
  ack_wait: spec.ackWaitMs * NANOS_PER_MS,
  max_ack_pending: spec.maxAckPending,
  max_deliver: -1,
});

export interface Difference {
  readonly option: string;
  readonly wanted: string;
  readonly got: string;
}

const text = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
/** The server leaves out what is false, zero or empty. */
const absent = (value: unknown): boolean => value === false || value === 0 || value === '';
const same = (wanted: unknown, got: unknown): boolean =>
  text(wanted) === text(got) || (got === undefined && absent(wanted));

/** Every option that was asked for and is not in force. */
export const differences = (wanted: object, got: object): readonly Difference[] =>
  Object.entries(wanted)
    .filter(([option, value]) => !same(value, (got as Record<string, unknown>)[option]))
    .map(([option, value]) => ({
      option,
      wanted: text(value),
      got: text((got as Record<string, unknown>)[option]),
    }));
