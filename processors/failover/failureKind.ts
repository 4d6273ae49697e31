import { type HeadwaterError, isHeadwaterError } from '../../infra/base/errors/index.ts';

/**
 * What an error of a connection says about the work.
 * - `provider`: it is down, busy, or denies access; no work of ours is to blame, and any other work would meet the same.
 * - `group gone`: this backbone does not have the group.
 * - `work`: this piece of work failed; another try may help.
 * - `other`: no error of a connection (an abort, a defect, trouble of another part).
 */
export type FailureKind = 'provider' | 'group gone' | 'work' | 'other';

const PROVIDER_CODES: ReadonlySet<string> = new Set([
  'NNTP_CONNECT_FAILED',
  'NNTP_TLS_UNTRUSTED',
  'NNTP_AUTH_REJECTED',
  'NNTP_TOO_MANY_CONNECTIONS',
  'NNTP_SERVICE_UNAVAILABLE',
  'NNTP_POOL_FULL',
  'NNTP_POOL_CLOSED',
]);

/**
 * `connected`: whether the connection stood (logged in) before the error. A server that takes connections and drops them
 * answers with errors that would otherwise blame the work.
 */
export function failureKind(error: unknown, connected: boolean): FailureKind {
  if (!isHeadwaterError(error) || !error.code.startsWith('NNTP_')) return 'other';
  if (error.code === 'NNTP_NO_SUCH_GROUP') return 'group gone';
  if (!connected || PROVIDER_CODES.has(error.code)) return 'provider';
  return 'work';
}

/** Whether a loop may go on after the error: it passes by itself, or with the server at the other end. */
export const isPassing = (error: unknown): error is HeadwaterError =>
  isHeadwaterError(error) && (error.retriable || error.code.startsWith('NNTP_'));
