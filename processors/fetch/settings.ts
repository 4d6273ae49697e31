import { type CoolingSettings, DEFAULT_COOLING } from '../failover/providers.ts';

/** How overview is read and cut into batches. */
export interface BatchLimits {
  /** Numbers with a line that one batch holds at most. */
  readonly lines: number;
  /** Bytes of the lines of one batch, before compression; a single longer line is a batch of its own. */
  readonly rawBytes: number;
}

export interface FetchSettings {
  readonly batch: BatchLimits;
  /** Numbers that one OVER asks for. */
  readonly spanNumbers: number;
  /** OVER commands in flight on one connection. */
  readonly spansAhead: number;
  /** Leases at once over all lanes of a backbone; null: the connections of its providers. */
  readonly connections: number | null;
  /** The share of them that only live may use. */
  readonly liveShare: number;
  /** How long a range waits for its one job-level retry. */
  readonly retryMs: number;
  readonly cooling: CoolingSettings;
  /** zlib level of the stored lines. */
  readonly level: 1 | 2 | 3 | 4 | 5 | 6;
}

export const DEFAULT_BATCH_LIMITS: BatchLimits = { lines: 20_000, rawBytes: 3_000_000 };

export const DEFAULT_FETCH_SETTINGS: FetchSettings = {
  batch: DEFAULT_BATCH_LIMITS,
  spanNumbers: 20_000,
  spansAhead: 2,
  connections: null,
  liveShare: 0.25,
  retryMs: 300_000,
  cooling: DEFAULT_COOLING,
  level: 1,
};
