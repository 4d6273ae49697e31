import pino from 'pino';
import type { Log, LogFields } from '../base/log.ts';

/** Keys whose values never reach a log, wherever they stand. */
const SECRET_KEYS = ['pass', 'password', 'apikey', 'apiKey', 'key', 'token', 'authorization', 'databaseUrl', 'natsUrl'];
const paths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);

/** `user:password@` of a URL and the api key of a query, cut out of any text that is logged. */
export const redact = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, '$1***@').replace(/\b(apikey|r)=[0-9A-Za-z]+/gi, '$1=***');

function fieldsOf(fields: LogFields | undefined): Record<string, unknown> {
  const { error, ...rest } = fields ?? {};
  if (!(error instanceof Error)) return { ...rest, ...(error === undefined ? {} : { error }) };
  const { code } = error as { code?: unknown };
  return {
    ...rest,
    error: redact(error.message),
    ...(code === undefined ? {} : { code }),
    stack: redact(error.stack ?? ''),
  };
}

const wrap = (logger: pino.Logger): Log => ({
  debug: (message, fields) => logger.debug(fieldsOf(fields), redact(message)),
  info: (message, fields) => logger.info(fieldsOf(fields), redact(message)),
  warn: (message, fields) => logger.warn(fieldsOf(fields), redact(message)),
  error: (message, fields) => logger.error(fieldsOf(fields), redact(message)),
  child: (fields) => wrap(logger.child(fieldsOf(fields))),
});

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly service: string;
  readonly build: string;
  /** Where the lines go; standard error when left out, so that standard output stays a command's own. */
  readonly write?: (line: string) => void;
}

/** One JSON line an event, on standard error, without credentials. */
export function createLog(options: LogOptions): Log {
  const sink = options.write ? { write: options.write } : pino.destination({ dest: 2, sync: true });
  const base = { service: options.service, build: options.build, pid: process.pid };
  const timestamp = pino.stdTimeFunctions.isoTime;
  const formatters = { level: (label: string) => ({ level: label }) };
  return wrap(pino({ level: options.level, base, timestamp, formatters, redact: { paths, censor: '***' } }, sink));
}
