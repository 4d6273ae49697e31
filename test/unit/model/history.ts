/**
 * A world read in some way: cut into ranges that are parsed in any order, crash, are parsed again with other lines, are haunted by
 * zombies, while fragments are merged from old views. Only the real pure cores decide; this file schedules.
 */
import { closingRule } from '../../../processors/fragments/closing.ts';
import { chunksMergedEvent, releaseMergedEvent } from '../../../processors/fragments/mergeEvents.ts';
import { mergePieces } from '../../../processors/fragments/mergePieces.ts';
import { mergeIntervals } from '../../../processors/intervals.ts';
import type { Resolution } from '../../../processors/resolution.ts';
import { FragmentsState, type PlacedUnit } from '../../../projections/fragments/step.ts';
import type { StoredEvent } from '../../../streams/envelope.ts';
import { definitionOf, type HeadwaterEvent } from '../../../streams/events/index.ts';
import { EpochMs, type Position } from '../../../streams/ids.ts';
import type { Interval } from '../../../streams/records.ts';
import type { Random } from '../../bench/random.ts';
import { listFor, type Pass, type Span, saidBy } from './passes.ts';
import type { Numbered, NumberedArticle, World } from './world.ts';

const HOUR = 3_600_000;

type Content = readonly NumberedArticle[];

interface Planned extends Span {
  readonly place: Numbered;
  /** Passes in order; the last one says all and has the final content. */
  readonly passes: Pass[];
  /** How many of them belong to the first wave: when all ranges had theirs, they are merged before the others begin. */
  readonly first: number;
  /** What is left to say of the current pass; null before it began. */
  left: HeadwaterEvent[] | null;
  at: number;
  /** RELEASES sequence after which it is parsed, while no later pass was begun. */
  parsedAt: number | null;
}

export interface HistoryOptions {
  /** Ranges of each place, in order of numbers; together they cover low..high. */
  readonly cut: (place: Numbered) => readonly Span[];
  /** How often a range crashes, is run again, leaves a zombie: 0 for a history in which nothing happens. */
  readonly trouble: number;
}

export class History {
  readonly releases: StoredEvent[] = [];
  readonly chunks: StoredEvent[] = [];
  readonly #world: World;
  readonly #random: Random;
  readonly #plans: Planned[];
  readonly #zombies: HeadwaterEvent[] = [];
  /** What is said only when all is over. */
  readonly #lateZombies: HeadwaterEvent[] = [];
  readonly #list: ReturnType<typeof listFor>;
  readonly #trouble: number;
  #clock: number;
  #second = false;

  constructor(world: World, random: Random, options: HistoryOptions) {
    this.#world = world;
    this.#random = random;
    this.#list = listFor(world);
    this.#trouble = options.trouble;
    this.#clock = world.end - 5 * 24 * HOUR;
    this.#plans = world.places.flatMap((place) => options.cut(place).map((span) => this.#plan(place, span)));
  }

  get clock(): number {
    return this.#clock;
  }

  #plan(place: Numbered, span: Span): Planned {
    const within = ({ number }: NumberedArticle) => number >= span.lo && number <= span.hi;
    const final = place.articles.filter(within);
    const gone = place.cancelled.filter(within);
    const passes: Pass[] = [];
    let run = 1;
    let pass = 1;
    while (this.#random.chance(this.#trouble)) {
      passes.push({ place, ...span, run, pass, articles: this.#earlier(final, gone, run, passes) });
      if (this.#random.chance(0.5)) {
        run++;
        pass = 1;
      } else pass++;
    }
    passes.push({ place, ...span, run, pass, articles: final });
    // Passes of one run read the same stored batches.
    const sameRun = passes.map((p) => (p.run === run ? { ...p, articles: final } : p));
    const first = this.#random.int(1, sameRun.length);
    return { place, ...span, passes: sameRun, first, left: null, at: -1, parsedAt: null };
  }

  /** What an earlier run held: the same as its other passes; some articles not yet, some that were cancelled since. */
  #earlier(final: Content, gone: Content, run: number, before: readonly Pass[]): Content {
    const same = before.find((p) => p.run === run);
    if (same) return same.articles;
    const share = this.#random.pick([0, 0.5, 0.9, 1]);
    const there = [...final, ...gone].filter(() => this.#random.chance(share));
    return there.sort((a, b) => a.number - b.number);
  }

  #append(event: HeadwaterEvent): void {
    const stream = definitionOf(event.type).stream === 'CHUNKS' ? this.chunks : this.releases;
    stream.push({ event, position: { number: 1, sequence: stream.length + 1 }, subject: '' });
  }

  /** One step of somebody's work; false when every range is parsed and no zombie is left. */
  step(): boolean {
    this.#clock += this.#random.int(0, 2 * HOUR);
    if (this.#zombies.length > 0 && this.#random.chance(0.2)) {
      this.#append(this.#zombies.splice(this.#random.int(0, this.#zombies.length - 1), 1)[0]!);
      return true;
    }
    const isOpen = (p: Planned, passes: number) => p.at < passes - 1 || (p.left?.length ?? 0) > 0;
    if (!this.#second && !this.#plans.some((p) => isOpen(p, p.first))) this.#endFirstWave();
    const open = this.#plans.filter((p) => isOpen(p, this.#second ? p.passes.length : p.first));
    if (open.length === 0) {
      for (const event of this.#zombies.splice(0)) this.#append(event);
      return false;
    }
    this.#work(this.#random.pick(open));
    return true;
  }

  /** All ranges are parsed: what is merged now, the second wave may withdraw. */
  #endFirstWave(): void {
    this.#second = true;
    if (!this.#plans.some((p) => p.first < p.passes.length)) return;
    this.sleep();
    for (let round = this.#random.int(0, 3); round > 0; round--) this.mergeRound(this.releases.length);
  }

  #work(plan: Planned): void {
    if (plan.left === null || plan.left.length === 0 || this.#crashes(plan)) {
      plan.at++;
      const seed = this.#random.int(0, 2 ** 31);
      plan.left = [...saidBy(plan.passes[plan.at]!, this.#list, EpochMs(this.#clock), seed)];
      if (plan.passes[plan.at]!.run > (plan.passes[plan.at - 1]?.run ?? 0)) plan.parsedAt = null;
    }
    const steps = this.#random.int(1, plan.left.length);
    for (const event of plan.left.splice(0, steps)) this.#append(event);
    if (plan.left.length === 0) plan.parsedAt = this.releases.length;
  }

  /** The worker is gone, or is thought to be: then what it had left to say may still be said, later. */
  #crashes(plan: Planned): boolean {
    if (plan.at >= (this.#second ? plan.passes.length : plan.first) - 1 || !this.#random.chance(0.5)) return false;
    if (this.#random.chance(0.5)) this.#haunt(...(plan.left ?? []));
    return true;
  }

  /** The numbers about which nothing more is to come, as one sees it who has read RELEASES up to `seen`. */
  resolution({ backbone, group }: { backbone: string; group: string }, seen: number): Resolution {
    const own = this.#plans.filter((p) => p.place.backbone === backbone && p.place.group === group);
    const { low, high } = own[0]!.place;
    const parsed = own.filter((p) => p.parsedAt !== null && p.parsedAt <= seen);
    const resolved = mergeIntervals([[0, low - 1] as Interval, ...parsed.map(({ lo, hi }): Interval => [lo, hi])]);
    return { resolved, high, highReadAt: this.#clock };
  }

  /** All numbers are resolved and the marks were read long after the last article. */
  sleep(): void {
    this.#clock = Math.max(this.#clock, this.#world.end) + 7 * HOUR;
  }

  /** One round of merging, from a view of RELEASES up to `seen`; gives the number of merges said. */
  mergeRound(seen: number, limit = Number.POSITIVE_INFINITY): number {
    const state = new FragmentsState();
    for (const { event } of this.releases.slice(0, seen)) state.apply(event);
    const open = [...state.units()].filter((u) => u.open && u.mergeable);
    const due = open.filter((u) => closingRule(u, this.resolution(u.place, seen)) !== null).slice(0, limit);
    for (const unit of due) this.#merge(unit, { number: 1, sequence: seen });
    return due.length;
  }

  /** Chunks first; a crash may fall between the two. */
  #merge(unit: PlacedUnit, revision: Position): void {
    const { place, fileHash } = unit;
    const sourced = unit.pieces.map((p) => {
      const { rangeId, run, pass, posting } = p;
      return { source: { rangeId, run, pass, posting }, piece: p.piece! };
    });
    const merges = [mergePieces(place, fileHash, sourced)];
    const at = EpochMs(this.#clock);
    const decision = { ...place, revision };
    this.#append(chunksMergedEvent(decision, merges, at));
    if (this.#random.chance(this.#trouble / 4)) return;
    const event = releaseMergedEvent(decision, merges, { number: 1, sequence: this.chunks.length }, at);
    // A processor that was thought dead says it late.
    if (this.#random.chance(this.#trouble)) this.#haunt(event);
    else this.#append(event);
  }

  #haunt(...events: HeadwaterEvent[]): void {
    (this.#random.chance(0.5) ? this.#zombies : this.#lateZombies).push(...events);
  }

  /** The last zombies speak; nothing may come of it. */
  haunt(): void {
    for (const event of this.#lateZombies.splice(0)) this.#append(event);
  }

  /** Appends what another service says. */
  say(event: HeadwaterEvent): void {
    this.#append(event);
  }
}

/** A place in `count` ranges at random numbers. */
export function randomCut(random: Random, place: Numbered, count: number): readonly Span[] {
  const inner = Array.from({ length: count - 1 }, () => random.int(place.low, place.high - 1));
  const ends = [...new Set([...inner, place.high])].sort((a, b) => a - b);
  return ends.map((hi, i) => ({ lo: i === 0 ? place.low : ends[i - 1]! + 1, hi }));
}

export const uncut = (place: Numbered): readonly Span[] => [{ lo: place.low, hi: place.high }];
