import { Client } from 'pg';
import type { SqlValue } from '../../projections/ports.ts';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError, isHeadwaterError } from '../base/errors/index.ts';
import type { Log } from '../base/log.ts';
import { orAborted } from '../base/orAborted.ts';
import { toPostgresError } from './errors.ts';
import { clientTypes } from './types.ts';

export interface LockSessionSettings {
  readonly url: string;
  /** Host, port and database, for messages. */
  readonly server: string;
  readonly applicationName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly connectTimeoutMs: number;
}

/** A session whose advisory locks are ours for as long as it lives. */
export interface LockSession {
  /** Aborts with a POSTGRES_* error once the session has ended, and its locks with it. */
  readonly lost: AbortSignal;
  /** Not before this time (ms) may a lock be taken for a proof that nobody else uses what it stands for. */
  readonly trustedFrom: number;
  /** A statement that fails ends the session: whether its locks are held could not be told any more. */
  query<Row>(text: string, values: readonly SqlValue[]): Promise<readonly Row[]>;
  end(): Promise<void>;
}

/**
 * Locks are freed by the server before their holders have heard of it and closed what they stood for. After a start of the
 * server, or when our own session was lost, others may be closing just now.
 */
const UNTRUSTED_MS = 3000;
/** A server that froze keeps the locks; its holder must know before the server gives the session up. */
const ANSWER_MS = 5000;
const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 10_000;

class ClientSession implements LockSession {
  readonly #client: Client;
  readonly #settings: LockSessionSettings;
  readonly #lost = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  trustedFrom = 0;

  constructor(settings: LockSessionSettings) {
    this.#settings = settings;
    this.#client = new Client({
      connectionString: settings.url,
      application_name: settings.applicationName,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      // An operator's limit on idle sessions would take the locks.
      options: '-c idle_session_timeout=0',
      types: clientTypes,
    });
    this.#client.on('error', (error) => this.#lose(error));
    this.#client.on('end', () => this.#lose(new Error('connection terminated')));
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** `lostAt`: when the session before this one was lost (ms). */
  async open(lostAt: number): Promise<void> {
    const { clock } = this.#settings;
    await this.#client.connect().catch((error: Error) => this.#failed(error));
    const age = `select (extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::float8 as ms`;
    const [row] = await this.query<{ ms: number }>(age, []);
    this.trustedFrom = Math.max(lostAt + UNTRUSTED_MS, clock.now() + UNTRUSTED_MS - (row?.ms ?? 0));
  }

  query<Row>(text: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    // One after the other: a client takes no statement while another runs.
    const result = this.#last.then(() => this.#ask<Row>(text, values));
    this.#last = result.catch(() => {});
    return result;
  }

  async #ask<Row>(text: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    this.#lost.signal.throwIfAborted();
    const result = await this.#client.query(text, values as unknown[]).catch((error: Error) => this.#failed(error));
    return result.rows as Row[];
  }

  async end(): Promise<void> {
    // An orderly end is a loss to those who still hold something, but none to tell of.
    this.#lost.abort(this.#unavailable(new Error('the session was closed')));
    await this.#client.end().catch(() => {});
  }

  #failed(error: Error): never {
    this.#lose(error);
    throw toPostgresError(error, this.#settings.server);
  }

  #lose(error: Error): void {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(this.#unavailable(error));
    this.#settings.log.debug('the session of the account slots ended', { reason: error.message });
    void this.#client.end().catch(() => {});
  }

  #unavailable(error: Error): unknown {
    const mapped = toPostgresError(error, this.#settings.server);
    if (isHeadwaterError(mapped)) return mapped;
    const fields = { server: this.#settings.server, reason: error.message };
    return new HeadwaterError('POSTGRES_UNAVAILABLE', fields, { cause: error });
  }
}

/** One session at a time, opened when it is needed and again after it was lost. */
export class LockSessions {
  readonly #settings: LockSessionSettings;
  #current: ClientSession | null = null;
  #opening: Promise<LockSession> | null = null;
  #delay = 0;
  #notBefore = 0;
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(settings: LockSessionSettings) {
    this.#settings = settings;
  }

  /** The session if there is one. */
  get current(): LockSession | null {
    return this.#current;
  }

  /** Throws a POSTGRES_* error when it cannot be opened; the next call then waits for 0.25 s, doubling up to 10 s. */
  async open(signal: AbortSignal): Promise<LockSession> {
    if (this.#current !== null) return this.#current;
    const wait = this.#notBefore - this.#settings.clock.now();
    if (wait > 0) await this.#settings.clock.sleep(wait, signal);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return await orAborted(this.#opening, [signal]);
  }

  async end(): Promise<void> {
    await this.#opening?.catch(() => {});
    await this.#current?.end();
  }

  async #open(): Promise<LockSession> {
    if (this.#current !== null) return this.#current;
    const { clock } = this.#settings;
    const session = new ClientSession(this.#settings);
    try {
      await session.open(this.#lostAt);
    } catch (error) {
      this.#delay = Math.min(LAST_DELAY_MS, this.#delay === 0 ? FIRST_DELAY_MS : this.#delay * 2);
      this.#notBefore = clock.now() + this.#delay;
      throw error;
    }
    this.#delay = 0;
    this.#current = session;
    const onLost = () => {
      this.#current = null;
      this.#lostAt = clock.now();
    };
    session.lost.addEventListener('abort', onLost, { once: true });
    if (session.lost.aborted) onLost();
    return session;
  }
}
