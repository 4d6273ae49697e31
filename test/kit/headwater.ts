import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../infra/config/index.ts';
import { gatherStatus } from '../../infra/processes/commands/status.ts';
import type { StatusView } from '../../infra/processes/commands/statusView.ts';
import { findEndpoints } from '../../infra/processes/endpoints.ts';
import { readServiceViews } from '../../infra/processes/serviceFile.ts';
import { asUser } from './daemon.ts';
import { type Answer, ask, type Feed, type FeedItem, parseFeed } from './newznabClient.ts';
import { freePorts } from './ports.ts';
import { isSameRunning, killAll, type ProcessInfo, processInfo, processTree } from './processTree.ts';
import { type CliResult, freshestProgram, type ProgramKind, programArguments, runNode } from './program.ts';
import { natsCache, ownFolder, removeAbandoned, temporaryFolder } from './services.ts';
import { until } from './until.ts';

export interface HeadwaterOptions {
  /** headwater.yaml as data; `dataDir` and `api.port` are filled in. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Options of `up` itself. */
  readonly upArguments?: readonly string[];
  /** Default: the compiled program when it is up to date, else the sources. */
  readonly program?: ProgramKind;
  /** From the start of `up` to its banner; default 120,000 ms. */
  readonly startDeadlineMs?: number;
}

type Victim = StatusView['services'][number]['service'];

/**
 * The whole product as an operator runs it: `headwater up` in a temporary folder on free ports, with the servers and
 * services that it starts. Always `dispose` it, also after a failure; a run that was killed is cleared by the next one.
 */
export interface Headwater {
  /** Working folder, with headwater.yaml and `data`. HEADWATER_TEST_KEEP=1 keeps it for a look. */
  readonly folder: string;
  readonly dataDir: string;
  readonly configFile: string;
  /** Of the last start. */
  readonly address: string;
  readonly key: string;
  /** From the start of the process to the end of its banner, ms. */
  readonly startMs: number;
  /** What `up` printed, over all starts. */
  output(): string;
  upPid(): number;
  /** Pids from what the product itself wrote down; throw when it did not. */
  servicePid(name: Victim): number;
  natsPid(): number;
  postgresPid(): number;
  /** `up` and everything below it that runs now. */
  processes(): readonly ProcessInfo[];
  cli(args: readonly string[], options?: { deadlineMs?: number; onStart?: (pid: number) => void }): Promise<CliResult>;
  /** `headwater status --json`. */
  status(): Promise<{ readonly code: number | null; readonly view: StatusView }>;
  /** The same view gathered in this process: cheap enough to poll. */
  look(): Promise<StatusView>;
  databaseUrl(): string;
  request(parameters: Readonly<Record<string, string | number>>): Promise<Answer>;
  /** One page of t=search with every attribute. */
  search(parameters?: Readonly<Record<string, string | number>>): Promise<Feed>;
  /** Every item of a search, page by page. */
  searchAll(parameters?: Readonly<Record<string, string | number>>): Promise<readonly FeedItem[]>;
  /** Text of t=get; rejects on any other answer than an NZB. */
  get(id: string): Promise<string>;
  /** Waits until `done` holds, no range is outstanding, no projection lags, and nobody appends anything to the catalog any more. */
  untilIdle(options?: { done?: (view: StatusView) => boolean; deadlineMs?: number }): Promise<StatusView>;
  /** Ctrl-C; resolves with the exit code of `up`. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<number | null>;
  /** SIGKILL to every process at once. */
  kill(): Promise<void>;
  /** `up` again on the same folder, after `stop` or `kill`. */
  start(): Promise<void>;
  /** The JSON log lines of a service (or `up`), as text. */
  log(service: string): string;
  /** For the message of a failure: what status says and the ends of all logs. */
  diagnostics(): Promise<string>;
  dispose(): Promise<void>;
}

const OUTSTANDING = ['planned', 'fetched'] as const;
const STOP_DEADLINE_MS = 60_000;

/** No range waits to be fetched or parsed, and every projection is at the end of its stream. */
export const isIdle = (view: StatusView): boolean =>
  view.ranges !== null &&
  view.streams.length > 0 &&
  view.projections.length > 0 &&
  OUTSTANDING.every((state) => (view.ranges?.[state] ?? 0) === 0) &&
  view.projections.every((p) => p.lag === 0);

/** What a status says in a line, for the message of a wait that was in vain. */
export function briefly(view: StatusView): string {
  const ranges = Object.entries(view.ranges ?? {}).map(([state, n]) => `${n} ${state}`);
  const behind = view.projections.filter((p) => p.lag > 0).map((p) => `${p.projection} ${p.lag} behind`);
  const notReady = view.services.filter((s) => s.state !== 'ready').map((s) => `${s.service} ${s.state}`);
  const wrong = view.conditions.map((c) => `${c.about} ${c.code}`);
  return [`ranges: ${ranges.join(', ') || 'none'}`, ...behind, ...notReady, ...wrong].join('; ');
}

/** How long nothing may be appended: several rounds of the processors that look for work by themselves. */
const QUIET_MS = 3000;
const streamEnds = (view: StatusView): string =>
  view.streams
    .filter(({ stream }) => /^(?:RELEASES|CHUNKS)/.test(stream))
    .map(({ stream, last }) => `${stream} ${last}`)
    .join(', ');

const pidIn = (file: string): number => {
  const { server } = JSON.parse(readFileSync(file, 'utf8')) as { server?: { pid?: number } };
  if (!server?.pid) throw new Error(`${file} names no server`);
  return server.pid;
};

const tail = (text: string, lines: number): string => text.trimEnd().split('\n').slice(-lines).join('\n');

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

class Running implements Headwater {
  readonly folder: string;
  readonly dataDir: string;
  readonly configFile: string;
  address = '';
  key = '';
  startMs = 0;
  readonly #options: HeadwaterOptions;
  readonly #program: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #outputFile: string;
  #up: ChildProcess | null = null;
  #exit: Promise<number | null> = Promise.resolve(null);
  /** Everything that was ever seen to run for us: what `dispose` must find ended. */
  readonly #seen = new Map<string, ProcessInfo>();

  constructor(folder: string, port: number, options: HeadwaterOptions) {
    this.folder = folder;
    this.dataDir = join(folder, 'data');
    this.configFile = join(folder, 'headwater.yaml');
    this.#outputFile = join(folder, 'up.out');
    this.#options = options;
    this.#program = programArguments(options.program ?? freshestProgram());
    // The operator's own servers must not leak into a test; what was downloaded once is used by all.
    const { NATS_URL, DATABASE_URL, HEADWATER_CONFIG, NODE_OPTIONS, ...inherited } = process.env;
    this.#env = { ...inherited, HEADWATER_NATS_CACHE: natsCache(), ...options.env };
    const { api, ...config } = options.config ?? {};
    const all = { ...config, dataDir: 'data', api: { port, ...(api as object | undefined) } };
    // JSON is YAML.
    writeFileSync(this.configFile, JSON.stringify(all, null, 2));
  }

  async start(): Promise<void> {
    if (this.#up?.pid !== undefined && processInfo(this.#up.pid)) throw new Error('headwater up runs already');
    const startedAt = performance.now();
    const from = this.output().length;
    const output = openSync(this.#outputFile, 'a', 0o644);
    const command = [...this.#program, '--config', this.configFile, 'up', ...(this.#options.upArguments ?? [])];
    const [program, args] = asUser(undefined, process.execPath, command);
    const stdio: ['ignore', number, number] = ['ignore', output, output];
    const child = spawn(program, args, { cwd: this.folder, env: this.#env, detached: true, stdio });
    closeSync(output);
    this.#up = child;
    this.#exit = new Promise((resolve) => {
      child.once('error', () => resolve(null));
      child.once('exit', (code) => resolve(code));
    });
    const banner = () => {
      const text = this.output().slice(from);
      if (text.includes('Ctrl-C stops everything.')) return text;
      if (child.exitCode !== null || child.signalCode !== null) return `ended: ${text}`;
      return null;
    };
    const deadlineMs = this.#options.startDeadlineMs ?? 120_000;
    const text = await until('the banner of headwater up', banner, { deadlineMs, everyMs: 50 }).catch(
      async (error: Error) => {
        throw new Error(`${error.message}\n${await this.diagnostics()}`);
      },
    );
    this.startMs = Math.round(performance.now() - startedAt);
    this.address = /^ {2}address +(\S+)$/m.exec(text)?.[1] ?? '';
    this.key = /^ {2}API key +(\S+)/m.exec(text)?.[1] ?? '';
    this.processes();
    if (!this.address || !this.key) throw new Error(`headwater up did not start: ${text}\n${await this.diagnostics()}`);
  }

  output(): string {
    return readOr(this.#outputFile);
  }

  upPid(): number {
    const pid = this.#up?.pid;
    if (pid === undefined) throw new Error('headwater up was not started');
    return pid;
  }

  servicePid(name: Victim): number {
    const view = readServiceViews(this.dataDir).find((v) => v.service === name);
    if (!view || processInfo(view.pid) === null) throw new Error(`the service ${name} does not run`);
    return view.pid;
  }

  natsPid(): number {
    return pidIn(join(this.dataDir, 'runtime/nats.pid.json'));
  }

  postgresPid(): number {
    return pidIn(join(this.dataDir, 'runtime/postgres.pid.json'));
  }

  processes(): readonly ProcessInfo[] {
    const found = this.#up?.pid === undefined ? [] : processTree(this.#up.pid);
    for (const info of found) this.#seen.set(`${info.pid}/${info.startTicks}`, info);
    return found;
  }

  /** What of ours still runs, also when `up` is gone and it belongs to nobody. */
  #left(): readonly ProcessInfo[] {
    this.processes();
    return [...this.#seen.values()].filter(isSameRunning);
  }

  cli(
    args: readonly string[],
    options: { deadlineMs?: number; onStart?: (pid: number) => void } = {},
  ): Promise<CliResult> {
    return runNode({
      args: [...this.#program, '--config', this.configFile, ...args],
      cwd: this.folder,
      env: this.#env,
      deadlineMs: options.deadlineMs ?? 120_000,
      onStart: options.onStart,
    });
  }

  async status(): Promise<{ code: number | null; view: StatusView }> {
    const { code, stdout, stderr } = await this.cli(['status', '--json']);
    if (!stdout.startsWith('{')) throw new Error(`status --json printed ${stdout}${stderr}`);
    return { code, view: JSON.parse(stdout) as StatusView };
  }

  #config(): Config {
    const { config } = loadConfig({ path: this.configFile, env: this.#env, cwd: this.folder });
    return { ...config, dataDir: this.dataDir };
  }

  look(): Promise<StatusView> {
    const signal = AbortSignal.timeout(20_000);
    const surroundings = { env: this.#env, print: () => {}, isTerminal: false, signal };
    return gatherStatus({ config: this.#config(), configFile: this.configFile, ...surroundings });
  }

  databaseUrl(): string {
    return findEndpoints(this.#config(), this.#env).databaseUrl;
  }

  request(parameters: Readonly<Record<string, string | number>>): Promise<Answer> {
    return ask(this.address, { apikey: this.key, ...parameters });
  }

  async search(parameters: Readonly<Record<string, string | number>> = {}): Promise<Feed> {
    const { status, text } = await this.request({ t: 'search', extended: 1, ...parameters });
    if (status !== 200) throw new Error(`t=search answered ${status}: ${text}`);
    return parseFeed(text);
  }

  async searchAll(parameters: Readonly<Record<string, string | number>> = {}): Promise<readonly FeedItem[]> {
    const items: FeedItem[] = [];
    for (;;) {
      const page = await this.search({ ...parameters, limit: 100, offset: items.length });
      items.push(...page.items);
      if (page.items.length === 0 || items.length >= page.total) return items;
    }
  }

  async get(id: string): Promise<string> {
    const { status, type, text } = await this.request({ t: 'get', id });
    if (status !== 200 || !type.startsWith('application/x-nzb')) {
      throw new Error(`t=get of ${id} answered ${status} ${type}: ${text.slice(0, 300)}`);
    }
    return text;
  }

  async untilIdle(options: { done?: (view: StatusView) => boolean; deadlineMs?: number } = {}): Promise<StatusView> {
    let quiet = { since: 0, ends: '' };
    const atRest = async () => {
      const view = await this.look();
      const ends = isIdle(view) && (options.done?.(view) ?? true) ? streamEnds(view) : '';
      if (ends === '' || ends !== quiet.ends) quiet = { since: performance.now(), ends };
      if (ends === '' || performance.now() - quiet.since < QUIET_MS) throw new Error(briefly(view));
      return view;
    };
    const { deadlineMs = 120_000 } = options;
    return until('Headwater to be idle', atRest, { deadlineMs, everyMs: 300 }).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await this.diagnostics()}`);
    });
  }

  async stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<number | null> {
    this.processes();
    const up = this.#up;
    if (up?.pid !== undefined && up.exitCode === null && up.signalCode === null) process.kill(up.pid, signal);
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`headwater up did not end on ${signal}`)), STOP_DEADLINE_MS).unref();
    });
    return Promise.race([this.#exit, late]);
  }

  async kill(): Promise<void> {
    // `up` comes first in the tree: it must not start anew what dies after it.
    killAll(this.processes());
    await until('everything that was killed to end', () => this.#left().length === 0);
  }

  log(service: string): string {
    return readOr(join(this.dataDir, 'logs', `${service}.log`));
  }

  async diagnostics(): Promise<string> {
    const view = await this.look().then(
      (v) => JSON.stringify(v, null, 1),
      (error: unknown) => `no status: ${String(error)}`,
    );
    let logs: string[] = [];
    try {
      logs = readdirSync(join(this.dataDir, 'logs')).filter((name) => name.endsWith('.log'));
    } catch {
      // It ended before it made the folder.
    }
    const ends = logs.map((name) => `== ${name}\n${tail(readOr(join(this.dataDir, 'logs', name)), 12)}`);
    return [`== up\n${tail(this.output(), 30)}`, `== status\n${view}`, ...ends].join('\n');
  }

  async dispose(): Promise<void> {
    await this.stop('SIGTERM').catch(() => {});
    killAll(this.#left());
    await this.cli(['down']).catch(() => {});
    killAll(this.#left());
    if (process.env.HEADWATER_TEST_KEEP) console.log(`kept: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Starts it and waits for its banner. Rejects, after clearing up, with the end of every log when it does not come. */
export async function startHeadwater(options: HeadwaterOptions = {}): Promise<Headwater> {
  await removeAbandoned();
  const folder = await temporaryFolder();
  await ownFolder(folder);
  const [port = 0] = await freePorts(1);
  const running = new Running(folder, port, options);
  try {
    await running.start();
  } catch (error) {
    await running.dispose();
    throw error;
  }
  return running;
}
