import { birthOf } from '../../projections/catalog/birth.ts';
import { categoryOf } from '../../projections/catalog/categoryOf.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { Backbone, Epoch, Group, Position, RangeId, ReleaseId } from '../../streams/ids.ts';
import { type ContributionName, setHashOf } from '../../streams/merges.ts';
import type { Contribution, Merge, MergeSource, Settlement } from '../../streams/records.ts';

/** The rules of the catalog, event by event and without a database: what the projection is held against. */
export interface ModelRelease {
  readonly id: ReleaseId;
  readonly key: string;
  readonly name: string;
  readonly poster: string;
  readonly category: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly segments: number;
  readonly bytes: number;
  readonly files: number;
  readonly provisional: boolean;
  readonly settleDueAt: number | null;
}

export interface ModelCatalog {
  /** By id, ascending. */
  readonly releases: readonly ModelRelease[];
  /** Every birth ever, and the release that it leads to. */
  readonly births: ReadonlyMap<string, ReleaseId | null>;
  /** The names of each release's live contributions, by its id. */
  readonly names: ReadonlyMap<ReleaseId, readonly ContributionName[]>;
}

interface Live {
  /** Its range; that of a merge is none. */
  readonly source: string | null;
  readonly merge: LiveMerge | null;
  readonly name: ContributionName;
  readonly series: string;
  readonly birth: ReleaseId;
  readonly at: number;
  readonly c: Contribution;
}
interface LiveMerge {
  readonly mergeId: string;
  /** Backbone, group, epoch and hash. */
  readonly file: string;
  readonly revision: number;
  /** Its ranges, and its pieces as (range, posting). */
  readonly ranges: readonly string[];
  readonly pieces: readonly string[];
}
interface Birth {
  readonly id: ReleaseId;
  readonly key: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly order: readonly [sequence: number, id: string];
}

interface Place {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
}
interface PassRef extends Place {
  readonly rangeId: RangeId;
  readonly run: number;
  readonly pass: number;
}

const DAY = 86_400_000;
const THREE_DAYS = 3 * DAY;
const sum = (list: readonly Live[], of: (c: Contribution) => number) => list.reduce((n, { c }) => n + of(c), 0);

/** Connected components by distance in time, each as its members; earliest first. */
function componentsOf(members: readonly Live[]): Live[][] {
  const parts: { from: number; to: number; members: Live[] }[] = [];
  for (const m of [...members].sort((a, b) => a.c.firstAt - b.c.firstAt)) {
    const last = parts.at(-1);
    if (last && m.c.firstAt - last.to < THREE_DAYS) {
      last.members.push(m);
      last.to = Math.max(last.to, m.c.lastAt);
    } else parts.push({ from: m.c.firstAt, to: m.c.lastAt, members: [m] });
  }
  return parts.map((part) => part.members);
}

/** The first article's contribution names the release; name, all groups and all flags together file it. */
function shownAs(members: readonly Live[]) {
  const order = (c: Contribution) => [c.name, c.poster, c.mainGroup];
  const named = members.map((m) => m.c).sort((a, b) => a.firstAt - b.firstAt || compare(order(a), order(b)));
  const { name, poster, mainGroup } = named[0]!;
  const others = new Set(named.flatMap((c) => [c.mainGroup, ...c.groups]).filter((group) => group !== mainGroup));
  const obfuscated = named.every((c) => c.obfuscated);
  return { name, poster, category: categoryOf({ name, groups: [mainGroup, ...[...others].sort()], obfuscated }) };
}

function compare(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, i) => text !== b[i]);
  if (at < 0) return 0;
  return a[at]! < b[at]! ? -1 : 1;
}

function figures(members: readonly Live[]) {
  const bySeries = groupBy(members);
  const sums = [...bySeries.values()].map((list) => ({
    segments: sum(list, (c) => c.segments),
    bytes: sum(list, (c) => c.bytes),
    files: sum(list, (c) => c.files),
    complete: sum(list, (c) => c.filesComplete),
  }));
  sums.sort((a, b) => b.segments - a.segments || b.bytes - a.bytes || b.complete - a.complete || b.files - a.files);
  const { segments, bytes, files } = sums[0]!;
  return { segments, bytes, files };
}

function groupBy(members: readonly Live[]): Map<string, Live[]> {
  const groups = new Map<string, Live[]>();
  for (const m of members) groups.set(m.series, [...(groups.get(m.series) ?? []), m]);
  return groups;
}

/** The fold: one event after the other, nothing kept but what the rules speak of. */
class Fold {
  readonly pairs = new Map<string, readonly [run: number, pass: number]>();
  readonly births = new Map<string, Birth>();
  live: Live[] = [];
  settlements: Settlement[] = [];

  event({ event, position: { sequence } }: StoredEvent): void {
    switch (event.type) {
      case 'release.opened':
        this.#raise(event.data);
        return;
      case 'release.seen':
        if (!this.#raise(event.data)) return;
        for (const c of event.data.body) this.#seen(event.data, c, event.at, sequence);
        return;
      case 'release.merged':
        for (const merge of event.data.body) this.#merged(event.data, merge, event.at, sequence);
        return;
      case 'release.settled':
        for (const s of event.data.releases) this.#settled(s);
        return;
      default:
    }
  }

  /** False for a zombie. */
  #raise({ backbone, group, rangeId, run, pass }: PassRef): boolean {
    const source = `${backbone}/${group}/${rangeId}`;
    const [highRun, highPass] = this.pairs.get(source) ?? [0, 0];
    if (run < highRun || (run === highRun && pass < highPass)) return false;
    if (run > highRun || pass > highPass) {
      this.live = this.live.filter((l) => l.source !== source && !l.merge?.ranges.includes(source));
    }
    this.pairs.set(source, [run, pass]);
    return true;
  }

  #seen(pass: PassRef, c: Contribution, at: number, sequence: number): void {
    const source = `${pass.backbone}/${pass.group}/${pass.rangeId}`;
    const name = { ...pass, posting: c.posting };
    const known = this.live.some((l) => l.source === source && l.c.key === c.key && l.c.posting === c.posting);
    this.#add({ source, merge: null, name, at, c }, pass, sequence, known);
  }

  #merged(place: Place & { revision: Position }, merge: Merge, at: number, sequence: number): void {
    const rangeOf = (s: MergeSource) => `${place.backbone}/${place.group}/${s.rangeId}`;
    const isCurrent = (s: MergeSource) => this.pairs.get(rangeOf(s))?.join() === `${s.run},${s.pass}`;
    if (merge.sources.length === 0 || !merge.sources.every(isCurrent)) return;
    const made: LiveMerge = {
      mergeId: merge.mergeId,
      file: `${place.backbone}/${place.group}/${place.epoch}/${merge.fileHash}`,
      revision: place.revision.sequence,
      ranges: merge.sources.map(rangeOf),
      pieces: merge.sources.map((s) => `${rangeOf(s)}/${s.posting}`),
    };
    const alike = this.live.flatMap((l) => (l.merge?.file === made.file ? [l.merge] : []));
    if (alike.some((m) => m.mergeId === made.mergeId)) return;
    const rivals = alike.filter((m) => m.pieces.some((piece) => made.pieces.includes(piece)));
    if (rivals.some((m) => m.revision >= made.revision)) return;
    this.live = this.live.filter((l) => !l.merge || !rivals.includes(l.merge));
    const { mergeId, contribution: c } = merge;
    this.#add({ source: null, merge: made, name: { mergeId }, at, c }, place, sequence, false);
  }

  #settled(s: Settlement): void {
    const near = (o: Settlement) =>
      o.key === s.key && Math.max(o.firstAt - s.lastAt, s.firstAt - o.lastAt) < THREE_DAYS;
    this.settlements = [...this.settlements.filter((o) => !near(o)), s];
  }

  #add(live: Omit<Live, 'birth' | 'series'>, { backbone, group, epoch }: Place, sequence: number, known: boolean) {
    const { c } = live;
    const birth = birthOf(backbone, group, epoch, c.firstNumber, c.key);
    const span = { firstAt: c.firstAt, lastAt: c.lastAt };
    if (!this.births.has(birth)) this.births.set(birth, { id: birth, key: c.key, ...span, order: [sequence, birth] });
    if (!known) this.live.push({ ...live, birth, series: `${backbone}/${epoch}` });
  }
}

export function modelCatalog(events: readonly StoredEvent[]): ModelCatalog {
  const fold = new Fold();
  for (const event of events) fold.event(event);
  return shownBy(fold);
}

/** A release with the figures of the settlement of just its contributions, or with sums. */
function figuresOf(key: string, members: readonly Live[], settlements: readonly Settlement[]) {
  const setHash = setHashOf(members.map((m) => m.name));
  const settled = settlements.find((s) => s.key === key && s.setHash === setHash);
  const settleDueAt = Math.max(...members.map((m) => m.at)) + DAY;
  if (!settled) return { ...figures(members), provisional: true, settleDueAt };
  const { segments, bytes, files } = settled;
  return { segments, bytes, files, provisional: false, settleDueAt: null };
}

function shownBy({ live, births, settlements }: Fold): ModelCatalog {
  const releases: ModelRelease[] = [];
  const names = new Map<ReleaseId, readonly ContributionName[]>();
  const leads = new Map<string, ReleaseId | null>([...births.keys()].map((id) => [id, null]));
  for (const key of new Set(live.map((l) => l.c.key))) {
    const parts = partsOf(live.filter((l) => l.c.key === key));
    for (const birth of [...births.values()].filter((b) => b.key === key)) {
      const nearest = [...parts].sort((a, b) => distance(birth, a) - distance(birth, b))[0]!;
      if (distance(birth, nearest) < THREE_DAYS) nearest.births.push(birth);
    }
    for (const part of parts) {
      part.births.sort((a, b) => a.order[0] - b.order[0] || (a.order[1] < b.order[1] ? -1 : 1));
      const id = part.births[0]?.id;
      if (!id) continue;
      for (const birth of part.births) leads.set(birth.id, id);
      const { firstAt, lastAt, members } = part;
      releases.push({ id, key, ...shownAs(members), firstAt, lastAt, ...figuresOf(key, members, settlements) });
      names.set(
        id,
        members.map((m) => m.name),
      );
    }
  }
  return { releases: releases.sort((a, b) => (a.id < b.id ? -1 : 1)), births: leads, names };
}

const partsOf = (members: readonly Live[]) =>
  componentsOf(members).map((component) => ({
    members: component,
    firstAt: Math.min(...component.map((m) => m.c.firstAt)),
    lastAt: Math.max(...component.map((m) => m.c.lastAt)),
    births: [] as Birth[],
  }));

const distance = (birth: Birth, part: ReturnType<typeof partsOf>[number]): number =>
  part.members.some((m) => m.birth === birth.id)
    ? -1
    : Math.max(0, part.firstAt - birth.lastAt, birth.firstAt - part.lastAt);
