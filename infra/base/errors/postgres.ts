import { defineErrors, type ErrorFields } from './define.ts';

const where = (f: ErrorFields) => `PostgreSQL at ${f.server}`;

export const postgresErrors = defineErrors({
  POSTGRES_UNAVAILABLE: {
    retriable: true,
    message: (f) => `${where(f)} cannot be reached: ${f.reason}`,
    hint: 'Start the server or check DATABASE_URL. Nothing is lost: services go on by themselves then, a command has to be called again.',
  },
  POSTGRES_READ_ONLY: {
    retriable: true,
    message: (f) => `${where(f)} takes no writes: ${f.reason}`,
    hint: 'DATABASE_URL points to a standby, or the server was set read-only. Point it to the primary.',
  },
  POSTGRES_DISK_FULL: {
    retriable: true,
    message: (f) => `${where(f)} has no disk space left: ${f.reason}`,
    hint: 'Make room on the disk of the database. Services go on by themselves then, a command has to be called again.',
  },
  POSTGRES_WRONG_CREDENTIALS: {
    retriable: false,
    message: (f) => `${where(f)} refuses the login: ${f.reason}`,
    hint: 'Correct user and password in DATABASE_URL, or the rules in pg_hba.conf.',
  },
  POSTGRES_NO_DATABASE: {
    retriable: false,
    message: (f) => `${where(f)} has no such database: ${f.reason}`,
    hint: 'Create it (`createdb`), or correct the name in DATABASE_URL.',
  },
  POSTGRES_FORBIDDEN: {
    retriable: false,
    message: (f) => `${where(f)} denies a right: ${f.reason}`,
    hint: 'The user of DATABASE_URL must own the database, or have CREATE and TEMPORARY on it.',
  },
  POSTGRES_TOO_OLD: {
    retriable: false,
    message: (f) => `${where(f)} is version ${f.version}, Headwater needs 14 or newer`,
    hint: 'Upgrade the server; multiranges, which the range ledger is kept in, came with version 14.',
  },
  POSTGRES_NOT_PREPARED: {
    retriable: true,
    message: (f) => `${where(f)} lacks a table: ${f.reason}`,
    hint: 'The `project` service makes its tables when it starts for the first time: start it, or wait for it.',
  },
  POSTGRES_BUSY: {
    retriable: true,
    message: (f) => `${where(f)} gave a statement up: ${f.reason}`,
    hint: 'A time-out or a deadlock; it is tried again. If it goes on, look for long transactions in pg_stat_activity.',
  },
});
