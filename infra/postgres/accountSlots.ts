import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { orAborted } from '../base/orAborted.ts';
import type { AccountSlot, AccountSlots } from '../nntp/index.ts';
import { type LockSession, LockSessions } from './lockSession.ts';
import { serverOf } from './server.ts';

/** What a provider counts connections by, and how many it allows. Two names of one account are one account. */
export interface ProviderAccount {
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly connections: number;
}

export interface SharedAccounts {
  /** The slots of an account, each slot an advisory lock of this process' one session. */
  slotsOf(account: ProviderAccount): AccountSlots;
  /** Resolves once the database answers; rejects with a POSTGRES_* error. */
  reach(signal: AbortSignal): Promise<void>;
  /** Every slot is lost; ends the session once all are given back, or after 5 s. */
  close(): Promise<void>;
}

export interface AccountSlotSettings {
  readonly url: string;
  readonly applicationName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly connectTimeoutMs?: number;
}

/** How often the first in line tries for a slot, and the others for the first place. */
const TRY_MS = 200;
/** How often holders look whether somebody waits. */
const LOOK_MS = 1000;
const CLOSE_MS = 5000;
/** A service that stops waits for an opening to end: below what it has for stopping. */
const CONNECT_MS = 5000;
/** The lock of the first in line; slots count from 1. */
const LINE = 0;

/** Of the numbers, the first that could be locked: one at most, since the scan ends with it. */
const TRY = 'select i from unnest($2::int4[]) as i where pg_try_advisory_lock($1::int4, i) limit 1';
const UNLOCK = 'select pg_advisory_unlock($1::int4, $2::int4)';
/** Accounts whose line another session leads. Locks of two int4 have objsubid 2. */
const WANTED = `select classid::int8 as class from pg_locks where locktype = 'advisory' and objsubid = 2 and objid = ${LINE}
  and granted and pid <> pg_backend_pid() and classid::int8 = any($1::int8[])
  and database = (select oid from pg_database where datname = current_database())`;

/** The first int4 of the lock. Accounts of equal hash would share their slots, which is slower and never wrong. */
const classOf = ({ host, port, user }: ProviderAccount): number =>
  createHash('sha256')
    .update(JSON.stringify(['headwater account', host.toLowerCase(), port, user]))
    .digest()
    .readInt32BE(0);

/** One account in this process: what it holds, and who waits in which order. */
class Account {
  readonly class: number;
  /** Slots that are ours, those of a lost session included until their sockets are closed. */
  readonly held = new Map<number, Promise<void>>();
  waiting = 0;
  /** Whether another process waits. */
  asked = false;
  #last: Promise<void> = Promise.resolve();

  constructor(accountClass: number) {
    this.class = accountClass;
  }

  /** Resolves when all who came before have ended theirs, with how to end this turn. */
  async turn(signal: AbortSignal): Promise<() => void> {
    const before = this.#last;
    let end: () => void = () => {};
    const turn = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last = before.then(() => turn);
    try {
      await orAborted(before, [signal]);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }
}

class SessionAccounts implements SharedAccounts {
  readonly #clock: Clock;
  readonly #sessions: LockSessions;
  readonly #accounts = new Map<number, Account>();
  readonly #stop = new AbortController();
  #looking = false;

  constructor(settings: AccountSlotSettings) {
    this.#clock = settings.clock;
    const server = serverOf(settings.url);
    this.#sessions = new LockSessions({ connectTimeoutMs: CONNECT_MS, ...settings, server });
  }

  slotsOf(account: ProviderAccount): AccountSlots {
    const key = classOf(account);
    const own = this.#accounts.get(key) ?? new Account(key);
    this.#accounts.set(key, own);
    // Of the pool that asks: it needs no telling that it waits itself.
    const asking = { waiting: 0 };
    return { take: (signal) => this.#take(own, account.connections, asking, signal) };
  }

  async reach(signal: AbortSignal): Promise<void> {
    await this.#sessions.open(signal);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the account slots are closed'));
    const held = [...this.#accounts.values()].flatMap((account) => [...account.held.values()]);
    const patience = new AbortController();
    await Promise.race([Promise.all(held), this.#clock.sleep(CLOSE_MS, patience.signal).catch(() => {})]);
    patience.abort();
    await this.#sessions.end();
  }

  async #take(account: Account, limit: number, asking: { waiting: number }, signal: AbortSignal): Promise<AccountSlot> {
    const all = AbortSignal.any([signal, this.#stop.signal]);
    account.waiting++;
    asking.waiting++;
    try {
      const end = await account.turn(all);
      try {
        const { session, index } = await this.#lead(account, limit, all);
        return this.#hold(account, session, index, () => account.waiting > asking.waiting);
      } finally {
        end();
      }
    } finally {
      account.waiting--;
      asking.waiting--;
    }
  }

  /** Becomes the first in line over all processes, then waits for a slot. Who just gave one back cannot overtake. */
  async #lead(account: Account, limit: number, signal: AbortSignal) {
    for (;;) {
      const session = await this.#sessions.open(signal);
      const untrusted = session.trustedFrom - this.#clock.now();
      if (untrusted > 0) await this.#clock.sleep(untrusted, signal);
      if ((await this.#try(session, account, [LINE])) !== null) {
        try {
          return { session, index: await this.#free(session, account, limit, signal) };
        } finally {
          await this.#unlock(session, account, LINE);
        }
      }
      await this.#clock.sleep(TRY_MS, signal);
    }
  }

  async #free(session: LockSession, account: Account, limit: number, signal: AbortSignal): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      // A session gets a lock that it holds once more: what is ours must not be asked for.
      const numbers = Array.from({ length: limit }, (_, i) => i + 1).filter((i) => !account.held.has(i));
      const index = await this.#try(session, account, numbers);
      if (index !== null) return index;
      await this.#clock.sleep(TRY_MS, signal);
    }
  }

  #hold(account: Account, session: LockSession, index: number, awaited: () => boolean): AccountSlot {
    let given: () => void = () => {};
    account.held.set(index, new Promise((resolve) => (given = resolve)));
    const lost = AbortSignal.any([session.lost, this.#stop.signal]);
    let back: Promise<void> | null = null;
    const give = async () => {
      // Whoever waits gets this one; that one more waits is seen at the next look.
      account.asked = false;
      await this.#unlock(session, account, index);
      account.held.delete(index);
      given();
    };
    void this.#look();
    return {
      lost,
      get wanted() {
        return account.asked || awaited();
      },
      give: () => (back ??= give()),
    };
  }

  async #try(session: LockSession, account: Account, numbers: readonly number[]): Promise<number | null> {
    const [row] = await session.query<{ i: number }>(TRY, [account.class, numbers]);
    return row?.i ?? null;
  }

  /** Where it fails the session has ended, and the lock with it. */
  async #unlock(session: LockSession, account: Account, number: number): Promise<void> {
    await session.query(UNLOCK, [account.class, number]).catch(() => {});
  }

  /** Looks who waits elsewhere, while anything is held here. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const holding = () => [...this.#accounts.values()].filter(({ held }) => held.size > 0);
    while (!this.#stop.signal.aborted && holding().length > 0) {
      const accounts = holding();
      const classes = accounts.map((account) => account.class >>> 0);
      const session = this.#sessions.current;
      const rows = await session?.query<{ class: number }>(WANTED, [classes]).catch(() => []);
      const asked = new Set(rows?.map((row) => row.class));
      for (const account of accounts) account.asked = asked.has(account.class >>> 0);
      await this.#clock.sleep(LOOK_MS, this.#stop.signal).catch(() => {});
    }
    this.#looking = false;
  }
}

/** The slots of the accounts, shared by every process that uses the same database. Opens nothing before it is asked. */
export const createSharedAccounts = (settings: AccountSlotSettings): SharedAccounts => new SessionAccounts(settings);
