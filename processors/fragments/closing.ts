import { type Resolution, resolutionAround } from '../resolution.ts';
import type { OpenUnit } from './ports.ts';

/**
 * Why a unit is closed. complete: the promised parts are all there; resolved: nothing more is to come around it; late: nothing
 * more up to the high mark, and that was read long after its newest article.
 */
export type ClosingRule = 'complete' | 'resolved' | 'late';

type Closable = Pick<OpenUnit, 'complete' | 'firstNumber' | 'lastNumber' | 'lastAt'>;

/** The rule that closes the unit, null when it has to wait. `resolution`: that of its numbering. */
export function closingRule(unit: Closable, resolution: Resolution): ClosingRule | null {
  if (unit.complete) return 'complete';
  return resolutionAround(resolution, [unit.firstNumber, unit.lastNumber], unit.lastAt);
}
