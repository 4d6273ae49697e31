import type { EventReader, RangeLedger } from '../ports.ts';

/** The RANGES sequence that the ledger must have reached before anything is decided on it. */
export class LedgerBarrier {
  #sequence: number | null = null;

  /** The ledger must have seen this event first. */
  raise(sequence: number): void {
    this.#sequence = Math.max(this.#sequence ?? 0, sequence);
  }

  /**
   * The ledger's sequence when it has reached the barrier, else null. The first barrier of a process is the stream's end at
   * that time: an earlier process may have appended up to there.
   */
  async reached(ledger: RangeLedger, reader: EventReader): Promise<number | null> {
    this.#sequence ??= (await reader.state('RANGES')).last.sequence;
    const { sequence } = await ledger.position();
    return sequence >= this.#sequence ? sequence : null;
  }
}
