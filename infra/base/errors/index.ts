/**
 * The error catalogue: every operating error of Headwater is declared once, in the file of its area beside this one.
 * Grep a code and find its one definition, the place that raises it and its test.
 */
import { configErrors } from './config.ts';
import type { ErrorDefinition, ErrorFields } from './define.ts';
import { embeddedErrors } from './embedded.ts';
import { eventErrors } from './events.ts';
import { fragmentsErrors } from './fragments.ts';
import { natsErrors } from './nats.ts';
import { nntpErrors } from './nntp.ts';
import { postgresErrors } from './postgres.ts';
import { processErrors } from './processes.ts';
import { processorErrors } from './processors.ts';
import { projectionErrors } from './projections.ts';

export const CATALOGUE = {
  ...configErrors,
  ...embeddedErrors,
  ...eventErrors,
  ...fragmentsErrors,
  ...natsErrors,
  ...nntpErrors,
  ...postgresErrors,
  ...projectionErrors,
  ...processErrors,
  ...processorErrors,
} as const;

export type ErrorCode = keyof typeof CATALOGUE;

/** An operating error: something outside the program went wrong. Programmer errors stay TypeErrors and crash. */
export class HeadwaterError extends Error {
  readonly code: ErrorCode;
  readonly retriable: boolean;
  readonly hint: string;
  readonly fields: ErrorFields;

  constructor(code: ErrorCode, fields: ErrorFields = {}, options?: ErrorOptions) {
    const definition: ErrorDefinition = CATALOGUE[code];
    super(`${code}: ${definition.message(fields)}`, options);
    this.name = 'HeadwaterError';
    this.code = code;
    this.retriable = definition.retriable;
    this.hint = definition.hint;
    this.fields = fields;
  }
}

/** True when `error` is the operating error `code` (any code when left out). */
export const isHeadwaterError = (error: unknown, code?: ErrorCode): error is HeadwaterError =>
  error instanceof HeadwaterError && (code === undefined || error.code === code);

export type { ErrorDefinition, ErrorFields } from './define.ts';
