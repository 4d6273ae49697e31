import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../processors/ports.ts';
import { encodeEvent, TYPE_HEADER } from '../../streams/envelope.ts';
import { bytes, consumerOn, freshGroup, ids, type Ports, takeSome } from '../kit/eventPorts.ts';
import {
  sampleBatch,
  sampleFailed,
  sampleGroups,
  samplePlanned,
  sampleRetired,
  sampleRun,
} from '../kit/sampleEvents.ts';
import { until } from '../kit/until.ts';

/** Appending and leasing, as every implementation does them. */
export function writingContract(ports: () => Ports): void {
  describe('appending', () => {
    it('stores an event once: a repeat is answered with the position of the first', async () => {
      const event = sampleRetired({ group: freshGroup() });
      const first = await ports().sink.append(event);
      expect(first.kind).toBe('stored');
      expect(await ports().sink.append(event)).toEqual({ ...first, kind: 'repeated' });
    });

    it('takes the same fact noticed at another time as a repeat', async () => {
      const group = freshGroup();
      const first = await ports().sink.append(sampleRetired({ group }));
      const later = sampleRetired({ group }, (sampleRetired({ group }).at + 5000) as never);
      expect(await ports().sink.append(later)).toEqual({ ...first, kind: 'repeated' });
    });

    it('refuses another event under an id that is taken: EVENT_ID_CONFLICT', async () => {
      const group = freshGroup();
      await ports().sink.append(sampleFailed({ group }, 'one reason'));
      await expect(ports().sink.append(sampleFailed({ group }, 'another'))).rejects.toMatchObject({
        code: 'EVENT_ID_CONFLICT',
      });
    });

    it('appends under an expected last sequence of the subject, and tells the last one when it does not hold', async () => {
      const run = { group: freshGroup() };
      const { sink } = ports();
      const first = await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 });
      if (first.kind !== 'stored') throw new Error(`it is ${first.kind}`);
      const last = first.position.sequence;
      expect(await sink.append(sampleBatch(run, 5, bytes('other')), { lastOnSubject: 0 })).toEqual({
        kind: 'conflict',
        last,
      });
      expect((await sink.append(sampleBatch(run, 1, bytes('b')), { lastOnSubject: last })).kind).toBe('stored');
    });

    it('recognises its own event behind the expected sequence as a repeat, also when more was appended since', async () => {
      const run = { group: freshGroup() };
      const { sink } = ports();
      const first = await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 });
      if (first.kind !== 'stored') throw new Error(`it is ${first.kind}`);
      expect(await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 })).toEqual({
        ...first,
        kind: 'repeated',
      });
      await sink.append(sampleBatch(run, 1, bytes('b')), { lastOnSubject: first.position.sequence });
      expect(await sink.append(sampleBatch(run, 0, bytes('a')), { lastOnSubject: 0 })).toEqual({
        ...first,
        kind: 'repeated',
      });
    });

    it('appends under an expected last sequence of the stream: of two with the same expectation one wins', async () => {
      const { sink, reader } = ports();
      const { last } = await reader.state('CONTROL');
      const version = last.sequence + 1;
      const expectation = { lastInStream: last.sequence };
      const results = await Promise.all([
        sink.append(sampleGroups(version), expectation),
        sink.append(sampleGroups(version + 1_000_000), expectation),
      ]);
      expect(results.map((r) => r.kind).sort()).toEqual(['conflict', 'stored']);
      expect(results.find((r) => r.kind === 'conflict')).toEqual({ kind: 'conflict', last: version });
    });

    it('ends with the reason of an aborted signal and stores nothing', async () => {
      const group = freshGroup();
      const signal = AbortSignal.abort(new Error('shutting down'));
      await expect(ports().sink.append(sampleRetired({ group }), { signal })).rejects.toThrow('shutting down');
      const { verb, lane, ...run } = { verb: 'range.retired' as const, lane: 'live' as const, ...sampleRun({ group }) };
      expect(await ports().reader.last('RANGES', { verb, lane, backbone: run.backbone, group: run.group })).toBeNull();
    });

    it('refuses a payload beyond the limit before it is sent: EVENT_MALFORMED', async () => {
      const event = sampleBatch({ group: freshGroup() }, 0, Buffer.alloc(7_900_000));
      await expect(ports().sink.append(event)).rejects.toMatchObject({ code: 'EVENT_MALFORMED' });
    });
  });

  describe('leasing', () => {
    it('hands out what the filter matches, in order, and nothing that was acknowledged again', async () => {
      const group = freshGroup();
      const planned = [1, 2, 3].map((run) => samplePlanned({ group, run }));
      for (const event of planned) await ports().sink.append(event);
      await ports().sink.append(samplePlanned({ group: freshGroup() }));
      const got = await takeSome(ports(), consumerOn(group), 3);
      expect(ids(got)).toEqual(planned.map((event) => event.id));
      expect(got.map((d) => d.deliveries)).toEqual([1, 1, 1]);
      await ports().sink.append(samplePlanned({ group, run: 4 }));
      expect(ids(await takeSome(ports(), consumerOn(group), 1))).toEqual([samplePlanned({ group, run: 4 }).id]);
    });

    it('holds no more leases than asked for; an acknowledgement frees one', async () => {
      const group = freshGroup();
      for (const run of [1, 2, 3, 4]) await ports().sink.append(samplePlanned({ group, run }));
      const stop = new AbortController();
      const held: Delivery[] = [];
      const other: Delivery[] = [];
      const collect = async (into: Delivery[], maxInFlight: number) => {
        const taken = ports().source.take(consumerOn(group), { maxInFlight, signal: stop.signal });
        for await (const delivery of taken) into.push(delivery);
      };
      const first = collect(held, 2);
      await until('two leases', () => held.length === 2);
      const second = collect(other, 2);
      await until('the other two', () => other.length === 2);
      expect(held.map((d) => d.position.sequence)).not.toEqual(other.map((d) => d.position.sequence));
      await ports().sink.append(samplePlanned({ group, run: 5 }));
      await held[0]?.ack();
      await until('the fifth', () => held.length === 3);
      expect(other).toHaveLength(2);
      stop.abort();
      await Promise.all([first, second]);
    });

    it('hands a message out again when its lease ran out, and counts the deliveries', async () => {
      const group = freshGroup();
      const spec = consumerOn(group, { ackWaitMs: 1000 });
      await ports().sink.append(samplePlanned({ group }));
      const [lost] = await takeSome(ports(), spec, 1, () => undefined);
      const [again] = await takeSome(ports(), spec, 1);
      expect(again?.position).toEqual(lost?.position);
      expect([lost?.deliveries, again?.deliveries]).toEqual([1, 2]);
    });

    it('keeps a lease for as long as it is extended', async () => {
      const group = freshGroup();
      const spec = consumerOn(group, { ackWaitMs: 1000 });
      await ports().sink.append(samplePlanned({ group }));
      const [held] = await takeSome(ports(), spec, 1, () => undefined);
      const stop = new AbortController();
      const others: Delivery[] = [];
      const watcher = (async () => {
        for await (const d of ports().source.take(spec, { maxInFlight: 1, signal: stop.signal })) others.push(d);
      })();
      const started = performance.now();
      await until('three times the lease', () => {
        held?.working();
        return performance.now() - started > 3000;
      });
      expect(others).toHaveLength(0);
      await held?.ack();
      stop.abort();
      await watcher;
    });

    it('hands a message back after the asked delay, and never again once it was ended', async () => {
      const group = freshGroup();
      const spec = consumerOn(group);
      await ports().sink.append(samplePlanned({ group, run: 1 }));
      await ports().sink.append(samplePlanned({ group, run: 2 }));
      const started = performance.now();
      const seen: string[] = [];
      await takeSome(ports(), spec, 4, (d) => {
        seen.push(`${d.position.sequence}/${d.deliveries}`);
        if (d.event.id === samplePlanned({ group, run: 1 }).id) return d.deliveries < 3 ? d.nak(300) : d.ack();
        return d.term('it is broken\nbeyond repair');
      });
      expect(performance.now() - started).toBeGreaterThanOrEqual(550);
      expect(seen.filter((s) => s.endsWith('/1'))).toHaveLength(2);
      expect(seen.filter((s) => s.endsWith('/3'))).toHaveLength(1);
    });

    it('lets handlers acknowledge after the abort', async () => {
      const group = freshGroup();
      await ports().sink.append(samplePlanned({ group, run: 1 }));
      const spec = consumerOn(group, { ackWaitMs: 1000 });
      const [held] = await takeSome(ports(), spec, 1, () => undefined);
      await held?.ack();
      await ports().sink.append(samplePlanned({ group, run: 2 }));
      expect(ids(await takeSome(ports(), spec, 1))).toEqual([samplePlanned({ group, run: 2 }).id]);
    });

    it('ends with the error of a broken event', async () => {
      const group = freshGroup();
      const wire = encodeEvent(samplePlanned({ group }));
      await ports().putRaw('RANGES', { ...wire, headers: { ...wire.headers, [TYPE_HEADER]: 'range.planned/99' } });
      await expect(takeSome(ports(), consumerOn(group), 1)).rejects.toMatchObject({ code: 'EVENT_UNKNOWN_VERSION' });
    });
  });
}
