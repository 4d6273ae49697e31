import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, HeadwaterError } from '../../../infra/base/errors/index.ts';
import { backbonesOf, describeConfig, loadConfig, parseConfig, providersOf } from '../../../infra/config/index.ts';

const refusal = (text: string, env: Record<string, string> = {}): HeadwaterError => {
  try {
    parseConfig(text, 'headwater.yaml', env);
  } catch (error) {
    if (error instanceof HeadwaterError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
};

const provider = (...lines: string[]) =>
  ['providers:', '  - name: one', '    host: h', ...lines.map((l) => `    ${l}`)].join('\n');

describe('the configuration', () => {
  it('is all defaults when the file is empty', () => {
    const config = parseConfig('', 'headwater.yaml', {});
    expect(config.providers).toEqual([]);
    expect(config.api).toEqual({ host: '127.0.0.1', port: 5080, title: 'Headwater' });
    expect(config.indexing.holdBackSeconds).toBe(120);
  });

  it('takes a secret from the environment', () => {
    const config = parseConfig(provider('user: me', 'pass: "x${SECRET}y"'), 'headwater.yaml', { SECRET: '1' });
    expect(config.providers[0]?.pass).toBe('x1y');
  });

  it('lets a command that uses no provider do without their secrets', () => {
    const text = provider('user: me', 'pass: ${NOPE}');
    expect(parseConfig(text, 'f', {}, 'optional').providers[0]?.pass).toBe('${NOPE}');
    expect(parseConfig(text, 'f', { NOPE: 'x' }, 'optional').providers[0]?.pass).toBe('x');
  });

  const cases: readonly [title: string, text: string, code: ErrorCode, line: number, key: string | undefined][] = [
    ['an unknown key at the top', 'sample: true\nprovider: []', 'CONFIG_UNKNOWN_KEY', 2, 'provider'],
    ['an unknown key in a section', 'api:\n  port: 1\n  prot: 2', 'CONFIG_UNKNOWN_KEY', 3, 'api.prot'],
    ['an unknown key in a list', provider('pasword: x'), 'CONFIG_UNKNOWN_KEY', 4, 'providers[0].pasword'],
    ['a wrong type', 'api:\n\n  port: high', 'CONFIG_WRONG_VALUE', 3, 'api.port'],
    ['a number out of bounds', 'api:\n  port: 70000', 'CONFIG_WRONG_VALUE', 2, 'api.port'],
    ['a word that is no choice', 'log:\n  level: loud', 'CONFIG_WRONG_VALUE', 2, 'log.level'],
    ['a section that is a list', 'api: [1]', 'CONFIG_WRONG_VALUE', 1, 'api'],
    ['a key that must be there', 'providers:\n  - name: one', 'CONFIG_WRONG_VALUE', 2, 'providers[0].host'],
    [
      'two providers of one name',
      `${provider()}\n  - {name: one, host: g}`,
      'CONFIG_WRONG_VALUE',
      4,
      'providers[1].name',
    ],
    ['a password without a user', provider('pass: x'), 'CONFIG_WRONG_VALUE', 2, 'providers[0].user'],
    [
      'a secret that is not set',
      provider('user: me', 'pass: ${NOPE}'),
      'CONFIG_MISSING_SECRET',
      5,
      'providers[0].pass',
    ],
    ['an address of NATS that is none', 'nats:\n  url: http://x', 'CONFIG_WRONG_VALUE', 2, 'nats.url'],
    ['an address of a database that is none', 'postgres:\n  url: notaurl', 'CONFIG_WRONG_VALUE', 2, 'postgres.url'],
    ['a file that is no mapping', '- 1', 'CONFIG_WRONG_VALUE', 1, '(the whole file)'],
    ['what is not YAML', 'api: {\nport', 'CONFIG_NOT_YAML', 2, undefined],
    ['a key that stands twice', 'sample: true\nsample: false', 'CONFIG_NOT_YAML', 2, undefined],
  ];
  it.each(cases)('refuses %s, naming file, line and key', (_title, text, code, line, key) => {
    const error = refusal(text);
    expect([error.code, error.fields.line, error.fields.key]).toEqual([code, line, key]);
    expect(error.message).toContain(`headwater.yaml:${line}: `);
    expect(error.hint).not.toBe('');
  });

  it.each([
    ['indexing:\n  order: random', '"indexing.order" must be one of: oldest, newest'],
    ['log:\n  level: 7', '"log.level" must be one of: debug, info, warn, error'],
    [provider('pass:'), '"providers[0].pass" is empty, must be string'],
    [provider('tls: maybe'), '"providers[0].tls" must be one of: true, false, starttls'],
  ])('lists what a key may be (%#)', (text, words) => {
    expect(refusal(text).message).toContain(words);
  });

  it.each(['nats://h:4222', 'tls://h', 'h:4222', 'nats://a:1, nats://b:2'])('takes %s for NATS', (url) => {
    expect(parseConfig(`nats: {url: '${url}'}`, 'f', {}).nats.url).toBe(url);
  });

  it('names the problem that stands first and counts the others', () => {
    const error = refusal('api:\n  port: x\nfoo: 1\nlog:\n  level: 5');
    expect([error.fields.key, error.fields.more]).toEqual(['api.port', 2]);
  });

  it('never repeats a secret in an error', () => {
    const error = refusal(provider('user: me', 'pass: [s3cret]'));
    expect(JSON.stringify([error.message, error.fields])).not.toContain('s3cret');
  });

  it('fills in port and backbone of a provider', () => {
    const config = parseConfig(
      'providers:\n  - {name: A_b, host: h}\n  - {name: c, host: h, tls: false, backbone: z}',
      'f',
      {},
    );
    expect(providersOf(config).map((p) => [p.port, p.backbone])).toEqual([
      [563, 'a-b'],
      [119, 'z'],
    ]);
    expect(backbonesOf(config)).toEqual(['a-b', 'z']);
  });

  it('is documented key by key in its README', () => {
    expect(readFileSync('infra/config/README.md', 'utf8')).toContain(describeConfig());
  });
});

describe('the configuration file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hw-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('may be missing when nobody named one', () => {
    expect(loadConfig({ env: {}, cwd: folder })).toMatchObject({ file: null, config: { sample: true } });
  });

  it('must be there when somebody named one', () => {
    expect(() => loadConfig({ path: 'mine.yaml', env: {}, cwd: folder })).toThrow(/CONFIG_NOT_FOUND.*mine\.yaml/);
  });

  it('is found beside the start folder, by --config and by HEADWATER_CONFIG', () => {
    writeFileSync(join(folder, 'headwater.yaml'), 'sample: false');
    writeFileSync(join(folder, 'other.yaml'), 'dataDir: elsewhere');
    expect(loadConfig({ env: {}, cwd: folder }).config.sample).toBe(false);
    expect(loadConfig({ path: 'other.yaml', env: {}, cwd: folder }).config.dataDir).toBe('elsewhere');
    expect(loadConfig({ env: { HEADWATER_CONFIG: 'other.yaml' }, cwd: folder }).config.dataDir).toBe('elsewhere');
  });
});
