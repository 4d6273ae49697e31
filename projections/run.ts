import type { Clock } from '../infra/base/clock.ts';
import { HeadwaterError, isHeadwaterError } from '../infra/base/errors/index.ts';
import type { Log } from '../infra/base/log.ts';
import type { Metrics } from '../infra/base/metrics.ts';
import { isEventError } from '../streams/errors.ts';
import { streamName } from '../streams/topology.ts';
import { applyBatch } from './apply.ts';
import type { Database, EventLog, LogBatch } from './ports.ts';
import {
  adoptStream,
  type Claim,
  claimProjection,
  formatPosition,
  hasSchema,
  keepRefusal,
  refusal,
  resumeClaim,
} from './position.ts';
import type { Projection } from './projection.ts';

export interface ProjectionDeps {
  readonly db: Database;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** As in processors/ports.ts: what needs attention, by what it is about (`projection/<name>`). */
  readonly conditions: { report(about: string, error: Error): void; clear(about: string): void };
}

export interface ProjectionOptions {
  readonly signal: AbortSignal;
  /** Where the rows lie; the projection's name when left out, `<name>_next` while it is built beside itself. */
  readonly schema?: string;
  /** How long to wait before looking again at what only a person or an upgrade can change. Default 30 s. */
  readonly recheckMs?: number;
}

const EVENTS_MAX = 2_000;
/** What may be held in memory of a batch; a message is at most 8 MB. */
const BYTES_MAX = 16 * 2 ** 20;
const IDLE_MS = 100;
const RECHECK_MS = 30_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_LAST_MS = 10_000;
const LAG_EVERY_MS = 5_000;

/** Of an error that was thrown at or after `position`: what an operator is told. */
function operatingError(error: unknown, schema: string, family: Projection['family'], claim: Claim | null) {
  if (isHeadwaterError(error)) return error;
  const position = claim ? formatPosition(claim.position) : 'the start';
  const stream = streamName(family, claim?.position.number ?? 1);
  const options = error instanceof Error ? { cause: error } : {};
  if (!isEventError(error)) {
    const reason = error instanceof Error ? error.message : String(error);
    return new HeadwaterError('PROJECTION_FAILED', { projection: schema, position, reason }, options);
  }
  const fields = { stream, position: `${position} (or behind it)`, type: error.type };
  switch (error.name) {
    case 'UnknownEventType':
      return new HeadwaterError('EVENT_UNKNOWN_TYPE', fields, options);
    case 'UnknownEventVersion':
      return new HeadwaterError(
        'EVENT_UNKNOWN_VERSION',
        { ...fields, version: error.version, known: error.known },
        options,
      );
    case 'MalformedEvent':
      return new HeadwaterError('EVENT_MALFORMED', { ...fields, reason: error.reason }, options);
  }
}

/** After these this process can do nothing more: the projection is another's, or the connection to NATS is gone for good. */
const ENDS: readonly string[] = ['PROJECTION_FENCED', 'NATS_CLOSED'];

/** An outage ends by itself; anything else waits for a person or another version of this program. */
const isOutage = (error: HeadwaterError): boolean => error.retriable || error.code.startsWith('POSTGRES_');

class Runner {
  readonly #projection: Projection;
  readonly #deps: ProjectionDeps;
  readonly #options: ProjectionOptions;
  readonly #schema: string;
  #claim: Claim | null = null;
  #failure: HeadwaterError | null = null;
  #delayMs = BACKOFF_FIRST_MS;
  #lagAt = Number.NEGATIVE_INFINITY;

  constructor(projection: Projection, deps: ProjectionDeps, options: ProjectionOptions) {
    this.#projection = projection;
    this.#deps = deps;
    this.#options = options;
    this.#schema = options.schema ?? projection.name;
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        if (signal.aborted) return;
        const failure = operatingError(error, this.#schema, this.#projection.family, this.#claim);
        this.#fail(failure);
        if (ENDS.includes(failure.code)) throw failure;
        // Somebody dropped the schema: it is made again by a new claim, and filled from the start.
        if (failure.code === 'POSTGRES_NOT_PREPARED') this.#claim = null;
        await this.#pause(failure);
      }
    }
  }

  /** Takes events from where the projection stands until the signal aborts or something is wrong. */
  async #follow(): Promise<void> {
    const { db, events } = this.#deps;
    if (this.#claim?.refused && !(await hasSchema(db, this.#schema))) this.#claim = null;
    this.#claim = this.#claim
      ? await resumeClaim(db, this.#claim)
      : await claimProjection(db, this.#projection, this.#schema);
    await this.#checkStream();
    // Whether an event that could not be taken can be taken now is known only when it was.
    if (this.#failure && isOutage(this.#failure)) this.#succeed();
    const batches = events.read(this.#projection.family, this.#claim.position, {
      subjects: this.#projection.subjects,
      // One by one behind a failure, so that the position stops right before what cannot be taken.
      eventsMax: this.#failure ? 1 : EVENTS_MAX,
      bytesMax: BYTES_MAX,
      idleMs: IDLE_MS,
      signal: this.#options.signal,
    });
    for await (const batch of batches) await this.#take(batch);
  }

  async #checkStream(): Promise<void> {
    const claim = this.#claim!;
    const state = await this.#deps.events.state(this.#projection.family);
    const why = refusal(claim, this.#projection.family, state);
    if (why) {
      if (!claim.refused) await keepRefusal(this.#deps.db, claim, why);
      throw new HeadwaterError(why.code, why.fields);
    }
    if (claim.streamCreatedAt === null) this.#claim = await adoptStream(this.#deps.db, claim, state.createdAt);
    const { number, sequence } = claim.position;
    const behind = state.last.number === number ? state.last.sequence - sequence : state.last.sequence;
    this.#deps.metrics.gauge('projection_lag', behind, { projection: this.#schema });
    this.#lagAt = this.#deps.clock.now();
  }

  async #take(batch: LogBatch): Promise<void> {
    const { db, clock, metrics } = this.#deps;
    const claim = this.#claim!;
    const started = clock.now();
    await db.transaction((tx) => applyBatch(tx, this.#projection, claim, batch));
    this.#claim = { ...claim, position: batch.upTo };
    this.#succeed();
    const labels = { projection: this.#schema };
    metrics.count('projection_events_total', labels, batch.events.length);
    metrics.observe('projection_commit_seconds', (clock.now() - started) / 1000, labels);
    metrics.gauge('projection_sequence', batch.upTo.sequence, labels);
    if (clock.now() - this.#lagAt >= LAG_EVERY_MS) await this.#checkStream();
  }

  #fail(failure: HeadwaterError): void {
    const { conditions, log, metrics } = this.#deps;
    // The same state seen again is reported again (it still lasts) but logged once.
    if (this.#failure?.message !== failure.message) {
      log.error('projection stopped', { projection: this.#schema, code: failure.code, reason: failure.message });
    }
    this.#failure = failure;
    conditions.report(`projection/${this.#schema}`, failure);
    metrics.count('projection_failures_total', { projection: this.#schema, code: failure.code });
  }

  #succeed(): void {
    if (this.#failure) this.#deps.log.info('projection goes on', { projection: this.#schema });
    this.#failure = null;
    this.#delayMs = BACKOFF_FIRST_MS;
    this.#deps.conditions.clear(`projection/${this.#schema}`);
  }

  async #pause(failure: HeadwaterError): Promise<void> {
    const { signal, recheckMs = RECHECK_MS } = this.#options;
    const ms = isOutage(failure) ? this.#delayMs : recheckMs;
    this.#delayMs = Math.min(this.#delayMs * 2, BACKOFF_LAST_MS);
    await this.#deps.clock.sleep(ms, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

/**
 * Runs one projection until the signal aborts: takes its stream's events in order from where it stands, and commits
 * their rows and the position together. What is wrong is reported as the condition `projection/<name>` while it lasts,
 * and nothing is ever skipped: an outage is waited out, an event that cannot be read and a stream that is not the one it
 * was are looked at again every `recheckMs`. Throws PROJECTION_FENCED when another process took the projection over, and NATS_CLOSED.
 */
export function runProjection(projection: Projection, deps: ProjectionDeps, options: ProjectionOptions): Promise<void> {
  return new Runner(projection, deps, options).run();
}
