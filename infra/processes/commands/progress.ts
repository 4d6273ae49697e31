import cliProgress from 'cli-progress';
import type { Clock } from '../../base/clock.ts';
import { countText, grouped } from './table.ts';

/** Says how far a long command is: a bar on a terminal, else a plain line now and then. */
export interface Progress {
  /** `done` of `total` in the unit of the command (0: unknown), and a few words of its own. */
  update(done: number, words: string): void;
  /** Ends it; the last words stay. */
  end(words: string): void;
}

interface ProgressOptions {
  readonly isTerminal: boolean;
  readonly print: (line: string) => void;
  readonly clock: Clock;
  readonly total: number;
}

const LINE_EVERY_MS = 5000;

function drawnBar(total: number, print: (line: string) => void): Progress {
  const bar = new cliProgress.SingleBar({
    format: '{bar} {percentage}% | {words}',
    formatBar: cliProgress.Format.BarFormat,
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stdout,
  });
  bar.start(total, 0, { words: '' });
  return {
    update: (done, words) => bar.update(Math.min(done, total), { words }),
    end(words) {
      bar.stop();
      print(words);
    },
  };
}

function plainLines({ print, clock, total }: ProgressOptions): Progress {
  let next = clock.now() + LINE_EVERY_MS;
  return {
    update(done, words) {
      if (clock.now() < next) return;
      next = clock.now() + LINE_EVERY_MS;
      print(`${total > 0 ? `${Math.floor((100 * done) / total)} %, ` : ''}${words}`);
    },
    end: print,
  };
}

export const showProgress = (options: ProgressOptions): Progress =>
  options.isTerminal && options.total > 0 ? drawnBar(options.total, options.print) : plainLines(options);

/** `1,234 lines, 5,678 lines/s`, of what is called `line`. */
export const rateText = (what: string, n: number, elapsedMs: number): string =>
  `${countText(n, what)}, ${grouped(Math.round((1000 * n) / Math.max(1, elapsedMs)))} ${what}s/s`;
