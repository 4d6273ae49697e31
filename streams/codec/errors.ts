/**
 * Why a payload was refused: `checksum` (bytes changed), `truncated` (a field would reach past the end), `version` (a codec
 * version that this build does not know), `limit` (a length or size beyond what is allowed), `malformed` (anything else).
 */
export type CorruptReason = 'checksum' | 'truncated' | 'version' | 'limit' | 'malformed';

/** The only error that a decoder throws for bad bytes. The envelope layer maps it to an error of the catalogue. */
export class CorruptPayload extends Error {
  readonly reason: CorruptReason;
  /** Which payload: `chunk`, `overview`, `contributions`, `chunks`, `json`, `frame`. */
  readonly codec: string;

  constructor(codec: string, reason: CorruptReason, detail: string) {
    super(`${codec}: ${detail}`);
    this.name = 'CorruptPayload';
    this.codec = codec;
    this.reason = reason;
  }
}
