import type { RangeRef } from '../../streams/records.ts';

/** Ranges that are remembered at most: the oldest is forgotten, and then gets one retry more. */
const REMEMBERED = 10_000;

/**
 * Which ranges had their one job-level retry. In memory: the count of deliveries cannot tell, for it also grows while a
 * provider is down or a worker dies. A restart of the process so gives a range one retry more, never fewer.
 */
export class JobRetries {
  readonly #retried = new Set<string>();

  /** True the first time: the range may be retried. */
  first(range: RangeRef): boolean {
    const name = nameOf(range);
    if (this.#retried.has(name)) return false;
    const [oldest] = this.#retried;
    if (this.#retried.size >= REMEMBERED && oldest !== undefined) this.#retried.delete(oldest);
    this.#retried.add(name);
    return true;
  }

  forget(range: RangeRef): void {
    this.#retried.delete(nameOf(range));
  }
}

const nameOf = ({ backbone, group, rangeId, run }: RangeRef): string => `${backbone}/${group}/${rangeId}/${run}`;
