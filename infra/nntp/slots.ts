/** Thrown into waiters of a closed `Slots`, and where too many wait; the owner says as which error. */
export interface SlotErrors {
  readonly full: (waiting: number) => Error;
  readonly closed: () => Error;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/** A bounded number of slots, given in the order of asking. */
export class Slots {
  readonly limit: number;
  readonly #maxWaiting: number;
  readonly #errors: SlotErrors;
  readonly #waiters = new Set<Waiter>();
  #taken = 0;
  #closed = false;

  constructor(limit: number, maxWaiting: number, errors: SlotErrors) {
    this.limit = limit;
    this.#maxWaiting = maxWaiting;
    this.#errors = errors;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** Resolves once the caller holds a slot, which it must `give` back. Rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<void> {
    if (this.#closed) return Promise.reject(this.#errors.closed());
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#taken < this.limit) {
      this.#taken++;
      return Promise.resolve();
    }
    if (this.#waiters.size >= this.#maxWaiting) return Promise.reject(this.#errors.full(this.#waiters.size));
    return this.#wait(signal);
  }

  give(): void {
    const [next] = this.#waiters;
    // The slot passes on directly, so that nobody who comes meanwhile can overtake.
    if (next) next.admit();
    else this.#taken--;
  }

  close(): void {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.refuse(this.#errors.closed());
  }

  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve();
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = () => waiter.refuse(signal?.reason);
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
