import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import type { Conditions } from '../../processors/ports.ts';

export interface RecordedConditions extends Conditions {
  /** What lasts now: about -> error code (or message). */
  current(): ReadonlyMap<string, string>;
  /** Every report ever made, in order, as `about code`. */
  history(): readonly string[];
}

/** Conditions kept in memory, for tests to look at. */
export function recordedConditions(): RecordedConditions {
  const open = new Map<string, string>();
  const all: string[] = [];
  return {
    report(about, error) {
      const code = isHeadwaterError(error) ? error.code : error.message;
      open.set(about, code);
      all.push(`${about} ${code}`);
    },
    clear: (about) => {
      open.delete(about);
    },
    current: () => open,
    history: () => all,
  };
}
