import { describe, expect, it } from 'vitest';
import { askAgain, refuseUnknownGroup, retryWish } from '../../../infra/processes/commands/rangesRetry.ts';
import type { Sql } from '../../../projections/ports.ts';
import type { RangeRow } from '../../../projections/ranges/rows.ts';
import { Backbone, Group, RangeId } from '../../../streams/ids.ts';
import { MemoryEvents } from '../../kit/memoryEvents.ts';

const signal = new AbortController().signal;
const failed = (rangeId: string, backbone = 'bb', run = 1) =>
  ({
    backbone: Backbone(backbone),
    group: Group('alt.a'),
    rangeId: rangeId as RangeId,
    run,
    state: 'failed',
    lane: 'backfill',
  }) as RangeRow;
const runs = (events: MemoryEvents) =>
  events.events('RANGES', 'range.retried').map((e) => `${e.data.backbone}: ${e.data.runs.map((r) => r.rangeId)}`);

describe('ranges retry', () => {
  it('asks for failed ranges in a message a backbone', async () => {
    const events = new MemoryEvents();
    await askAgain(events, [failed('0-1-9'), failed('0-1-9', 'other'), failed('0-10-19')], 1000, signal);
    expect(runs(events)).toEqual(['bb: 0-1-9,0-10-19', 'other: 0-1-9']);
  });

  it('asks for any number of them, at most 2,000 in a message', async () => {
    const events = new MemoryEvents();
    const many = Array.from({ length: 4500 }, (_, i) => failed(`0-${i * 10 + 1}-${i * 10 + 9}`));
    await askAgain(events, many, 1000, signal);
    const sizes = events.events('RANGES', 'range.retried').map((e) => e.data.runs.length);
    expect(sizes).toEqual([2000, 2000, 500]);
  });

  it('asks for each by itself where an earlier call has the name of the message, and twice for none', async () => {
    const events = new MemoryEvents();
    await askAgain(events, [failed('0-1-9'), failed('0-10-19')], 1000, signal);
    await askAgain(events, [failed('0-1-9'), failed('0-20-29')], 2000, signal);
    await askAgain(events, [failed('0-20-29')], 3000, signal);
    expect(runs(events)).toEqual(['bb: 0-1-9,0-10-19', 'bb: 0-1-9', 'bb: 0-20-29']);
  });

  it('takes ranges, a group, or the word failed', () => {
    expect(retryWish(['0-1-9'], {})).toEqual({
      group: undefined,
      ranges: [RangeId.of(0 as never, 1 as never, 9 as never)],
    });
    expect(retryWish([], { group: 'alt.a' })).toEqual({ group: 'alt.a', ranges: [] });
    expect(retryWish([], { state: 'failed' })).toEqual({ group: undefined, ranges: [] });
  });

  it.each([
    [['1-9'], {}],
    [[], { group: 'a b' }],
    [[], { state: 'parsed' }],
  ] as const)('is refused for %j %j', (names, options) => {
    expect(() => retryWish(names, options)).toThrow(/USAGE_WRONG_VALUE/);
  });

  it('is refused without any of them', () => {
    expect(() => retryWish([], {})).toThrow(
      'USAGE_MISSING: ranges retry needs names of ranges, --group or --state failed',
    );
  });

  it('is refused for a group that nobody knows, and not for one that is only on the list', async () => {
    const withList = (groups: readonly string[]): Sql => ({
      query: async (text) =>
        (text.includes('control.group_list')
          ? [{ list: { entries: groups.map((group) => ({ group })) } }]
          : []) as never,
      script: async () => {},
      copy: async () => 0,
    });
    await expect(refuseUnknownGroup(withList(['alt.a']), 'alt.b')).rejects.toThrow(/GROUP_UNKNOWN: alt\.b/);
    await expect(refuseUnknownGroup(withList(['alt.a']), 'alt.a')).resolves.toBeUndefined();
  });
});
