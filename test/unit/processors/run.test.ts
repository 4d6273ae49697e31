import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import {
  done,
  failed,
  type Outcome,
  type Processor,
  retry,
  runProcessor,
  runTogether,
} from '../../../processors/run.ts';
import { makeEvent } from '../../../streams/events/index.ts';
import { rangePlanned } from '../../../streams/events/ranges.ts';
import { ArticleNumber, Backbone, Epoch, EpochMs, Group, RangeId } from '../../../streams/ids.ts';
import { fetchConsumer } from '../../../streams/topology.ts';

import { processorWorld, running } from '../../kit/processorWorld.ts';
import { pass, settle } from '../../kit/timePasses.ts';

const backbone = Backbone('main');
const consumer = fetchConsumer('backfill', backbone);

const planned = (lo: number) => {
  const ends = { lo: ArticleNumber(lo), hi: ArticleNumber(lo + 9) };
  const range = {
    group: Group('a.b'),
    epoch: Epoch(0),
    rangeId: RangeId.of(Epoch(0), ends.lo, ends.hi),
    ...ends,
    run: 1,
  };
  const data = { lane: 'backfill' as const, backbone, ranges: [range], listVersion: 1, garbageVersion: 0 };
  return makeEvent(rangePlanned, EpochMs(0), data);
};

const processor = (handle: Processor<'range.planned'>['handle'], maxInFlight = 2): Processor<'range.planned'> => ({
  consumer,
  accepts: 'range.planned',
  maxInFlight,
  handle,
});

const loOf = (delivery: Parameters<Processor<'range.planned'>['handle']>[0]) =>
  delivery.event.data.ranges[0]!.lo as number;

describe('the processor loop', () => {
  it('acknowledges what is done, hands back what is to be retried, and ends what has failed', async () => {
    const world = processorWorld();
    for (const lo of [0, 10, 20]) await world.events.append(planned(lo));
    const calls: string[] = [];
    const outcomes: Record<number, Outcome> = { 0: done, 10: retry(3000, 'later'), 20: failed('for good') };
    const loop = running((signal) =>
      runProcessor(
        processor(async (delivery) => {
          calls.push(`${loOf(delivery)}#${delivery.deliveries}`);
          return delivery.deliveries > 1 ? done : (outcomes[loOf(delivery)] ?? done);
        }),
        world,
        signal,
      ),
    );
    await settle();
    expect(calls).toEqual(['0#1', '10#1', '20#1']);
    expect(world.events.consumer(consumer).unfinished).toBe(1);
    await pass(world.clock, 3000);
    expect(calls).toEqual(['0#1', '10#1', '20#1', '10#2']);
    expect(world.events.consumer(consumer).unfinished).toBe(0);
    await loop.stop();
  });

  it('keeps no more deliveries at work than allowed', async () => {
    const world = processorWorld();
    for (const lo of [0, 10, 20, 30]) await world.events.append(planned(lo));
    let now = 0;
    let most = 0;
    const loop = running((signal) =>
      runProcessor(
        processor(async () => {
          most = Math.max(most, ++now);
          await world.clock.sleep(1000);
          now--;
          return done;
        }),
        world,
        signal,
      ),
    );
    await pass(world.clock, 5000);
    expect(most).toBe(2);
    expect(world.events.consumer(consumer).unfinished).toBe(0);
    await loop.stop();
  });

  it('extends the lease while a handler runs, also while it waits to be admitted', async () => {
    const world = processorWorld();
    await world.events.append(planned(0));
    let handled = 0;
    const slow = {
      ...processor(async () => {
        handled++;
        await world.clock.sleep(4 * consumer.ackWaitMs);
        return done;
      }),
      admit: async () => {
        await world.clock.sleep(3 * consumer.ackWaitMs);
        return () => {};
      },
    };
    const loop = running((signal) => runProcessor(slow, world, signal));
    await pass(world.clock, 8 * consumer.ackWaitMs);
    expect(handled).toBe(1);
    expect(world.events.consumer(consumer).unfinished).toBe(0);
    await loop.stop();
  });

  it('hands its leases back at once when it is stopped', async () => {
    const world = processorWorld();
    await world.events.append(planned(0));
    const first = running((signal) =>
      runProcessor(
        processor(async (_, inner) => {
          await world.clock.sleep(1e9, inner);
          return done;
        }),
        world,
        signal,
      ),
    );
    await settle();
    await first.stop();
    const seen: number[] = [];
    const second = running((signal) =>
      runProcessor(
        processor(async (delivery) => {
          seen.push(delivery.deliveries);
          return done;
        }),
        world,
        signal,
      ),
    );
    await settle();
    expect(seen).toEqual([2]);
    await second.stop();
  });

  it('ends with the error of an event that it cannot decode', async () => {
    const world = processorWorld();
    world.events.putRaw('RANGES', {
      subject: 'range.planned.backfill.main.a.b',
      headers: { 'Headwater-Type': 'range.dreamt/1', 'Headwater-Time': '0', 'Nats-Msg-Id': 'x' },
      payload: Buffer.from('{}'),
    });
    const loop = running((signal) =>
      runProcessor(
        processor(async () => done),
        world,
        signal,
      ),
    );
    await settle();
    await expect(loop.stop()).rejects.toThrow(/range\.dreamt/);
  });

  it('ends with PROCESSOR_UNEXPECTED_EVENT when the consumer delivers another type', async () => {
    const world = processorWorld();
    await world.events.append(planned(0));
    const wrong = { ...processor(async () => done), accepts: 'range.fetched' } as unknown as Processor<'range.fetched'>;
    const loop = running((signal) => runProcessor(wrong, world, signal));
    await settle();
    await expect(loop.stop()).rejects.toMatchObject({ code: 'PROCESSOR_UNEXPECTED_EVENT' });
  });

  it('retries after a passing error of the machinery and says so while it lasts', async () => {
    const world = processorWorld();
    await world.events.append(planned(0));
    let away = true;
    const loop = running((signal) =>
      runProcessor(
        processor(async () => {
          if (away) throw new HeadwaterError('HEADERS_WORKER_DIED', { reason: 'test' });
          return done;
        }),
        world,
        signal,
      ),
    );
    await settle();
    expect([...world.conditions.open.keys()]).toEqual([`consumer/${consumer.durable}`]);
    away = false;
    await pass(world.clock, 5000);
    expect(world.conditions.open.size).toBe(0);
    expect(world.events.consumer(consumer).unfinished).toBe(0);
    await loop.stop();
  });

  it('stops its other handlers when one has a defect, and throws that defect', async () => {
    const world = processorWorld();
    for (const lo of [0, 10]) await world.events.append(planned(lo));
    let stopped = false;
    const loop = running((signal) =>
      runProcessor(
        processor(async (delivery, inner) => {
          if (loOf(delivery) === 10) throw new TypeError('a defect');
          await world.clock.sleep(1e9, inner).catch(() => {
            stopped = true;
          });
          return done;
        }),
        world,
        signal,
      ),
    );
    await settle();
    await expect(loop.stop()).rejects.toThrow('a defect');
    expect(stopped).toBe(true);
  });

  it('runs several loops as one that fails with the first of them', async () => {
    const world = processorWorld();
    const ends: string[] = [];
    const together = runTogether(
      [
        async () => {
          await world.clock.sleep(10);
          throw new Error('first');
        },
        async (signal) => {
          await world.clock.sleep(1e9, signal).catch(() => ends.push('stopped'));
        },
      ],
      new AbortController().signal,
    );
    const outcome = expect(together).rejects.toThrow('first');
    await pass(world.clock, 10);
    await outcome;
    expect(ends).toEqual(['stopped']);
  });
});
