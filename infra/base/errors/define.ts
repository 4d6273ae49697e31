/** Fields of an error: small, printable, never a secret. */
export type ErrorFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One cause, declared once. `message` says what happened, `hint` what to do. */
export interface ErrorDefinition {
  /** Whether trying the same thing again may help without a person. */
  readonly retriable: boolean;
  readonly message: (fields: ErrorFields) => string;
  readonly hint: string;
}

/** Keeps the keys of a part of the catalogue as literal types. */
export const defineErrors = <K extends string>(
  part: Record<K, ErrorDefinition>,
): Readonly<Record<K, ErrorDefinition>> => Object.freeze(part);
