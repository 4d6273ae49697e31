import type { ReleaseId } from '../../streams/ids.ts';
import type { Settlement } from '../../streams/records.ts';

/** More than are settled between two looks at one release; the oldest are forgotten first. */
const REMEMBERED_MAX = 100_000;

/**
 * What was said of releases lately. A release that is due although the catalog has what was said of it, about the same
 * contributions, is a disagreement: saying it again and again would only fill the stream.
 */
export class SaidBefore {
  readonly #quietMs: number;
  readonly #last = new Map<ReleaseId, { readonly setHash: string; readonly at: number }>();

  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  lately({ releaseId, setHash }: Settlement, now: number): boolean {
    const last = this.#last.get(releaseId);
    return last?.setHash === setHash && now < last.at + this.#quietMs;
  }

  remember({ releaseId, setHash }: Settlement, now: number): void {
    this.#last.delete(releaseId);
    this.#last.set(releaseId, { setHash, at: now });
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= REMEMBERED_MAX) break;
      this.#last.delete(oldest);
    }
  }
}
