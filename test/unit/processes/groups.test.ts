import { describe, expect, it } from 'vitest';
import {
  addTo,
  backfillOf,
  checkWishes,
  groupOf,
  removeFrom,
  wishOf,
  withAdded,
  withRemoved,
} from '../../../infra/processes/commands/groups.ts';
import { EXIT, exitCodeOf } from '../../../infra/processes/exitCodes.ts';
import { END_UNREAD, type GroupList, type GroupSpan } from '../../../streams/events/control.ts';
import { ArticleNumber, Backbone, Epoch, Group } from '../../../streams/ids.ts';
import { MemoryEvents } from '../../kit/memoryEvents.ts';

const [a, b, c] = ['alt.a', 'alt.b', 'alt.c'].map((name) => Group(name)) as [Group, Group, Group];
const all = { kind: 'all' } as const;
const added = (...groups: Group[]): GroupList => withAdded(null, groups, all)!;
const span = { backbone: Backbone('x'), epoch: Epoch(0), from: ArticleNumber(1), liveFrom: ArticleNumber(9), to: null };
/** A list whose groups have begun on a backbone. */
const covered = (...groups: Group[]): GroupList => {
  const list = added(...groups);
  return { ...list, entries: list.entries.map((e) => ({ ...e, spans: [span] })) };
};
/** A list of which the first group was removed, with these spans. */
const leftWith = (spans: readonly GroupSpan[]): GroupList => {
  const list = added(a, b);
  const entries = list.entries.map((e) => (e.group === a ? { ...e, removed: true, spans: [...spans] } : e));
  return { ...list, entries };
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

  it('lets a group return with its old rank and the new wish; spans that are ended stay ended', () => {
    const other = { ...span, backbone: Backbone('y') };
    const spans = [
      { ...span, to: ArticleNumber(20) },
      { ...other, to: ArticleNumber(7) },
      { ...span, epoch: Epoch(1), to: ArticleNumber(30) },
    ];
    const back = withAdded(leftWith(spans), [a], { kind: 'days', days: 3 })!;
    expect(back.entries[0]).toEqual({ group: a, rank: 1, backfill: { kind: 'days', days: 3 }, removed: false, spans });
  });

  it('takes a removal back that no coordinator has seen, unless the wish is another one', () => {
    const spans = [{ ...span, to: ArticleNumber(20) }, { ...span, epoch: Epoch(1) }]; // biome-ignore format: short
    expect(withAdded(leftWith(spans), [a], all)!.entries[0]!.spans).toEqual(spans);
    const other = withAdded(leftWith(spans), [a], { kind: 'none' })!;
    expect(other.entries[0]!.spans).toEqual([spans[0], { ...spans[1], to: END_UNREAD }]);
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
    [{ since: '2024-02-31' }],
    [{ since: '2024-13-01' }],
    [{ since: '1969-12-31' }],
    [{ since: '2024' }],
  ])('%j are refused', (options) => {
    expect(() => backfillOf(options)).toThrow(/USAGE_WRONG_VALUE/);
  });

  it('that contradict each other are named as they are written', () => {
    expect(() => backfillOf({ days: '3', liveOnly: true })).toThrow(
      'USAGE_CONTRADICTION: --days and --live-only cannot be given together',
    );
  });

  it('say nothing when there is none, and may not differ from what the list holds', () => {
    const list = withAdded(null, [a], { kind: 'days', days: 30 })!;
    expect(wishOf({})).toBeNull();
    expect(() => checkWishes(list, [a, b], wishOf({}))).not.toThrow();
    expect(() => checkWishes(list, [a, b], wishOf({ days: '30' }))).not.toThrow();
    let refused: unknown;
    try {
      checkWishes(list, [b, a], wishOf({ liveOnly: true }));
    } catch (error) {
      refused = error;
    }
    expect(String(refused)).toContain(
      'GROUP_WISH_DIFFERS: alt.a is on the list already, with 30 days, not with live only',
    );
    expect(exitCodeOf(refused)).toBe(EXIT.usage);
  });

  it.each(['', 'a b', 'alt..x', '*', 'alt.>', "'alt.x'", '"alt.x"'])('the name %j is no group', (name) => {
    expect(() => groupOf(name)).toThrow(/USAGE_WRONG_VALUE/);
  });
});

describe('what groups add and remove say', () => {
  const called = () => {
    const events = new MemoryEvents();
    const said: string[] = [];
    const surroundings = { print: (line: string) => void said.push(line), signal: new AbortController().signal };
    const client = { sink: events, reader: events };
    return { client, surroundings, said };
  };

  it('names what is new and what was listed before, with its wish', async () => {
    const { client, surroundings, said } = called();
    await addTo(client, surroundings, [a], { kind: 'days', days: 30 });
    await addTo(client, surroundings, [a, b], null);
    await addTo(client, surroundings, [b], null);
    expect(said).toEqual([
      'added: alt.a',
      'added: alt.b',
      'on the list already: alt.a (30 days)',
      'on the list already: alt.b (all)',
      'nothing to do',
    ]);
  });

  it('claims to have removed only what was listed', async () => {
    const { client, surroundings, said } = called();
    await addTo(client, surroundings, [a, b], null);
    said.length = 0;
    expect(await removeFrom(client, surroundings, [b, c])).toBe(EXIT.failed);
    expect(await removeFrom(client, surroundings, [a])).toBe(EXIT.ok);
    expect(said).toEqual([
      'removed: alt.b (what is indexed stays)',
      'not on the list: alt.c',
      'removed: alt.a (what is indexed stays)',
    ]);
  });
});
