import { describe, expect, it } from 'vitest';
import { backfillOf, groupOf, withAdded, withRemoved } from '../../../infra/processes/commands/groups.ts';
import type { GroupList } from '../../../streams/events/control.ts';
import { ArticleNumber, Backbone, Epoch, Group } from '../../../streams/ids.ts';

const [a, b, c] = ['alt.a', 'alt.b', 'alt.c'].map((name) => Group(name)) as [Group, Group, Group];
const all = { kind: 'all' } as const;
const added = (...groups: Group[]): GroupList => withAdded(null, groups, all)!;
const span = { backbone: Backbone('x'), epoch: Epoch(0), from: ArticleNumber(1), liveFrom: ArticleNumber(9), to: null };
/** A list whose groups have begun on a backbone. */
const covered = (...groups: Group[]): GroupList => {
  const list = added(...groups);
  return { ...list, entries: list.entries.map((e) => ({ ...e, spans: [span] })) };
};

describe('groups add', () => {
  it('ranks groups in the order in which they join and counts the version up', () => {
    const first = added(a, b);
    const second = withAdded(first, [c], { kind: 'none' })!;
    expect(second.listVersion).toBe(2);
    expect(second.entries.map((e) => [e.group, e.rank, e.backfill.kind])).toEqual([
      [a, 1, 'all'],
      [b, 2, 'all'],
      [c, 3, 'none'],
    ]);
    expect(second.entries.every((e) => e.spans.length === 0 && !e.removed)).toBe(true);
  });

  it('changes nothing when the groups are on the list', () => {
    expect(withAdded(added(a, b), [b, a, a], all)).toBeNull();
  });

  it('lets a group return with its old rank, its numbers open again and the new wish', () => {
    const list = added(a, b);
    const left: GroupList = {
      ...list,
      entries: list.entries.map((e) =>
        e.group === a ? { ...e, removed: true, spans: [{ ...span, to: ArticleNumber(20) }] } : e,
      ),
    };
    const back = withAdded(left, [a], { kind: 'days', days: 3 })!;
    expect(back.entries[0]).toEqual({
      group: a,
      rank: 1,
      backfill: { kind: 'days', days: 3 },
      removed: false,
      spans: [{ ...span, to: null }],
    });
  });
});

describe('groups remove', () => {
  it('keeps the entry, so that what it covered stays its own', () => {
    const list = withRemoved(covered(a, b), [a])!;
    expect(list.entries.map((e) => [e.group, e.removed])).toEqual([
      [a, true],
      [b, false],
    ]);
  });

  it('lets a group go that never began anywhere, such as one that no server has', () => {
    expect(withRemoved(added(a, b), [a])!.entries.map((e) => e.group)).toEqual([b]);
  });

  it('changes nothing when the group is not there or has left before', () => {
    expect(withRemoved(null, [a])).toBeNull();
    expect(withRemoved(withRemoved(covered(a), [a]), [a])).toBeNull();
    expect(withRemoved(withRemoved(added(a), [a]), [a])).toBeNull();
  });
});

describe('the options of groups add', () => {
  it.each([
    [{}, { kind: 'all' }],
    [{ liveOnly: true }, { kind: 'none' }],
    [{ days: '30' }, { kind: 'days', days: 30 }],
    [{ fromNumber: '5000000001' }, { kind: 'number', from: 5_000_000_001 }],
    [{ since: '2024-01-31' }, { kind: 'since', since: Date.UTC(2024, 0, 31) }],
  ])('%j mean %j', (options, wish) => {
    expect(backfillOf(options)).toEqual(wish);
  });

  it.each([
    [{ days: '0' }],
    [{ days: '1.5' }],
    [{ fromNumber: 'x' }],
    [{ since: 'yesterday' }],
    [{ days: '1', liveOnly: true }],
  ])('%j are refused', (options) => {
    expect(() => backfillOf(options)).toThrow(/USAGE_WRONG_VALUE/);
  });

  it.each(['', 'a b', 'alt..x', '*', 'alt.>'])('the name %j is no group', (name) => {
    expect(() => groupOf(name)).toThrow(/USAGE_WRONG_VALUE/);
  });
});
