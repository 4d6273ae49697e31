import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('make bench ARGS=--help names the measurements and the generator, and runs nothing', () => {
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', 'test/bench/bench.ts', '--help'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(status).toBe(0);
  expect(stdout).toContain('headers, chunks, fetch');
  expect(stdout).toContain('generateOverview.ts --lines=');
  expect(stdout).not.toContain('==');
});

test('the README names both', () => {
  const readme = readFileSync('README.md', 'utf8');
  for (const named of ['make bench ARGS=--help', 'test/bench/generateOverview.ts']) expect(readme).toContain(named);
});
