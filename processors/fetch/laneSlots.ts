import { FETCH_LANES, type FetchLane } from '../../streams/ids.ts';

interface Waiter {
  readonly admit: () => void;
}

/** The connections of a backbone, given out lane by lane: live first, and a share of them to live alone. */
export class LaneSlots {
  readonly #total: number;
  readonly #others: number;
  readonly #waiting: Readonly<Record<FetchLane, Set<Waiter>>> = {
    live: new Set(),
    scan: new Set(),
    backfill: new Set(),
  };
  #live = 0;
  #rest = 0;

  /** `liveShare` of `total` (at least one, where there are two or more) is kept for live. */
  constructor(total: number, liveShare: number) {
    this.#total = Math.max(1, total);
    const reserved = this.#total === 1 ? 0 : Math.max(1, Math.ceil(this.#total * liveShare));
    this.#others = Math.max(1, this.#total - reserved);
  }

  /** Most leases of a lane at once. */
  limit(lane: FetchLane): number {
    return lane === 'live' ? this.#total : this.#others;
  }

  get taken(): number {
    return this.#live + this.#rest;
  }

  /** Resolves once the lane may use a connection, with how to give it back (once). Rejects when the signal aborts. */
  async acquire(lane: FetchLane, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free(lane) && this.#waiting[lane].size === 0) this.#take(lane);
    else await this.#wait(lane, signal);
    let held = true;
    return () => {
      if (held) this.#give(lane);
      held = false;
    };
  }

  #free(lane: FetchLane): boolean {
    return this.taken < this.#total && (lane === 'live' || this.#rest < this.#others);
  }

  #take(lane: FetchLane): void {
    if (lane === 'live') this.#live++;
    else this.#rest++;
  }

  #give(lane: FetchLane): void {
    if (lane === 'live') this.#live--;
    else this.#rest--;
    for (const next of FETCH_LANES) {
      for (const waiter of this.#waiting[next]) {
        if (!this.#free(next)) break;
        this.#take(next);
        waiter.admit();
      }
    }
  }

  #wait(lane: FetchLane, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting[lane];
      const onAbort = () => {
        waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        admit: () => {
          waiting.delete(waiter);
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      waiting.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
