import { describe, expect, it } from 'vitest';
import { waitForProjections } from '../../../infra/processes/projectionsReady.ts';
import { overviewBytes } from '../../../infra/processes/topologyWishes.ts';
import { restartDelays } from '../../../infra/processes/up/backoff.ts';
import type { Sql } from '../../../projections/ports.ts';
import { RecordedConditions } from '../../kit/recordedConditions.ts';

describe('a service that reads projections', () => {
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const signal = new AbortController().signal;
  /** A database in which `catalog` appears at the n-th look. */
  const appearsAfter = (looks: number): Sql => ({
    query: () => Promise.resolve((looks-- > 0 ? [{ name: 'catalog' }] : []) as never),
    script: () => Promise.resolve(),
    copy: () => Promise.resolve(0),
  });

  it('waits for their tables without a word while they are about to come', async () => {
    const conditions = new RecordedConditions();
    await waitForProjections(appearsAfter(5), ['catalog'], { clock, signal, conditions });
    expect(conditions.ever).toEqual([]);
  });

  it('says what is missing when they do not come, and that it is well once they do', async () => {
    const conditions = new RecordedConditions();
    await waitForProjections(appearsAfter(30), ['catalog'], { clock, signal, conditions });
    expect(conditions.ever[0]?.error.message).toMatch(/PROJECTIONS_MISSING.*catalog/);
    expect(conditions.now.size).toBe(0);
  });
});

describe('the wait before a restart', () => {
  it('doubles from 1 s to 30 s while a service keeps ending, and begins anew after a minute of good running', () => {
    const delays = restartDelays();
    expect([0, 0, 0, 0, 0, 0, 0].map((ran) => delays.next(ran))).toEqual([
      1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
    ]);
    expect(delays.next(60_000)).toBe(1000);
    expect(delays.next(500)).toBe(2000);
  });
});

describe('the limit of OVERVIEW', () => {
  it.each([
    ['as configured where the server is large', 8 * 2 ** 30, 100 * 2 ** 30, 8 * 2 ** 30],
    [
      'less where the server is small, so that the streams kept for ever have room',
      8 * 2 ** 30,
      10 * 2 ** 30,
      4 * 2 ** 30,
    ],
    ['as configured where the server does not tell', 8 * 2 ** 30, null, 8 * 2 ** 30],
  ])('is %s', (_title, configured, limit, bytes) => {
    expect(overviewBytes(configured, limit)).toBe(bytes);
  });
});
