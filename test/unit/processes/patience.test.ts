import { expect, test } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { type Patience, watchTrouble } from '../../../infra/processes/commands/patience.ts';
import { ManualClock } from '../../kit/manualClock.ts';

const LIMIT_MS = 8000;
const full = new HeadwaterError('STREAM_FULL', { stream: 'CONTROL', reason: 'no room', code: 10077 });

function watched(patience: Patience) {
  const clock = new ManualClock();
  const printed: string[] = [];
  const trouble = watchTrouble({ patience, clock, print: (line) => printed.push(line), limitMs: LIMIT_MS });
  const ended: unknown[] = [];
  trouble.tooLong.catch((error: unknown) => ended.push(error));
  return { clock, printed, ended, ...trouble };
}

test('a brief command ends with the error of an outage that lasts', async () => {
  const { clock, conditions, ended } = watched('brief');
  conditions.report('stream/CONTROL', full);
  await clock.advance(LIMIT_MS - 1);
  conditions.report('stream/CONTROL', full);
  expect(ended).toEqual([]);
  await clock.advance(1);
  expect(ended).toEqual([full]);
});

test('a brief command goes on after an outage that passes', async () => {
  const { clock, conditions, ended } = watched('brief');
  conditions.report('nats', full);
  await clock.advance(LIMIT_MS - 1);
  conditions.clear('nats');
  await clock.advance(LIMIT_MS);
  expect(ended).toEqual([]);
  expect(clock.sleeping).toBe(0);
});

test('an endless command says once what it waits for and what to do about it, and never ends by itself', async () => {
  const { clock, conditions, ended, printed, end } = watched('endless');
  for (let i = 0; i < 3; i++) conditions.report('stream/CONTROL', full);
  await clock.advance(100 * LIMIT_MS);
  expect(printed).toEqual([`waiting: ${full.message}`, `  ${full.hint}`]);
  conditions.clear('stream/CONTROL');
  conditions.report('stream/CONTROL', full);
  expect(printed.length).toBe(4);
  end();
  expect(ended).toEqual([]);
});

test('nothing is waited for after the command is over', async () => {
  const { clock, conditions, ended, end } = watched('brief');
  conditions.report('nats', full);
  end();
  await clock.advance(2 * LIMIT_MS);
  expect(ended).toEqual([]);
  expect(clock.sleeping).toBe(0);
});
