import { accessSync, constants, statfsSync } from 'node:fs';
import { HeadwaterError, isHeadwaterError } from '../../base/errors/index.ts';
import { loadConfig, type Provider, providersOf, unsetVariable } from '../../config/index.ts';
import { makeFolder } from '../../embedded/makeFolder.ts';
import { describeDurability, readDurability } from '../../nats/index.ts';
import { VERSION } from '../build.ts';
import { type Endpoints, givenEndpoints, knownEndpoints } from '../endpoints.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, withDatabase, withNats } from './client.ts';
import { type Asking, withAccounts, withProvider } from './providerPool.ts';
import { bytesText } from './table.ts';

/** One finding: what was looked at, how it is, and what to do when it is not well. */
export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly text: string;
  readonly todo?: string;
}

const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text });
const warn = (check: string, text: string, todo: string): Finding => ({ check, level: 'warn', text, todo });
const fail = (check: string, text: string, todo: string): Finding => ({ check, level: 'fail', text, todo });

const failedBy = (check: string, error: unknown): Finding =>
  error instanceof HeadwaterError
    ? fail(check, error.message, error.hint)
    : fail(check, (error as Error).message, 'This is a defect of Headwater: please report it.');

async function attempt(check: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return failedBy(check, error);
  }
}

const NODE_MIN = [20, 20, 0] as const;

export function checkNode(version: string): Finding {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  const first = NODE_MIN.findIndex((n, i) => (parts[i] ?? 0) !== n);
  const enough = first === -1 || (parts[first] ?? 0) > NODE_MIN[first]!;
  const text = `Node ${version}, Headwater ${VERSION}`;
  return enough ? ok('node', text) : fail('node', text, `Install Node ${NODE_MIN.join('.')} or newer.`);
}

const FREE_SHARE_MIN = 0.1;

async function checkDisk({ config }: CommandContext): Promise<Finding> {
  const folder = config.dataDir;
  try {
    await makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    return fail(
      'disk',
      `${folder}: ${(error as Error).message}`,
      'Set dataDir in headwater.yaml to a folder that this user may write.',
    );
  }
  const { bavail, blocks, bsize } = statfsSync(folder);
  const text = `${bytesText(bavail * bsize)} free of ${bytesText(blocks * bsize)} for ${folder}`;
  if (bavail / blocks >= FREE_SHARE_MIN) return ok('disk', text);
  return warn('disk', text, 'Fetching stops below 10 % free space, parsing below 3 %: make room.');
}

const notStarted = (check: string): Finding => ok(check, 'embedded, not running now: `make up` starts it');

type Server = keyof Endpoints;

/**
 * Looks at a server of the operator's, or at the embedded one of an `up` that runs. One that does not run yet is no fault:
 * `up` starts it; and the endpoints file outlives the `up` that wrote it.
 */
function checkServer(
  check: string,
  server: Server,
  { config, env }: CommandContext,
  look: (endpoints: Endpoints) => Promise<Finding>,
): Promise<Finding> {
  return attempt(check, async () => {
    const known = knownEndpoints(config, env);
    if (known[server] === undefined) return notStarted(check);
    // The other server may not be known: it is not looked at here.
    const finding = await attempt(check, () => look({ nats: { url: '' }, databaseUrl: '', ...known }));
    const isGiven = givenEndpoints(config, env)[server] !== undefined;
    return finding.level === 'fail' && !isGiven ? notStarted(check) : finding;
  });
}

const checkNats = (context: CommandContext): Promise<Finding> =>
  checkServer('nats', 'nats', context, (endpoints) =>
    withNats(
      context,
      async ({ link }) => {
        const durability = await readDurability(endpoints.nats.monitorUrl ?? null);
        const text = `NATS ${link.serverVersion} at ${link.url}: ${describeDurability(durability)}`;
        if (durability.kind !== 'interval') return ok('nats', text);
        return warn('nats', text, 'Set `sync_interval: always` in the jetstream block of its configuration.');
      },
      endpoints,
    ),
  );

const checkPostgres = (context: CommandContext): Promise<Finding> =>
  checkServer('postgres', 'databaseUrl', context, (endpoints) =>
    withDatabase(
      context,
      async (db) => {
        const [row] = await db.query<{ version: string; size: number }>(
          `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS size`,
        );
        return ok('postgres', `PostgreSQL ${row?.version}, the database takes ${bytesText(Number(row?.size))}`);
      },
      endpoints,
    ),
  );

/** The context came without insisting on secrets, so that a missing one is a finding and not the end. */
const checkConfiguration = ({ configFile, env }: CommandContext): Promise<Finding> =>
  attempt('configuration', async () => {
    if (configFile === null) return ok('configuration', 'no headwater.yaml: every default holds');
    loadConfig({ path: configFile, env, cwd: process.cwd(), secrets: 'required' });
    return ok('configuration', configFile);
  });

/** A range that is being read may take longer: then the account is in use, which says that it works. */
const IN_USE_MS = 5000;

/** Connects, logs in and asks for what fetching needs. */
function checkProvider(provider: Provider, asking: Asking): Promise<Finding> {
  const check = `provider/${provider.name}`;
  const unset = unsetVariable(provider.user) ?? unsetVariable(provider.pass);
  if (unset !== null) {
    const todo = `Set the environment variable ${unset}, then ask again.`;
    return Promise.resolve(fail(check, 'not asked: its login is not known here', todo));
  }
  return attempt(check, async () => {
    const format = await withProvider(provider, asking, (connection) => connection.overviewFormat()).catch(noneFree);
    if (format === null) {
      const busy = `all ${provider.connections} connections that its account may have are in use by Headwater`;
      return ok(check, `${provider.host}:${provider.port} was not asked: ${busy}`);
    }
    const login = provider.user === undefined ? '' : ' and takes the login';
    const text = `${provider.host}:${provider.port} answers${login}; ${format.fields.length} overview fields`;
    if (!provider.insecure) return ok(check, text);
    return warn(
      check,
      `${text}; its certificate is not checked`,
      'Take `insecure` out, or name the certificate with `ca`.',
    );
  });
}

function noneFree(error: unknown): null {
  if (isHeadwaterError(error, 'PROVIDER_IN_USE')) return null;
  throw error;
}

const checkProviders = (context: CommandContext, providers: readonly Provider[]): Promise<readonly Finding[]> =>
  withAccounts(context, (accounts) => {
    const asking = { accounts, waitMs: IN_USE_MS, signal: context.signal };
    return Promise.all(providers.map((p) => checkProvider(p, asking)));
  });

export async function examine(context: CommandContext): Promise<readonly Finding[]> {
  const providers = providersOf(context.config);
  const none = warn(
    'providers',
    'no news server is configured',
    'Add one under `providers` in headwater.yaml (infra/config/headwater.example.yaml is a start).',
  );
  return [
    checkNode(process.version),
    await checkConfiguration(context),
    await checkDisk(context),
    await checkNats(context),
    await checkPostgres(context),
    ...(providers.length === 0 ? [none] : await checkProviders(context, providers)),
  ];
}

const MARKS = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

/** `headwater doctor`: looks at everything Headwater stands on. Warnings leave the exit code 0. */
export async function doctorCommand(context: CommandContext, json: boolean): Promise<ExitCode> {
  const findings = await examine(context);
  if (json) context.print(JSON.stringify(findings, null, 2));
  else {
    for (const f of findings) {
      context.print(`${MARKS[f.level]}  ${f.check}: ${f.text}`);
      if (f.todo) context.print(`      ${f.todo}`);
    }
  }
  return findings.some((f) => f.level === 'fail') ? EXIT.unhealthy : EXIT.ok;
}
