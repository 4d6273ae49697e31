import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CATALOGUE, type ErrorCode, HeadwaterError } from '../../infra/base/errors/index.ts';

const CODES = Object.keys(CATALOGUE) as ErrorCode[];
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((f) => f !== '');

/** All text of the files that `keep` keeps, this one left out. */
const textOf = (keep: (file: string) => boolean): string =>
  files
    .filter((f) => keep(f) && f !== 'test/unit/catalogue.test.ts')
    .map((f) => readFileSync(f, 'utf8'))
    .join('\n');

const product = textOf(
  (f) => /^(streams|processors|projections|api|infra)\//.test(f) && !f.startsWith('infra/base/errors/'),
);
const tests = textOf((f) => f.startsWith('test/'));

const commandLine = readFileSync('infra/processes/cli.ts', 'utf8');
const COMMANDS = ['help', ...[...commandLine.matchAll(/\.command\('([a-z]+)/g)].map(([, name]) => name)];

describe('the error catalogue', () => {
  it.each(CODES)('%s is raised somewhere, tested somewhere, and says what happened and what to do', (code) => {
    expect(product).toMatch(new RegExp(`'${code}'`));
    expect(tests).toMatch(new RegExp(`\\b${code}\\b`));
    const error = new HeadwaterError(code);
    expect(error.message.startsWith(`${code}: `)).toBe(true);
    expect(error.message.length).toBeGreaterThan(code.length + 10);
    expect(error.hint.length).toBeGreaterThan(10);
    for (const [, named] of error.hint.matchAll(/`headwater ([a-z]+)/g)) expect(COMMANDS, error.hint).toContain(named);
  });
});
