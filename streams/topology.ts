/** Every stream, durable consumer and publisher, as data. `infra/nats` applies it and reads it back. */
import type { EventType } from './events/index.ts';
import { type Backbone, FETCH_LANES, type FetchLane, type Position } from './ids.ts';
import type { ServiceKind } from './services.ts';

export type StreamFamily = 'CONTROL' | 'RANGES' | 'OVERVIEW' | 'RELEASES' | 'CHUNKS' | 'SHADOW' | 'OPS';

export interface StreamSpec {
  readonly family: StreamFamily;
  readonly subjects: readonly string[];
  /** Numbered streams (`RELEASES-0001`) are sealed at a size and followed by the next number. */
  readonly rolls: boolean;
  /** Only OVERVIEW may be purged, and only range by range. */
  readonly denyPurge: boolean;
  readonly denyDelete: boolean;
  readonly allowDirect: boolean;
  /** 0: for ever. */
  readonly maxAgeMs: number;
  /** The default size limit, -1: none; the configuration may set another for OVERVIEW. */
  readonly maxBytes: number;
  readonly duplicateWindowMs: number;
  /** Bulk payloads are compressed by our own codecs. */
  readonly compression: 'none' | 's2';
}

const DAY_MS = 86_400_000;
const GIB = 2 ** 30;

const kept = (family: StreamFamily, subjects: readonly string[], other: Partial<StreamSpec> = {}): StreamSpec => ({
  family,
  subjects,
  rolls: false,
  denyPurge: true,
  denyDelete: true,
  allowDirect: true,
  maxAgeMs: 0,
  maxBytes: -1,
  duplicateWindowMs: 600_000,
  compression: 's2',
  ...other,
});

export const STREAMS: Readonly<Record<StreamFamily, StreamSpec>> = {
  CONTROL: kept('CONTROL', ['control.>']),
  RANGES: kept('RANGES', ['range.>']),
  OVERVIEW: kept('OVERVIEW', ['overview.>'], { denyPurge: false, maxBytes: 20 * GIB, compression: 'none' }),
  RELEASES: kept('RELEASES', ['release.>', 'probe.>'], { rolls: true, compression: 'none' }),
  CHUNKS: kept('CHUNKS', ['chunks.>'], { rolls: true, compression: 'none' }),
  SHADOW: kept('SHADOW', ['predb.>', 'scan.>', 'shadow.>']),
  OPS: kept('OPS', ['ops.>'], { maxAgeMs: 365 * DAY_MS }),
};

/** The server's name of a stream: `RANGES`, or `RELEASES-0001` for the numbered ones. */
export const streamName = (family: StreamFamily, number = 1): string =>
  STREAMS[family].rolls ? `${family}-${String(number).padStart(4, '0')}` : family;

/** The family and number behind a server's stream name, or null when it is none of ours. */
export function parseStreamName(name: string): { family: StreamFamily; number: number } | null {
  const m = /^([A-Z]+)(?:-(\d{4,}))?$/.exec(name);
  const family = m?.[1] as StreamFamily | undefined;
  if (!m || !family || !Object.hasOwn(STREAMS, family)) return null;
  if (STREAMS[family].rolls !== (m[2] !== undefined)) return null;
  return { family, number: m[2] === undefined ? 1 : Number(m[2]) };
}

export const comparePositions = (a: Position, b: Position): number => a.number - b.number || a.sequence - b.sequence;

export interface ConsumerSpec {
  readonly durable: string;
  readonly family: StreamFamily;
  readonly filter: string;
  /** The lease: without an ack or `working()` for this long the message goes to another worker. */
  readonly ackWaitMs: number;
  /** Leased at a time over all workers of the consumer. */
  readonly maxAckPending: number;
}

/** A worker that lives extends its lease every third of this; the work of one that died waits no longer. */
const LEASE_MS = 30_000;

/** One queue a lane and backbone: the lane's order of service is the fetch process's. */
export const fetchConsumer = (lane: FetchLane, backbone: Backbone): ConsumerSpec => ({
  durable: `fetch-${lane}-${backbone}`,
  family: 'RANGES',
  filter: `range.planned.${lane}.${backbone}.>`,
  ackWaitMs: LEASE_MS,
  maxAckPending: 256,
});

export const headersConsumer: ConsumerSpec = {
  durable: 'headers',
  family: 'RANGES',
  filter: 'range.fetched.>',
  ackWaitMs: LEASE_MS,
  maxAckPending: 16,
};

export const consumersFor = (backbones: readonly Backbone[]): readonly ConsumerSpec[] => [
  headersConsumer,
  ...backbones.flatMap((backbone) => FETCH_LANES.map((lane) => fetchConsumer(lane, backbone))),
];

/** Who appends what. Where several may, `<origin>` follows the verb in the subject. */
export const PUBLISHERS: Readonly<Record<EventType, readonly ServiceKind[]>> = {
  'control.groups': ['operator', 'coordinator', 'import', 'api'],
  'control.garbage': ['operator', 'coordinator', 'api'],
  // The lanes are told apart by subject: `import` plans only its own lane, which no fetch process takes.
  'range.planned': ['coordinator', 'import'],
  'range.fetched': ['fetch', 'import'],
  'range.parsed': ['headers'],
  'range.failed': ['fetch', 'headers', 'coordinator'],
  'range.retired': ['coordinator'],
  'range.retried': ['operator', 'api', 'coordinator'],
  'range.wanted': ['scan', 'operator', 'api'],
  'range.marks': ['coordinator'],
  'overview.batch': ['fetch', 'import'],
  'release.opened': ['headers'],
  'release.seen': ['headers', 'import'],
  'release.fragments': ['headers'],
  'release.merged': ['fragments'],
  'release.settled': ['settle'],
  'probe.candidates': ['headers'],
  'chunks.opened': ['headers'],
  'chunks.written': ['headers'],
  'chunks.merged': ['fragments'],
  'ops.service': ['coordinator', 'fetch', 'headers', 'fragments', 'settle', 'project', 'api', 'supervisor'],
  'ops.incident.opened': [
    'coordinator',
    'fetch',
    'headers',
    'fragments',
    'settle',
    'project',
    'api',
    'supervisor',
    'sentinel',
  ],
  'ops.incident.closed': [
    'coordinator',
    'fetch',
    'headers',
    'fragments',
    'settle',
    'project',
    'api',
    'supervisor',
    'sentinel',
  ],
};
