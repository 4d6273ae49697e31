import type { EventReader, EventSink } from '../../../processors/ports.ts';
import type { Sql } from '../../../projections/ports.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { type Log, silentLog } from '../../base/log.ts';
import { noMetrics } from '../../base/metrics.ts';
import type { Config } from '../../config/index.ts';
import { connectNats, createEventReader, createEventSink, type NatsLink } from '../../nats/index.ts';
import { type ClosableDatabase, createDatabase } from '../../postgres/index.ts';
import { type Endpoints, findEndpoints } from '../endpoints.ts';
import { type Patience, watchTrouble } from './patience.ts';
import { patientReads } from './patientReads.ts';

/** How a command is called: its configuration, its surroundings, and where its output goes. */
export interface CommandContext {
  readonly config: Config;
  readonly configFile: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (line: string) => void;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether output goes to a person's terminal: then long commands draw their progress. */
  readonly isTerminal: boolean;
}

/** A command waits this long for the event log; a service waits for ever. */
const CONNECT_MS = 8000;

export interface NatsClient {
  readonly link: NatsLink;
  readonly sink: EventSink;
  readonly reader: EventReader;
}

/**
 * Opens the event log for the time of `use`. Throws NATS_UNAVAILABLE after 8 s without an answer. An outage under `use`
 * that lasts as long is thrown too (STREAM_FULL, NATS_UNAVAILABLE), unless the patience is `endless`.
 */
export async function withNats<T>(
  context: CommandContext,
  use: (client: NatsClient) => Promise<T>,
  endpoints: Endpoints = findEndpoints(context.config, context.env),
  patience: Patience = 'brief',
): Promise<T> {
  const late = new AbortController();
  const { url } = endpoints.nats;
  const timer = setTimeout(() => late.abort(new HeadwaterError('NATS_UNAVAILABLE', { url: hostOf(url) })), CONNECT_MS);
  const { print } = context;
  const trouble = watchTrouble({ patience, clock: systemClock, print, limitMs: CONNECT_MS });
  const signal = AbortSignal.any([late.signal, context.signal]);
  const log: Log = silentLog;
  const common = { name: 'headwater command', log, conditions: trouble.conditions, clock: systemClock };
  try {
    const link = await connectNats({ ...endpoints.nats, ...common, signal });
    clearTimeout(timer);
    try {
      const client = { link, sink: createEventSink(link), reader: createEventReader(link, noMetrics) };
      return await Promise.race([use(client), trouble.tooLong]);
    } finally {
      await link.close();
    }
  } finally {
    clearTimeout(timer);
    trouble.end();
  }
}

const hostOf = (url: string): string => url.replace(/\/\/[^@/]*@/, '//');

/** Opens the database for the time of `use`. Throws POSTGRES_* errors. */
export async function withDatabase<T>(
  context: CommandContext,
  use: (db: ClosableDatabase) => Promise<T>,
  endpoints: Endpoints = findEndpoints(context.config, context.env),
): Promise<T> {
  const db = createDatabase({
    url: endpoints.databaseUrl,
    connectionsMax: 2,
    log: silentLog,
    applicationName: 'headwater command',
    connectTimeoutMs: CONNECT_MS,
  });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

/**
 * As `withDatabase`, for the reads of a long command: it says so when the database goes away under it, and goes on after
 * that. A database that is not there at the start is an error all the same.
 */
export const withPatientReads = <T>(
  context: CommandContext,
  use: (db: Sql) => Promise<T>,
  endpoints: Endpoints,
): Promise<T> =>
  withDatabase(
    context,
    async (db) => {
      await db.query('select 1');
      const { print, signal } = context;
      const trouble = watchTrouble({ patience: 'endless', clock: systemClock, print, limitMs: CONNECT_MS });
      try {
        return await use(patientReads(db, { clock: systemClock, signal, conditions: trouble.conditions }));
      } finally {
        trouble.end();
      }
    },
    endpoints,
  );
