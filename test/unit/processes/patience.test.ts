import { expect, test } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { type Patience, watchTrouble } from '../../../infra/processes/commands/patience.ts';
import { patientReads } from '../../../infra/processes/commands/patientReads.ts';
import type { Sql } from '../../../projections/ports.ts';
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
  expect(printed.slice(2)).toEqual(['going on: stream/CONTROL is well again', ...printed.slice(0, 2)]);
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

test('a read waits for a database that went away under it, and is then asked again', async () => {
  const { clock, conditions, printed } = watched('endless');
  const gone = new HeadwaterError('POSTGRES_UNAVAILABLE', { server: 'db:5432/x', reason: 'ECONNREFUSED' });
  let isThere = false;
  const db = {
    query: async () => {
      if (!isThere) throw gone;
      return [{ n: 1 }];
    },
  } as unknown as Sql;
  const signal = new AbortController().signal;
  const rows = patientReads(db, { clock, signal, conditions }).query('select 1 as n');
  await clock.advance(20_000);
  isThere = true;
  await clock.advance(20_000);
  expect(await rows).toEqual([{ n: 1 }]);
  expect(printed).toEqual([`waiting: ${gone.message}`, `  ${gone.hint}`, 'going on: postgres is well again']);
  expect(gone.hint).toContain('a command has to be called again');
});

test('a read that fails for another reason, or is stopped while it waits, ends', async () => {
  const { clock, conditions } = watched('endless');
  const failing = (error: Error) => ({ query: () => Promise.reject(error) }) as unknown as Sql;
  const stop = new AbortController();
  const waiting = { clock, signal: stop.signal, conditions };
  await expect(patientReads(failing(new TypeError('x')), waiting).query('')).rejects.toThrow('x');
  const gone = new HeadwaterError('POSTGRES_UNAVAILABLE', {});
  const stopped = expect(patientReads(failing(gone), waiting).query('')).rejects.toThrow('stopped');
  await clock.advance(5000);
  stop.abort(new Error('stopped'));
  await stopped;
});
