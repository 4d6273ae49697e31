import { type Backbone, type Epoch, type Group, RangeId } from '../streams/ids.ts';
import type { SqlValue } from './ports.ts';

/** How often a range was planned, and how often that run was parsed. */
export interface Pair {
  readonly run: number;
  readonly pass: number;
}

/** One pass over one run of a range, as its messages name it. */
export interface PassRef extends Pair {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly rangeId: RangeId;
}

export interface BatchSource {
  /** Its number in this batch. */
  readonly n: number;
  readonly place: readonly SqlValue[];
  /** The highest pair that the batch has had so far. */
  run: number;
  pass: number;
}

/** Names a range among those of all groups. */
export const rangeKey = (ref: Pick<PassRef, 'backbone' | 'group' | 'rangeId'>): string =>
  `${ref.backbone}/${ref.group}/${ref.rangeId}`;

/**
 * The sources of a batch of RELEASES or CHUNKS. A message below the highest pair that the batch had before it is a
 * zombie's: what it says was replaced before it was said.
 */
export class BatchSources {
  readonly #byRange = new Map<string, BatchSource>();

  /** The source of a pass with its pair raised; null for a zombie. */
  accept(ref: PassRef): BatchSource | null {
    const id = rangeKey(ref);
    const source = this.#byRange.get(id) ?? this.#add(id, ref);
    if (ref.run < source.run || (ref.run === source.run && ref.pass < source.pass)) return null;
    source.run = ref.run;
    source.pass = ref.pass;
    return source;
  }

  /** The highest pair that the batch has had of a range so far; what is stored may be higher. */
  pairOf(key: string): Pair | undefined {
    return this.#byRange.get(key);
  }

  #add(id: string, ref: PassRef): BatchSource {
    const { lo, hi } = RangeId.parse(ref.rangeId);
    const place = [ref.backbone, ref.group, ref.epoch, lo, hi];
    const source = { n: this.#byRange.size, place, run: ref.run, pass: ref.pass };
    this.#byRange.set(id, source);
    return source;
  }

  /** Staged rows: n, backbone, group, epoch, lo, hi, and the pair that the batch ends with. */
  rows(): readonly (readonly SqlValue[])[] {
    return [...this.#byRange.values()].map((s) => [s.n, ...s.place, s.run, s.pass]);
  }
}

/** The columns of those rows. */
export const SOURCE_COLUMNS =
  'n int4, backbone text, group_name text, epoch int4, lo int8, hi int8, run int4, pass int4';
