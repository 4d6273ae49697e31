import type { Clock } from '../../base/clock.ts';

const SAY_EVERY_MS = 30_000;

interface Starting {
  readonly name: string;
  readonly ready: Promise<void>;
}

interface UntilReadyOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Until every service is ready; says every half minute which are not. Rejects with the signal's reason when it aborts,
 * and leaves no timer behind: one would keep an `up` that was told to stop alive for ever.
 */
export async function untilReady(services: readonly Starting[], options: UntilReadyOptions): Promise<void> {
  const { clock, signal, print } = options;
  const waiting = new Set(services.map((s) => s.name));
  const over = new AbortController();
  const ready = Promise.all(services.map((s) => s.ready.then(() => waiting.delete(s.name))));
  const told = async (): Promise<never> => {
    for (;;) {
      await clock.sleep(SAY_EVERY_MS, AbortSignal.any([over.signal, signal]));
      print(`still trying to start: ${[...waiting].join(', ')} (Ctrl-C stops everything)`);
    }
  };
  try {
    await Promise.race([ready, told()]);
  } finally {
    over.abort(new Error('every service is ready'));
  }
}
