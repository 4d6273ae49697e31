import { ByteReader } from './bytes.ts';
import { CorruptPayload } from './errors.ts';

/** What JSON can hold. `undefined` fields are left out, as JSON.stringify does. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON payload may not be longer: bulk goes into binary messages. */
export const MAX_JSON_BYTES = 1 << 20;

/** UTF-8 JSON. RangeError above the size limit and on what JSON would silently change (NaN, infinity, a lone surrogate). */
export const encodeJson = (value: unknown, limit = MAX_JSON_BYTES): Uint8Array => {
  const text = JSON.stringify(value, (_key, field: unknown) => {
    if (typeof field === 'number' && !Number.isFinite(field)) throw new RangeError(`JSON has no ${field}`);
    return field;
  });
  if (text === undefined) throw new RangeError('JSON has no undefined');
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > limit) throw new RangeError(`JSON payload of ${bytes.length} bytes, at most ${limit} allowed`);
  return bytes;
};

/** The value of a JSON payload; `CorruptPayload` on invalid UTF-8, invalid JSON, or more bytes than the limit. */
export const decodeJson = (bytes: Uint8Array, limit = MAX_JSON_BYTES): JsonValue => {
  if (bytes.length > limit)
    throw new CorruptPayload('json', 'limit', `${bytes.length} bytes, at most ${limit} allowed`);
  const text = new ByteReader('json', bytes).decodeText(bytes);
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new CorruptPayload('json', 'malformed', (error as Error).message);
  }
};
