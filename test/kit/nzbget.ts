import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Daemon, startDaemon } from './daemon.ts';
import { answers, freePorts } from './ports.ts';
import { until } from './until.ts';

export interface NzbgetOptions {
  /** The news server to download from. */
  readonly nntp: {
    readonly host: string;
    readonly port: number;
    readonly tls?: boolean;
    readonly account?: { readonly user: string; readonly pass: string };
    readonly connections?: number;
  };
  /** `auto` fetches recovery volumes only when something is damaged; `force` fetches and checks all. */
  readonly parCheck?: 'auto' | 'manual' | 'force';
}

/** An entry of nzbget's history, as far as tests look at it. */
export interface NzbgetHistory {
  readonly NZBID: number;
  readonly Name: string;
  readonly Kind: string;
  /** `SUCCESS/HEALTH`, `SUCCESS/PAR`, `FAILURE/HEALTH`, ... */
  readonly Status: string;
  readonly TotalArticles: number;
  readonly SuccessArticles: number;
  readonly FailedArticles: number;
  /** Where its files lie. */
  readonly DestDir: string;
}

export interface Nzbget {
  readonly port: number;
  readonly folder: string;
  /** Folder that holds one folder a finished download. */
  readonly destination: string;
  /** Hands in an NZB: its text, or an http(s) URL to fetch it from; there '' leaves the name to its server. Returns nzbget's id. */
  add(nzbOrUrl: string, name: string): Promise<number>;
  /** The history entry of `name` once it is there, whatever its status. Rejects after `deadlineMs` (default 60,000). */
  wait(name: string, deadlineMs?: number): Promise<NzbgetHistory>;
  history(): Promise<readonly NzbgetHistory[]>;
  /** Any JSON-RPC method. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
  /** Stops it and removes its folder. */
  dispose(): Promise<void>;
}

const CONTROL = { user: 'kit', pass: 'kitpass' };

/** Short retries and no health check, so that a damaged download ends within seconds instead of being paused. */
const FIXED = `WebDir=
ConfigTemplate=/usr/share/nzbget/nzbget.conf
OutputMode=loggable
ControlIP=127.0.0.1
ControlUsername=${CONTROL.user}
ControlPassword=${CONTROL.pass}
SecureControl=no
DaemonUsername=root
Server1.Active=yes
Server1.Name=kit
Server1.Level=0
Server1.JoinGroup=no
Server1.Retention=0
CertCheck=no
ArticleCache=0
ArticleRetries=1
ArticleInterval=1
ArticleTimeout=15
UrlRetries=1
UrlInterval=1
UrlTimeout=15
UrlForce=yes
NzbDirInterval=2
NzbDirFileAge=1
AppendCategoryDir=no
DupeCheck=no
FlushQueue=yes
ContinuePartial=no
CrcCheck=yes
DirectWrite=yes
WriteBuffer=256
HealthCheck=none
ParRepair=yes
ParScan=extended
ParRename=yes
RarRename=no
DirectRename=no
Unpack=no
DirectUnpack=no
UnpackCleanupDisk=no
ParCleanupQueue=no
ExtCleanupDisk=
KeepHistory=30
`;

function configuration(folder: string, port: number, options: NzbgetOptions): string {
  const { nntp } = options;
  return `MainDir=${folder}
DestDir=${folder}/dst
InterDir=${folder}/inter
NzbDir=${folder}/nzb
QueueDir=${folder}/queue
TempDir=${folder}/tmp
LogFile=${folder}/nzbget-main.log
LockFile=${folder}/nzbget.lock
ControlPort=${port}
Server1.Host=${nntp.host}
Server1.Port=${nntp.port}
Server1.Username=${nntp.account?.user ?? ''}
Server1.Password=${nntp.account?.pass ?? ''}
Server1.Encryption=${nntp.tls ? 'yes' : 'no'}
Server1.Connections=${nntp.connections ?? 4}
ParCheck=${options.parCheck ?? 'auto'}
${FIXED}`;
}

async function call(port: number, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/jsonrpc`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${CONTROL.user}:${CONTROL.pass}`).toString('base64')}`,
    },
    body: JSON.stringify({ method, params, id: 1 }),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: unknown };
  if (answer.error) throw new Error(`nzbget refused ${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
}

async function add(port: number, nzbOrUrl: string, name: string): Promise<number> {
  const isUrl = /^https?:/.test(nzbOrUrl);
  const content = isUrl ? nzbOrUrl : Buffer.from(nzbOrUrl).toString('base64');
  const flags = ['', 0, false, false, '', 0, 'FORCE', []];
  // Without a name the one in Content-Disposition counts; one that does not end in .nzb would be skipped.
  const id = await call(port, 'append', [name === '' ? '' : `${name}.nzb`, content, ...flags]);
  if (typeof id !== 'number' || id <= 0) throw new Error(`nzbget did not take ${name}: ${JSON.stringify(id)}`);
  return id;
}

/**
 * Starts nzbget without a page on a free loopback port, state in a temporary folder. Needs Debian's nzbget
 * (`requirement('nzbget')`).
 */
export async function startNzbget(options: NzbgetOptions): Promise<Nzbget> {
  if (spawnSync('nzbget', ['--version'], { stdio: 'ignore' }).error) {
    throw new Error('nzbget is not installed: npx tsx test/kit/install.ts nzbget');
  }
  const folder = mkdtempSync(join(tmpdir(), 'hw-nzbget-'));
  for (const name of ['dst', 'inter', 'nzb', 'queue', 'tmp']) mkdirSync(join(folder, name));
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'nzbget.conf');
  writeFileSync(file, configuration(folder, port, options));
  const daemon: Daemon = await startDaemon({ name: 'nzbget', program: 'nzbget', args: ['-s', '-c', file], folder });
  const stop = () => daemon.stop('SIGTERM', 10_000);
  const dispose = async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const listening = () => {
    if (!daemon.alive()) throw new Error(`it ended: ${daemon.tail()}`);
    return answers(port);
  };
  await until(`nzbget to answer on port ${port}`, listening, { deadlineMs: 20_000 }).catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  const history = async () => (await call(port, 'history', [])) as readonly NzbgetHistory[];
  const entry = async (name: string) => (await history()).find((item) => item.Kind === 'NZB' && item.Name === name);
  return {
    port,
    folder,
    destination: join(folder, 'dst'),
    add: (nzbOrUrl, name) => add(port, nzbOrUrl, name),
    wait: (name, deadlineMs = 60_000) =>
      until(`nzbget to finish ${name}`, () => entry(name), { deadlineMs, everyMs: 200 }),
    history,
    rpc: (method, params = []) => call(port, method, params),
    stop,
    dispose,
  };
}
