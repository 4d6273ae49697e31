import { type BatchLimits, DEFAULT_BATCH_LIMITS } from '../fetch/settings.ts';

export interface ImportSettings {
  readonly batch: BatchLimits;
  /** Lines of one range at most: they are held in memory, compressed, until the range's last number is known. */
  readonly rangeLines: number;
  /** Numbers between the first and the last line of one range at most. */
  readonly rangeNumbers: number;
  /** Ranges that may wait to be parsed; the import waits while there are more. */
  readonly outstandingRanges: number;
  /** The share of OVERVIEW's limit up to which an import fills it. */
  readonly overviewShare: number;
  /** How often a waiting import looks again. */
  readonly waitMs: number;
  /** How long a start waits for the ledger to catch up, so that what was imported before is known. */
  readonly ledgerWaitMs: number;
  readonly level: 1 | 2 | 3 | 4 | 5 | 6;
}

export const DEFAULT_IMPORT_SETTINGS: ImportSettings = {
  batch: DEFAULT_BATCH_LIMITS,
  rangeLines: 250_000,
  rangeNumbers: 2_000_000,
  outstandingRanges: 8,
  overviewShare: 0.8,
  waitMs: 250,
  ledgerWaitMs: 30_000,
  level: 1,
};
