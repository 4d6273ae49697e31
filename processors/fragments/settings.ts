export interface FragmentsSettings {
  /** From the end of a round to the next one. */
  readonly roundMs: number;
  /** Complete units are taken in pages of this many, all of them in a round. */
  readonly completeUnits: number;
  /** Other open units that a round looks at; the next round goes on behind them. */
  readonly otherUnits: number;
  /** Pieces in memory at once, by their stored bytes; what is made of them is about as much again. */
  readonly batchBytes: number;
}

export const DEFAULT_FRAGMENTS_SETTINGS: FragmentsSettings = {
  roundMs: 1_000,
  completeUnits: 500,
  otherUnits: 2_000,
  batchBytes: 4 * 2 ** 20,
};
