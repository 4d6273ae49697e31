import { orAborted } from '../../infra/base/orAborted.ts';
import type { AccountSlot, AccountSlots } from '../../infra/nntp/index.ts';

/** The slots of an account in memory, with what a test wants to see and do. */
export class CountedSlots implements AccountSlots {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  readonly #lost = new Set<AbortController>();
  /** What `wanted` of every slot says. */
  wanted = false;
  held = 0;
  most = 0;
  given = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async take(signal: AbortSignal): Promise<AccountSlot> {
    signal.throwIfAborted();
    while (this.held >= this.#limit) {
      await orAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), [signal]);
    }
    this.held++;
    this.most = Math.max(this.most, this.held);
    const lost = new AbortController();
    this.#lost.add(lost);
    const wanted = () => this.wanted;
    return {
      lost: lost.signal,
      get wanted() {
        return wanted();
      },
      give: () => {
        if (!this.#lost.delete(lost)) throw new Error('a slot was given back twice');
        this.held--;
        this.given++;
        for (const wake of this.#waiting.splice(0)) wake();
      },
    };
  }

  /** Takes every slot away from who holds it. */
  loseAll(reason: Error): void {
    for (const lost of [...this.#lost]) lost.abort(reason);
  }
}
