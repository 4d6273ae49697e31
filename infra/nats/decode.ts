import type { MsgHdrs } from 'nats';
import { CorruptPayload } from '../../streams/codec/errors.ts';
import { decodeEvent, type StoredEvent, type WireMessage } from '../../streams/envelope.ts';
import { MalformedEvent, UnknownEventType, UnknownEventVersion } from '../../streams/errors.ts';
import type { Position } from '../../streams/ids.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Metrics } from '../base/metrics.ts';

export interface Place {
  readonly stream: string;
  readonly position: Position;
}

/** Counts messages that could not be read, by type and error code. */
export const REJECTED_METRIC = 'events_rejected_total';

const show = (place: Place): string => `${place.position.number}:${place.position.sequence}`;

/** The catalogue's error for what is wrong with a message; anything else comes back as it is. */
export function eventError(error: unknown, place: Place): unknown {
  const where = { stream: place.stream, position: show(place) };
  const options = { cause: error };
  if (error instanceof UnknownEventType)
    return new HeadwaterError('EVENT_UNKNOWN_TYPE', { ...where, type: error.type }, options);
  if (error instanceof UnknownEventVersion) {
    const { type, version, known } = error;
    return new HeadwaterError('EVENT_UNKNOWN_VERSION', { ...where, type, version, known }, options);
  }
  if (!(error instanceof MalformedEvent)) return error;
  const code = error.cause instanceof CorruptPayload ? 'EVENT_CORRUPT_PAYLOAD' : 'EVENT_MALFORMED';
  return new HeadwaterError(code, { ...where, type: error.type, reason: error.reason }, options);
}

/** The event that a stored message holds. Throws EVENT_UNKNOWN_TYPE, _UNKNOWN_VERSION, _MALFORMED, _CORRUPT_PAYLOAD. */
export function decodeStored(wire: WireMessage, place: Place, metrics: Metrics): StoredEvent {
  try {
    return { event: decodeEvent(wire), position: place.position, subject: wire.subject };
  } catch (error) {
    const known = eventError(error, place);
    if (known instanceof HeadwaterError) {
      // A type from outside is no label: there is no end to them.
      const type = known.code === 'EVENT_UNKNOWN_TYPE' ? 'unknown' : String(known.fields.type);
      metrics.count(REJECTED_METRIC, { type, code: known.code });
    }
    throw known;
  }
}

/** A message's headers as a plain record; the first value of each. */
export function plainHeaders(headers: MsgHdrs | undefined): Record<string, string> {
  const plain: Record<string, string> = {};
  if (headers !== undefined) for (const [key, values] of headers) plain[key] = values[0] ?? '';
  return plain;
}
