import { makeEvent } from '../../streams/events/index.ts';
import { type RangePlanned, rangePlanned } from '../../streams/events/ranges.ts';
import { EpochMs } from '../../streams/ids.ts';
import { formatSubject, type Subject } from '../../streams/subjects.ts';
import { appendFirst } from '../appendFirst.ts';
import type { CoordinatorContext } from './context.ts';

/**
 * `outrun`: another coordinator planned meanwhile, and the ledger has to reach this sequence before anything is planned
 * again. `busy`: others appended to the stream all the time; later.
 */
export type PlanResult =
  | { readonly kind: 'planned' }
  | { readonly kind: 'outrun'; readonly last: number }
  | { readonly kind: 'busy' };

/** Appends plans so that two coordinators never plan a number twice. */
export class PlanLog {
  readonly #context: CoordinatorContext;
  /** The last sequence that this process appended on a subject: nothing of another coordinator lies there. */
  readonly #own = new Map<string, number>();

  constructor(context: CoordinatorContext) {
    this.#context = context;
  }

  /** `asOf`: the RANGES sequence up to which what the plan rests on is known. */
  append(plan: RangePlanned, asOf: number, signal: AbortSignal): Promise<PlanResult> {
    const subject = rangePlanned.subject(plan);
    if (plan.lane !== 'scan' && plan.lane !== 'backfill') return this.#behind(plan, subject, asOf, signal);
    // Runs above the first cover nothing that was not covered before.
    if (plan.reasks || plan.ranges.every(({ run }) => run > 1)) return this.#behind(plan, subject, asOf, signal);
    return this.#beside(plan, subject, asOf, signal);
  }

  /** Live plans lie above what any other lane plans: only the last one on their own subject matters. */
  async #behind(plan: RangePlanned, subject: Subject, asOf: number, signal: AbortSignal): Promise<PlanResult> {
    const { reader, sink, clock } = this.#context;
    const last = await this.#lastOn(subject);
    if (this.#isForeign(subject, last, asOf)) return { kind: 'outrun', last };
    const event = makeEvent(rangePlanned, EpochMs(clock.now()), plan);
    const position = await appendFirst(sink, event, { lastOnSubject: last, signal });
    if (position === null) return { kind: 'outrun', last: (await reader.state('RANGES')).last.sequence };
    return this.#appended(subject, position.sequence);
  }

  /**
   * Scan and backfill share the numbers below the live cursor, on two subjects. So the whole stream must stand still between
   * the look at both and the append.
   */
  async #beside(plan: RangePlanned, subject: Subject, asOf: number, signal: AbortSignal): Promise<PlanResult> {
    const { reader, sink, clock } = this.#context;
    const { backbone, ranges } = plan;
    const group = ranges[0]!.group;
    const both = (['scan', 'backfill'] as const).map((lane): Subject => {
      return { verb: 'range.planned', lane, backbone, group };
    });
    for (let tries = 0; tries < 5; tries++) {
      const end = (await reader.state('RANGES')).last.sequence;
      for (const one of both) {
        const last = await this.#lastOn(one);
        if (this.#isForeign(one, last, asOf)) return { kind: 'outrun', last };
      }
      const event = makeEvent(rangePlanned, EpochMs(clock.now()), plan);
      const position = await appendFirst(sink, event, { lastInStream: end, signal });
      if (position !== null) return this.#appended(subject, position.sequence);
    }
    return { kind: 'busy' };
  }

  async #lastOn(subject: Subject): Promise<number> {
    return (await this.#context.reader.last('RANGES', subject))?.position.sequence ?? 0;
  }

  #isForeign(subject: Subject, last: number, asOf: number): boolean {
    return last > asOf && this.#own.get(formatSubject(subject)) !== last;
  }

  #appended(subject: Subject, sequence: number): PlanResult {
    this.#context.barrier.raise(sequence);
    this.#own.set(formatSubject(subject), sequence);
    return { kind: 'planned' };
  }
}
