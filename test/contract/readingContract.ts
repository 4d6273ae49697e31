import { describe, expect, it } from 'vitest';
import type { LogBatch } from '../../projections/ports.ts';
import { encodeEvent, TYPE_HEADER } from '../../streams/envelope.ts';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import { bytes, eventsOf, freshGroup, ids, type Ports, readOptions, readUntil } from '../kit/eventPorts.ts';
import {
  sampleBackbone,
  sampleBatch,
  sampleOpened,
  samplePlanned,
  sampleRetired,
  sampleRun,
} from '../kit/sampleEvents.ts';

/** Reading single events, the overview store and the log, as every implementation does them. */
export function readingContract(ports: () => Ports): void {
  describe('reading single events', () => {
    it('gives the event at a position, the last on a subject, and all on it up to a limit', async () => {
      const run = { group: freshGroup() };
      const batches = ['a', 'b', 'c'].map((text, i) => sampleBatch(run, i, bytes(text)));
      const appended = [];
      for (const batch of batches) appended.push(await ports().sink.append(batch));
      const { epoch: _e, lo: _l, hi: _h, ...named } = sampleRun(run);
      const subject = { verb: 'overview' as const, ...named };
      const second = appended[1];
      if (second?.kind !== 'stored') throw new Error('not stored');
      const { reader } = ports();
      const event = await reader.get('OVERVIEW', second.position);
      expect(event?.event.id).toBe(batches[1]?.id);
      expect(event?.position).toEqual(second.position);
      expect((await reader.last('OVERVIEW', subject))?.event.id).toBe(batches[2]?.id);
      expect(ids(await reader.allOn('OVERVIEW', subject, 10))).toEqual(batches.map((b) => b.id));
      expect(ids(await reader.allOn('OVERVIEW', subject, 2))).toEqual(batches.slice(0, 2).map((b) => b.id));
      const page = await reader.allOn('OVERVIEW', subject, 10, second.position);
      expect(ids(page)).toEqual([batches[2]?.id]);
    });

    it('gives null for what is not there', async () => {
      const { reader } = ports();
      expect(await reader.get('OVERVIEW', { number: 1, sequence: 999_999 })).toBeNull();
      expect(await reader.get('OVERVIEW', { number: 1, sequence: 0 })).toBeNull();
      const group = sampleRun({ group: freshGroup() });
      const subject = { verb: 'release.opened' as const, backbone: group.backbone, group: group.group };
      expect(await reader.last('RELEASES', subject)).toBeNull();
      expect(await reader.allOn('RELEASES', subject, 10)).toEqual([]);
    });

    it('tells the state of a stream', async () => {
      const before = await ports().reader.state('RELEASES');
      await ports().sink.append(sampleOpened({ group: freshGroup() }));
      const after = await ports().reader.state('RELEASES');
      expect(after.messages).toBe(before.messages + 1);
      expect(after.last).toEqual({ number: 1, sequence: before.last.sequence + 1 });
      expect(after.bytes).toBeGreaterThan(before.bytes);
      expect(after.createdAt).toBe(before.createdAt);
      expect((await ports().reader.state('OVERVIEW')).maxBytes).toBeGreaterThan(0);
      expect(after.maxBytes).toBe(-1);
    });
  });

  describe('the overview store', () => {
    it('names the runs that hold batches, and forgets one that is purged', async () => {
      const group = freshGroup();
      for (const run of [1, 2]) {
        await ports().sink.append(sampleBatch({ group, run }, 0, bytes('x')));
        await ports().sink.append(sampleBatch({ group, run }, 1, bytes('y')));
      }
      const held = async () => (await ports().overview.held()).filter((r) => r.group === group).map((r) => r.run);
      expect((await held()).sort()).toEqual([1, 2]);
      const { backbone, rangeId, run } = sampleRun({ group });
      await ports().overview.purge({ backbone, group: sampleRun({ group }).group, rangeId, run });
      expect(await held()).toEqual([2]);
      const subject = { verb: 'overview' as const, backbone, group: sampleRun({ group }).group, rangeId, run };
      expect(await ports().reader.allOn('OVERVIEW', subject, 10)).toEqual([]);
    });
  });

  describe('the log', () => {
    it('gives every event after a position in order, in batches within the bound, and goes on with new ones', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('RANGES')).last;
      const events = [1, 2, 3, 4, 5].map((run) => samplePlanned({ group, run }));
      for (const event of events.slice(0, 4)) await ports().sink.append(event);
      const reading = readUntil(ports(), 'RANGES', from, { eventsMax: 3 }, (b) => eventsOf(b).length === 5);
      await ports().sink.append(events[4] as HeadwaterEvent);
      const batches = await reading;
      expect(ids(eventsOf(batches))).toEqual(events.map((e) => e.id));
      expect(Math.max(...batches.map((b) => b.events.length))).toBeLessThanOrEqual(3);
      for (const batch of batches) expect(batch.events.at(-1)?.position).toEqual(batch.upTo);
      expect(batches[0]?.events[0]?.position.sequence).toBe(from.sequence + 1);
    });

    it('keeps batches within the bound on bytes; a single event beyond it comes alone', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('OVERVIEW')).last;
      const sizes = [100, 100, 5000, 100];
      for (const [i, size] of sizes.entries()) {
        await ports().sink.append(sampleBatch({ group }, i, Buffer.alloc(size, i)));
      }
      const batches = await readUntil(ports(), 'OVERVIEW', from, { bytesMax: 2000 }, (b) => eventsOf(b).length === 4);
      expect(batches.map((b) => b.events.length)).toEqual([2, 1, 1]);
    });

    it('moves on while nothing matches, up to the end of the stream and not beyond', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('RANGES')).last;
      for (const run of [1, 2, 3]) await ports().sink.append(samplePlanned({ group, run }));
      const end = (await ports().log.state('RANGES')).last;
      const options = { subjects: [`range.retired.live.${sampleBackbone}.${group}`, 'range.parsed.>'] };
      const batches = await readUntil(ports(), 'RANGES', from, options, (b) => b.length === 1);
      expect(batches).toEqual([{ events: [], upTo: end }]);
      await ports().sink.append(samplePlanned({ group, run: 4 }));
      await ports().sink.append(sampleRetired({ group }));
      const later = await readUntil(ports(), 'RANGES', end, options, (b) => eventsOf(b).length === 1);
      expect(ids(eventsOf(later))).toEqual([sampleRetired({ group }).id]);
    });

    it('gives what lies before a broken event, then ends with its error', async () => {
      const group = freshGroup();
      const from = (await ports().log.state('RANGES')).last;
      await ports().sink.append(samplePlanned({ group }));
      const wire = encodeEvent(samplePlanned({ group, run: 2 }));
      await ports().putRaw('RANGES', { ...wire, headers: { ...wire.headers, [TYPE_HEADER]: 'range.unheard/1' } });
      await ports().sink.append(samplePlanned({ group, run: 3 }));
      const stop = new AbortController();
      const got: LogBatch[] = [];
      const reading = (async () => {
        for await (const batch of ports().log.read('RANGES', from, readOptions(stop.signal))) got.push(batch);
      })();
      await expect(reading).rejects.toMatchObject({ code: 'EVENT_UNKNOWN_TYPE' });
      expect(ids(eventsOf(got))).toEqual([samplePlanned({ group }).id]);
      expect(got.at(-1)?.upTo.sequence).toBe(from.sequence + 1);
    });

    it('ends without an error when the signal aborts while it waits', async () => {
      const stop = new AbortController();
      const from = (await ports().log.state('CHUNKS')).last;
      const reading = (async () => {
        for await (const batch of ports().log.read('CHUNKS', from, readOptions(stop.signal))) return batch;
        return 'ended';
      })();
      stop.abort();
      expect(await reading).toBe('ended');
    });
  });
}
