import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../infra/processes/log.ts';
import { openRotatingFile } from '../../../infra/processes/rotatingFile.ts';

const logged = (use: (log: ReturnType<typeof createLog>) => void): string => {
  const lines: string[] = [];
  use(createLog({ level: 'debug', service: 's', build: 'b1', write: (line) => lines.push(line) }));
  return lines.join('');
};

describe('the log', () => {
  it('writes one JSON line an event with time, level, service and build', () => {
    const line = JSON.parse(logged((log) => log.child({ range: '0-1-2' }).info('parsed', { lines: 5 })));
    expect(line).toMatchObject({ level: 'info', service: 's', build: 'b1', range: '0-1-2', lines: 5, msg: 'parsed' });
    expect(Number.isNaN(Date.parse(line.time))).toBe(false);
  });

  it.each([
    ['a password field', { pass: 's3cret' }],
    ['a nested key', { provider: { apiKey: 's3cret' } }],
    ['a URL in an error', { error: new Error('cannot reach postgres://u:s3cret@h/db') }],
  ])('never writes %s', (_title, fields) => {
    expect(logged((log) => log.warn('x', fields))).not.toContain('s3cret');
  });

  it('cuts keys and credentials out of its messages', () => {
    const text = logged((log) => log.error('GET /api?t=get&apikey=abc123 at nats://u:pw@h failed'));
    expect(text).not.toMatch(/abc123|pw@/);
  });
});

describe('a rotating file', () => {
  it('keeps the last files and loses no line between them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hw-log-'));
    const path = join(folder, 'a', 'x.log');
    const file = openRotatingFile(path, 30);
    for (let i = 0; i < 30; i++) file.write(`line ${i}\n`);
    file.close();
    const text = [4, 3, 2, 1].map((n) => readFileSync(`${path}.${n}`, 'utf8')).join('') + readFileSync(path, 'utf8');
    expect(existsSync(`${path}.5`)).toBe(false);
    const kept = text.trim().split('\n');
    expect(kept.at(-1)).toBe('line 29');
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => `line ${30 - kept.length + i}`));
    rmSync(folder, { recursive: true });
  });
});
