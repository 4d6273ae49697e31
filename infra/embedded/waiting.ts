import type { Clock } from '../base/clock.ts';

/**
 * Asks `check` again and again until it gives something else than undefined.
 * Resolves with that, or with undefined once `deadlineMs` have passed.
 */
export async function waitUntil<T>(
  clock: Clock,
  deadlineMs: number,
  check: () => Promise<T | undefined>,
  pauseMs = 50,
): Promise<T | undefined> {
  const end = clock.now() + deadlineMs;
  for (;;) {
    const value = await check();
    if (value !== undefined || clock.now() >= end) return value;
    await clock.sleep(pauseMs);
  }
}

/** True when `promise` settled within `ms`; it goes on in any case. */
export async function settlesWithin(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(
    () => false,
    () => false,
  );
  const done = promise.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([done, late]);
  timer.abort();
  return inTime;
}
