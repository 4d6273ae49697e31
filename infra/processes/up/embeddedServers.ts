import type { Conditions } from '../../../processors/ports.ts';
import type { Clock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/index.ts';
import {
  type EmbeddedNats,
  type EmbeddedServer,
  type ServerExit,
  startEmbeddedNats,
  startEmbeddedPostgres,
  untilStoreNeedsStart,
} from '../../embedded/index.ts';
import { type Endpoints, givenEndpoints } from '../endpoints.ts';
import { restartDelays } from './backoff.ts';

export interface EmbeddedServers {
  readonly endpoints: Endpoints;
  /** Sentences for the operator: what runs where and what an acknowledgement means. */
  readonly notes: readonly string[];
  /** Database first, so that nothing is written after its last reader is gone. */
  stop(deadlineMs: number): Promise<void>;
}

interface Context {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Log;
  readonly conditions: Conditions;
  readonly signal: AbortSignal;
}

const STOP_LATE_MS = 10_000;

/** Resolves, with the reason, when a server that runs has to be started anew; rejects when the signal aborts. */
type MustStartAnew<S> = (server: S, signal: AbortSignal) => Promise<string>;

const exitText = ({ code, signal }: ServerExit): string => (signal ? `killed by ${signal}` : `exit status ${code}`);

/** Why the server has ended; one that must be started anew is ended for that. */
async function endOf<S extends EmbeddedServer>(
  server: S,
  mustStartAnew: MustStartAnew<S>,
  stopping: AbortSignal,
): Promise<string> {
  const over = new AbortController();
  const never = new Promise<never>(() => {});
  const judged = mustStartAnew(server, AbortSignal.any([over.signal, stopping])).catch(() => never);
  const why = await Promise.race([server.exited, judged]);
  over.abort();
  if (typeof why !== 'string') return exitText(why);
  await server.stop(STOP_LATE_MS);
  return why;
}

/** Keeps one embedded server running: when its process ends it is started again on the same port and store. */
async function keep<S extends EmbeddedServer>(
  name: string,
  start: () => Promise<S>,
  { clock, conditions }: Context,
  mustStartAnew: MustStartAnew<S> = () => new Promise(() => {}),
): Promise<{ first: S; stop: (deadlineMs: number) => Promise<void> }> {
  const stopping = new AbortController();
  const delays = restartDelays();
  const first = await start();
  let current: S = first;
  const again = async (startedAt: number, reason: string): Promise<void> => {
    const delayMs = delays.next(clock.now() - startedAt);
    const seconds = Math.round(delayMs / 1000);
    conditions.report(`server/${name}`, new HeadwaterError('SERVICE_DISCONNECTED', { service: name, reason, seconds }));
    await clock.sleep(delayMs, stopping.signal);
    current = await start();
    // `stop` may have come while it started: it then saw only the one that had ended.
    if (stopping.signal.aborted) await current.stop(STOP_LATE_MS);
    conditions.clear(`server/${name}`);
  };
  const loop = async (): Promise<void> => {
    let startedAt = clock.now();
    for (;;) {
      let reason = await endOf(current, mustStartAnew, stopping.signal);
      if (stopping.signal.aborted) return;
      for (let up = false; !up && !stopping.signal.aborted; ) {
        await again(startedAt, reason).then(
          () => {
            up = true;
          },
          (error: unknown) => {
            reason = (error as Error).message;
          },
        );
        startedAt = clock.now();
      }
    }
  };
  const done = loop();
  const stop = async (deadlineMs: number): Promise<void> => {
    stopping.abort(new Error('stopping'));
    await current.stop(deadlineMs);
    await done;
  };
  return { first, stop };
}

/** Starts what NATS_URL and DATABASE_URL do not name, and keeps it running. */
export async function startEmbeddedServers(context: Context): Promise<EmbeddedServers> {
  const { config, env, clock, log, signal } = context;
  const given = givenEndpoints(config, env);
  const common = { dataDir: config.dataDir, log, clock, env, signal };
  const gib = config.nats.embeddedMaxGiB;
  const limit = gib === undefined ? {} : { maxFileBytes: Math.round(gib * 2 ** 30) };
  const store = { dataDir: config.dataDir, clock, conditions: context.conditions };
  const storeWatch: MustStartAnew<EmbeddedNats> = (nats, signal) => untilStoreNeedsStart(nats, store, signal);
  // Side by side: each may have to be downloaded first.
  const [nats, postgres] = await Promise.allSettled([
    given.nats ? null : keep('nats', () => startEmbeddedNats({ ...common, ...limit }), context, storeWatch),
    given.databaseUrl ? null : keep('postgres', () => startEmbeddedPostgres(common), context),
  ]);
  if (nats.status === 'rejected' || postgres.status === 'rejected') {
    await Promise.all([nats, postgres].map((r) => (r.status === 'fulfilled' ? r.value?.stop(10_000) : undefined)));
    throw nats.status === 'rejected' ? nats.reason : (postgres as PromiseRejectedResult).reason;
  }
  const [n, p] = [nats.value, postgres.value];
  const notes = [
    n ? `NATS ${n.first.version} (embedded): ${n.first.durability}` : 'NATS: the server that was given',
    p ? `Postgres ${p.first.version} (embedded)` : 'Postgres: the server that was given',
  ];
  const natsEndpoint = n
    ? { url: n.first.url, user: n.first.user, pass: n.first.pass, monitorUrl: n.first.monitorUrl }
    : given.nats!;
  return {
    endpoints: { nats: natsEndpoint, databaseUrl: p ? p.first.url : given.databaseUrl! },
    notes,
    async stop(deadlineMs) {
      await p?.stop(deadlineMs);
      await n?.stop(deadlineMs);
    },
  };
}
