import type { Clock } from '../base/clock.ts';

type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** What of `process` is needed. */
interface SignalSource {
  on(name: SignalName, listener: () => void): unknown;
}

interface StopOptions {
  readonly source: SignalSource;
  readonly clock: Clock;
  /** A person does not want to wait any longer: end at once. */
  readonly endNow: () => void;
}

/** npx hands on the Ctrl-C that the terminal has given to the program already: one key, two signals. */
const SAME_WISH_MS = 500;

/** Aborts on the first Ctrl-C, SIGTERM or SIGHUP; one that comes later, and is not its echo, calls `endNow`. */
export function stopOnSignals({ source, clock, endNow }: StopOptions): AbortSignal {
  const stop = new AbortController();
  let firstAt = 0;
  const onSignal = (name: SignalName) => () => {
    if (stop.signal.aborted) {
      if (clock.now() - firstAt >= SAME_WISH_MS) endNow();
      return;
    }
    firstAt = clock.now();
    stop.abort(new Error(`stopped by ${name}`));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) source.on(name, onSignal(name));
  return stop.signal;
}
