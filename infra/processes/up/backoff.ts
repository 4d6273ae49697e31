/** Waits between restarts of one service: 1 s doubling to 30 s, back to the start after a minute of good running. */
export interface RestartDelays {
  /** The wait before the next start of a service that ran for `ranMs`. */
  next(ranMs: number): number;
}

const FIRST_MS = 1000;
const LAST_MS = 30_000;
const WELL_MS = 60_000;

export function restartDelays(): RestartDelays {
  let failures = 0;
  return {
    next(ranMs) {
      failures = ranMs >= WELL_MS ? 1 : failures + 1;
      return Math.min(LAST_MS, FIRST_MS * 2 ** (failures - 1));
    },
  };
}
