import { type ErrorCode, isHeadwaterError } from '../base/errors/index.ts';

/** Every exit code of `headwater`, once. */
export const EXIT = {
  ok: 0,
  /** The command could not do its work; the message says why. */
  failed: 1,
  /** The words of the call are wrong. */
  usage: 2,
  /** headwater.yaml (or the environment that it names) is wrong. */
  configuration: 3,
  /** Nothing runs on this data folder, or the event log or the database cannot be reached. */
  notRunning: 4,
  /** Something runs, but not everything is well (`status`, `doctor`). */
  unhealthy: 5,
  /** Another `up` runs on this data folder. */
  inUse: 6,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const byCode: Partial<Record<ErrorCode, ExitCode>> = {
  CONFIG_NOT_FOUND: EXIT.configuration,
  CONFIG_NOT_YAML: EXIT.configuration,
  CONFIG_UNKNOWN_KEY: EXIT.configuration,
  CONFIG_WRONG_VALUE: EXIT.configuration,
  CONFIG_MISSING_SECRET: EXIT.configuration,
  PROVIDERS_NONE: EXIT.configuration,
  PROCESS_NOT_RUNNING: EXIT.notRunning,
  NATS_UNAVAILABLE: EXIT.notRunning,
  POSTGRES_UNAVAILABLE: EXIT.notRunning,
  PROCESS_IN_USE: EXIT.inUse,
  EMBEDDED_IN_USE: EXIT.inUse,
  USAGE_WRONG_VALUE: EXIT.usage,
  USAGE_MISSING: EXIT.usage,
  USAGE_CONTRADICTION: EXIT.usage,
  GROUP_WISH_DIFFERS: EXIT.usage,
};

/** The code with which a command ends that threw `error`. */
export const exitCodeOf = (error: unknown): ExitCode =>
  (isHeadwaterError(error) ? byCode[error.code] : undefined) ?? EXIT.failed;
