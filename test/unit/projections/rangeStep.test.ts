import { describe, expect, it } from 'vitest';
import { multirange, projectRanges } from '../../../projections/ranges/project.ts';
import type { HeadwaterEvent } from '../../../streams/events/index.ts';
import { failed, fetched, parsed, planned, plannedMany, retired } from '../../kit/rangeEvents.ts';
import { stored } from '../../kit/releaseEvents.ts';

/** Run, pass and state of the one range that the events speak of. */
function after(...events: readonly HeadwaterEvent[]) {
  const rows = projectRanges(stored(events), new Map()).stage_ranges_range!;
  expect(rows.length).toBe(1);
  const [, , , , , run, pass, , state] = rows[0]!;
  return `${state} run ${run} pass ${pass}`;
}

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
