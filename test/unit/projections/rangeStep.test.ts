import { describe, expect, it } from 'vitest';
import { multirange, projectRanges } from '../../../projections/ranges/project.ts';
import type { HeadwaterEvent } from '../../../streams/events/index.ts';
import { failed, fetched, parsed, planned, plannedMany, retired, retried, wanted } from '../../kit/rangeEvents.ts';
import { stored } from '../../kit/releaseEvents.ts';

/** Run, pass and state of the one range that the events speak of. */
function after(...events: readonly HeadwaterEvent[]) {
  const rows = projectRanges(stored(events), new Map()).stage_ranges_range!;
  expect(rows.length).toBe(1);
  const [, , , , , run, pass, , state] = rows[0]!;
  return `${state} run ${run} pass ${pass}`;
}

const short = [planned(), fetched({}, [[5, 9]]), parsed({}, [[5, 9]])];
const whole = plannedMany([{ run: 2 }], undefined, {});

describe('the life of a range', () => {
  it.each([
    ['planned', [planned()], 'planned run 1 pass 0'],
    ['fetched', [planned(), fetched()], 'fetched run 1 pass 0'],
    ['parsed', [planned(), fetched(), parsed()], 'parsed run 1 pass 1'],
    ['parsed with missing numbers', [planned(), fetched({}, [[5, 9]]), parsed({}, [[5, 9]])], 'short run 1 pass 1'],
    ['planned twice with one run', [planned(), fetched(), planned()], 'fetched run 1 pass 0'],
    ['planned again', [planned(), fetched(), parsed(), planned({ run: 2 })], 'planned run 2 pass 0'],
    ['parsed by an earlier run', [planned({ run: 2 }), parsed({ run: 1 })], 'planned run 2 pass 0'],
    ['fetched by an earlier run', [planned({ run: 2 }), fetched({ run: 1 })], 'planned run 2 pass 0'],
    ['failed in an earlier run', [planned({ run: 2 }), failed({ run: 1 })], 'planned run 2 pass 0'],
    ['retired in an earlier run', [planned({ run: 2 }), retired({ run: 1 })], 'planned run 2 pass 0'],
    [
      'parsed by a lower pass late',
      [planned(), fetched(), parsed({ pass: 3 }), parsed({ pass: 2 })],
      'parsed run 1 pass 3',
    ],
    ['a fetch that fails', [planned(), failed()], 'failed run 1 pass 0'],
    ['a fetch that fails after another worker fetched it', [planned(), fetched(), failed()], 'fetched run 1 pass 0'],
    ['a parse that fails', [planned(), fetched(), failed({}, 'parse')], 'failed run 1 pass 0'],
    ['a second pass that fails', [planned(), fetched(), parsed(), failed({}, 'parse')], 'failed run 1 pass 1'],
    ['parsed after it failed', [planned(), fetched(), failed({}, 'parse'), parsed()], 'parsed run 1 pass 1'],
    ['retired', [planned(), retired()], 'retired run 1 pass 0'],
    ['retired after it was parsed', [planned(), fetched(), parsed(), retired()], 'parsed run 1 pass 1'],
    ['given up while it was short', [planned(), fetched(), parsed({}, [[5, 9]]), retired()], 'parsed run 1 pass 1'],
    ['retired after it failed', [planned(), failed(), retired()], 'retired run 1 pass 0'],
    ['an import with missing numbers', [planned({ lane: 'import' }), parsed({}, [[5, 9]])], 'parsed run 1 pass 1'],
    ['asked for again as a whole', [...short, whole], 'planned run 2 pass 0'],
    [
      'still short after it was asked for again',
      [...short, whole, parsed({ run: 2 }, [[5, 9]])],
      'parsed run 2 pass 1',
    ],
    [
      'run once more after it was asked for again',
      [...short, whole, failed({ run: 2 }), planned({ run: 3 }), parsed({ run: 3 }, [[5, 9]])],
      'parsed run 3 pass 1',
    ],
    ['failed after it was retired', [planned(), retired(), failed()], 'retired run 1 pass 0'],
    ['planned again after it was retired', [planned(), retired(), planned({ run: 2 })], 'planned run 2 pass 0'],
    ['fetched without a plan that was seen', [fetched({ run: 3 })], 'fetched run 3 pass 0'],
  ] as const)('%s', (_, events, expected) => {
    expect(after(...events)).toBe(expected);
  });

  it('takes the first fetch of a run: another one changes nothing', () => {
    const one = projectRanges(stored([planned(), fetched({}, [[1, 2]])]), new Map());
    const two = projectRanges(stored([planned(), fetched({}, [[1, 2]]), fetched({}, [[3, 4]])]), new Map());
    expect(two).toEqual(one);
  });

  it('one plan may carry many ranges', () => {
    const rows = projectRanges(stored([plannedMany([{ group: 'a.one' }, { group: 'a.two', run: 2 }])]), new Map());
    expect(rows.stage_ranges_range?.map((row) => [row[1], row[5]])).toEqual([
      ['a.one', 1],
      ['a.two', 2],
    ]);
  });

  describe('that is short', () => {
    const states = (...events: readonly HeadwaterEvent[]) => {
      const rows = projectRanges(stored([...short, ...events]), new Map()).stage_ranges_range!;
      return rows.map((row) => `${row[3]}-${row[4]} ${row[8]} run ${row[5]}`);
    };
    const asked = plannedMany(
      [
        { lo: 5, hi: 7 },
        { lo: 9, hi: 9 },
      ],
      undefined,
      {},
    );

    it('is parsed once its missing numbers are planned, and those are never short', () => {
      expect(states(asked)).toEqual(['1-1000 parsed run 1', '5-7 planned run 1', '9-9 planned run 1']);
      expect(states(asked, fetched({ lo: 5, hi: 7 }, [[6, 6]]), parsed({ lo: 5, hi: 7 }, [[6, 6]]))).toEqual([
        '1-1000 parsed run 1',
        '5-7 parsed run 1',
        '9-9 planned run 1',
      ]);
    });

    it('stays so when what is asked for again is another run of it', () => {
      expect(states(plannedMany([{ lo: 5, hi: 7 }], undefined, { run: 2 }))[0]).toBe('1-1000 short run 1');
    });
  });

  describe('that failed', () => {
    const retry = (...events: readonly HeadwaterEvent[]) =>
      projectRanges(stored(events), new Map()).stage_ranges_range![0]!.at(-1);
    const lost = [planned(), fetched(), failed({}, 'parse')];

    it('is to be planned again when somebody wishes it for that run', () => {
      expect(retry(planned(), failed())).toBe(false);
      expect(retry(planned(), failed(), retried([{}]))).toBe(true);
      expect(retry(planned(), failed(), planned({ run: 2 }), failed({ run: 2 }), retried([{}]))).toBe(false);
      expect(retry(planned(), failed(), retried([{}]), planned({ run: 2 }))).toBe(false);
      expect(retry(planned(), retried([{}]), failed())).toBe(false);
    });

    it('is to be planned again by itself when its first run lost its batches, and only then', () => {
      expect(retry(...lost)).toBe(true);
      expect(retry(...lost, planned({ run: 2 }), fetched({ run: 2 }), failed({ run: 2 }, 'parse'))).toBe(false);
      expect(retry(planned(), fetched(), failed({ failureClass: 'quarantined' }, 'parse'))).toBe(false);
    });
  });

  it('is to be planned again after its group was removed, and not where its articles are gone', () => {
    const again = (reason: 'group removed' | 'below the low mark' | 'superseded', ...more: readonly HeadwaterEvent[]) =>
      projectRanges(stored([planned(), retired({}, undefined, reason), ...more]), new Map()).stage_ranges_range![0]!.at(
        -1,
      );
    expect(again('group removed')).toBe(true);
    expect(again('group removed', planned({ run: 2 }))).toBe(false);
    expect(again('group removed', parsed())).toBe(false);
    expect(again('below the low mark')).toBe(false);
    expect(again('superseded')).toBe(false);
  });

  it('wishes name windows, not ranges', () => {
    const rows = projectRanges(
      stored([
        wanted([
          { lo: 5, hi: 9 },
          { group: 'x.y', lo: 1, hi: 1 },
        ]),
      ]),
      new Map(),
    );
    expect(rows.stage_ranges_range).toEqual([]);
    expect(rows.stage_ranges_wanted).toEqual([
      ['bb', 'alt.binaries.test', 0, 5, 9],
      ['bb', 'x.y', 0, 1, 1],
    ]);
  });

  it('writes intervals as PostgreSQL reads them', () => {
    expect(multirange([])).toBe('{}');
    expect(
      multirange([
        [1, 1],
        [5, 9007199254740991],
      ]),
    ).toBe('{[1,1],[5,9007199254740991]}');
  });
});
