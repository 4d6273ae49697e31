import type { EventReader, EventSink, EventSource, OverviewStore } from '../../processors/ports.ts';
import type { EventLog } from '../../projections/ports.ts';
import { initCompression } from '../../streams/codec/compression.ts';
import type { ServiceKind } from '../../streams/services.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { isHeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/index.ts';
import { createMetrics, type MetricRegistry } from '../metrics/index.ts';
import { migrate } from '../migrations/index.ts';
import {
  applyTopology,
  connectNats,
  createEventLog,
  createEventReader,
  createEventSink,
  createEventSource,
  createOverviewStore,
  type NatsLink,
} from '../nats/index.ts';
import {
  type ClosableDatabase,
  createDatabase,
  createSharedAccounts,
  type SharedAccounts,
  waitForDatabase,
} from '../postgres/index.ts';
import { BUILD } from './build.ts';
import { type ConditionBoard, createConditionBoard } from './conditions.ts';
import { findEndpoints } from './endpoints.ts';
import { EXIT, type ExitCode } from './exitCodes.ts';
import { createLog } from './log.ts';
import { waitForProjections } from './projectionsReady.ts';
import { type ServiceState, writeServiceView } from './serviceFile.ts';
import { topologyWishes } from './topologyWishes.ts';

/** What every service is given. */
export interface ServiceContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
  readonly conditions: ConditionBoard;
  readonly link: NatsLink;
  readonly db: ClosableDatabase;
  /** The connections that the providers' accounts allow, over all processes. Nothing is opened before it is used. */
  readonly accounts: SharedAccounts;
  readonly sink: EventSink;
  readonly source: EventSource;
  readonly reader: EventReader;
  readonly eventLog: EventLog;
  readonly overview: OverviewStore;
}

/** A service as the table knows it. `run` ends when the signal aborts and says `ready` once it takes work. */
export interface ServiceDefinition {
  readonly kind: ServiceKind;
  /** Connections to Postgres that it needs at once. */
  readonly databaseConnections: number;
  /** Where somebody waits for each answer: how long the database may take for one. */
  readonly databaseAnswerMs?: number;
  /** It reads tables that grow, and never from end to end. */
  readonly readsByIndex?: boolean;
  /** Projections whose rows it reads: it starts once their tables exist. */
  readonly reads: readonly string[];
  run(context: ServiceContext, ready: () => void, signal: AbortSignal): Promise<void>;
}

/** An orderly stop must be over by then: leases are handed back, the last transaction is committed. */
const STOP_DEADLINE_MS = 10_000;
/** After an error that no retry cures (an event of a newer Headwater, a refused login) the service looks again. */
const LOOK_AGAIN_MS = 30_000;

/** SIGTERM, SIGINT, and the end of the `up` that started us. */
function stopSignal(): AbortController {
  const stop = new AbortController();
  const abort = (why: string) => () => stop.abort(new Error(why));
  process.once('SIGTERM', abort('SIGTERM'));
  process.once('SIGINT', abort('SIGINT'));
  process.once('disconnect', abort('the supervisor is gone'));
  return stop;
}

interface Frame {
  readonly definition: ServiceDefinition;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly conditions: ConditionBoard;
  readonly setState: (state: ServiceState) => void;
}

/** From open connections to closed ones: one life of the service. */
async function session(frame: Frame, signal: AbortSignal): Promise<void> {
  const { definition, config, log, conditions } = frame;
  const endpoints = findEndpoints(config, frame.env);
  const clock = systemClock;
  // Contributions and texts of chunks may be zstd frames, which the decoder must be ready for.
  await initCompression();
  const name = `headwater ${definition.kind}`;
  const db = createDatabase({
    url: endpoints.databaseUrl,
    connectionsMax: definition.databaseConnections,
    log,
    applicationName: name,
    ...(definition.databaseAnswerMs ? { answerTimeoutMs: definition.databaseAnswerMs } : {}),
    ...(definition.readsByIndex ? { indexesOnly: true } : {}),
  });
  const accounts = createSharedAccounts({
    url: endpoints.databaseUrl,
    applicationName: `${name} accounts`,
    clock,
    log,
  });
  let link: NatsLink | null = null;
  try {
    link = await connectNats({ ...endpoints.nats, name, log, conditions, clock, signal });
    const sink = createEventSink(link);
    await applyTopology(link, await topologyWishes(config, endpoints, signal));
    conditions.publishTo(sink);
    await waitForDatabase(db, { clock, signal, conditions });
    await migrate(endpoints.databaseUrl, log);
    await waitForProjections(db, definition.reads, { clock, signal, conditions });
    const metrics = createMetrics({ service: definition.kind });
    const context: ServiceContext = {
      ...{ config, clock, log, metrics, conditions, link, db, accounts, sink },
      source: createEventSource(link, metrics),
      reader: createEventReader(link, metrics),
      eventLog: createEventLog(link, metrics),
      overview: createOverviewStore(link),
    };
    const ready = () => {
      conditions.clear(`service/${definition.kind}`);
      frame.setState('ready');
    };
    const lost = link.closed.then((error) => {
      if (error) throw error;
    });
    await Promise.race([definition.run(context, ready, signal), lost]);
  } finally {
    await accounts.close();
    await link?.close();
    await db.close();
  }
}

async function lives(frame: Frame, signal: AbortSignal): Promise<ExitCode> {
  const about = `service/${frame.definition.kind}`;
  while (!signal.aborted) {
    try {
      await session(frame, signal);
    } catch (error) {
      if (signal.aborted) break;
      if (!isHeadwaterError(error)) {
        frame.log.error('the service ends: a defect', { error });
        return EXIT.failed;
      }
      // No crash loop: the process stays, says what is wrong, and looks again.
      frame.setState('starting');
      frame.conditions.report(about, error);
      await systemClock.sleep(LOOK_AGAIN_MS, signal).catch(() => {});
    }
  }
  return EXIT.ok;
}

/** Runs one service in this process until it is told to stop. Never throws; the exit code says how it ended. */
export async function runService(
  definition: ServiceDefinition,
  config: Config,
  env: NodeJS.ProcessEnv,
): Promise<ExitCode> {
  const stop = stopSignal();
  const { kind } = definition;
  const log = createLog({ level: config.log.level as 'info', service: kind, build: BUILD });
  const startedAt = systemClock.now();
  let state: ServiceState = 'starting';
  const show = () => {
    try {
      writeServiceView(config.dataDir, {
        service: kind,
        pid: process.pid,
        state,
        startedAt,
        conditions: conditions.current(),
      });
    } catch (error) {
      log.debug('the state file was not written', { error });
    }
  };
  const conditions = createConditionBoard({
    service: kind,
    clock: systemClock,
    log,
    changed: show,
    signal: stop.signal,
  });
  const setState = (next: ServiceState) => {
    state = next;
    show();
    if (next === 'ready') process.send?.({ ready: true });
    log.info(`${kind} is ${next}`);
  };
  setState('starting');
  stop.signal.addEventListener('abort', () => {
    setState('stopping');
    setTimeout(() => {
      log.error('the service did not stop in time', { deadlineMs: STOP_DEADLINE_MS });
      process.exit(EXIT.failed);
    }, STOP_DEADLINE_MS).unref();
  });
  const code = await lives({ definition, config, env, log, conditions, setState }, stop.signal);
  setState('stopped');
  // The channel to `up` would keep the process alive for ever.
  if (process.connected) process.disconnect();
  return code;
}
