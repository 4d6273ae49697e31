import { describe, expect, test } from 'vitest';
import { silentLog } from '../../infra/base/log.ts';
import { type Account, postgresAccount, type SystemUsers } from '../../infra/embedded/account.ts';
import { choosePackage } from '../../infra/embedded/aptInstall.ts';
import { chooseBinary, findNatsBinary } from '../../infra/embedded/natsBinary.ts';
import { defaultMaxFileBytes, natsConfig } from '../../infra/embedded/natsConfig.ts';
import { choosePort } from '../../infra/embedded/ports.ts';
import { choosePostgres, findPostgresBinaries } from '../../infra/embedded/postgresBinary.ts';
import { parsePostmasterPid, postgresConfig } from '../../infra/embedded/postgresConfig.ts';
import { parseStat } from '../../infra/embedded/processIdentity.ts';
import { atLeast, compareVersions, parseVersion, type Version } from '../../infra/embedded/version.ts';

describe('versions', () => {
  test.each([
    ['nats-server: v2.15.1', [2, 15, 1]],
    ['nats-server: v2.10.27-RC.1', [2, 10, 27]],
    ['postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)', [15, 18, 0]],
    ['postgres (PostgreSQL) 19beta2', [19, 0, 0]],
    ['2.15.1', [2, 15, 1]],
    ['usage: something', null],
    ['', null],
  ])('%j is read as %j', (text, expected) => {
    expect(parseVersion(text)).toEqual(expected);
  });

  test('2.9 is below 2.10 although it sorts above it as text', () => {
    expect(compareVersions([2, 9, 10], [2, 10, 0])).toBeLessThan(0);
    expect(atLeast([2, 10, 0], [2, 10, 0])).toBe(true);
  });
});

describe('the choice of a nats-server', () => {
  const binary = (path: string, version: Version) => ({ path, version });
  const [path210, cache215] = [binary('/usr/bin/nats-server', [2, 10, 27]), binary('/c/nats-server', [2, 15, 1])];

  test('the one on PATH comes first when it is fit', () => {
    expect(chooseBinary([path210, cache215], null)).toBe(path210);
  });

  test('one below 2.10 is never chosen', () => {
    expect(chooseBinary([binary('/usr/bin/nats-server', [2, 9, 10])], null)).toBeNull();
    expect(chooseBinary([binary('/usr/bin/nats-server', [2, 9, 10]), cache215], null)).toBe(cache215);
  });

  test('one older than what wrote the store gives way to a newer one', () => {
    expect(chooseBinary([path210, cache215], [2, 15, 0])).toBe(cache215);
    expect(chooseBinary([path210], [2, 15, 0])).toBeNull();
    expect(chooseBinary([path210], [2, 10, 29])).toBe(path210);
  });

  test('nothing anywhere is EMBEDDED_NATS_MISSING with what was tried and what to do', async () => {
    const nowhere = '/nonexistent';
    const search = { cacheDir: nowhere, env: { PATH: nowhere }, log: silentLog, systemDirs: [], aptFolder: nowhere };
    const error = await findNatsBinary(search).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_NATS_MISSING', hint: expect.stringContaining('NATS_URL') });
    expect(String(error)).toContain('sid: no Debian source in the apt configuration');
  });
});

describe('the choice of a PostgreSQL', () => {
  const found = [13, 15, 17].map((major) => ({ dir: `/pg/${major}`, version: [major, 1, 0] as const }));

  test('a new cluster gets the newest, an existing one exactly its own major version', () => {
    expect(choosePostgres(found, null)?.dir).toBe('/pg/17');
    expect(choosePostgres(found, 15)?.dir).toBe('/pg/15');
    expect(choosePostgres(found, 16)).toBeNull();
    expect(choosePostgres(found.slice(0, 1), null)).toBeNull();
  });

  test('no source at all is EMBEDDED_POSTGRES_MISSING', async () => {
    const search = { wantedMajor: null, folder: '/x', env: {}, log: silentLog, sources: [] };
    await expect(findPostgresBinaries(search)).rejects.toMatchObject({ code: 'EMBEDDED_POSTGRES_MISSING' });
  });

  test('a cluster of a version that cannot be had is EMBEDDED_POSTGRES_MAJOR', async () => {
    const search = { wantedMajor: 11, folder: '/x', env: {}, log: silentLog, sources: ['npm'] as const };
    const error = await findPostgresBinaries(search).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_POSTGRES_MAJOR', fields: { wanted: 11 } });
  });

  test('the package is the newest server of the suites, or the one that an existing cluster needs', () => {
    const names = 'postgresql-client-17\npostgresql-15\npostgresql-17\npostgresql-13\npostgresql-17-cron\n';
    expect(choosePackage(names, null)).toBe('postgresql-17');
    expect(choosePackage(names, 15)).toBe('postgresql-15');
    expect(choosePackage(names, 16)).toBeNull();
    expect(choosePackage('postgresql-13\n', null)).toBeNull();
  });
});

describe('the account of PostgreSQL', () => {
  const users = (present: readonly string[], isRoot = true): SystemUsers & { readonly made: string[] } => {
    const [known, made] = [new Set(present), [] as string[]];
    const lookUp = async (name: string): Promise<Account | null> => (known.has(name) ? { name, uid: 7, gid: 7 } : null);
    const make = async (name: string) => {
      made.push(name);
      if (!present.includes('broken')) known.add(name);
      return 'useradd: it did not work';
    };
    return { isRoot: () => isRoot, lookUp, make, made };
  };

  test('an ordinary user runs it as himself', async () => {
    expect(await postgresAccount('/nonexistent', silentLog, users(['postgres'], false))).toBeNull();
  });

  test('root takes the user postgres, else headwater, and makes him only when neither is there', async () => {
    expect((await postgresAccount('/nonexistent', silentLog, users(['headwater', 'postgres'])))?.name).toBe('postgres');
    expect((await postgresAccount('/nonexistent', silentLog, users(['headwater'])))?.name).toBe('headwater');
    const empty = users([]);
    expect((await postgresAccount('/nonexistent', silentLog, empty))?.name).toBe('headwater');
    expect(empty.made).toEqual(['headwater']);
  });

  test('an account that cannot be made is EMBEDDED_NO_ACCOUNT with the reason', async () => {
    const error = await postgresAccount('/nonexistent', silentLog, users(['broken'])).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'EMBEDDED_NO_ACCOUNT' });
    expect(String(error)).toContain('it did not work');
  });
});

describe('ports', () => {
  test('a kept port stays while it is free, else another is taken', async () => {
    const free = async (port: number) => port !== 20_000;
    const random = () => 21_000;
    expect(await choosePort({ server: 'x', kept: 19_999, isFree: free, random })).toBe(19_999);
    expect(await choosePort({ server: 'x', kept: 20_000, isFree: free, random })).toBe(21_000);
  });

  test('no free port is EMBEDDED_NO_PORT after a bounded number of tries', async () => {
    let asked = 0;
    const isFree = async () => ++asked < 0;
    await expect(choosePort({ server: 'nats', isFree })).rejects.toMatchObject({ code: 'EMBEDDED_NO_PORT' });
    expect(asked).toBe(200);
  });
});

describe('texts', () => {
  const settings = { serverName: 'n', port: 1, monitorPort: 2, user: 'u', pass: 'p', logFile: '/l', maxFileBytes: 123 };

  test('nats.conf is loopback only, durable, limited, and quotes paths', () => {
    const conf = natsConfig({ ...settings, storeDir: '/a "b\\c' });
    for (const line of ['listen: "127.0.0.1:1"', 'http: "127.0.0.1:2"', 'max_payload: 8MB', 'sync_interval: always']) {
      expect(conf).toContain(line);
    }
    expect(conf).toContain('max_file: 123');
    expect(conf).toContain('store_dir: "/a \\"b\\\\c"');
  });

  test('the default disk limit counts what the store has already, so that it does not shrink as the store fills', () => {
    const gib = 1024 ** 3;
    expect(defaultMaxFileBytes(100 * gib, 0)).toBe(60 * gib);
    expect(defaultMaxFileBytes(40 * gib, 60 * gib)).toBe(60 * gib);
    expect(defaultMaxFileBytes(0, 0)).toBe(64 * 1024 * 1024);
  });

  test('postgresql.conf is loopback only, commits to disk and leaves the last word to the operator', () => {
    const lines = postgresConfig(5).trim().split('\n');
    expect(lines).toContain(`listen_addresses = '127.0.0.1'`);
    expect(lines).toContain('synchronous_commit = on');
    expect(lines).toContain('port = 5');
    expect(lines.at(-1)).toBe(`include_if_exists = 'operator.conf'`);
  });

  test('/proc stat is read behind the last bracket of the name', () => {
    const rest = Array.from({ length: 18 }, (_, i) => i).join(' ');
    expect(parseStat(`12 (a ) b) S ${rest} 4711 0 0`)).toEqual({ state: 'S', startTicks: '4711' });
    expect(parseStat('')).toBeNull();
  });

  test('postmaster.pid gives pid and folder', () => {
    expect(parsePostmasterPid('42\n/d/cluster\n1\n')).toEqual({ pid: 42, folder: '/d/cluster' });
    expect(parsePostmasterPid('')).toBeNull();
  });
});
