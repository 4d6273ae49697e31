import type { ServiceKind } from '../../../streams/services.ts';

/** What `up` runs, in the order of starting: readers of events before those who make more of them. */
export const UP_SERVICES = [
  'project',
  'api',
  'settle',
  'fragments',
  'headers',
  'coordinator',
  'fetch',
] as const satisfies readonly ServiceKind[];
