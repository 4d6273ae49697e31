import type { ServiceDefinition } from '../service.ts';
import { apiService } from './api.ts';
import { coordinatorService } from './coordinator.ts';
import { fetchService } from './fetch.ts';
import { headersService } from './headers.ts';
import { projectService } from './project.ts';

/** Every service that `headwater run` knows. */
export const SERVICES = {
  coordinator: coordinatorService,
  fetch: fetchService,
  headers: headersService,
  project: projectService,
  api: apiService,
} as const satisfies Readonly<Record<string, ServiceDefinition>>;
