import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeEvent } from '../../../streams/envelope.ts';
import { definitionOf } from '../../../streams/events/index.ts';
import { FETCH_LANES } from '../../../streams/ids.ts';
import { parseSubject } from '../../../streams/subjects.ts';
import {
  comparePositions,
  consumersFor,
  fetchConsumer,
  headersConsumer,
  PUBLISHERS,
  parseStreamName,
  STREAMS,
  type StreamFamily,
  streamName,
} from '../../../streams/topology.ts';
import { anyEvent, backbones, EVENT_TYPES, eventOf } from '../../kit/eventArbitraries.ts';
import { filterMatches } from '../../kit/subjectFilter.ts';

const FAMILIES = Object.keys(STREAMS) as StreamFamily[];

describe('the topology', () => {
  it('puts every event into exactly the stream that its type names', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const { subject } = encodeEvent(event);
        const taking = FAMILIES.filter((f) => STREAMS[f].subjects.some((filter) => filterMatches(filter, subject)));
        expect(taking).toEqual([definitionOf(event.type).stream]);
      }),
    );
  });

  it('says who publishes every type, and no type without a publisher', () => {
    expect(Object.keys(PUBLISHERS).sort()).toEqual([...EVENT_TYPES].sort());
    for (const publishers of Object.values(PUBLISHERS)) expect(publishers.length).toBeGreaterThan(0);
  });

  it('has the origin in the subject wherever several kinds of service may publish', () => {
    for (const type of EVENT_TYPES.filter((t) => PUBLISHERS[t].length > 1)) {
      // Plans, fetched ranges and batches of an import lie on a lane of their own, or name a range of it.
      if (['range.planned', 'range.fetched', 'overview.batch'].includes(type)) continue;
      const [event] = fc.sample(eventOf(type), 1);
      const subject = event && parseSubject(encodeEvent(event).subject);
      expect(subject && ('origin' in subject || 'service' in subject), type).toBe(true);
    }
  });

  it('leases to fetch the plans of one lane and backbone, and to headers what was fetched', () => {
    fc.assert(
      fc.property(anyEvent, fc.constantFrom(...FETCH_LANES), backbones, (event, lane, backbone) => {
        const { subject } = encodeEvent(event);
        const planned = event.type === 'range.planned' && event.data.lane === lane && event.data.backbone === backbone;
        expect(filterMatches(fetchConsumer(lane, backbone).filter, subject)).toBe(planned);
        expect(filterMatches(headersConsumer.filter, subject)).toBe(event.type === 'range.fetched');
      }),
    );
    fc.assert(
      fc.property(eventOf('range.planned'), (event) => {
        const { lane, backbone } = event.data;
        const taking = consumersFor([backbone]).filter((c) => filterMatches(c.filter, encodeEvent(event).subject));
        expect(taking.map((c) => c.durable)).toEqual(lane === 'import' ? [] : [`fetch-${lane}-${backbone}`]);
      }),
    );
  });

  it('names consumers as NATS allows it, each once', () => {
    fc.assert(
      fc.property(fc.uniqueArray(backbones, { maxLength: 4 }), (some) => {
        const names = consumersFor(some).map((consumer) => consumer.durable);
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('lets nothing but batches be removed', () => {
    expect(FAMILIES.filter((family) => !STREAMS[family].denyPurge)).toEqual(['OVERVIEW']);
    expect(FAMILIES.filter((family) => !STREAMS[family].denyDelete)).toEqual([]);
    expect(FAMILIES.filter((family) => STREAMS[family].maxAgeMs !== 0)).toEqual(['OPS']);
  });

  it('names streams and reads the names back', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FAMILIES), fc.integer({ min: 1, max: 99_999 }), (family, any) => {
        const number = STREAMS[family].rolls ? any : 1;
        expect(parseStreamName(streamName(family, number))).toEqual({ family, number });
      }),
    );
    expect(streamName('RELEASES')).toBe('RELEASES-0001');
    expect(['RELEASES', 'RANGES-0001', 'KV_x', 'constructor', ''].map(parseStreamName)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it('orders positions by number, then sequence', () => {
    const sorted = [
      { number: 2, sequence: 1 },
      { number: 1, sequence: 9 },
      { number: 1, sequence: 2 },
    ].sort(comparePositions);
    expect(sorted.map((p) => `${p.number}:${p.sequence}`)).toEqual(['1:2', '1:9', '2:1']);
  });
});
