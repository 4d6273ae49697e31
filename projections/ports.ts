/** What the projection loop needs from outside: the event log in order, and a database. `infra` implements both. */
import type { StoredEvent } from '../streams/envelope.ts';
import type { Position } from '../streams/ids.ts';
import type { StreamFamily } from '../streams/topology.ts';

export interface LogState {
  /** When the stream was created (ms); another value means another stream of the same name. */
  readonly createdAt: number;
  readonly first: Position;
  readonly last: Position;
}

/** Some events in order, and the position up to which nothing else of the asked subjects exists. */
export interface LogBatch {
  readonly events: readonly StoredEvent[];
  /** Also moves while no event matches, so that a restart does not scan again. */
  readonly upTo: Position;
}

export interface EventLog {
  state(family: StreamFamily): Promise<LogState>;
  /**
   * Events after `after`, in batches bounded by count, bytes (16 MB in flight) and idle time; ends when the signal aborts,
   * and when the stream no longer reaches to what was read of it: `state` then tells how it stands.
   * An outage is waited out. An event of an unknown type or version, or a broken one, ends it with that error after
   * everything before it was delivered.
   */
  read(family: StreamFamily, after: Position, options: ReadOptions): AsyncIterable<LogBatch>;
}

export interface ReadOptions {
  /** NATS subject filters; none: the whole stream. */
  readonly subjects: readonly string[];
  readonly eventsMax: number;
  readonly bytesMax: number;
  /** A batch that is not full is handed out after this long without a further event. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

export type SqlValue = string | number | bigint | boolean | Date | Buffer | Uint8Array | null | readonly SqlValue[];
export type SqlRow = Readonly<Record<string, unknown>>;

export interface Sql {
  /** One statement; int8 comes back as number where it is safe (2^53), else it throws. */
  query<Row extends SqlRow = SqlRow>(text: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Several statements without parameters, as a migration or merge file holds them. */
  script(text: string): Promise<void>;
  /** COPY rows into `table` (columns in order); returns the number of rows. */
  copy(table: string, columns: readonly string[], rows: Iterable<readonly SqlValue[]>): Promise<number>;
}

export interface Database extends Sql {
  /** Runs `use` in one transaction on one connection: committed when it resolves, rolled back when it throws. */
  transaction<T>(use: (tx: Sql) => Promise<T>): Promise<T>;
}
