/** What the adapters of NATS report, and what they leave to others, on a real server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HeadwaterError } from '../../infra/base/errors/index.ts';
import { applyTopology, createEventSource } from '../../infra/nats/index.ts';
import { headersConsumer } from '../../streams/topology.ts';
import { testLink } from '../kit/natsLink.ts';
import { sampleBackbone } from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

let services: Services;

beforeAll(async () => {
  services = await startServices({ postgres: false });
});
afterAll(() => services?.stop());

test('waiting for events leaves alone what the work on them has reported', async () => {
  const { link, conditions } = await testLink(services.natsUrlWithLogin);
  await applyTopology(link, { replicas: 1, overviewMaxBytes: 100_000_000, backbones: [sampleBackbone] });
  const work = `consumer/${headersConsumer.durable}`;
  conditions.report(work, new HeadwaterError('POSTGRES_UNAVAILABLE', { server: 'db', reason: 'down' }));
  const stop = new AbortController();
  const cleared: string[] = [];
  const { clear } = conditions;
  conditions.clear = (about) => {
    cleared.push(about);
    clear.call(conditions, about);
  };
  const taking = (async () => {
    for await (const _ of createEventSource(link).take(headersConsumer, { maxInFlight: 1, signal: stop.signal }))
      return;
  })();
  await until('a request to end without an event', () => cleared.includes(`delivery/${headersConsumer.durable}`));
  expect([...conditions.now.keys()]).toEqual([work]);
  stop.abort(new Error('enough'));
  await taking;
  await link.close();
});
