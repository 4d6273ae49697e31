/** NATS JetStream behind the event ports of processors and projections. */
export { type ConnectSettings, connectNats } from './connection.ts';
export { type Durability, describeDurability, readDurability } from './durability.ts';
export { createEventLog } from './eventLog.ts';
export { createEventReader } from './eventReader.ts';
export { createEventSink } from './eventSink.ts';
export { createEventSource } from './eventSource.ts';
export type { NatsLink } from './link.ts';
export { createOverviewStore } from './overviewStore.ts';
export { readStoreLimit } from './storeLimit.ts';
export { applyTopology, type TopologyOptions } from './topology.ts';
