import { type ErrorCode, HeadwaterError } from '../base/errors/index.ts';
import type { NntpProviderSettings } from './settings.ts';

/** Who answered, and which words of the account must never be repeated. */
export interface ServerIdentity {
  readonly host: string;
  readonly port: number;
  readonly secrets: readonly string[];
}

export function identityOf({ host, port, account }: NntpProviderSettings): ServerIdentity {
  return { host, port, secrets: account ? [account.pass, account.user] : [] };
}

export interface StatusLine {
  readonly code: number;
  readonly text: string;
}

/** Providers report a used-up account with almost any code (400, 481, 482, 502 have been seen); only the text tells. */
const TOO_MANY = new RegExp(
  [
    'too many (?:\\w+ )?(?:connections|sessions|streams|logins|threads)',
    '(?:max(?:imum)?|limit)\\b.{0,40}\\b(?:connections?|sessions?|streams?|threads?)\\b',
    '\\b(?:connections?|sessions?|streams?|threads?)\\b.{0,40}(?:limit|exceed|maximum|reached)',
  ].join('|'),
  'i',
);

/** `text` without the account's words and control characters, at most 200 characters. */
export function printable(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '***');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are just what must not reach a log.
  return clean.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 200);
}

export type RetryClass = 'transient' | 'absent' | 'denied' | 'unsupported' | 'busy';

/** 502 means "not you" while logging in and "not now" afterwards. */
export type Stage = 'login' | 'session';

function judge({ code, text }: StatusLine, stage: Stage): readonly [ErrorCode, RetryClass] {
  if (code >= 400 && TOO_MANY.test(text)) return ['NNTP_TOO_MANY_CONNECTIONS', 'busy'];
  if (code >= 480 && code <= 483) return ['NNTP_AUTH_REJECTED', 'denied'];
  if (code === 502 && stage === 'login') return ['NNTP_AUTH_REJECTED', 'denied'];
  if (code === 411) return ['NNTP_NO_SUCH_GROUP', 'absent'];
  if (code === 420 || code === 423 || code === 430) return ['NNTP_NO_SUCH_ARTICLE', 'absent'];
  if (code === 500 || code === 503) return ['NNTP_COMMAND_UNSUPPORTED', 'unsupported'];
  if (code === 501) return ['NNTP_UNEXPECTED_REPLY', 'unsupported'];
  if (code === 400 || code === 403 || code >= 500) return ['NNTP_SERVICE_UNAVAILABLE', 'transient'];
  return ['NNTP_UNEXPECTED_REPLY', 'transient'];
}

/** The operating error for a reply that `command` (a label without credentials) could not use. */
export function refusal(
  status: StatusLine,
  command: string,
  server: ServerIdentity,
  stage: Stage = 'session',
): HeadwaterError {
  const [code, retryClass] = judge(status, stage);
  return nntpError(code, server, {
    command,
    reply: status.code,
    text: printable(status.text, server.secrets),
    class: retryClass,
  });
}

/** An error of this area with its server filled in. */
export function nntpError(
  code: ErrorCode,
  server: ServerIdentity,
  fields: Readonly<Record<string, string | number>>,
  cause?: unknown,
): HeadwaterError {
  const all = { host: server.host, port: server.port, class: 'transient', ...fields };
  return new HeadwaterError(code, all, cause === undefined ? undefined : { cause });
}
