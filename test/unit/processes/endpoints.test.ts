import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, parseConfig } from '../../../infra/config/index.ts';
import { findEndpoints, writeEndpoints } from '../../../infra/processes/endpoints.ts';

let dataDir: string;
let config: Config;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hw-endpoints-'));
  mkdirSync(join(dataDir, 'runtime'));
  config = parseConfig(`dataDir: ${dataDir}`, 'f', {});
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const running = { nats: { url: 'nats://127.0.0.1:1', user: 'u', pass: 'p' }, databaseUrl: 'postgres://x' };

describe('the endpoints of a command', () => {
  it('are those of the up that runs, kept where only its user can read them', () => {
    writeEndpoints(dataDir, running);
    expect(findEndpoints(config, {})).toEqual(running);
    expect(statSync(join(dataDir, 'runtime', 'endpoints.json')).mode & 0o077).toBe(0);
  });

  it('are those of the environment before those of the configuration before those of up', () => {
    writeEndpoints(dataDir, running);
    const given = parseConfig(
      `dataDir: ${dataDir}\nnats: {url: 'nats://conf', user: a}\npostgres: {url: 'postgres://conf'}`,
      'f',
      {},
    );
    expect(findEndpoints(given, {})).toEqual({
      nats: { url: 'nats://conf', user: 'a' },
      databaseUrl: 'postgres://conf',
    });
    expect(findEndpoints(given, { NATS_URL: 'nats://env', DATABASE_URL: 'postgres://env' })).toEqual({
      nats: { url: 'nats://env', user: 'a' },
      databaseUrl: 'postgres://env',
    });
  });

  it('are missing when nothing runs and nothing is given', () => {
    expect(() => findEndpoints(config, {})).toThrow(/PROCESS_NOT_RUNNING/);
    expect(() => findEndpoints(config, { NATS_URL: 'nats://env' })).toThrow(/PROCESS_NOT_RUNNING/);
  });

  it.each([
    ['NATS_URL', 'http://x:1'],
    ['NATS_URL', 'nats://'],
    ['DATABASE_URL', 'notaurl'],
  ])('are refused by the name of the variable when %s is %s', (variable, value) => {
    const both = { NATS_URL: 'nats://a', DATABASE_URL: 'postgres://b', [variable]: value };
    expect(() => findEndpoints(config, both)).toThrow(`CONFIG_WRONG_VALUE: the environment: "${variable}" takes`);
  });

  it('are refused when they name a variable that is not set', () => {
    const text = `dataDir: ${dataDir}\nnats: {url: 'nats://a', pass: '\${NOPE}'}\npostgres: {url: 'postgres://b'}`;
    const given = parseConfig(text, 'f', {}, 'optional');
    expect(() => findEndpoints(given, {})).toThrow(/CONFIG_MISSING_SECRET.*"nats" needs.* NOPE/);
  });

  it('name a file of theirs that is damaged', () => {
    writeFileSync(join(dataDir, 'runtime', 'endpoints.json'), '{"nats": ');
    expect(() => findEndpoints(config, {})).toThrow(/PROCESS_FILE_DAMAGED.*endpoints\.json/);
  });
});
