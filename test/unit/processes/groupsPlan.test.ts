import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig, providersOf } from '../../../infra/config/index.ts';
import type { CommandContext } from '../../../infra/processes/commands/client.ts';
import { matchesGlob } from '../../../infra/processes/commands/glob.ts';
import { withAdded, withRemoved } from '../../../infra/processes/commands/groups.ts';
import {
  largestGroups,
  planGroups,
  planOf,
  readGroups,
  type SizedGroup,
  sized,
} from '../../../infra/processes/commands/groupsPlan.ts';
import { ArticleNumber, Backbone, Epoch, Group, ProviderName } from '../../../streams/ids.ts';
import { blockReply } from '../../kit/fakeNews.ts';
import { type FakeNntp, startFakeNntp } from '../../kit/nntpServer.ts';

const P = ProviderName('p');
const active = (name: string, low: number, high: number, status = 'y') => ({
  group: Group(name),
  low: ArticleNumber(low),
  high: ArticleNumber(high),
  status,
});
const size = (name: string, articles: number): SizedGroup => ({ group: Group(name), articles, provider: P });

describe('a pattern of group names', () => {
  it.each([
    ['*', 'alt.a', true],
    ['alt.binaries.*', 'alt.binaries.x', true],
    ['alt.binaries.*', 'alt.binaries', false],
    ['*.iso', 'alt.binaries.linux.iso', true],
    ['alt.*.l*x.*', 'alt.binaries.linux.iso', true],
    ['alt.?', 'alt.a', true],
    ['alt.?', 'alt.ab', false],
    ['alt.a', 'alt.A', false],
    ['a.c', 'abc', false],
    ['', 'a', false],
  ])('%j fits %j: %j', (pattern, name, fits) => {
    expect(matchesGlob(pattern, name)).toBe(fits);
  });

  it('takes no longer for many stars than for few', () => {
    // As a regular expression this pattern would take longer than the test may.
    expect(matchesGlob(`${'*a'.repeat(90)}b`, 'a'.repeat(200))).toBe(false);
  });
});

describe('the largest groups', () => {
  it('are ordered by what their marks hold, once each, the larger size of two servers', () => {
    const found = [size('alt.b', 5), size('alt.a', 5), size('alt.c', 1), size('alt.c', 9), size('alt.d', 2)];
    expect(largestGroups(found, 3).map((g) => [g.group, g.articles])).toEqual([
      ['alt.c', 9],
      ['alt.a', 5],
      ['alt.b', 5],
    ]);
  });

  it('leave out what cannot hold articles of its own and what the pattern does not name', () => {
    expect(sized(active('alt.a', 10, 30), 'alt.*', P)?.articles).toBe(21);
    expect(sized(active('alt.a', 10, 30, 'm'), 'alt.*', P)).not.toBeNull();
    for (const status of ['x', 'j', '=alt.other']) expect(sized(active('alt.a', 10, 30, status), '*', P)).toBeNull();
    expect(sized(active('alt.empty', 31, 30), '*', P)).toBeNull();
    expect(sized(active('comp.a', 10, 30), 'alt.*', P)).toBeNull();
  });
});

describe('a plan', () => {
  const span = {
    backbone: Backbone('x'),
    epoch: Epoch(0),
    from: ArticleNumber(1),
    liveFrom: ArticleNumber(9),
    to: null,
  };
  const started = withAdded(null, [Group('alt.small'), Group('alt.gone')], { kind: 'all' })!;
  const list = { ...started, entries: started.entries.map((e) => ({ ...e, spans: [span] })) };

  it('gives the groups that the list lacks the next ranks in the order of their size, and leaves the others alone', () => {
    const plan = planOf(list, [size('alt.big', 9), size('alt.small', 5), size('alt.mid', 3)]);
    expect(plan.add.map((g) => [g.rank, g.group])).toEqual([
      [3, 'alt.big'],
      [4, 'alt.mid'],
    ]);
    expect([plan.listed, plan.left]).toEqual([1, []]);
    const next = withAdded(
      list,
      plan.add.map((g) => g.group),
      { kind: 'days', days: 3 },
    )!;
    expect(next.entries.slice(0, 2)).toEqual(list.entries);
    expect(planOf(next, [size('alt.big', 9), size('alt.small', 5), size('alt.mid', 3)]).add).toEqual([]);
  });

  it('does not bring back what was removed', () => {
    const plan = planOf(withRemoved(list, [Group('alt.gone')]), [size('alt.gone', 9)]);
    expect(plan).toEqual({ add: [], listed: 0, left: ['alt.gone'] });
  });
});

describe('LIST ACTIVE of the providers', () => {
  const servers: FakeNntp[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
  });
  async function serving(lines: readonly string[]): Promise<FakeNntp> {
    const list = { on: /^LIST ACTIVE/, act: { do: 'send', bytes: blockReply('215 groups', lines) } as const };
    const server = await startFakeNntp({ news: { groups: [] }, rules: [list] });
    servers.push(server);
    return server;
  }
  const yaml = (ports: readonly number[]) =>
    `providers:\n${ports.map((p, i) => `  - {name: p${i}, host: 127.0.0.1, port: ${p}, tls: false}`).join('\n')}\n`;
  const providers = (...ports: readonly number[]) => providersOf(parseConfig(yaml(ports), 'f', {}));
  const signal = new AbortController().signal;
  const asking = { accounts: null, waitMs: 1000, signal };

  it('takes 100,000 groups and counts the lines that name none', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `alt.binaries.g${i} ${1000 + i} 1000 y`);
    const odd = ['', 'nonsense', 'alt..x 5 1 y', 'alt.binaries.z five 1 y', 'alt.binaries.\u0007 9 1 y'];
    const { port } = await serving([...lines, ...odd]);
    const reading = await readGroups(providers(port), 'alt.binaries.g*', asking);
    expect([reading.groups.length, reading.odd]).toEqual([100_000, 5]);
    expect(largestGroups(reading.groups, 2).map((g) => g.group)).toEqual([
      'alt.binaries.g99999',
      'alt.binaries.g99998',
    ]);
  });

  it('fails with the address of a provider that does not answer, though another one does', async () => {
    const up = await serving(['alt.a 9 1 y']);
    const down = await serving([]);
    await down.stop();
    servers.pop();
    await expect(readGroups(providers(up.port, down.port), '*', asking)).rejects.toThrow(
      new RegExp(`NNTP_CONNECT_FAILED.*:${down.port}`),
    );
  });

  const context = (text: string): CommandContext => ({
    config: parseConfig(text, 'f', {}),
    configFile: 'x/headwater.yaml',
    env: {},
    print() {},
    signal,
    isTerminal: false,
  });
  const options = { top: '5', match: '*', apply: false, dryRun: false };

  it('is refused without a provider, before anything is connected to', () => {
    expect(() => planGroups(context(''), options, false)).toThrow(/PROVIDERS_NONE.*headwater\.yaml/);
  });

  it.each([{ top: '0' }, { top: '20001' }, { match: '' }, { provider: 'q' }])('is refused with %j', (wrong) => {
    const all = { ...options, ...wrong };
    expect(() => planGroups(context(yaml([1])), all, false)).toThrow(/USAGE_WRONG_VALUE/);
  });

  it('is refused where it shall both change and not change something', () => {
    expect(() => planGroups(context(yaml([1])), { ...options, apply: true, dryRun: true }, false)).toThrow(
      'USAGE_CONTRADICTION: --apply and --dry-run cannot be given together',
    );
  });
});
