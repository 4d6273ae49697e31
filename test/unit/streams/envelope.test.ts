import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeEvent,
  encodeEvent,
  ID_HEADER,
  TIME_HEADER,
  TYPE_HEADER,
  type WireMessage,
} from '../../../streams/envelope.ts';
import { isEventError, MalformedEvent, UnknownEventType, UnknownEventVersion } from '../../../streams/errors.ts';
import { PAYLOAD_BYTES_MAX } from '../../../streams/events/define.ts';
import { anyEvent, EVENT_TYPES, eventOf } from '../../kit/eventArbitraries.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { sampleBatch, sampleRetired } from '../../kit/sampleEvents.ts';

const sample = sampleRetired({ group: 'alt.test' });
const wireWith = (other: Partial<WireMessage>, headers: Record<string, string> = {}): WireMessage => {
  const wire = encodeEvent(sample);
  return { ...wire, ...other, headers: { ...wire.headers, ...headers } };
};

describe('the envelope', () => {
  it.each(EVENT_TYPES)('gives %s back as it was', (type) => {
    fc.assert(
      fc.property(eventOf(type), (event) => {
        expect(decodeEvent(encodeEvent(event))).toEqual(event);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it('encodes equal events to equal bytes', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(encodeEvent(decodeEvent(encodeEvent(event)))).toEqual(encodeEvent(event));
      }),
    );
  });

  it('states type and version, time and identity in headers, so that no payload has to be read for them', () => {
    expect(encodeEvent(sample).headers).toEqual({
      [TYPE_HEADER]: 'range.retired/1',
      [TIME_HEADER]: '1700000000000',
      [ID_HEADER]: 'range.retired/bb/alt.test/0-1-1000/1',
    });
  });

  it.each([
    ['unheard.of/1', 'unheard.of'],
    ['constructor/1', 'constructor'],
    ['', ''],
    ['range.retired', 'range.retired'],
  ])('refuses the type header %j as an unknown type', (header, type) => {
    const read = () => decodeEvent(wireWith({}, { [TYPE_HEADER]: header }));
    expect(read).toThrow(UnknownEventType);
    expect(read).toThrow(expect.objectContaining({ type }));
  });

  it('refuses a message without a type header as an unknown type', () => {
    expect(() => decodeEvent({ ...wireWith({}), headers: {} })).toThrow(UnknownEventType);
  });

  it('refuses another version and tells both', () => {
    const read = () => decodeEvent(wireWith({}, { [TYPE_HEADER]: 'range.retired/2' }));
    expect(read).toThrow(UnknownEventVersion);
    expect(read).toThrow(expect.objectContaining({ type: 'range.retired', version: 2, known: 1 }));
  });

  it.each([
    ['an id that its data do not give', wireWith({}, { [ID_HEADER]: 'range.retired/bb/alt.test/0-1-1000/2' })],
    ['a subject that its data do not give', wireWith({ subject: 'range.retired.live.bb.alt.other' })],
    ['no time', wireWith({}, { [TIME_HEADER]: '' })],
    ['a time that is none', wireWith({}, { [TIME_HEADER]: '12.5' })],
    ['no JSON', wireWith({ payload: Buffer.from('{') })],
    ['no UTF-8', wireWith({ payload: Buffer.from([0x22, 0xff, 0x22]) })],
    ['a field that is not in its schema', wireWith({ payload: Buffer.from(JSON.stringify({ ...sample.data, x: 1 })) })],
    ['a missing field', wireWith({ payload: Buffer.from(JSON.stringify({ ...sample.data, run: undefined })) })],
    [
      'a bulk payload shorter than its head',
      { ...encodeEvent(sampleBatch({ group: 'a.b' }, 0, Buffer.from('x'))), payload: Buffer.from([0]) },
    ],
    [
      'a head length beyond the payload',
      { ...encodeEvent(sampleBatch({ group: 'a.b' }, 0, Buffer.from('x'))), payload: Buffer.from([255, 255, 1]) },
    ],
  ])('refuses a message with %s as malformed', (_, wire) => {
    expect(() => decodeEvent(wire)).toThrow(MalformedEvent);
  });

  it('never throws anything but its own errors, whatever the bytes are', () => {
    fc.assert(
      fc.property(anyEvent, fc.uint8Array({ maxLength: 60 }), fc.nat(), (event, noise, at) => {
        const wire = encodeEvent(event);
        const payload = Buffer.from(wire.payload);
        payload.set(
          noise.subarray(0, Math.max(0, payload.length - (at % (payload.length + 1)))),
          at % (payload.length + 1),
        );
        try {
          decodeEvent({ ...wire, payload });
        } catch (error) {
          expect(isEventError(error), String(error)).toBe(true);
        }
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('refuses to encode what the server would not take', () => {
    expect(() => encodeEvent(sampleBatch({ group: 'a.b' }, 0, Buffer.alloc(PAYLOAD_BYTES_MAX)))).toThrow(
      MalformedEvent,
    );
  });
});
