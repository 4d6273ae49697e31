import type { Conditions } from '../../../processors/ports.ts';
import type { Clock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';

/** What a command makes of an outage: `brief` ends with its error, `endless` says what it waits for and goes on after it. */
export type Patience = 'brief' | 'endless';

export interface Trouble {
  readonly conditions: Conditions;
  /** Rejects with the error of an outage that a brief command has waited for long enough; never resolves. */
  readonly tooLong: Promise<never>;
  /** The command is over: nothing is waited for any more. */
  end(): void;
}

interface TroubleOptions {
  readonly patience: Patience;
  readonly clock: Clock;
  readonly print: (line: string) => void;
  /** How long a brief command waits. */
  readonly limitMs: number;
}

const linesOf = (error: Error): readonly string[] =>
  error instanceof HeadwaterError ? [`waiting: ${error.message}`, `  ${error.hint}`] : [`waiting: ${error.message}`];

/** Takes the conditions of a command's connections: a command that only waits in silence would look like one that hangs. */
export function watchTrouble({ patience, clock, print, limitMs }: TroubleOptions): Trouble {
  const open = new Map<string, AbortController>();
  let giveUp: (error: Error) => void = () => {};
  const tooLong = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  // It may reject when nobody waits any more.
  tooLong.catch(() => {});

  const stop = (about: string): void => {
    open.get(about)?.abort();
    open.delete(about);
  };
  return {
    tooLong,
    conditions: {
      report(about, error) {
        if (open.has(about)) return;
        const over = new AbortController();
        open.set(about, over);
        if (patience === 'endless') for (const line of linesOf(error)) print(line);
        else
          clock.sleep(limitMs, over.signal).then(
            () => giveUp(error),
            () => {},
          );
      },
      clear(about) {
        if (patience === 'endless' && open.has(about)) print(`going on: ${about} is well again`);
        stop(about);
      },
    },
    end() {
      for (const about of [...open.keys()]) stop(about);
    },
  };
}
