import type { GroupList } from '../../streams/events/control.ts';
import type { Backbone, Epoch } from '../../streams/ids.ts';
import { Group, isGroup } from '../../streams/ids.ts';
import type { Interval } from '../../streams/records.ts';
import { ByteTable } from './byteTable.ts';
import { readNumber } from './lines.ts';
import { readText } from './text.ts';

/** A listed group: its join order and the numbers that the list covers of it on the range's backbone. */
export interface GroupRank {
  readonly rank: number;
  readonly spans: readonly Interval[];
}

/** The group list as one backbone sees it; a pure value, made from the list version that `range.planned` names. */
export type GroupRanks = ReadonlyMap<Group, GroupRank>;

/**
 * The ranks of a list version on one backbone. `group` is the range's own group, whose spans are those of the range's
 * epoch; of any other group the newest epoch counts. A removed group keeps the spans that it had.
 */
export function groupRanksOf(list: GroupList, backbone: Backbone, group: Group, epoch: Epoch): GroupRanks {
  const ranks = new Map<Group, GroupRank>();
  for (const entry of list.entries) {
    const here = entry.spans.filter((span) => span.backbone === backbone);
    const current = entry.group === group ? epoch : Math.max(...here.map((span) => span.epoch));
    const spans = here
      .filter((span) => span.epoch === current)
      .map((span): Interval => [span.from, span.to ?? Number.MAX_SAFE_INTEGER]);
    ranks.set(entry.group, { rank: entry.rank, spans });
  }
  return ranks;
}

const BLANK = 32;
const COLON = 58;
/** Groups of an Xref beyond this many are not looked at: servers refuse far fewer. */
const MAX_GROUPS = 64;
/** The set that holds the range's own group alone. */
export const OWN_SET = 0;
export const CROSSPOST = -1;

/**
 * Reads Xref values of one range. `resolve` answers with the id of the set of groups the article is in, or CROSSPOST
 * when another group is its main one: the lowest-ranked group whose list span holds the article's number there. The own
 * group counts as named even where Xref leaves it out, and keeps the article when no group of the list claims it.
 */
export class XrefReader {
  private readonly own: Uint8Array;
  private readonly ranks: GroupRanks;
  /** Group names seen; id 0 is the range's own group. */
  private readonly names: ByteTable;
  private readonly groups: (Group | null)[] = [];
  private readonly rankOf: (GroupRank | null)[] = [];
  private readonly sets: ByteTable;
  private readonly setGroups: (readonly Group[])[] = [];
  private readonly scratch = new Uint8Array(MAX_GROUPS * 4);

  constructor(group: Group, ranks: GroupRanks, seed: number) {
    this.ranks = ranks;
    this.own = Buffer.from(group);
    this.names = new ByteTable(seed, 256);
    this.sets = new ByteTable(seed ^ 0x2545f491, 256);
    this.groupId(this.own, 0, this.own.length);
    this.setOf(1);
  }

  /** The groups of a set, the range's own (main) group first, then in the order of Xref. */
  groupsOf(set: number): readonly Group[] {
    return this.setGroups[set]!;
  }

  resolve(b: Uint8Array, start: number, end: number, article: number): number {
    let at = start;
    while (at < end && b[at] !== BLANK) at++;
    let count = 1;
    let ownNumber = article;
    let best: GroupRank | null = null;
    let bestId = 0;
    while (at < end && count < MAX_GROUPS) {
      while (at < end && b[at] === BLANK) at++;
      const from = at;
      let colon = -1;
      for (; at < end && b[at] !== BLANK; at++) if (b[at] === COLON) colon = at;
      if (colon <= from) continue;
      const number = readNumber(b, colon + 1, at);
      if (number < 0) continue;
      const id = this.groupId(b, from, colon);
      if (id === 0) {
        ownNumber = number;
        continue;
      }
      if (this.groups[id] === null) continue;
      this.put(count++, id);
      const rank = this.rankOf[id] ?? null;
      if (rank !== null && (best === null || rank.rank < best.rank) && covers(rank, number)) {
        best = rank;
        bestId = id;
      }
    }
    if (count === 1) return OWN_SET;
    const ownRank = this.rankOf[0] ?? null;
    const ownClaims = ownRank !== null && covers(ownRank, ownNumber);
    if (bestId !== 0 && best !== null && !(ownClaims && ownRank.rank < best.rank)) return CROSSPOST;
    return this.setOf(count);
  }

  private put(index: number, id: number): void {
    const at = index * 4;
    this.scratch[at] = id;
    this.scratch[at + 1] = id >>> 8;
    this.scratch[at + 2] = id >>> 16;
    this.scratch[at + 3] = id >>> 24;
  }

  private groupId(b: Uint8Array, start: number, end: number): number {
    const id = this.names.intern(b, start, end);
    if (this.names.added) {
      const name = readText(b.subarray(start, end));
      const group = isGroup(name) ? Group(name) : null;
      this.groups.push(group);
      this.rankOf.push(group === null ? null : (this.ranks.get(group) ?? null));
    }
    return id;
  }

  /** The id of the set whose `count` group ids stand in the scratch buffer; the first is always the own group. */
  private setOf(count: number): number {
    const set = this.sets.intern(this.scratch, 0, count * 4);
    if (this.sets.added) {
      const ids = Array.from(
        { length: count },
        (_, i) =>
          this.scratch[i * 4]! |
          (this.scratch[i * 4 + 1]! << 8) |
          (this.scratch[i * 4 + 2]! << 16) |
          (this.scratch[i * 4 + 3]! << 24),
      );
      this.setGroups.push([...new Set(ids.map((id) => this.groups[id]!))]);
    }
    return set;
  }
}

const covers = (rank: GroupRank, number: number): boolean =>
  rank.spans.some(([from, to]) => number >= from && number <= to);
