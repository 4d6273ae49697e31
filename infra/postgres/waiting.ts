import type { Conditions } from '../../processors/ports.ts';
import type { Sql } from '../../projections/ports.ts';
import type { Clock } from '../base/clock.ts';
import { isHeadwaterError } from '../base/errors/index.ts';

const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 10_000;
const ABOUT = 'postgres';

export interface WaitSettings {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly conditions?: Conditions;
}

/**
 * Resolves once the database answers. Until then it reports why not (`postgres`) and asks again after 0.25 s, doubling
 * up to 10 s: also for a wrong password, because an operator corrects that while the service waits. Rejects when the
 * signal aborts, and with POSTGRES_TOO_OLD, which no waiting cures.
 */
export async function waitForDatabase(db: Sql, { clock, signal, conditions }: WaitSettings): Promise<void> {
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, LAST_DELAY_MS)) {
    signal.throwIfAborted();
    try {
      await db.query('select 1');
      conditions?.clear(ABOUT);
      return;
    } catch (error) {
      if (!isHeadwaterError(error) || error.code === 'POSTGRES_TOO_OLD') throw error;
      conditions?.report(ABOUT, error);
      await clock.sleep(delay, signal);
    }
  }
}
