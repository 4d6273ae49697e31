import { describe, expect, it } from 'vitest';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { checkNode } from '../../../infra/processes/commands/doctor.ts';
import { conditionsOf } from '../../../infra/processes/commands/status.ts';
import { type StatusView, statusExit, statusLines } from '../../../infra/processes/commands/statusView.ts';
import { bytesText, durationText, tableLines } from '../../../infra/processes/commands/table.ts';
import { EXIT, exitCodeOf } from '../../../infra/processes/exitCodes.ts';

const view = (changes: Partial<StatusView> = {}): StatusView => ({
  version: '1.0.0',
  dataDir: 'data',
  now: 100_000,
  services: [{ service: 'api', state: 'ready', pid: 7, startedAt: 40_000 }],
  streams: [{ stream: 'RANGES', messages: 1234, bytes: 2048, last: 1234 }],
  projections: [{ projection: 'ranges', stream: 'RANGES', position: 1230, lag: 4 }],
  catalog: { releases: 53, listed: 50 },
  ranges: { parsed: 3, failed: 1 },
  conditions: [],
  ...changes,
});

const condition = {
  service: 'fetch',
  about: 'provider/one',
  code: 'X',
  message: 'it is down',
  hint: 'start it',
  since: 40_000,
};

describe('status', () => {
  it('shows services, streams, projections with their lag, and contents', () => {
    const text = statusLines(view()).join('\n');
    expect(text).toMatch(/api +ready +1 min +7/);
    expect(text).toMatch(/RANGES +1,234 +2\.0 KiB +1,234/);
    expect(text).toMatch(/ranges +RANGES +1,230 +4/);
    expect(text).toContain('releases: 53 (50 listed)');
    expect(text).toContain('3 parsed, 1 failed');
    expect(text).toMatch(/needs attention\n {2}nothing/);
  });

  it('says what needs attention, for how long, and what to do', () => {
    const text = statusLines(view({ conditions: [condition] })).join('\n');
    expect(text).toContain('! provider/one (fetch, for 1 min): it is down');
    expect(text).toContain('start it');
  });

  it('still speaks while the database is away', () => {
    expect(statusLines(view({ catalog: null, ranges: null })).join('\n')).toContain('the database does not answer');
  });

  it.each([
    ['everything is well', view(), EXIT.ok],
    ['something needs attention', view({ conditions: [condition] }), EXIT.unhealthy],
    ['a service starts', view({ services: [{ ...view().services[0]!, state: 'starting' }] }), EXIT.unhealthy],
    [
      'a service is gone and another runs',
      view({ services: [...view().services, { service: 'x', state: 'gone', pid: 1, startedAt: 0 }] }),
      EXIT.unhealthy,
    ],
    ['every service is gone', view({ services: [{ ...view().services[0]!, state: 'gone' }] }), EXIT.notRunning],
    ['nothing ever ran', view({ services: [] }), EXIT.notRunning],
  ])('ends with its own code when %s', (_title, shown, code) => {
    expect(statusExit(shown)).toBe(code);
  });
});

describe('what a service said of itself', () => {
  const said = { service: 'fetch', startedAt: 0, conditions: [condition] };

  it('counts while it lives', () => {
    expect(conditionsOf({ ...said, pid: process.pid, state: 'ready' }).map((c) => c.about)).toEqual(['provider/one']);
  });

  it('is replaced by the news of its end when it was killed, and is nothing once it stopped in order', () => {
    // No process has this number: the kernel's limit is far below.
    const pid = 2 ** 30;
    expect(conditionsOf({ ...said, pid, state: 'ready' }).map((c) => [c.about, c.code])).toEqual([
      ['service/fetch', 'PROCESS_GONE'],
    ]);
    expect(conditionsOf({ ...said, pid, state: 'stopped' })).toEqual([]);
  });
});

describe('exit codes', () => {
  it('are different from each other', () => {
    expect(new Set(Object.values(EXIT)).size).toBe(Object.keys(EXIT).length);
  });

  it.each([
    [new HeadwaterError('CONFIG_NOT_FOUND', {}), EXIT.configuration],
    [new HeadwaterError('PROCESS_NOT_RUNNING', {}), EXIT.notRunning],
    [new HeadwaterError('PROCESS_IN_USE', {}), EXIT.inUse],
    [new HeadwaterError('USAGE_WRONG_VALUE', {}), EXIT.usage],
    [new HeadwaterError('NATS_UNAVAILABLE', {}), EXIT.notRunning],
    [new HeadwaterError('POSTGRES_UNAVAILABLE', {}), EXIT.notRunning],
    [new HeadwaterError('STREAM_FULL', {}), EXIT.failed],
    [new TypeError('x'), EXIT.failed],
  ])('%s ends with %i', (error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});

describe('doctor', () => {
  it.each([
    ['v20.20.0', 'ok'],
    ['v20.20.2', 'ok'],
    ['v22.1.0', 'ok'],
    ['v20.19.9', 'fail'],
    ['v18.20.0', 'fail'],
  ])('says of Node %s: %s', (version, level) => {
    expect(checkNode(version).level).toBe(level);
  });
});

describe('text for people', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1536, '1.5 KiB'],
    [5 * 2 ** 40, '5.0 TiB'],
  ])('%i bytes are %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });

  it.each([
    [-5, '0 s'],
    [59_000, '59 s'],
    [61_000, '1 min'],
    [3_660_000, '1 h 1 min'],
    [90_000_000, '1 d 1 h'],
  ])('%i ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it('aligns words to the left and numbers to the right', () => {
    expect(
      tableLines(
        ['name', 'n'],
        [
          ['a', 5],
          ['long', 12345],
          ['x', null],
        ],
      ),
    ).toEqual(['name       n', 'a          5', 'long  12,345', 'x          -']);
  });
});
