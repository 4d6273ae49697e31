import { isDeepStrictEqual } from 'node:util';
import { CorruptPayload } from '../../streams/codec/errors.ts';
import { EVERY } from './propertyRuns.ts';

/** What went wrong with one damaged payload, null when it was refused as it should be. */
const verdict = (bytes: Uint8Array, what: string, decode: (bytes: Uint8Array) => unknown): string | null => {
  try {
    decode(bytes);
    return `${what}: decoded`;
  } catch (error) {
    return error instanceof CorruptPayload ? null : `${what}: ${String(error)}`;
  }
};

/**
 * Flips one bit of every byte and all bits of every byte, and cuts the payload at every length; returns what was not refused
 * with CorruptPayload.
 */
export const acceptedDamage = (payload: Uint8Array, decode: (bytes: Uint8Array) => unknown): string[] => {
  const accepted: (string | null)[] = [];
  for (let i = 0; i < payload.length; i += EVERY) {
    for (const mask of [1 << (i % 8), 0xff]) {
      const bytes = Uint8Array.from(payload);
      bytes[i]! ^= mask;
      accepted.push(verdict(bytes, `byte ${i} ^ ${mask}`, decode));
    }
    accepted.push(verdict(payload.slice(0, i), `cut at ${i}`, decode));
  }
  return accepted.filter((v) => v !== null);
};

/**
 * Damages a payload whose checksum is then made to fit again, as a broken or malicious writer would. Whatever decodes is
 * allowed to decode; returns every failure that is not CorruptPayload.
 */
export const wildErrors = (
  body: Uint8Array,
  reseal: (body: Uint8Array) => Uint8Array,
  decode: (bytes: Uint8Array) => unknown,
  value = 0xff,
): string[] => {
  const wild: string[] = [];
  for (let i = 0; i < body.length; i += EVERY) {
    for (const changed of [body[i]! ^ value, value, body[i]! ^ 1]) {
      const bytes = Uint8Array.from(body);
      bytes[i] = changed;
      try {
        decode(reseal(bytes));
      } catch (error) {
        if (!(error instanceof CorruptPayload)) wild.push(`byte ${i} = ${changed}: ${String(error)}`);
      }
    }
  }
  return wild;
};

/** Deep equality that tells 0 from -0 and reads typed arrays by content, without vitest's slow diff. */
export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);
