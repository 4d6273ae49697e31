import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadwaterError } from '../base/errors/index.ts';
import { addressProblem, type Config, unsetVariable } from '../config/index.ts';
import { folderIdentity, isOfFolder } from '../embedded/folderIdentity.ts';

/** Where the event log and the database are, and what opens them. */
export interface Endpoints {
  readonly nats: { readonly url: string; readonly user?: string; readonly pass?: string; readonly monitorUrl?: string };
  readonly databaseUrl: string;
}

const fileOf = (dataDir: string): string => join(dataDir, 'runtime', 'endpoints.json');

/** Written by `up` for the embedded servers: mode 0600, it holds their passwords. */
export function writeEndpoints(dataDir: string, endpoints: Endpoints): void {
  const text = JSON.stringify({ ...endpoints, folder: folderIdentity(dataDir) }, null, 2);
  writeFileSync(fileOf(dataDir), text, { mode: 0o600 });
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
    const { folder, ...endpoints } = JSON.parse(text);
    return isOfFolder(dataDir, { folder }) ? (endpoints as Endpoints) : {};
  } catch (error) {
    throw new HeadwaterError(
      'PROCESS_FILE_DAMAGED',
      { file: fileOf(dataDir), reason: String(error) },
      { cause: error },
    );
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** Throws CONFIG_WRONG_VALUE for an address of the environment that is none, CONFIG_MISSING_SECRET for a variable that is not set. */
function checkAddress(
  server: 'nats' | 'postgres',
  variable: string,
  env: Env,
  given: readonly (string | undefined)[],
): void {
  const fromEnv = env[variable];
  const reason = fromEnv ? addressProblem(server, fromEnv) : null;
  if (reason !== null)
    throw new HeadwaterError('CONFIG_WRONG_VALUE', { file: 'the environment', key: variable, reason });
  const unset = given.map(unsetVariable).find((name) => name !== null);
  if (unset === undefined) return;
  throw new HeadwaterError('CONFIG_MISSING_SECRET', { file: 'the configuration', key: server, variable: unset });
}

/**
 * The operator's own servers: the environment wins over the configuration. Throws CONFIG_WRONG_VALUE and
 * CONFIG_MISSING_SECRET.
 */
export function givenEndpoints(config: Config, env: Env): Partial<Endpoints> {
  const url = env.NATS_URL || config.nats.url;
  const databaseUrl = env.DATABASE_URL || config.postgres.url;
  const { user, pass } = config.nats;
  if (url) checkAddress('nats', 'NATS_URL', env, [url, user, pass]);
  if (databaseUrl) checkAddress('postgres', 'DATABASE_URL', env, [databaseUrl]);
  return {
    ...(url ? { nats: { url, ...(user ? { user } : {}), ...(pass ? { pass } : {}) } } : {}),
    ...(databaseUrl ? { databaseUrl } : {}),
  };
}

/** What is known of the two servers: those given, else those of the `up` that runs. */
export const knownEndpoints = (config: Config, env: Env): Partial<Endpoints> => ({
  ...readEndpoints(config.dataDir),
  ...givenEndpoints(config, env),
});

/** The endpoints of a command or service: both of those that are known. Throws PROCESS_NOT_RUNNING. */
export function findEndpoints(config: Config, env: Env): Endpoints {
  const { nats, databaseUrl } = knownEndpoints(config, env);
  if (!nats || !databaseUrl) throw new HeadwaterError('PROCESS_NOT_RUNNING', { folder: config.dataDir });
  return { nats, databaseUrl };
}
