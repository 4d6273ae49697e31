import type { Backbone, ProviderName } from '../../streams/ids.ts';
import { isHeadwaterError } from '../base/errors/index.ts';
import { CompressionChoice } from './compressionChoice.ts';
import type { Connection, NntpConnection } from './connection.ts';
import { Lease } from './lease.ts';
import { identityOf, nntpError, type ServerIdentity } from './refusal.ts';
import { type NntpDependencies, openConnection } from './session.ts';
import { DEFAULT_TIMEOUTS, type NntpProviderSettings } from './settings.ts';
import { Slots } from './slots.ts';
import { SlottedConnections } from './slottedConnections.ts';

/** The connections to one provider, never more than its limit. */
export interface NntpPool {
  readonly provider: ProviderName;
  readonly backbone: Backbone;
  /**
   * Runs `fn` with a connection that nobody else uses meanwhile. A kept one may have any group selected. It is dropped
   * when it broke or when commands are still in flight at the end; a refusal (no such article) keeps it. An abort of
   * `signal` ends the waiting, the connecting, or breaks the connection under `fn`. After a broken compressed reply a
   * plain connection takes its place under `fn`, unnoticed. Where the account's slots are shared, each socket waits for
   * one, and no connection is kept whose slot somebody else waits for; one whose slot is lost breaks under `fn`.
   */
  withConnection<T>(fn: (connection: NntpConnection) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** `open`: sockets, used or kept; `busy`: held by callers, connecting included. */
  stats(): { readonly open: number; readonly busy: number; readonly waiting: number; readonly limit: number };
  /** Refuses waiters and newcomers, takes leave of kept connections and breaks the used ones; gives back every slot. */
  close(): Promise<void>;
}

/** Waits for a provider that still counts a connection which was just broken. */
const STILL_COUNTED_MS = [100, 1000, 3000] as const;

interface Kept {
  readonly connection: Connection;
  readonly since: number;
}

export class Pool implements NntpPool {
  readonly provider: ProviderName;
  readonly backbone: Backbone;
  readonly #settings: NntpProviderSettings;
  readonly #dependencies: NntpDependencies;
  readonly #server: ServerIdentity;
  readonly #idleMs: number;
  readonly #slots: Slots;
  readonly #slotted: SlottedConnections;
  readonly #kept: Kept[] = [];
  readonly #used = new Set<Lease>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #choice: CompressionChoice;
  #reaping = false;

  constructor(settings: NntpProviderSettings, dependencies: NntpDependencies) {
    this.provider = settings.name;
    this.backbone = settings.backbone;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#server = identityOf(settings);
    this.#choice = new CompressionChoice(settings, dependencies);
    this.#slotted = new SlottedConnections(dependencies.accountSlots ?? null);
    this.#idleMs = settings.timeouts?.idleMs ?? DEFAULT_TIMEOUTS.idleMs;
    this.#slots = new Slots(settings.connections, settings.maxWaiting ?? 1000, {
      full: (waiting) => nntpError('NNTP_POOL_FULL', this.#server, { waiting }),
      closed: () => this.#closedError(),
    });
  }

  async withConnection<T>(fn: (connection: NntpConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#slots.take(signal);
    try {
      const connection = this.#take() ?? (await this.#open(true, signal));
      return await this.#use(connection, fn, signal);
    } finally {
      this.#slots.give();
      this.#gauge();
    }
  }

  stats() {
    const { taken, waiting, limit } = this.#slots;
    const kept = this.#kept.filter(({ connection }) => connection.idle).length;
    return { open: kept + this.#used.size, busy: taken, waiting, limit };
  }

  async close(): Promise<void> {
    this.#slots.close();
    this.#stop.abort(this.#closedError());
    for (const lease of [...this.#used]) lease.break(this.#closedError());
    for (const { connection } of this.#kept.splice(0)) void this.#takeLeave(connection);
    await Promise.all(this.#leaving);
    await this.#slotted.allGiven();
  }

  /** The kept connection that was used last, which is the least likely to have been closed by the server. */
  #take(): Connection | null {
    for (let kept = this.#kept.pop(); kept; kept = this.#kept.pop()) {
      if (kept.connection.idle) return kept.connection;
      kept.connection.break(this.#closedError());
    }
    return null;
  }

  async #open(compress: boolean, signal?: AbortSignal): Promise<Connection> {
    // One that takes leave still counts at the provider.
    while (this.#slots.taken + this.#leaving.size > this.#slots.limit) await Promise.race(this.#leaving);
    const all = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
    const options = { choice: this.#choice, compress };
    return await this.#slotted.open(
      (stop) => openConnection(this.#settings, this.#dependencies, { ...options, signal: stop }),
      all,
    );
  }

  async #use<T>(connection: Connection, fn: (c: NntpConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const openPlain = (stop: AbortSignal) => this.#openInstead(stop);
    const lease = new Lease(connection, { server: this.#server, choice: this.#choice, openPlain });
    const onAbort = () => lease.break(signal?.reason);
    this.#used.add(lease);
    this.#gauge();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal?.aborted) throw signal.reason;
      return await fn(lease);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#used.delete(lease);
      lease.end(this.#closedError());
      this.#keep(lease.connection);
    }
  }

  /** A plain connection in place of a broken one, which the provider may still count for a moment. */
  async #openInstead(stop: AbortSignal): Promise<Connection> {
    for (const wait of STILL_COUNTED_MS) {
      try {
        return await this.#open(false, stop);
      } catch (error) {
        if (!isHeadwaterError(error) || error.code !== 'NNTP_TOO_MANY_CONNECTIONS') throw error;
        await this.#dependencies.clock.sleep(wait, stop);
      }
    }
    return await this.#open(false, stop);
  }

  #keep(connection: Connection): void {
    if (!connection.idle || this.#stop.signal.aborted) {
      connection.break(this.#closedError());
      return;
    }
    const outlived = connection.substitute && !this.#choice.suspended;
    if (outlived || this.#slotted.wanted(connection)) {
      void this.#takeLeave(connection);
      return;
    }
    this.#kept.push({ connection, since: this.#dependencies.clock.now() });
    if (!this.#reaping) void this.#reap();
  }

  /** Closes what was kept unused for too long, and what others wait for; runs while anything is kept. */
  async #reap(): Promise<void> {
    const { clock } = this.#dependencies;
    this.#reaping = true;
    for (let oldest = this.#kept[0]; oldest; oldest = this.#kept[0]) {
      const wanted = this.#kept.findIndex(({ connection }) => this.#slotted.wanted(connection));
      if (wanted >= 0) {
        // One after the other: those who wait may be fewer than what is kept.
        for (const { connection } of this.#kept.splice(wanted, 1)) await this.#takeLeave(connection);
        continue;
      }
      const rest = oldest.since + this.#idleMs - clock.now();
      if (rest <= 0) {
        this.#kept.shift();
        void this.#takeLeave(oldest.connection);
      } else await clock.sleep(Math.min(rest, this.#slotted.lookMs), this.#stop.signal).catch(() => {});
    }
    this.#reaping = false;
    this.#gauge();
  }

  #takeLeave(connection: Connection): Promise<void> {
    const leaving = connection
      .quit()
      .then(() => connection.gone)
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return leaving;
  }

  #closedError(): Error {
    return nntpError('NNTP_POOL_CLOSED', this.#server, {});
  }

  #gauge(): void {
    const { open, busy, waiting } = this.stats();
    const { metrics } = this.#dependencies;
    const labels = { provider: this.provider };
    metrics.gauge('nntp_connections_open', open, labels);
    metrics.gauge('nntp_connections_busy', busy, labels);
    metrics.gauge('nntp_connections_waiting', waiting, labels);
  }
}
