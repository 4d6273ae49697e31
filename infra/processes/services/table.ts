import type { ServiceDefinition } from '../service.ts';

/**
 * Every service that `headwater run` knows. Loaded when it is run: a process of one service needs none of the others, and
 * a short command needs none at all.
 */
export const SERVICES = {
  coordinator: async () => (await import('./coordinator.ts')).coordinatorService,
  fetch: async () => (await import('./fetch.ts')).fetchService,
  headers: async () => (await import('./headers.ts')).headersService,
  settle: async () => (await import('./settle.ts')).settleService,
  fragments: async () => (await import('./fragments.ts')).fragmentsService,
  project: async () => (await import('./project.ts')).projectService,
  api: async () => (await import('./api.ts')).apiService,
} as const satisfies Readonly<Record<string, () => Promise<ServiceDefinition>>>;
