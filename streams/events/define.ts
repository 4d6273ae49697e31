import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { MalformedEvent } from '../errors.ts';
import { type EpochMs, EventId } from '../ids.ts';
import type { Subject } from '../subjects.ts';
import type { StreamFamily } from '../topology.ts';

/** Largest payload of any event, just under the server's max_payload of 8 MB. */
export const PAYLOAD_BYTES_MAX = 7_900_000;

/** An event: something that happened, at a time, with an identity that a repeat of it shares. */
export interface EventOf<Type extends string, Data> {
  readonly type: Type;
  readonly version: number;
  /** When it happened; a projection uses this and never the clock. */
  readonly at: EpochMs;
  readonly id: EventId;
  readonly data: Data;
}

/** A type of event at its current version: where it is appended, what identifies it, how its data travels. */
export interface EventDefinition<Type extends string, Data> {
  readonly type: Type;
  readonly version: number;
  readonly stream: StreamFamily;
  readonly subject: (data: Data) => Subject;
  /** What the event is about; the id is `<type>/<this>`. `at` only where the time is part of the identity. */
  readonly about: (data: Data, at: EpochMs) => string;
  readonly encode: (data: Data) => Uint8Array;
  /** Throws MalformedEvent; a codec's CorruptPayload passes through as its cause. */
  readonly decode: (payload: Uint8Array) => Data;
}

interface Common<Type extends string, Data> {
  readonly type: Type;
  readonly version: number;
  readonly stream: StreamFamily;
  readonly subject: (data: Data) => Subject;
  readonly about: (data: Data, at: EpochMs) => string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readJson<S extends TSchema>(type: string, schema: S): (payload: Uint8Array) => Static<S> {
  const check = Compile(schema);
  return (payload) => {
    let value: unknown;
    try {
      value = JSON.parse(utf8.decode(payload));
    } catch (error) {
      throw new MalformedEvent(type, 'not JSON', { cause: error });
    }
    if (check.Check(value)) return value as Static<S>;
    const first = check.Errors(value)[0];
    throw new MalformedEvent(type, first ? `${first.instancePath || '/'} ${first.message}` : 'does not fit its schema');
  };
}

/** An event whose data is one JSON document. */
export function jsonEvent<Type extends string, S extends TSchema>(
  common: Common<Type, Static<S>> & { readonly schema: S },
): EventDefinition<Type, Static<S>> {
  const { schema, ...rest } = common;
  return {
    ...rest,
    encode: (data) => Buffer.from(JSON.stringify(data), 'utf8'),
    decode: readJson(common.type, schema),
  };
}

/** The data of a bulk event: a small JSON head and a body that a codec of `codec/` wrote. */
export type Headed<Head, Body> = Head & { readonly body: Body };

/**
 * A bulk event: two bytes of head length, the head as JSON, then the body's own bytes. The head can be read without
 * decoding the body, and a body that is passed on untouched is never copied twice.
 */
export function bulkEvent<Type extends string, S extends TSchema, Body>(
  common: Common<Type, Headed<Static<S>, Body>> & {
    readonly schema: S;
    readonly encodeBody: (body: Body) => Uint8Array;
    readonly decodeBody: (bytes: Uint8Array) => Body;
  },
): EventDefinition<Type, Headed<Static<S>, Body>> {
  const { schema, encodeBody, decodeBody, ...rest } = common;
  const readHead = readJson(common.type, schema);
  return {
    ...rest,
    encode(data) {
      const { body, ...head } = data as unknown as Headed<Record<string, unknown>, Body>;
      const headBytes = Buffer.from(JSON.stringify(head), 'utf8');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(headBytes.length);
      return Buffer.concat([length, headBytes, encodeBody(body)]);
    },
    decode(payload) {
      const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
      const headEnd = bytes.length < 2 ? Number.POSITIVE_INFINITY : 2 + bytes.readUInt16BE(0);
      if (headEnd > bytes.length) throw new MalformedEvent(common.type, 'shorter than its head');
      const head = readHead(bytes.subarray(2, headEnd));
      try {
        return { ...(head as object), body: decodeBody(bytes.subarray(headEnd)) } as Headed<Static<S>, Body>;
      } catch (error) {
        throw new MalformedEvent(common.type, `its body is damaged: ${(error as Error).message}`, { cause: error });
      }
    },
  };
}

/** Makes the event of `definition` that happened at `at`. */
export function makeEvent<Type extends string, Data>(
  definition: EventDefinition<Type, Data>,
  at: EpochMs,
  data: Data,
): EventOf<Type, Data> {
  const id = EventId(`${definition.type}/${definition.about(data, at)}`);
  return { type: definition.type, version: definition.version, at, id, data };
}
