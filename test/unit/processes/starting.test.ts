import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { createConditionBoard } from '../../../infra/processes/conditions.ts';
import { createLog } from '../../../infra/processes/log.ts';
import { stopOnSignals } from '../../../infra/processes/stopOnSignals.ts';
import { terminalLine } from '../../../infra/processes/up/terminal.ts';
import { untilReady } from '../../../infra/processes/up/untilReady.ts';
import { ManualClock } from '../../kit/manualClock.ts';

const never = new Promise<void>(() => {});

describe('the wait for the services of up', () => {
  const wait = (ready: Promise<void>) => {
    const [clock, stop, lines] = [new ManualClock(), new AbortController(), [] as string[]];
    const services = [
      { name: 'project', ready: Promise.resolve() },
      { name: 'api', ready },
    ];
    const done = untilReady(services, { clock, signal: stop.signal, print: (line) => lines.push(line) });
    return { clock, stop, lines, done };
  };

  it('ends when all are ready, and leaves no timer behind', async () => {
    const { clock, lines, done } = wait(Promise.resolve());
    await done;
    expect(lines).toEqual([]);
    expect(clock.sleeping).toBe(0);
  });

  it('says every half minute what is still being tried', async () => {
    const { clock, lines } = wait(never);
    await clock.advance(60_000);
    expect(lines).toEqual(Array(2).fill('still trying to start: api (Ctrl-C stops everything)'));
  });

  it('ends when up is stopped, and leaves no timer behind', async () => {
    const { clock, stop, done } = wait(never);
    const ended = expect(done).rejects.toThrow('stopped by SIGINT');
    stop.abort(new Error('stopped by SIGINT'));
    await ended;
    expect(clock.sleeping).toBe(0);
  });
});

describe('the terminal of up', () => {
  it('shows a trouble with what to do, and that it is over; nothing else of a log', () => {
    const shown: string[] = [];
    const write = terminalLine('fetch', (line) => shown.push(line));
    const log = createLog({ level: 'debug', service: 'fetch', build: 'test', write });
    const board = createConditionBoard({
      service: 'fetch',
      clock: new ManualClock(),
      log,
      changed: () => {},
      signal: new AbortController().signal,
    });
    log.info('fetch is ready');
    const error = new HeadwaterError('CONFIG_NOT_FOUND', { file: 'a', reason: 'gone' });
    board.report('provider/one', error);
    board.clear('provider/one');
    write('FATAL ERROR: JavaScript heap out of memory');
    expect(shown).toEqual([
      `warn  fetch: ${error.message}`,
      `      ${error.hint}`,
      'ok    fetch: well again: provider/one',
      '      fetch: FATAL ERROR: JavaScript heap out of memory',
    ]);
  });
});

describe('signals', () => {
  const world = () => {
    const [source, clock] = [new EventEmitter(), new ManualClock()];
    let endedAtOnce = 0;
    const signal = stopOnSignals({ source, clock, endNow: () => void endedAtOnce++ });
    return { source, clock, signal, ended: () => endedAtOnce };
  };

  it('stop in order at the first, and at once when somebody presses again', async () => {
    const { source, clock, signal, ended } = world();
    source.emit('SIGINT');
    expect(signal.aborted).toBe(true);
    expect(ended()).toBe(0);
    await clock.advance(600);
    source.emit('SIGINT');
    expect(ended()).toBe(1);
  });

  it('that come twice for one key are one wish', () => {
    const { source, ended } = world();
    source.emit('SIGINT');
    source.emit('SIGINT');
    expect(ended()).toBe(0);
  });
});
