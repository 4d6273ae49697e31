/**
 * What can be wrong with a message of ours. `streams` knows no error catalogue: the adapter that reads the wire
 * (`infra/nats`) turns these into catalogue errors, and a projection that meets one stops.
 */
export class UnknownEventType extends Error {
  override readonly name = 'UnknownEventType';
  readonly type: string;
  constructor(type: string) {
    super(`unknown event type "${type}"`);
    this.type = type;
  }
}

export class UnknownEventVersion extends Error {
  override readonly name = 'UnknownEventVersion';
  readonly type: string;
  readonly version: number;
  readonly known: number;
  constructor(type: string, version: number, known: number) {
    super(`unknown version ${version} of event type "${type}", known: ${known}`);
    this.type = type;
    this.version = version;
    this.known = known;
  }
}

/** The message does not have the shape that its type and version promise. */
export class MalformedEvent extends Error {
  override readonly name = 'MalformedEvent';
  readonly type: string;
  readonly reason: string;
  constructor(type: string, reason: string, options?: ErrorOptions) {
    super(`malformed event "${type}": ${reason}`, options);
    this.type = type;
    this.reason = reason;
  }
}

export type EventError = UnknownEventType | UnknownEventVersion | MalformedEvent;
export const isEventError = (error: unknown): error is EventError =>
  error instanceof UnknownEventType || error instanceof UnknownEventVersion || error instanceof MalformedEvent;
