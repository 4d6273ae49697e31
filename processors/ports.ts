/**
 * What a processor needs from outside. Adapters in `infra` implement these; a processor never imports an adapter.
 * Error policy of the event ports: an outage (server away, stream full) is retried inside the adapter for as long as the
 * signal allows and is reported as a condition meanwhile; what they throw is a conflict, a defect, or the abort.
 */
import type { StoredEvent } from '../streams/envelope.ts';
import type { GarbageSignature, GroupList } from '../streams/events/control.ts';
import type { EventType, HeadwaterEvent } from '../streams/events/index.ts';
import type {
  ArticleNumber,
  Backbone,
  Epoch,
  EpochMs,
  Group,
  Lane,
  MessageId,
  Position,
  ProviderName,
  RangeId,
} from '../streams/ids.ts';
import type { Interval } from '../streams/records.ts';
import type { Subject } from '../streams/subjects.ts';
import type { ConsumerSpec, StreamFamily } from '../streams/topology.ts';

export interface AppendOptions {
  /** Append only if the last message on the event's own subject has this sequence (0: there is none). */
  readonly lastOnSubject?: number;
  /** Append only if the last message of the whole stream has this sequence. */
  readonly lastInStream?: number;
  readonly signal?: AbortSignal;
}

/** `conflict`: the expectation did not hold and what is stored there is another event than ours. */
export type Appended =
  | { readonly kind: 'stored'; readonly position: Position }
  /** The same event (same id, read back and compared) was stored before, at `position`. */
  | { readonly kind: 'repeated'; readonly position: Position }
  | { readonly kind: 'conflict'; readonly last: number };

export interface EventSink {
  /** Appends one event; resolves when it is on disk. */
  append(event: HeadwaterEvent, options?: AppendOptions): Promise<Appended>;
}

/** A message of a durable consumer: a lease that ends with `ack`, or goes to another worker. */
export interface Delivery<T extends EventType = EventType> extends StoredEvent<T> {
  /** How often this message was handed out, from 1. */
  readonly deliveries: number;
  /** Done; resolves when the server confirmed it. */
  ack(): Promise<void>;
  /** Hands the lease back; the message comes again after `delayMs`. */
  nak(delayMs: number): void;
  /** Never deliver it again. Only after what it stands for was recorded as failed. */
  term(reason: string): void;
  /** Extends the lease by the consumer's ack wait. */
  working(): void;
}

export interface EventSource {
  /** Leases up to `maxInFlight` messages at a time; ends when the signal aborts. A broken event ends it with its error. */
  take(consumer: ConsumerSpec, options: { maxInFlight: number; signal: AbortSignal }): AsyncIterable<Delivery>;
}

export interface EventReader {
  /** The event at a position, or null when it was purged or never existed. */
  get(family: StreamFamily, position: Position): Promise<StoredEvent | null>;
  /** The last event on a subject, or null. */
  last(family: StreamFamily, subject: Subject): Promise<StoredEvent | null>;
  /** The events on one subject in order, at most `limit`; only those behind `after`, so that many can be read in pages. */
  allOn(family: StreamFamily, subject: Subject, limit: number, after?: Position): Promise<readonly StoredEvent[]>;
  state(family: StreamFamily): Promise<StreamState>;
}

export interface StreamState {
  /** When the stream was created; another value means another stream of the same name. */
  readonly createdAt: number;
  readonly first: Position;
  readonly last: Position;
  readonly messages: number;
  readonly bytes: number;
  /** -1: no limit. */
  readonly maxBytes: number;
}

/** One run of a range, as subjects and ids name it. */
export interface RangeRun {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly rangeId: RangeId;
  readonly run: number;
}

/** The batches that OVERVIEW holds, and removing those of finished ranges: the only thing that is ever purged. */
export interface OverviewStore {
  /** Every run that has batches stored (bounded by what may be outstanding). */
  held(): Promise<readonly RangeRun[]>;
  purge(run: RangeRun): Promise<void>;
}

export type RangeState = 'planned' | 'fetched' | 'parsed' | 'short' | 'failed' | 'retired';

/** A run of a range with where it lies. */
export interface LedgerRun extends RangeRun {
  readonly epoch: Epoch;
  readonly lo: ArticleNumber;
  readonly hi: ArticleNumber;
  readonly lane: Lane;
}

export interface ShortRun extends LedgerRun {
  /** Its missing numbers, ascending, as many intervals as were asked for. `run`: the highest of a range of just these, or 0. */
  readonly missing: readonly { readonly lo: ArticleNumber; readonly hi: ArticleNumber; readonly run: number }[];
}

/** The ranges projection as planner and headers read it. It lags: compare `position` before deciding on it. */
export interface RangeLedger {
  /** The RANGES position up to which everything below is true. */
  position(): Promise<Position>;
  /** The numbers that any range covers, whatever its state, merged and ascending. */
  planned(backbone: Backbone, group: Group, epoch: Epoch): Promise<readonly Interval[]>;
  /** Ranges neither parsed, failed nor retired: how many, and how many numbers they still may bring. */
  outstanding(): Promise<{ readonly ranges: number; readonly numbers: number }>;
  /** The last marks of every group of a backbone, and when they were read. */
  marks(backbone: Backbone): Promise<readonly (GroupMarks & { readonly epoch: Epoch; readonly readAt: EpochMs })[]>;
  /** The last high mark of a numbering, null when none was read. */
  lastHigh(backbone: Backbone, group: Group, epoch: Epoch): Promise<ArticleNumber | null>;
  /** Runs that wait to be fetched, but those of imports. */
  unfetched(backbone: Backbone): Promise<readonly LedgerRun[]>;
  /** Short runs that were parsed up to a time, the earliest first, each with at most `intervals` intervals. */
  short(
    backbone: Backbone,
    most: { readonly parsedUpTo: EpochMs; readonly runs: number; readonly intervals: number },
  ): Promise<readonly ShortRun[]>;
  /** Failed runs that are to be planned again, the earliest failed first; but those of imports. */
  toRetry(backbone: Backbone, limit: number): Promise<readonly LedgerRun[]>;
  /**
   * Runs that were retired when their group was removed, the earliest first; but those of imports. Of the groups of `open`
   * alone, in that epoch, and only runs that reach up to `from`.
   */
  returned(
    backbone: Backbone,
    open: readonly { readonly group: Group; readonly epoch: Epoch; readonly from: number }[],
    limit: number,
  ): Promise<readonly LedgerRun[]>;
  /** Numbers that are wanted soon and that no range covers, merged and ascending. */
  wanted(
    backbone: Backbone,
  ): Promise<readonly { readonly group: Group; readonly epoch: Epoch; readonly numbers: readonly Interval[] }[]>;
  /** The state of one run, null when the ledger does not know it. A run that a later one replaced is `retired`. */
  stateOf(run: RangeRun): Promise<RangeState | null>;
}

/** The versions of the group list, from the control projection. */
export interface GroupLists {
  /** The newest projected version, null before there is one. */
  current(): Promise<GroupList | null>;
  /** That version; null when it is not projected (yet). */
  version(listVersion: number): Promise<GroupList | null>;
}

/** The versions of the garbage table, from the control projection. */
export interface GarbageTables {
  /** The signatures of that version; null when it is not projected (yet). */
  version(garbageVersion: number): Promise<readonly GarbageSignature[] | null>;
}

/** What the catalog knows of earlier passes: a new pass must be higher than any. 0 when it knows none. */
export interface PassLedger {
  highestPass(run: RangeRun): Promise<number>;
}

/** A group's marks as a server states them; null where the reply lacked the count or number. */
export interface GroupMarks {
  readonly group: Group;
  readonly low: ArticleNumber;
  readonly high: ArticleNumber;
}

/** Overview lines as they came: whole lines, each ended by CRLF, dots unstuffed. */
export interface OverviewLines {
  readonly lines: Buffer;
}

/** A connection to one provider of a backbone, leased for the time of a callback. */
export interface Articles {
  readonly backbone: Backbone;
  /** Names of the overview fields in the order in which this server sends them (from LIST OVERVIEW.FMT), number first left out. */
  overviewFormat(): Promise<readonly string[]>;
  /** Selects a group. Throws NNTP_NO_SUCH_GROUP (411). */
  group(group: Group): Promise<GroupMarks>;
  /**
   * The overview of `span` in the selected group, in pieces of whole lines as they arrive, with back-pressure.
   * An empty span gives no piece (423, 420 or an empty 224 alike).
   */
  over(span: Interval, signal?: AbortSignal): AsyncIterable<Buffer>;
}

export interface ArticlesPool {
  readonly provider: ProviderName;
  readonly backbone: Backbone;
  /** How many connections may be open at once. */
  readonly limit: number;
  withArticles<T>(use: (articles: Articles) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface ArticleBody {
  readonly messageId: MessageId;
  readonly body: Buffer;
}

/**
 * Something that needs attention, by what it is about (`provider/x`, `group/y`, `stream/OVERVIEW`). Reported as often
 * as it is seen, opened and closed as an incident once, shown by `status` while it lasts.
 */
export interface Conditions {
  report(about: string, error: Error): void;
  clear(about: string): void;
}
