import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { asUser, type Daemon, isRoot, startDaemon } from './daemon.ts';
import {
  CNFS_KIB,
  cnfsBuffer,
  INN_CONTROL_GROUPS,
  INN_FOLDERS,
  type InnLayout,
  innConfiguration,
} from './innConfig.ts';
import { answers, freePorts } from './ports.ts';
import { until } from './until.ts';

const BIN = '/usr/lib/news/bin';
/** Unix socket paths end at 107 bytes; INN puts names of up to 20 characters into `run/`. */
const LONGEST_FOLDER = 80;

export interface Account {
  readonly user: string;
  readonly pass: string;
}

export interface InnOptions {
  /** Groups to begin with (default `alt.binaries.test`); `addGroup` makes more. */
  readonly groups?: readonly string[];
  readonly account?: Account;
  /** Default tradspool; cnfs takes articles faster and in one file. */
  readonly storage?: 'tradspool' | 'cnfs';
  /** Default false: overview lines that `overchan` loaded are served without articles behind them. */
  readonly checkArticles?: boolean;
}

/** A running INN on loopback. Reading is open on `port` and `tlsPort`; `authPort` answers 480 before a login. */
export interface Inn {
  readonly host: string;
  /** nnrpd, plain; offers STARTTLS, AUTHINFO and POST. */
  readonly port: number;
  /** nnrpd, TLS from the first byte, with the certificate `ca`. */
  readonly tlsPort: number;
  /** nnrpd, plain, login required. */
  readonly authPort: number;
  /** innd itself: IHAVE, CHECK, TAKETHIS. */
  readonly feedPort: number;
  readonly account: Account;
  /** Path of the self-signed certificate (localhost, 127.0.0.1), to be trusted as a CA. */
  readonly ca: string;
  /** Folder that holds all of its state; its logs are `*.log` there. */
  readonly folder: string;
  addGroup(name: string): Promise<void>;
  /** Runs `ctlinnd` with these arguments; returns what it printed. */
  ctl(...args: string[]): Promise<string>;
  /** Loads overview lines (see `overviewForInn.ts`) and renumbers. The groups of their Xref must exist. */
  overchan(
    lines: string | Iterable<string> | AsyncIterable<string>,
  ): Promise<{ readonly refused: number; readonly complaints: string }>;
  /** Replaces the accounts that may log in. */
  users(...accounts: Account[]): void;
  stop(): Promise<void>;
  /** SIGKILL to everything, as a crash. */
  kill(): Promise<void>;
  /** Again after `stop` or `kill`: same ports, same articles. */
  start(): Promise<void>;
  /** Only the three nnrpd; innd stays. */
  stopReaders(): Promise<void>;
  startReaders(): Promise<void>;
  /** Kills it and removes its folder. */
  dispose(): Promise<void>;
}

const execute = promisify(execFile);

function ownerName(): string {
  return isRoot() ? 'news' : userInfo().username;
}

/** A short temporary folder that INN's user may enter (mkdtemp makes folders that only their owner may). */
function stateFolder(user: string): string {
  const made = mkdtempSync(join(tmpdir(), 'hw-inn-'));
  chmodSync(made, 0o755);
  const [program, args] = asUser(user, 'test', ['-x', made]);
  if (spawnSync(program, args).status !== 0) throw new Error(`user ${user} cannot enter ${made}: set TMPDIR elsewhere`);
  if (made.length > LONGEST_FOLDER) throw new Error(`${made} is too long for unix sockets: set a shorter TMPDIR`);
  return made;
}

function selfSigned(folder: string): void {
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=localhost'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  execFileSync('openssl', [...args, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', ...files], {
    stdio: 'ignore',
  });
  chmodSync(join(folder, 'key.pem'), 0o600);
}

function writeUsers(folder: string, accounts: readonly Account[]): void {
  const hash = (pass: string) =>
    execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: `${pass}\n`, encoding: 'utf8' }).trim();
  const file = join(folder, 'etc/users');
  writeFileSync(file, accounts.map(({ user, pass }) => `${user}:${hash(pass)}\n`).join(''), { mode: 0o644 });
}

/** Lays out a fresh INN: configuration, certificate, groups, an empty history. */
function prepare(layout: InnLayout, groups: readonly string[], account: Account): void {
  const { folder, user } = layout;
  for (const name of INN_FOLDERS) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(innConfiguration(layout))) writeFileSync(join(folder, 'etc', name), text);
  writeUsers(folder, [account]);
  selfSigned(join(folder, 'tls'));
  if (layout.storage === 'cnfs') {
    writeFileSync(cnfsBuffer(folder), '');
    truncateSync(cnfsBuffer(folder), CNFS_KIB * 1024);
  }
  const active = (name: string, flag: string) => `${name} 0000000000 0000000001 ${flag}\n`;
  writeFileSync(
    join(folder, 'db/active'),
    [...INN_CONTROL_GROUPS.map((g) => active(g, 'n')), ...groups.map((g) => active(g, 'y'))].join(''),
  );
  writeFileSync(join(folder, 'db/newsgroups'), groups.map((g) => `${g}\tTest group\n`).join(''));
  writeFileSync(join(folder, 'db/active.times'), '');
  writeFileSync(join(folder, 'db/history'), '');
  if (isRoot()) execFileSync('chown', ['-R', `${user}:${user}`, folder]);
  const [program, args] = asUser(user, `${BIN}/makedbz`, ['-i', '-o', '-s', '200000']);
  execFileSync(program, args, { cwd: join(folder, 'db'), env: environment(folder), stdio: 'ignore' });
}

const environment = (folder: string): NodeJS.ProcessEnv => ({ ...process.env, INNCONF: join(folder, 'etc/inn.conf') });

/** Sockets and pid files of a crashed run keep innd from starting. */
function clearRun(folder: string): void {
  for (const name of readdirSync(join(folder, 'run'))) rmSync(join(folder, 'run', name), { force: true });
}

async function waitForPort(daemon: Daemon, port: number): Promise<void> {
  await until(
    `${daemon.name} to answer on port ${port}`,
    () => {
      if (!daemon.alive()) throw new Error(`it ended: ${daemon.tail()}`);
      return answers(port);
    },
    { deadlineMs: 30_000 },
  );
}

/** overchan's remark on every run beside a living innd, which is allowed. */
const RUNS_BESIDE_INND = 'running while innd is';

async function load(folder: string, user: string, lines: string | Iterable<string> | AsyncIterable<string>) {
  const [program, args] = asUser(user, `${BIN}/overchan`, ['-']);
  const child = spawn(program, args, { env: environment(folder), stdio: ['pipe', 'ignore', 'pipe'] });
  let refused = 0;
  let complaints = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.includes(RUNS_BESIDE_INND)) return;
    refused++;
    if (complaints.length < 2000) complaints += `${line}\n`;
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  await pipeline(typeof lines === 'string' ? Readable.from([lines]) : Readable.from(lines), child.stdin);
  const code = await ended;
  if (code !== 0) throw new Error(`overchan ended with ${code}: ${complaints}`);
  return { refused, complaints };
}

class InnServer implements Inn {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly tlsPort: number;
  readonly authPort: number;
  readonly feedPort: number;
  readonly account: Account;
  readonly ca: string;
  readonly folder: string;
  readonly #user: string;
  #innd: Daemon | null = null;
  #readers: Daemon[] = [];

  constructor(layout: InnLayout, ports: readonly number[], account: Account) {
    this.folder = layout.folder;
    this.#user = layout.user;
    this.feedPort = layout.feedPort;
    [this.port = 0, this.tlsPort = 0, this.authPort = 0] = ports;
    this.account = account;
    this.ca = join(layout.folder, 'tls/cert.pem');
  }

  #daemon(name: string, program: string, args: readonly string[]): Promise<Daemon> {
    const env = environment(this.folder);
    return startDaemon({ name, program: `${BIN}/${program}`, args, folder: this.folder, user: this.#user, env });
  }

  async start(): Promise<void> {
    if (this.#innd?.alive()) throw new Error('innd runs already');
    clearRun(this.folder);
    this.#innd = await this.#daemon('innd', 'innd', ['-f']);
    await waitForPort(this.#innd, this.feedPort);
    await this.startReaders();
  }

  async startReaders(): Promise<void> {
    if (this.#readers.some((reader) => reader.alive())) throw new Error('nnrpd runs already');
    const etc = (name: string) => join(this.folder, 'etc', name);
    const one = async (name: string, port: number, extra: readonly string[], config: string) => {
      const args = ['-D', '-f', '-n', ...extra, '-4', this.host, '-p', String(port), '-c', etc(config)];
      const daemon = await this.#daemon(name, 'nnrpd', args);
      this.#readers.push(daemon);
      await waitForPort(daemon, port);
    };
    this.#readers = [];
    await Promise.all([
      one('nnrpd', this.port, [], 'readers.conf'),
      one('nnrpd-tls', this.tlsPort, ['-S'], 'readers.conf'),
      one('nnrpd-auth', this.authPort, [], 'readers-auth.conf'),
    ]);
  }

  async #endReaders(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.stop(signal, 3000)));
    this.#readers = [];
  }

  stopReaders(): Promise<void> {
    return this.#endReaders('SIGTERM');
  }

  async stop(): Promise<void> {
    await this.stopReaders();
    // innd writes its files when told to shut down; the signal that follows is for one that did not listen.
    if (this.#innd?.alive()) await this.ctl('-t', '20', 'shutdown', 'kit').catch(() => undefined);
    await this.#innd?.stop('SIGTERM', 10_000);
    this.#innd = null;
  }

  async kill(): Promise<void> {
    await Promise.all([this.#endReaders('SIGKILL'), this.#innd?.stop('SIGKILL', 10_000)]);
    this.#innd = null;
  }

  async ctl(...args: string[]): Promise<string> {
    const [program, all] = asUser(this.#user, `${BIN}/ctlinnd`, args);
    const { stdout } = await execute(program, all, { env: environment(this.folder), cwd: this.folder });
    return stdout;
  }

  async addGroup(name: string): Promise<void> {
    await this.ctl('newgroup', name, 'y', 'kit');
  }

  async overchan(
    lines: string | Iterable<string> | AsyncIterable<string>,
  ): Promise<{ refused: number; complaints: string }> {
    const result = await load(this.folder, this.#user, lines);
    // GROUP knows the new marks at once, LIST ACTIVE only after this.
    await this.ctl('renumber', '');
    return result;
  }

  users(...accounts: Account[]): void {
    writeUsers(this.folder, accounts);
  }

  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Starts INN (innd and three nnrpd) on free loopback ports, with all its state in a temporary folder. Needs Debian's
 * inn2 (`requirement('inn2')`). Rejects with the end of the daemon's output when it does not come up.
 */
export async function startInn(options: InnOptions = {}): Promise<Inn> {
  if (!existsSync(`${BIN}/innd`)) throw new Error('inn2 is not installed: npx tsx test/kit/install.ts inn2');
  const user = ownerName();
  const account = options.account ?? { user: 'reader', pass: 'readerpass' };
  const [feedPort = 0, ...ports] = await freePorts(4);
  const layout: InnLayout = {
    folder: stateFolder(user),
    bin: BIN,
    user,
    feedPort,
    storage: options.storage ?? 'tradspool',
    checkArticles: options.checkArticles ?? false,
  };
  prepare(layout, options.groups ?? ['alt.binaries.test'], account);
  const inn = new InnServer(layout, ports, account);
  try {
    await inn.start();
  } catch (error) {
    await inn.dispose();
    throw error;
  }
  return inn;
}
