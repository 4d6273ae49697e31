import { describe } from 'vitest';
import { type Requirement, requirement } from './requirements.ts';

/** `describe` for tests that need real programs: without them the block is skipped and its title says why. */
export function describeWith(names: readonly Requirement[], title: string, body: () => void): void {
  const unmet = names.map(requirement).find((met) => !met.ok);
  if (unmet === undefined || unmet.ok) describe(title, body);
  else describe.skip(`${title} [skipped: ${unmet.reason}]`, body);
}
