/** Acknowledging what the server knows nothing of any more, on a real server. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { applyTopology, createEventSink, createEventSource, type NatsLink } from '../../infra/nats/index.ts';
import type { Delivery } from '../../processors/ports.ts';
import { headersConsumer } from '../../streams/topology.ts';
import { testLink } from '../kit/natsLink.ts';
import { fetched } from '../kit/rangeEvents.ts';
import { sampleBackbone } from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let link: NatsLink;
let stop: AbortController;
const [STREAM, DURABLE] = ['RANGES', headersConsumer.durable] as const;

beforeAll(async () => {
  services = await startServices({ postgres: false });
});
afterAll(() => services?.stop());
beforeEach(async () => {
  await services.freshNats();
  ({ link } = await testLink(services.natsUrlWithLogin));
  await applyTopology(link, { replicas: 1, overviewMaxBytes: 100_000_000, backbones: [sampleBackbone] });
  stop = new AbortController();
  return async () => {
    stop.abort();
    await link.close();
  };
});

/** What one worker is handed; it asks for the next only when it is done with the one before. */
function oneAtATime(): AsyncIterator<Delivery> {
  const source = createEventSource(link);
  return source.take(headersConsumer, { maxInFlight: 1, signal: stop.signal })[Symbol.asyncIterator]();
}

const append = async (lo: number) =>
  createEventSink(link).append(fetched({ group: 'alt.binaries.test', lo, hi: lo + 9 }));

it('a server that was killed before a delivery was on disk hands it out again, and the worker goes on', async () => {
  await append(1);
  const worker = oneAtATime();
  const first = (await worker.next()).value as Delivery;
  // What such a server finds on disk: the consumer as it was before the delivery.
  const { config } = await link.jsm.consumers.info(STREAM, DURABLE);
  await link.jsm.consumers.delete(STREAM, DURABLE);
  await link.jsm.consumers.add(STREAM, config);
  await first.ack();
  const again = (await worker.next()).value as Delivery;
  expect(again.position).toEqual(first.position);
  await again.ack();
  await append(11);
  const second = (await worker.next()).value as Delivery;
  expect(second.position.sequence).toBe(first.position.sequence + 1);
  await second.ack();
  expect(await link.jsm.consumers.info(STREAM, DURABLE)).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
});

it('a consumer that is gone when something is acknowledged is made anew, and the worker goes on', async () => {
  await append(1);
  const worker = oneAtATime();
  const first = (await worker.next()).value as Delivery;
  await link.jsm.consumers.delete(STREAM, DURABLE);
  await first.ack();
  const again = (await worker.next()).value as Delivery;
  expect(again.position).toEqual(first.position);
  await again.ack();
  expect(await link.jsm.consumers.info(STREAM, DURABLE)).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
});
