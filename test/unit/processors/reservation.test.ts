import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planRanges } from '../../../processors/coordinator/plan.ts';
import { mostRoom, rangeSize, roomLeft } from '../../../processors/coordinator/reservation.ts';
import { countNumbers, mergeIntervals } from '../../../processors/intervals.ts';
import type { LedgerRun, ShortRun } from '../../../processors/ports.ts';
import { ArticleNumber, Backbone } from '../../../streams/ids.ts';
import type { Interval } from '../../../streams/records.ts';
import { input, settings, view } from '../../kit/planInput.ts';
import { propertyRuns } from '../../kit/propertyRuns.ts';

describe('the reservation', () => {
  const stream = (bytes: number, maxBytes: number) => ({ bytes, maxBytes });

  it('cuts ranges so small that four fit where one of the usual size would not', () => {
    expect(rangeSize(stream(0, -1), settings)).toBe(2_000_000);
    expect(rangeSize(stream(0, 20 * 2 ** 30), settings)).toBe(2_000_000);
    expect(rangeSize(stream(0, 1_000_000), settings)).toBe(333);
  });

  it('never plans more than fits under 80 % of OVERVIEW, and never comes to a standstill', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100_000, max: 100_000_000 }),
        fc.array(fc.record({ per: fc.integer({ min: 1, max: 600 }), purge: fc.boolean() }), {
          minLength: 60,
          maxLength: 60,
        }),
        (maxBytes, moves) => {
          const size = rangeSize(stream(0, maxBytes), settings);
          const total = size * 20;
          let bytes = 0;
          let planned: Interval[] = [];
          const open: Interval[] = [];
          const stored: number[] = [];
          const step = () => {
            const outstanding = { ranges: open.length, numbers: countNumbers(open) };
            const room = roomLeft(stream(bytes, maxBytes), outstanding, settings);
            const views = [view({ liveFrom: total + 1, high: total, heldHigh: total, planned })];
            for (const { ranges } of planRanges(input(views, { room, rangeSize: size })).plans) {
              for (const { lo, hi } of ranges) open.push([lo, hi]);
            }
            planned = mergeIntervals([...planned, ...open]);
            const reserved = bytes + countNumbers(open) * settings.worstLineBytes;
            expect(reserved).toBeLessThanOrEqual(0.8 * maxBytes);
          };
          for (const { per, purge } of moves) {
            step();
            const fetched = open.shift();
            if (fetched) {
              stored.push((fetched[1] - fetched[0] + 1) * per);
              bytes += stored.at(-1)!;
            }
            // Parsing may lag, but whatever is stored is parsed and purged in the end.
            if (purge || !fetched) bytes -= stored.shift() ?? 0;
          }
          for (let i = 0; i < 100 && countNumbers(planned) < total; i++) {
            step();
            open.shift();
            bytes = 0;
          }
          expect(countNumbers(planned)).toBe(total);
        },
      ),
      { numRuns: propertyRuns(50) },
    );
  });

  it('comes to no standstill with every lane at work, failures, and numbers that stay missing', () => {
    const move = fc.record({
      end: fc.constantFrom('parsed', 'short', 'failed'),
      wish: fc.tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 20 })),
      purge: fc.boolean(),
      grow: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 100_000, max: 10_000_000 }),
        fc.array(move, { minLength: 40, maxLength: 40 }),
        (maxBytes, moves) => {
          const size = rangeSize(stream(0, maxBytes), settings);
          const world = new Reserved(maxBytes, size);
          for (const { end, wish, purge, grow } of moves) {
            world.high += grow * size;
            world.wanted.push([wish[0] * (size >> 2) + 1, (wish[0] + wish[1]) * (size >> 2) + 1]);
            world.plan();
            world.work(end);
            if (purge) world.bytes = 0;
          }
          for (let i = 0; i < 400 && !world.idle; i++) {
            world.plan();
            world.work('parsed');
            world.bytes = 0;
          }
          expect(world.open).toEqual([]);
          expect(world.failed).toEqual([]);
          expect(world.short).toEqual([]);
          expect(world.planned).toEqual([[1, world.high]]);
        },
      ),
      { numRuns: propertyRuns(50) },
    );
  });

  /** A group, a ledger and an OVERVIEW of some size, as far as the reservation is concerned. */
  class Reserved {
    high: number;
    bytes = 0;
    planned: Interval[] = [];
    wanted: Interval[] = [];
    open: (LedgerRun & { readonly reask: boolean })[] = [];
    failed: LedgerRun[] = [];
    short: ShortRun[] = [];
    readonly #maxBytes: number;
    readonly #size: number;
    readonly #from: number;
    constructor(maxBytes: number, size: number) {
      this.#maxBytes = maxBytes;
      this.#size = size;
      this.#from = 10 * size + 1;
      this.high = this.#from - 1;
    }

    get idle(): boolean {
      const whole = this.planned.length === 1 && this.planned[0]![1] === this.high;
      return whole && this.open.length + this.failed.length + this.short.length === 0;
    }

    plan(): void {
      const numbers = this.open.reduce((sum, { lo, hi }) => sum + hi - lo + 1, 0);
      const room = roomLeft(stream(this.bytes, this.#maxBytes), { ranges: this.open.length, numbers }, settings);
      const { high, planned, wanted } = this;
      const marks = { liveFrom: this.#from, high, heldHigh: high, planned, wanted, livePlannedAt: null };
      const most = mostRoom(stream(0, this.#maxBytes), settings);
      const change = { room, most, rangeSize: this.#size, retries: this.failed, short: this.short };
      const { plans } = planRanges(input([view(marks)], change));
      for (const { lane, ranges, reasks } of plans) {
        for (const range of ranges) this.#put({ ...range, backbone: Backbone('bb'), lane }, reasks !== undefined);
        this.short = this.short.filter(({ rangeId }) => rangeId !== reasks?.rangeId);
      }
      const reserved = this.open.reduce((sum, { lo, hi }) => sum + hi - lo + 1, 0) * settings.worstLineBytes;
      expect(this.bytes + reserved).toBeLessThanOrEqual(0.8 * this.#maxBytes);
    }

    #put(run: LedgerRun, reask: boolean): void {
      this.planned = mergeIntervals([...this.planned, [run.lo, run.hi]]);
      this.failed = this.failed.filter(({ rangeId }) => rangeId !== run.rangeId);
      this.open.push({ ...run, reask });
    }

    /** The oldest outstanding range ends. Its lines take what was reserved until they are purged. */
    work(end: 'parsed' | 'short' | 'failed'): void {
      const run = this.open.shift();
      if (!run) return;
      if (end === 'failed') this.failed.push(run);
      else this.bytes += (run.hi - run.lo + 1) * 300;
      const { lo, hi } = run;
      if (end === 'short' && !run.reask && hi - lo > 4) {
        this.short.push({ ...run, missing: [{ lo: ArticleNumber(lo + 1), hi: ArticleNumber(hi - 1), run: 0 }] });
      }
    }
  }

  it('bounds what is outstanding also where OVERVIEW has no limit', () => {
    const room = roomLeft(stream(0, -1), { ranges: 3, numbers: 15_000_000 }, settings);
    expect(room).toEqual({ ranges: 497, numbers: 1_000_000 });
  });
});
