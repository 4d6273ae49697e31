import { describe, expect, it } from 'vitest';
import { isHeadwaterError } from '../../../infra/base/errors/index.ts';
import { refuseOldServer, toPostgresError } from '../../../infra/postgres/errors.ts';
import { int8ToNumber } from '../../../infra/postgres/types.ts';

const pgError = (code: string, message = 'said the server') => Object.assign(new Error(message), { code });
const codeOf = (error: unknown) => {
  const mapped = toPostgresError(error, 'db:5432/headwater');
  return isHeadwaterError(mapped) ? mapped.code : 'defect';
};

describe('what pg throws', () => {
  it.each([
    ['57P01', 'POSTGRES_UNAVAILABLE'],
    ['57P03', 'POSTGRES_UNAVAILABLE'],
    ['08006', 'POSTGRES_UNAVAILABLE'],
    ['53300', 'POSTGRES_UNAVAILABLE'],
    ['ECONNREFUSED', 'POSTGRES_UNAVAILABLE'],
    ['ECONNRESET', 'POSTGRES_UNAVAILABLE'],
    ['25006', 'POSTGRES_READ_ONLY'],
    ['53100', 'POSTGRES_DISK_FULL'],
    ['28P01', 'POSTGRES_WRONG_CREDENTIALS'],
    ['28000', 'POSTGRES_WRONG_CREDENTIALS'],
    ['3D000', 'POSTGRES_NO_DATABASE'],
    ['42501', 'POSTGRES_FORBIDDEN'],
    ['57014', 'POSTGRES_BUSY'],
    ['40P01', 'POSTGRES_BUSY'],
    ['42P01', 'POSTGRES_NOT_PREPARED'],
    ['3F000', 'POSTGRES_NOT_PREPARED'],
    ['23505', 'defect'],
    ['42601', 'defect'],
  ])('with code %s is %s', (code, expected) => {
    expect(codeOf(pgError(code))).toBe(expected);
  });

  it('without a code is known by its text', () => {
    expect(codeOf(new Error('Connection terminated unexpectedly'))).toBe('POSTGRES_UNAVAILABLE');
    expect(codeOf(new Error('timeout expired'))).toBe('POSTGRES_UNAVAILABLE');
    expect(codeOf(new Error('timeout exceeded when trying to connect'))).toBe('POSTGRES_UNAVAILABLE');
    expect(codeOf(new TypeError('x is not a function'))).toBe('defect');
  });

  it('names the server and keeps the cause', () => {
    const cause = pgError('57P01');
    const mapped = toPostgresError(cause, 'db:5432/headwater') as Error;
    expect(mapped.message).toContain('db:5432/headwater');
    expect(mapped.cause).toBe(cause);
    expect(toPostgresError(mapped, 'elsewhere')).toBe(mapped);
  });
});

describe('the version of the server', () => {
  it('is refused below 14, also when it is not known', () => {
    expect(() => refuseOldServer(130_012, '13.12', 'db')).toThrow(/POSTGRES_TOO_OLD.*13\.12/);
    expect(() => refuseOldServer(Number.NaN, 'unknown', 'db')).toThrow(/POSTGRES_TOO_OLD/);
    expect(() => refuseOldServer(140_000, '14.0', 'db')).not.toThrow();
  });
});

describe('an int8', () => {
  it('becomes a number up to 2^53 and an error beyond', () => {
    expect(int8ToNumber('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => int8ToNumber('9007199254740993')).toThrow(RangeError);
  });
});
