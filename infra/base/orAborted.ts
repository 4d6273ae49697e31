import { setMaxListeners } from 'node:events';

/**
 * `promise`, or the reason of the first of `signals` that aborts before it settles. What `promise` stands for goes on
 * either way; its own late failure is not reported again. Listeners are removed: signals may outlive many calls.
 */
export function orAborted<T>(promise: Promise<T>, signals: readonly (AbortSignal | undefined)[]): Promise<T> {
  const live = signals.filter((signal) => signal !== undefined);
  // Many wait for one signal at once, and all of them let go of it: that is no leak to warn of.
  setMaxListeners(0, ...live);
  return new Promise<T>((resolve, reject) => {
    const abort = () => settle(() => reject(live.find((signal) => signal.aborted)?.reason));
    const settle = (then: () => void) => {
      for (const signal of live) signal.removeEventListener('abort', abort);
      then();
    };
    for (const signal of live) signal.addEventListener('abort', abort);
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
    if (live.some((signal) => signal.aborted)) abort();
  });
}
