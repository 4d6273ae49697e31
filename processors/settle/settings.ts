export interface SettleSettings {
  /** Pause between two rounds. */
  readonly roundMs: number;
  /** How often all that is due is gone through: what waits for its numbers is looked at so often. */
  readonly sweepEveryMs: number;
  /** Releases that are read at a time. */
  readonly pageReleases: number;
  readonly pagesPerRound: number;
  /** Releases of one message. */
  readonly messageReleases: number;
  /** Segments of shared files held at a time, at some 150 bytes each; up to twice as many where files are of uneven size. */
  readonly segmentsHeld: number;
  /** How often the chunks of a release may be gone through so that no more is held. */
  readonly passesMax: number;
  /** How soon the same is said again of a release that the catalog did not settle by it. */
  readonly repeatMs: number;
}

export const DEFAULT_SETTLE_SETTINGS: SettleSettings = {
  roundMs: 1000,
  sweepEveryMs: 60_000,
  pageReleases: 100,
  pagesPerRound: 20,
  messageReleases: 1000,
  segmentsHeld: 50_000,
  passesMax: 8,
  repeatMs: 6 * 3_600_000,
};
