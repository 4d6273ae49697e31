import { expect, test } from 'vitest';
import { type Log, silentLog } from '../../../infra/base/log.ts';
import { Providers, pausesFrom } from '../../../processors/failover/providers.ts';
import { ManualClock } from '../../kit/manualClock.ts';
import { MemoryProvider } from '../../kit/memoryArticles.ts';
import { RecordedConditions } from '../../kit/recordedConditions.ts';

function recordedLog(): { readonly log: Log; readonly warnings: string[] } {
  const warnings: string[] = [];
  return { log: { ...silentLog, warn: (message) => void warnings.push(message) }, warnings };
}

test('a provider that stays down is logged once, reported at each trial, and logged again after it had worked', async () => {
  const clock = new ManualClock();
  const conditions = new RecordedConditions();
  const { log, warnings } = recordedLog();
  const news = new MemoryProvider('news');
  const providers = new Providers(
    [news],
    { clock, log, conditions },
    { firstMs: 1000, maxMs: 1000, denied: pausesFrom(1000) },
  );
  const signal = new AbortController().signal;
  const tryIt = () => providers.use(async () => 'read', signal);
  news.goDown();
  for (let i = 0; i < 5; i++) {
    expect((await tryIt()).kind).toBe('cooling');
    await clock.advance(1000);
  }
  expect(conditions.ever.map(({ about }) => about)).toEqual(Array(5).fill('provider/news'));
  expect(warnings).toEqual(['provider is left alone for a while']);
  news.down = null;
  expect((await tryIt()).kind).toBe('used');
  expect(conditions.now.size).toBe(0);
  news.goDown();
  expect((await tryIt()).kind).toBe('cooling');
  expect(warnings.length).toBe(2);
});
