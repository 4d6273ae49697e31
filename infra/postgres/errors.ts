import type { ErrorCode } from '../base/errors/index.ts';
import { HeadwaterError, isHeadwaterError } from '../base/errors/index.ts';

/** SQLSTATEs that say something about the server or our rights, not about the statement. */
const BY_STATE: Readonly<Record<string, ErrorCode>> = {
  '25006': 'POSTGRES_READ_ONLY',
  '53100': 'POSTGRES_DISK_FULL',
  '28000': 'POSTGRES_WRONG_CREDENTIALS',
  '28P01': 'POSTGRES_WRONG_CREDENTIALS',
  '3D000': 'POSTGRES_NO_DATABASE',
  '42501': 'POSTGRES_FORBIDDEN',
  '3F000': 'POSTGRES_NOT_PREPARED',
  '42P01': 'POSTGRES_NOT_PREPARED',
  '40001': 'POSTGRES_BUSY',
  '40P01': 'POSTGRES_BUSY',
  '55P03': 'POSTGRES_BUSY',
  '57014': 'POSTGRES_BUSY',
  '53200': 'POSTGRES_UNAVAILABLE',
  '53300': 'POSTGRES_UNAVAILABLE',
  '57P01': 'POSTGRES_UNAVAILABLE',
  '57P02': 'POSTGRES_UNAVAILABLE',
  '57P03': 'POSTGRES_UNAVAILABLE',
  '57P05': 'POSTGRES_UNAVAILABLE',
  '25P03': 'POSTGRES_UNAVAILABLE',
};

const NETWORK =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
/** What pg says, without a code, when the connection went away under a query or could not be made in time. */
const GONE =
  /connection terminated|terminated unexpectedly|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error|not queryable|connection error|query read timeout/i;

function codeOf(error: Error & { code?: unknown }): ErrorCode | null {
  const code = typeof error.code === 'string' ? error.code : '';
  const byState = BY_STATE[code];
  if (byState) return byState;
  if (code.startsWith('08') || NETWORK.test(code) || GONE.test(error.message)) return 'POSTGRES_UNAVAILABLE';
  return null;
}

/** Whether the error means that the connection itself must not be used again. */
export const isConnectionLost = (error: unknown): boolean => isHeadwaterError(error, 'POSTGRES_UNAVAILABLE');

/**
 * The operating error behind what pg threw, or the error itself when it is a defect of ours (a syntax error, a violated
 * constraint). `server` is host, port and database, never the login.
 */
export function toPostgresError(error: unknown, server: string): unknown {
  if (!(error instanceof Error) || isHeadwaterError(error)) return error;
  const code = codeOf(error);
  if (code === null) return error;
  const reason = error.message || String((error as { code?: unknown }).code);
  return new HeadwaterError(code, { server, reason }, { cause: error });
}

const VERSION_MIN = 140_000;

/** Throws POSTGRES_TOO_OLD below version 14. `number` as in server_version_num, e.g. 150018. */
export function refuseOldServer(number: number, version: string, server: string): void {
  if (!(number >= VERSION_MIN)) throw new HeadwaterError('POSTGRES_TOO_OLD', { server, version });
}
