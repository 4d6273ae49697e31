import { birthOf } from '../../projections/catalog/birth.ts';
import { categoryOf } from '../../projections/catalog/categoryOf.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { ReleaseId } from '../../streams/ids.ts';
import type { Contribution } from '../../streams/records.ts';

/** The rules of the catalog, event by event and without a database: what the projection is held against. */
export interface ModelRelease {
  readonly id: ReleaseId;
  readonly key: string;
  readonly name: string;
  readonly category: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly segments: number;
  readonly bytes: number;
  readonly files: number;
}

export interface ModelCatalog {
  /** By id, ascending. */
  readonly releases: readonly ModelRelease[];
  /** Every birth ever, and the release that it leads to. */
  readonly births: ReadonlyMap<string, ReleaseId | null>;
}

interface Live {
  readonly source: string;
  readonly series: string;
  readonly birth: ReleaseId;
  readonly c: Contribution;
}
interface Birth {
  readonly id: ReleaseId;
  readonly key: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly order: readonly [sequence: number, id: string];
}

const THREE_DAYS = 3 * 86_400_000;
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

/** The first article's contribution names the release and files it; the rest of the order ends equal times alike. */
function shownAs(members: readonly Live[]) {
  const named = members.map(({ c }) => ({ ...c, category: categoryOf(c) }));
  const order = (c: (typeof named)[number]) => [c.name, c.poster, c.mainGroup, String(c.category)];
  named.sort((a, b) => a.firstAt - b.firstAt || compare(order(a), order(b)));
  const { name, category } = named[0]!;
  return { name, category };
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

export function modelCatalog(events: readonly StoredEvent[]): ModelCatalog {
  const pairs = new Map<string, readonly [number, number]>();
  const births = new Map<string, Birth>();
  let live: Live[] = [];
  for (const { event, position } of events) {
    if (event.type !== 'release.opened' && event.type !== 'release.seen') continue;
    const { backbone, group, epoch, rangeId, run, pass } = event.data;
    const source = `${backbone}/${group}/${rangeId}`;
    const [highRun, highPass] = pairs.get(source) ?? [0, 0];
    if (run < highRun || (run === highRun && pass < highPass)) continue;
    if (run > highRun || pass > highPass) live = live.filter((l) => l.source !== source);
    pairs.set(source, [run, pass]);
    if (event.type === 'release.opened') continue;
    for (const c of event.data.body) {
      const birth = birthOf(backbone, group, epoch, c.firstNumber, c.key);
      const order = [position.sequence, birth] as const;
      const span = { firstAt: c.firstAt, lastAt: c.lastAt };
      if (!births.has(birth)) births.set(birth, { id: birth, key: c.key, ...span, order });
      const known = live.some((l) => l.source === source && l.c.key === c.key && l.c.posting === c.posting);
      if (!known) live.push({ source, series: `${backbone}/${epoch}`, birth, c });
    }
  }
  return shownBy(live, births);
}

function shownBy(live: readonly Live[], births: ReadonlyMap<string, Birth>): ModelCatalog {
  const releases: ModelRelease[] = [];
  const leads = new Map<string, ReleaseId | null>([...births.keys()].map((id) => [id, null]));
  for (const key of new Set(live.map((l) => l.c.key))) {
    const parts = componentsOf(live.filter((l) => l.c.key === key)).map((members) => ({
      members,
      firstAt: Math.min(...members.map((m) => m.c.firstAt)),
      lastAt: Math.max(...members.map((m) => m.c.lastAt)),
      births: [] as Birth[],
    }));
    for (const birth of [...births.values()].filter((b) => b.key === key)) {
      const distance = (p: (typeof parts)[number]) =>
        p.members.some((m) => m.birth === birth.id)
          ? -1
          : Math.max(0, p.firstAt - birth.lastAt, birth.firstAt - p.lastAt);
      const nearest = [...parts].sort((a, b) => distance(a) - distance(b))[0]!;
      if (distance(nearest) < THREE_DAYS) nearest.births.push(birth);
    }
    for (const part of parts) {
      part.births.sort((a, b) => a.order[0] - b.order[0] || (a.order[1] < b.order[1] ? -1 : 1));
      const id = part.births[0]?.id;
      if (!id) continue;
      for (const birth of part.births) leads.set(birth.id, id);
      const { firstAt, lastAt, members } = part;
      releases.push({ id, key, ...shownAs(members), firstAt, lastAt, ...figures(members) });
    }
  }
  return { releases: releases.sort((a, b) => (a.id < b.id ? -1 : 1)), births: leads };
}
