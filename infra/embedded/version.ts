/** A version as numbers: `2.15.1` is [2, 15, 1], `15.18` is [15, 18, 0]. */
export type Version = readonly [major: number, minor: number, patch: number];

export const NATS_FLOOR: Version = [2, 10, 0];
export const POSTGRES_FLOOR_MAJOR = 14;

/** The first version in the output of `<program> --version`; null when there is none. */
export function parseVersion(text: string): Version | null {
  const m = /(?:^|[\sv])(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?/.exec(text);
  // A PostgreSQL under development prints `18devel` or `19beta1`: a major number without a dot.
  const bare = m ? null : /\b(\d{1,4})(?:devel|beta|rc|alpha)/.exec(text);
  if (m) return [Number(m[1]), Number(m[2]), Number(m[3] ?? 0)];
  return bare ? [Number(bare[1]), 0, 0] : null;
}

/** Negative when `a` is older than `b`, 0 when equal, positive when newer. */
export const compareVersions = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

export const atLeast = (version: Version, floor: Version): boolean => compareVersions(version, floor) >= 0;

export const showVersion = (version: Version): string => version.join('.');
