/** What a log line may carry beside its message. Never credentials, keys or URLs that hold one. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The log as the pure parts see it; `infra/processes/log.ts` implements it with pino (one JSON line an event). */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose every line also carries `fields`. */
  child(fields: LogFields): Log;
}

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
