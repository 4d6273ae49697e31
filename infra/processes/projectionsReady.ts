import type { Conditions } from '../../processors/ports.ts';
import type { Sql } from '../../projections/ports.ts';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';

const LOOK_MS = 250;
const ABOUT = 'projections';

/**
 * Resolves once every schema of `names` exists: the project service makes them at its first start, whoever reads them
 * has to wait for it. Reports PROJECTIONS_MISSING meanwhile.
 */
export async function waitForProjections(
  sql: Sql,
  names: readonly string[],
  { clock, signal, conditions }: { clock: Clock; signal: AbortSignal; conditions: Conditions },
): Promise<void> {
  for (let looks = 0; ; looks++) {
    const missing = await sql.query<{ name: string }>(
      'SELECT name FROM unnest($1::text[]) AS name WHERE to_regnamespace(name) IS NULL',
      [names],
    );
    if (missing.length === 0) {
      conditions.clear(ABOUT);
      return;
    }
    const fields = { missing: missing.map((row) => row.name).join(', ') };
    // At a first start they come within moments: only a longer wait is worth a word.
    if (looks > 20) conditions.report(ABOUT, new HeadwaterError('PROJECTIONS_MISSING', fields));
    await clock.sleep(LOOK_MS, signal);
  }
}
