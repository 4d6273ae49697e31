import { MalformedEvent, UnknownEventType, UnknownEventVersion } from './errors.ts';
import { definitionOf, type EventType, type HeadwaterEvent, isEventType, PAYLOAD_BYTES_MAX } from './events/index.ts';
import { EpochMs, EventId, type Position } from './ids.ts';
import { formatSubject } from './subjects.ts';

export const TYPE_HEADER = 'Headwater-Type';
export const TIME_HEADER = 'Headwater-Time';
export const ID_HEADER = 'Nats-Msg-Id';

/** A message as NATS carries it, without NATS. */
export interface WireMessage {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

/** An event and where it lies. */
export interface StoredEvent<T extends EventType = EventType> {
  readonly event: HeadwaterEvent<T>;
  readonly position: Position;
  readonly subject: string;
}

/** The wire form of an event. Throws MalformedEvent when its payload would pass the server's limit. */
export function encodeEvent(event: HeadwaterEvent): WireMessage {
  const definition = definitionOf(event.type);
  const payload = definition.encode(event.data);
  if (payload.length > PAYLOAD_BYTES_MAX) throw new MalformedEvent(event.type, `${payload.length} bytes are too many`);
  return {
    subject: formatSubject(definition.subject(event.data)),
    headers: {
      [TYPE_HEADER]: `${event.type}/${event.version}`,
      [TIME_HEADER]: String(event.at),
      [ID_HEADER]: event.id,
    },
    payload,
  };
}

/** Type and version of a message, or an error that names what is unknown. Never guesses. */
function readType(header: string | undefined): EventType {
  const m = /^([a-z.]+)\/(\d{1,6})$/.exec(header ?? '');
  const type = m?.[1];
  if (!type || !isEventType(type)) throw new UnknownEventType(type ?? header ?? '(no type header)');
  const known = definitionOf(type).version;
  if (Number(m[2]) !== known) throw new UnknownEventVersion(type, Number(m[2]), known);
  return type;
}

/**
 * The event that a message holds. Throws UnknownEventType, UnknownEventVersion or MalformedEvent (also when id or
 * subject are not those that the data give: then the message was not written by `encodeEvent`).
 */
export function decodeEvent(message: WireMessage): HeadwaterEvent {
  const type = readType(message.headers[TYPE_HEADER]);
  const definition = definitionOf(type);
  const time = message.headers[TIME_HEADER] ?? '';
  if (!/^-?\d{1,16}$/.test(time)) throw new MalformedEvent(type, `its time is "${time.slice(0, 40)}"`);
  const at = EpochMs(Number(time));
  const data = definition.decode(message.payload);
  const id = `${type}/${definition.about(data, at)}`;
  if (message.headers[ID_HEADER] !== id) throw new MalformedEvent(type, `its id is not ${id}`);
  const subject = formatSubject(definition.subject(data));
  if (message.subject !== subject) throw new MalformedEvent(type, `it lies on ${message.subject}, not on ${subject}`);
  return { type, version: definition.version, at, id: EventId(id), data } as HeadwaterEvent;
}
