/** The kinds of service that append events; the topology says which of them may publish what. */
export const SERVICES = [
  'coordinator',
  'fetch',
  'headers',
  'fragments',
  'settle',
  'irc',
  'scan',
  'probe',
  'project',
  'api',
  'sentinel',
  'supervisor',
  'import',
  'operator',
] as const;
export type ServiceKind = (typeof SERVICES)[number];
