import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  hashAt,
  hashBytes,
  placesOf,
  repeatedHashes,
  sharedHashes,
} from '../../../projections/fragments/loneHashes.ts';
import type { LoadedNumbering } from '../../../projections/fragments/numbering.ts';
import { projectFragments } from '../../../projections/fragments/project.ts';
import { FragmentsState, type PlacedUnit } from '../../../projections/fragments/step.ts';
import { initCompression } from '../../../streams/codec/compression.ts';
import { packLone } from '../../../streams/codec/fragments.ts';
import type { HeadwaterEvent } from '../../../streams/events/index.ts';
import {
  type FragmentMove,
  fileHashOf,
  fragmentHistory,
  fragmentMoves,
  fragmentsDump,
  fragmentsOf,
  lonePiece,
  mergedOf,
  piece,
} from '../../kit/fragmentHistories.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';
import { opened, type PassOptions, seen, stored } from '../../kit/releaseEvents.ts';

beforeAll(initCompression);

const LEFT: PassOptions = { lo: 1, hi: 100_000 };
const RIGHT: PassOptions = { lo: 100_001, hi: 200_000 };
const THIRD: PassOptions = { lo: 200_001, hi: 300_000 };
const at = (sequence: number) => ({ number: 1, sequence });

const stateOf = (...events: readonly HeadwaterEvent[]): FragmentsState => {
  const state = new FragmentsState();
  for (const event of events) state.apply(event);
  return state;
};
const units = (state: FragmentsState): readonly PlacedUnit[] => [...state.units()];
/** Ranges of each unit's pieces. */
const shape = (state: FragmentsState) =>
  units(state).map((u) => u.pieces.map((p) => `${p.rangeId}/${p.run}/${p.pass}`));
const merges = (state: FragmentsState) =>
  [...state.numberings()].flatMap(({ files }) => [...files.values()].flatMap((file) => file.merges));

const a = piece('file', 99_990, { parts: [[1, 2]] });
const b = piece('file', 100_010, { parts: [[3, 3]] });
const pieces = [opened(LEFT), fragmentsOf(LEFT, { pieces: [a] }), opened(RIGHT), fragmentsOf(RIGHT, { pieces: [b] })];

describe('units', () => {
  it('are the pieces of one file that were posted within 3 days', () => {
    const far = piece('file', 250_000, { day: 6 });
    const state = stateOf(...pieces, opened(THIRD), fragmentsOf(THIRD, { pieces: [far, piece('other', 200_002)] }));
    expect(shape(state)).toEqual([
      ['0-1-100000/1/1', '0-100001-200000/1/1'],
      ['0-200001-300000/1/1'],
      ['0-200001-300000/1/1'],
    ]);
    expect(units(state)[0]).toMatchObject({
      firstNumber: 99_990,
      lastNumber: 100_010,
      mergeable: true,
      complete: true,
      open: true,
    });
  });

  it('join through a posting that bridges a gap', () => {
    const bridge = piece('file', 150_000, { postingLastAt: piece('x', 1, { day: 4 }).firstAt, posting: 1 });
    const late = piece('file', 250_000, { day: 6 });
    expect(
      units(
        stateOf(
          opened(LEFT),
          fragmentsOf(LEFT, { pieces: [a] }),
          opened(THIRD),
          fragmentsOf(THIRD, { pieces: [late] }),
        ),
      ),
    ).toHaveLength(2);
    const state = stateOf(
      ...pieces,
      fragmentsOf(RIGHT, { pieces: [bridge] }, 1),
      opened(THIRD),
      fragmentsOf(THIRD, { pieces: [late] }),
    );
    expect(units(state).map((u) => u.pieces.length)).toEqual([4]);
  });

  it.each([
    ['all promised parts are there', [[1, 2]], [[3, 3]], [[3, 3]], true],
    ['one is missing', [[1, 1]], [[3, 3]], [[3, 2]], false],
    ['no total is promised', [[1, 2]], [[3, 3]], [[0, 3]], false],
    [
      'most segments promise fewer',
      [[1, 2]],
      [[3, 3]],
      [
        [3, 2],
        [9, 1],
      ],
      true,
    ],
    [
      'as many segments promise more',
      [[1, 2]],
      [[3, 3]],
      [
        [3, 2],
        [4, 2],
      ],
      false,
    ],
    ['parts overlap', [[1, 2]], [[2, 3]], [[3, 3]], true],
  ] as const)('are complete or not when %s', (_, left, right, totals, complete) => {
    const state = stateOf(
      opened(LEFT),
      fragmentsOf(LEFT, { pieces: [piece('file', 99_990, { parts: left, totals })] }),
      opened(RIGHT),
      fragmentsOf(RIGHT, { pieces: [piece('file', 100_010, { parts: right, totals: [] })] }),
    );
    expect(units(state).map((u) => u.complete)).toEqual([complete]);
  });
});

describe('lone parts', () => {
  const lone = (name: string, number: number, part: number) => packLone([lonePiece(name, number, part)]);

  it('stay packed while nothing of their file is near', () => {
    const state = stateOf(
      ...[opened(LEFT), fragmentsOf(LEFT, { lone: [lone('file', 99_000, 1)] })],
      ...[opened(RIGHT), fragmentsOf(RIGHT, { lone: [lone('other', 100_001, 2)] })],
      ...[opened(THIRD), fragmentsOf(THIRD, { pieces: [piece('file', 200_001)] })],
    );
    expect(shape(state)).toEqual([['0-200001-300000/1/1']]);
  });

  it.each(['left first', 'right first'])('join each other across an edge (%s)', (order) => {
    const left = [opened(LEFT), fragmentsOf(LEFT, { lone: [lone('file', 99_000, 1)] })];
    const right = [
      opened(RIGHT),
      fragmentsOf(RIGHT, { lone: [packLone([lonePiece('file', 120_000, 2), lonePiece('zz', 100_002, 1)])] }),
    ];
    const state = stateOf(...(order === 'left first' ? [...left, ...right] : [...right, ...left]));
    expect(units(state)).toHaveLength(1);
    expect(units(state)[0]).toMatchObject({ mergeable: true, firstNumber: 99_000, lastNumber: 120_000 });
  });

  it('join a piece of more parts, whichever comes first', () => {
    const left = [opened(LEFT), fragmentsOf(LEFT, { lone: [lone('file', 99_000, 3)] })];
    const right = [opened(RIGHT), fragmentsOf(RIGHT, { pieces: [piece('file', 100_001, { parts: [[1, 2]] })] })];
    for (const state of [stateOf(...left, ...right), stateOf(...right, ...left)]) {
      expect(units(state).map((u) => [u.pieces.length, u.complete])).toEqual([[2, true]]);
    }
  });

  it('do not make a unit of one part worth merging', () => {
    const state = stateOf(
      ...[opened(LEFT), fragmentsOf(LEFT, { lone: [lone('file', 99_000, 1)] })],
      ...[opened(RIGHT), fragmentsOf(RIGHT, { lone: [lone('file', 100_001, 1)] })],
    );
    expect(units(state).map((u) => [u.pieces.length, u.mergeable])).toEqual([[2, false]]);
  });

  it('go back to their blob when what was near is withdrawn, and join again when it comes back', () => {
    const left = [opened(LEFT), fragmentsOf(LEFT, { lone: [lone('file', 99_000, 1)] })];
    const second = { ...RIGHT, run: 2 };
    const joined = stateOf(...left, opened(RIGHT), fragmentsOf(RIGHT, { pieces: [piece('file', 100_001)] }));
    expect(shape(joined)).toEqual([['0-100001-200000/1/1', '0-1-100000/1/1']]);
    joined.apply(opened(second));
    expect(units(joined)).toEqual([]);
    joined.apply(fragmentsOf(second, { pieces: [piece('file', 100_005)] }));
    expect(shape(joined)).toEqual([['0-100001-200000/2/1', '0-1-100000/1/1']]);
  });

  it('are found by their hash among many', () => {
    const names = Array.from({ length: 500 }, (_, i) => `n${i % 400}`);
    const blob = packLone(names.map((name, i) => lonePiece(name, 99_000 + i, 1, { posting: i })));
    expect(repeatedHashes(blob.hashes)).toHaveLength(100);
    for (const name of ['n0', 'n399', 'n7']) {
      const [from, to] = placesOf(blob.hashes, hashBytes(fileHashOf(name)));
      expect(to - from).toBe(name === 'n399' ? 1 : 2);
      expect(hashAt(blob.hashes, from)).toBe(fileHashOf(name));
    }
    expect(placesOf(blob.hashes, hashBytes(fileHashOf('none')))).toSatisfy(
      ([from, to]: [number, number]) => from === to,
    );
    const other = packLone(['n5', 'n5', 'x', 'n6'].map((name, i) => lonePiece(name, 100_001, 1, { posting: i })));
    expect([...sharedHashes(blob.hashes, other.hashes)].sort()).toEqual([fileHashOf('n5'), fileHashOf('n6')].sort());
  });
});

describe('merges', () => {
  const before = stateOf(...pieces);
  const unit = units(before)[0]!;
  const merge = mergedOf({}, at(4), [unit]);

  it('close the unit whose pieces they hold', () => {
    const state = stateOf(...pieces, merge);
    expect(units(state).map((u) => u.open)).toEqual([false]);
    expect(merges(state).map((m) => m.mergeId)).toEqual([unit.mergeId]);
  });

  it('that come twice, or are decided again, change nothing', () => {
    const once = fragmentsDump(stateOf(...pieces, merge));
    expect(fragmentsDump(stateOf(...pieces, merge, merge))).toBe(once);
    expect(fragmentsDump(stateOf(...pieces, merge, mergedOf({}, at(9), [unit])))).toBe(once);
  });

  it('are replaced by the next revision when a further piece comes', () => {
    const state = stateOf(...pieces, merge, opened(THIRD), fragmentsOf(THIRD, { pieces: [piece('file', 200_001)] }));
    expect(units(state).map((u) => [u.pieces.length, u.open])).toEqual([[3, true]]);
    expect(merges(state)).toHaveLength(1);
    const [next] = units(state);
    state.apply(mergedOf({}, at(7), [next!]));
    expect(merges(state).map((m) => m.mergeId)).toEqual([next!.mergeId]);
    expect(units(state).map((u) => u.open)).toEqual([false]);
    // What was decided on less arrives late.
    state.apply(merge);
    expect(merges(state).map((m) => m.mergeId)).toEqual([next!.mergeId]);
  });

  it.each([at(4), at(3)])('of revision %j lose to a live one of revision 4 that shares a piece', (revision) => {
    const alone = units(stateOf(...pieces.slice(0, 2)))[0]!;
    const state = stateOf(...pieces, merge, mergedOf({}, revision, [alone]));
    expect(merges(state).map((m) => m.mergeId)).toEqual([unit.mergeId]);
  });

  it('leave those alone that share no piece', () => {
    const late = piece('file', 250_000, { day: 6 });
    const state = stateOf(...pieces, merge, opened(THIRD), fragmentsOf(THIRD, { pieces: [late] }));
    const other = units(state).find((u) => u.open)!;
    state.apply(mergedOf({}, at(6), [other]));
    expect(merges(state)).toHaveLength(2);
    expect(units(state).every((u) => !u.open)).toBe(true);
  });

  it('go with a re-run of any of their ranges, and the pieces of the others are open again', () => {
    const state = stateOf(...pieces, merge, opened({ ...RIGHT, run: 2 }));
    expect(merges(state)).toEqual([]);
    expect(shape(state)).toEqual([['0-1-100000/1/1']]);
    expect(units(state).map((u) => u.open)).toEqual([true]);
  });

  it('that name a pass which was replaced are ignored, and those of a pass that nobody opened too', () => {
    const rerun = [opened({ ...RIGHT, pass: 2 }), fragmentsOf({ ...RIGHT, pass: 2 }, { pieces: [b] })];
    expect(merges(stateOf(...pieces, ...rerun, merge))).toEqual([]);
    expect(merges(stateOf(...pieces.slice(0, 2), merge))).toEqual([]);
  });
});

describe('passes', () => {
  it('a re-run leaves what only the second run said, and a zombie of the first changes nothing', () => {
    const second = { ...RIGHT, run: 2 };
    const again = [opened(second), fragmentsOf(second, { pieces: [piece('file', 100_020)] })];
    const only = fragmentsDump(stateOf(...pieces.slice(0, 2), ...again));
    expect(fragmentsDump(stateOf(...pieces, ...again))).toBe(only);
    const zombie = fragmentsOf(
      RIGHT,
      { pieces: [piece('ghost', 100_030)], lone: [packLone([lonePiece('x', 100_031, 1)])] },
      1,
    );
    expect(fragmentsDump(stateOf(...pieces, ...again, zombie, opened(RIGHT)))).toBe(only);
  });

  it('of other groups, epochs and backbones are worlds of their own', () => {
    const others = [{ group: 'a.b' }, { epoch: 1 }, { backbone: 'zz' }].map((o) => ({ ...RIGHT, ...o }));
    const state = stateOf(...pieces, ...others.flatMap((o) => [opened(o), fragmentsOf(o, { pieces: [b] })]));
    expect(units(state).map((u) => u.pieces.length)).toEqual([2, 1, 1, 1]);
  });

  it('leave events of other types alone', () => {
    expect(fragmentsDump(stateOf(seen({}, [])))).toBe('');
  });
});

/** The state as a batch would find it stored: figures only, and of blobs what is asked for. */
const reloaded = (state: FragmentsState): readonly LoadedNumbering[] =>
  [...state.numberings()].map(({ place, pairs, files, blobs }) => ({
    place,
    pairs: new Map(pairs),
    files: new Map(
      [...files].map(([hash, file]) => [hash, { ...file, pieces: file.pieces.map((p) => ({ ...p, piece: null })) }]),
    ),
    blobs: [...blobs.values()].flat(),
  }));

describe('histories', () => {
  const history = (moves: readonly FragmentMove[]) => fragmentHistory(moves);

  it('end alike however they are cut into batches', () => {
    fc.assert(
      fc.property(fragmentMoves, fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 }), (moves, sizes) => {
        const events = history(moves);
        let state = new FragmentsState();
        for (let from = 0, i = 0; from < events.length; i++) {
          const batch = events.slice(from, from + sizes[i % sizes.length]!);
          from += batch.length;
          const loaded = reloaded(state);
          // Nothing that is stored already may be staged again: `project` throws when it would.
          projectFragments(stored(batch), loaded);
          state = new FragmentsState(loaded);
          for (const event of batch) state.apply(event);
        }
        expect(fragmentsDump(state)).toBe(fragmentsDump(stateOf(...events)));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('leave only what the last pass of each range said, in whatever order the ranges came', () => {
    const withoutMerges = (state: FragmentsState) => fragmentsDump(state).replaceAll(/ (true|false)$/gm, '');
    fc.assert(
      fc.property(fragmentMoves, fc.infiniteStream(fc.nat()), (moves, order) => {
        const events = history(moves.filter((m) => m.kind === 'pass'));
        const last = new Map<string, readonly [run: number, pass: number]>();
        const ofPass = events.filter((e) => e.type === 'release.opened' || e.type === 'release.fragments');
        const nameOf = (e: (typeof ofPass)[number]) => `${e.data.group} ${e.data.rangeId}`;
        for (const e of ofPass) {
          const before = last.get(nameOf(e)) ?? [0, 0];
          const pair = [e.data.run, e.data.pass] as const;
          if (pair[0] > before[0] || (pair[0] === before[0] && pair[1] > before[1])) last.set(nameOf(e), pair);
        }
        const live = ofPass.filter((e) => String(last.get(nameOf(e))) === `${e.data.run},${e.data.pass}`);
        const keyed = live.map((e) => ({ e, place: order.next().value }));
        const shuffled = keyed.sort((x, y) => x.place - y.place).map(({ e }) => e);
        expect(withoutMerges(stateOf(...shuffled))).toBe(withoutMerges(stateOf(...events)));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('keep at most one merge a piece, of sources that are the newest', () => {
    fc.assert(
      fc.property(fragmentMoves, (moves) => {
        const state = stateOf(...history(moves));
        for (const { files, pairs } of state.numberings()) {
          for (const { merges: live } of files.values()) {
            const named = live.flatMap((m) => m.sources.map((s) => `${s.rangeId}/${s.posting}`));
            expect(new Set(named).size).toBe(named.length);
            for (const { rangeId, run, pass } of live.flatMap((m) => m.sources)) {
              expect({ run, pass }).toEqual(pairs.get(rangeId));
            }
          }
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
