import { systemClock } from '../../infra/base/clock.ts';
import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import { migrate } from '../../infra/migrations/index.ts';
import { type ClosableDatabase, createDatabase } from '../../infra/postgres/index.ts';
import { applyBatch } from '../../projections/apply.ts';
import type { Database, EventLog } from '../../projections/ports.ts';
import { claimProjection } from '../../projections/position.ts';
import type { Projection } from '../../projections/projection.ts';
import { runProjection } from '../../projections/run.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import { comparePositions } from '../../streams/topology.ts';
import { recordedConditions } from './conditions.ts';
import { until } from './until.ts';

/** A migrated database on an empty one. Close it. */
export async function openDatabase(url: string, indexesOnly = false): Promise<ClosableDatabase> {
  await migrate(url, silentLog);
  return createDatabase({ url, connectionsMax: 6, log: silentLog, applicationName: 'test', indexesOnly });
}

/**
 * Applies events to a fresh build of a projection, in batches of the sizes given (the last size repeats), without a log
 * or a loop. What the schema held before is dropped.
 */
export async function projectAll(
  db: Database,
  projection: Projection,
  events: readonly StoredEvent[],
  sizes: readonly number[] = [Number.POSITIVE_INFINITY],
): Promise<void> {
  await db.script(`drop schema if exists "${projection.name}" cascade`);
  let claim = await claimProjection(db, projection, projection.name);
  for (let at = 0, i = 0; at < events.length; i++) {
    const size = sizes[Math.min(i, sizes.length - 1)]!;
    const batch = events.slice(at, at + size);
    const upTo = batch.at(-1)!.position;
    await db.transaction((tx) => applyBatch(tx, projection, claim, { events: batch, upTo }));
    claim = { ...claim, position: upTo };
    at += batch.length;
  }
}

/** A projection that runs in the background of a test. */
export interface RunningProjection {
  readonly conditions: ReturnType<typeof recordedConditions>;
  /** Resolves when the loop ended; rejects with what it threw. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export function startProjection(
  projection: Projection,
  db: Database,
  events: EventLog,
  options: { readonly recheckMs?: number } = {},
): RunningProjection {
  const abort = new AbortController();
  const conditions = recordedConditions();
  const deps = { db, events, conditions, clock: systemClock, log: silentLog, metrics: noMetrics };
  const ended = runProjection(projection, deps, { signal: abort.signal, recheckMs: 50, ...options });
  // The test looks at it when it wants to; until then a rejection is not unhandled.
  ended.catch(() => {});
  return {
    conditions,
    ended,
    async stop() {
      abort.abort(new Error('the test stops it'));
      await ended.catch(() => {});
    },
  };
}

/** Resolves once the stored position of a projection is the end of its stream. */
export async function caughtUp(db: Database, projection: Projection, events: EventLog): Promise<void> {
  await until(`projection ${projection.name} to catch up`, async () => {
    const { last } = await events.state(projection.family);
    const [row] = await db.query<{ number: number; sequence: number }>(
      'select stream_number as number, sequence from projection_position where name = $1',
      [projection.name],
    );
    return row !== undefined && comparePositions(row, last) >= 0;
  });
}
