/** The measures that headers, projections, fragments and settle have to agree on. */

const HOUR_MS = 3_600_000;

/** Articles of a key this far apart are postings of their own; pieces and contributions nearer than this belong together. */
export const POSTING_GAP_MS = 72 * HOUR_MS;
/** A file is not spread over more article numbers than this: what lies nearer to the edge of its range may be cut by it. */
export const EDGE_NUMBERS = 50_000;
/** A high mark read this long after an article was posted: whatever belongs to it has come. */
export const LATE_AFTER_MS = 6 * HOUR_MS;
/** A release that got nothing for this long, and of whose numbers nothing more is to come, is settled. */
export const SETTLE_AFTER_MS = 24 * HOUR_MS;
