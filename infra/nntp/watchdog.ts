import type { Clock } from '../base/clock.ts';

export interface Limit {
  /** What was waited for: `connect`, `first byte`, `silence`. */
  readonly kind: string;
  readonly ms: number;
}

/**
 * One movable deadline. Moving it later, which happens for every piece of a reply, costs no timer: the one sleep that
 * runs looks at the deadline when it wakes.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #onFire: (limit: Limit) => void;
  #limit: Limit = { kind: '', ms: 0 };
  #deadline = Number.POSITIVE_INFINITY;
  #wakeAt = Number.POSITIVE_INFINITY;
  #sleep: AbortController | null = null;

  constructor(clock: Clock, onFire: (limit: Limit) => void) {
    this.#clock = clock;
    this.#onFire = onFire;
  }

  /** Fires unless armed again, disarmed or stopped within `limit.ms`. */
  arm(limit: Limit): void {
    this.#limit = limit;
    this.#deadline = this.#clock.now() + limit.ms;
    if (this.#deadline < this.#wakeAt) this.#restart();
  }

  disarm(): void {
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  /** Ends the sleep too, so that nothing keeps the process alive. */
  stop(): void {
    this.disarm();
    this.#wakeAt = Number.POSITIVE_INFINITY;
    this.#sleep?.abort();
    this.#sleep = null;
  }

  #restart(): void {
    this.#sleep?.abort();
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#wakeAt = this.#deadline;
    this.#clock.sleep(Math.max(0, this.#wakeAt - this.#clock.now()), sleep.signal).then(
      () => this.#woken(sleep),
      () => {},
    );
  }

  #woken(sleep: AbortController): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = null;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    if (this.#deadline === Number.POSITIVE_INFINITY) return;
    if (this.#clock.now() < this.#deadline) this.#restart();
    else {
      this.disarm();
      this.#onFire(this.#limit);
    }
  }
}
