import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { createConditionBoard } from '../../../infra/processes/conditions.ts';
import { createLog } from '../../../infra/processes/log.ts';
import type { HeadwaterEvent } from '../../../streams/events/index.ts';
import { MemoryEvents } from '../../kit/memoryEvents.ts';
import { until } from '../../kit/until.ts';

function board() {
  const lines: string[] = [];
  let now = 1000;
  const clock = { now: () => now++, sleep: () => Promise.resolve() };
  const log = createLog({ level: 'debug', service: 'fetch', build: 'test', write: (line) => lines.push(line) });
  const changes: number[] = [];
  const made = createConditionBoard({
    service: 'fetch',
    clock,
    log,
    changed: (open) => changes.push(open.length),
    signal: new AbortController().signal,
  });
  return { made, lines, changes };
}

const down = (file: string) => new HeadwaterError('CONFIG_NOT_FOUND', { file, reason: 'gone' });

describe('the conditions of a service', () => {
  it('are logged once while they last, with what to do', () => {
    const { made, lines, changes } = board();
    for (let i = 0; i < 5; i++) made.report('provider/one', down('a'));
    made.clear('provider/one');
    made.clear('provider/one');
    expect(lines.map((l) => JSON.parse(l)).map((l) => [l.level, l.about, l.code])).toEqual([
      ['warn', 'provider/one', 'CONFIG_NOT_FOUND'],
      ['info', 'provider/one', 'CONFIG_NOT_FOUND'],
    ]);
    expect(JSON.parse(lines[0]!).hint).toContain('--config');
    expect(changes).toEqual([1, 0]);
  });

  it('show the newest message of a lasting condition and the time of its first', () => {
    const { made, changes } = board();
    made.report('x', down('a'));
    const since = made.current()[0]!.since;
    made.report('x', down('b'));
    expect(made.current()).toHaveLength(1);
    expect(made.current()[0]).toMatchObject({ about: 'x', since, message: expect.stringContaining('file b') });
    expect(changes).toEqual([1, 1]);
  });

  it('become incidents that open and close once, also those from before the event log was there', async () => {
    const { made } = board();
    const events = new MemoryEvents();
    made.report('early', down('a'));
    made.publishTo(events);
    made.report('early', down('a'));
    made.report('late', down('b'));
    made.clear('early');
    const stored = (): readonly HeadwaterEvent[] => events.events('OPS');
    await until('three incidents', () => stored().length === 3);
    expect(stored().map((e) => [e.type, (e.data as { about: string }).about])).toEqual([
      ['ops.incident.opened', 'early'],
      ['ops.incident.opened', 'late'],
      ['ops.incident.closed', 'early'],
    ]);
  });

  it('tell another cause of the same thing as another incident', () => {
    const { made, lines } = board();
    made.report('x', down('a'));
    made.report('x', new HeadwaterError('PROCESS_NOT_RUNNING', { folder: 'f' }));
    expect(made.current().map((c) => c.code)).toEqual(['PROCESS_NOT_RUNNING']);
    expect(lines).toHaveLength(2);
  });

  it('name a defect as one', () => {
    const { made } = board();
    made.report('x', new TypeError('undefined is not a function'));
    expect(made.current()[0]).toMatchObject({ code: 'DEFECT', message: 'undefined is not a function' });
  });
});
