import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../infra/metrics/index.ts';
import { METRICS } from '../../../infra/metrics/table.ts';

const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((f) => /^(api|infra|processors|projections)\//.test(f) && !f.startsWith('infra/metrics/'));

/** Names that the code counts, sets or observes, also those that stand in a constant. */
function usedNames(): ReadonlyMap<string, string> {
  const used = new Map<string, string>();
  for (const file of sources) {
    const text = readFileSync(file, 'utf8');
    for (const m of text.matchAll(/\.(count|gauge|observe)\(\s*'([a-z_]+)'|const [A-Z_]*METRIC\b[^=]*= '([a-z_]+)'/g)) {
      used.set(m[2] ?? m[3]!, m[1] ?? 'count');
    }
  }
  return used;
}

const KINDS = { count: 'counter', gauge: 'gauge', observe: 'histogram' } as const;

describe('the table of metrics', () => {
  it('has every metric that the code uses, as what it uses it, and no other', () => {
    const used = Object.fromEntries([...usedNames()].map(([name, use]) => [name, KINDS[use as keyof typeof KINDS]]));
    const declared = Object.fromEntries(Object.entries(METRICS).map(([name, spec]) => [name, spec.kind]));
    expect(declared).toEqual(used);
  });

  it.each(Object.entries(METRICS))('names %s by the conventions of Prometheus', (name, spec) => {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith('_total')).toBe(spec.kind === 'counter');
    if (spec.kind === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
    expect(spec.help).not.toBe('');
  });

  it('drops labels that it does not name, so that nothing from outside becomes a label', async () => {
    const metrics = createMetrics({ service: 'test', processMetrics: false });
    metrics.count('headers_lines_total', { group: 'alt.binaries.x' }, 5);
    expect(await metrics.text()).toContain('headwater_headers_lines_total{service="test"} 5');
  });

  it('refuses a metric that is not in the table', () => {
    expect(() => createMetrics({ service: 'test' }).count('typo_total')).toThrow(TypeError);
  });
});
