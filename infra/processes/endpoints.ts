import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadwaterError } from '../base/errors/index.ts';
import type { Config } from '../config/index.ts';

/** Where the event log and the database are, and what opens them. */
export interface Endpoints {
  readonly nats: { readonly url: string; readonly user?: string; readonly pass?: string; readonly monitorUrl?: string };
  readonly databaseUrl: string;
}

const fileOf = (dataDir: string): string => join(dataDir, 'runtime', 'endpoints.json');

/** Written by `up` for the embedded servers: mode 0600, it holds their passwords. */
export function writeEndpoints(dataDir: string, endpoints: Endpoints): void {
  writeFileSync(fileOf(dataDir), JSON.stringify(endpoints, null, 2), { mode: 0o600 });
}

/** An `up` that stops takes its address with it: what is asked then is told that nothing runs. */
export const removeEndpoints = (dataDir: string): void => rmSync(fileOf(dataDir), { force: true });

function readEndpoints(dataDir: string): Partial<Endpoints> {
  let text: string;
  try {
    text = readFileSync(fileOf(dataDir), 'utf8');
  } catch {
    return {};
  }
  try {
    return JSON.parse(text) as Endpoints;
  } catch (error) {
    throw new HeadwaterError(
      'PROCESS_FILE_DAMAGED',
      { file: fileOf(dataDir), reason: String(error) },
      { cause: error },
    );
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The operator's own servers: the environment wins over the configuration. */
export function givenEndpoints(config: Config, env: Env): { nats?: Endpoints['nats']; databaseUrl?: string } {
  const url = env.NATS_URL || config.nats.url;
  const databaseUrl = env.DATABASE_URL || config.postgres.url;
  const { user, pass } = config.nats;
  return {
    ...(url ? { nats: { url, ...(user ? { user } : {}), ...(pass ? { pass } : {}) } } : {}),
    ...(databaseUrl ? { databaseUrl } : {}),
  };
}

/** The endpoints of a command or service: those given, else those of the `up` that runs. Throws PROCESS_NOT_RUNNING. */
export function findEndpoints(config: Config, env: Env): Endpoints {
  const found = { ...readEndpoints(config.dataDir), ...givenEndpoints(config, env) };
  if (!found.nats || !found.databaseUrl) throw new HeadwaterError('PROCESS_NOT_RUNNING', { folder: config.dataDir });
  return { nats: found.nats, databaseUrl: found.databaseUrl };
}
