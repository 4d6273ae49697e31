import { JetStreamApiError } from '@nats-io/jetstream';
import fc from 'fast-check';
import { ClosedConnectionError, ConnectionError, InvalidArgumentError, TimeoutError } from 'nats';
import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { noMetrics } from '../../../infra/base/metrics.ts';
import { decodeStored } from '../../../infra/nats/decode.ts';
import { parseDeliverySubject } from '../../../infra/nats/deliverySubject.ts';
import { consumerConfig, differences, streamConfig } from '../../../infra/nats/desired.ts';
import { describeDurability } from '../../../infra/nats/durability.ts';
import { readEndpoint } from '../../../infra/nats/endpoint.ts';
import { compareStored } from '../../../infra/nats/eventSink.ts';
import { backoffMs, classify, isConflict } from '../../../infra/nats/outage.ts';
import { encodeEvent, TYPE_HEADER } from '../../../streams/envelope.ts';
import { headersConsumer, STREAMS } from '../../../streams/topology.ts';
import { eventOf } from '../../kit/eventArbitraries.ts';
import { sampleFailed } from '../../kit/sampleEvents.ts';

const answer = (code: number, err_code: number) =>
  new JetStreamApiError({ code, err_code, description: `refused ${err_code}` });
const codeOf = (error: unknown) => {
  const known = classify(error, 'X');
  return known instanceof HeadwaterError ? known.code : known.name;
};

describe('what an answer of the server means', () => {
  it.each([
    ['no room in the store', answer(503, 10077), 'STREAM_FULL'],
    ['the limit of the server', answer(500, 10047), 'STREAM_FULL'],
    ['too few resources', answer(503, 10023), 'STREAM_FULL'],
    ['an election', answer(503, 10008), 'NATS_UNAVAILABLE'],
    ['too many requests', answer(429, 10167), 'NATS_UNAVAILABLE'],
    ['a stream that is sealed while it rolls', answer(400, 10109), 'NATS_UNAVAILABLE'],
    ['a stream that is not there (yet)', answer(404, 10059), 'NATS_UNAVAILABLE'],
    ['a time-out', new TimeoutError(), 'NATS_UNAVAILABLE'],
    ['a connection that breaks', new ConnectionError('reset'), 'NATS_UNAVAILABLE'],
    ['a message that is too large', answer(400, 10054), 'NATS_REFUSED'],
    ['an argument that the client refuses', new InvalidArgumentError('payload'), 'NATS_REFUSED'],
    ['a connection that was closed for good', new ClosedConnectionError(), 'NATS_REFUSED'],
    ['a defect of ours', new TypeError('x is undefined'), 'TypeError'],
  ])('takes %s for what it is', (_, error, code) => {
    expect(codeOf(error)).toBe(code);
  });

  it('is retried only where a later answer may be another', () => {
    const retriable = [answer(503, 10077), new TimeoutError(), answer(400, 10054)].map((error) => {
      const known = classify(error, 'X');
      return known instanceof HeadwaterError && known.retriable;
    });
    expect(retriable).toEqual([true, true, false]);
  });

  it('knows a failed expectation by both of its codes', () => {
    expect([answer(400, 10071), answer(400, 10164), answer(503, 10077), new TimeoutError()].map(isConflict)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('waits longer at every attempt, up to 5 s', () => {
    expect([0, 1, 2, 5, 6, 1000].map(backoffMs)).toEqual([100, 200, 400, 3200, 5000, 5000]);
  });
});

describe('comparing what is stored with what was to be appended', () => {
  const wire = encodeEvent(sampleFailed({ group: 'a.b' }, 'one'));
  const other = encodeEvent(sampleFailed({ group: 'a.b' }, 'two'));
  const foreign = encodeEvent(sampleFailed({ group: 'a.c' }, 'one'));

  it('is a repeat when id, subject and bytes are the same', () => {
    expect(compareStored({ sequence: 7, wire }, wire, 2)).toEqual({
      kind: 'repeated',
      position: { number: 2, sequence: 7 },
    });
  });

  it('is nothing of ours when the id is another one, or nothing is stored', () => {
    expect(compareStored({ sequence: 7, wire: foreign }, wire, 1)).toBeNull();
    expect(compareStored(null, wire, 1)).toBeNull();
  });

  it('is a defect when one id names two facts', () => {
    expect(() => compareStored({ sequence: 7, wire: other }, wire, 1)).toThrow(
      expect.objectContaining({ code: 'EVENT_ID_CONFLICT' }),
    );
  });
});

describe('a delivered message', () => {
  it('tells its place and count by its reply subject, in both forms', () => {
    const facts = { stream: 'RANGES', deliveries: 2, streamSequence: 41, consumerSequence: 7, pending: 3 };
    expect(parseDeliverySubject('$JS.ACK.RANGES.headers.2.41.7.1700000000000000000.3')).toEqual(facts);
    expect(parseDeliverySubject('$JS.ACK.hub.acc.RANGES.headers.2.41.7.1700000000000000000.3')).toEqual(facts);
    expect(parseDeliverySubject('$JS.ACK.hub.acc.RANGES.headers.2.41.7.1700000000000000000.3.token')).toEqual(facts);
  });

  it('is no delivery when its reply subject is anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('', '_INBOX.x.1', '$JS.ACK.a.b.c.d.e.f.g')), (reply) => {
        expect(parseDeliverySubject(reply)).toBeNull();
      }),
    );
  });

  it('is an error of the catalogue, counted, when it is no event that we know', () => {
    const counted: unknown[] = [];
    const metrics = { ...noMetrics, count: (...args: unknown[]) => void counted.push(args) };
    const place = { stream: 'RANGES', position: { number: 1, sequence: 9 } };
    const wire = encodeEvent(sampleFailed({ group: 'a.b' }, 'x'));
    const read =
      (other: object, headers: object = {}) =>
      () =>
        decodeStored({ ...wire, ...other, headers: { ...wire.headers, ...headers } }, place, metrics);
    expect(read({})().position).toEqual(place.position);
    expect(read({}, { [TYPE_HEADER]: 'x.y/1' })).toThrow(expect.objectContaining({ code: 'EVENT_UNKNOWN_TYPE' }));
    expect(read({}, { [TYPE_HEADER]: 'range.failed/2' })).toThrow(
      expect.objectContaining({ code: 'EVENT_UNKNOWN_VERSION' }),
    );
    expect(read({ payload: Buffer.from('x') })).toThrow(expect.objectContaining({ code: 'EVENT_MALFORMED' }));
    expect(counted).toEqual([
      ['events_rejected_total', { type: 'unknown', code: 'EVENT_UNKNOWN_TYPE' }],
      ['events_rejected_total', { type: 'range.failed', code: 'EVENT_UNKNOWN_VERSION' }],
      ['events_rejected_total', { type: 'range.failed', code: 'EVENT_MALFORMED' }],
    ]);
  });

  it('is EVENT_CORRUPT_PAYLOAD when a bulk body does not match its checksum', () => {
    const [event] = fc.sample(
      eventOf('chunks.written').filter((e) => e.data.body.length > 0),
      { numRuns: 1, seed: 3 },
    );
    const wire = encodeEvent(event!);
    const payload = Buffer.from(wire.payload);
    payload[payload.length - 1] = payload[payload.length - 1]! ^ 1;
    const place = { stream: 'CHUNKS-0001', position: { number: 1, sequence: 1 } };
    expect(() => decodeStored({ ...wire, payload }, place, noMetrics)).toThrow(
      expect.objectContaining({ code: 'EVENT_CORRUPT_PAYLOAD' }),
    );
  });
});

describe('reading options back', () => {
  const wanted = streamConfig(STREAMS.RANGES, 'RANGES', { replicas: 1 });

  it('finds nothing when the server left out what is false, zero or empty', () => {
    const { max_age: _age, ...got } = { ...wanted, sealed: false, metadata: {} };
    expect(differences(wanted, got)).toEqual([]);
  });

  it.each([
    ['compression', undefined, '"s2"', 'nothing'],
    ['deny_purge', false, 'true', 'false'],
    ['subjects', ['range.planned.>'], '["range.>"]', '["range.planned.>"]'],
    ['duplicate_window', 120e9, '600000000000', '120000000000'],
  ])('names %s when it is not in force', (option, value, wantedText, got) => {
    expect(differences(wanted, { ...wanted, [option]: value })).toEqual([{ option, wanted: wantedText, got }]);
  });

  it('asks for the limit that the configuration sets for OVERVIEW, and for no other stream', () => {
    const wishes = { replicas: 3, overviewMaxBytes: 5e9 };
    expect(streamConfig(STREAMS.OVERVIEW, 'OVERVIEW', wishes)).toMatchObject({ max_bytes: 5e9, num_replicas: 3 });
    expect(streamConfig(STREAMS.CHUNKS, 'CHUNKS-0001', wishes).max_bytes).toBe(-1);
  });

  it('redelivers for ever and never lets a durable consumer expire', () => {
    expect(consumerConfig(headersConsumer)).toMatchObject({
      max_deliver: -1,
      ack_wait: headersConsumer.ackWaitMs * 1e6,
      ack_policy: 'explicit',
    });
    expect(consumerConfig(headersConsumer)).not.toHaveProperty('inactive_threshold');
  });
});

describe('the address of NATS', () => {
  it('takes user and password from the URL where none are given, and shows neither', () => {
    const { options, shown } = readEndpoint({ url: 'nats://me:s%40cret@example.org:4333' });
    expect(options).toEqual({ servers: ['example.org:4333'], user: 'me', pass: 's@cret' });
    expect(shown).toBe('example.org:4333');
  });

  it('prefers what is given apart, knows tokens, several servers, TLS and the default port', () => {
    expect(readEndpoint({ url: 'nats://a:b@h1,nats://h2:5', user: 'u', pass: 'p' }).options).toEqual({
      servers: ['h1:4222', 'h2:5'],
      user: 'u',
      pass: 'p',
    });
    expect(readEndpoint({ url: 'nats://t0ken@h' }).options).toEqual({ servers: ['h:4222'], token: 't0ken' });
    expect(readEndpoint({ url: 'tls://h', token: 'x' }).options).toEqual({ servers: ['h:4222'], token: 'x', tls: {} });
  });
});

describe('an address that is no URL', () => {
  it.each(['', 'nats://', 'nats://user:secret@:4222', 'nats://h:port'])('is refused without showing it: %s', (url) => {
    expect(() => readEndpoint({ url })).toThrow(expect.objectContaining({ code: 'NATS_BAD_URL' }));
    expect(() => readEndpoint({ url })).not.toThrow(/secret/);
  });
});

describe('the durability in force', () => {
  it('is one sentence', () => {
    expect(describeDurability({ kind: 'always' })).toContain('on disk before');
    expect(describeDurability({ kind: 'interval', seconds: 120 })).toContain('120 s');
    expect(describeDurability({ kind: 'unknown', reason: 'no monitoring' })).toContain('no monitoring');
  });
});
