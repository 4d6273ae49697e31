import { preferenceOf } from '../../projections/probes/project.ts';
import type { StoredEvent } from '../../streams/envelope.ts';
import type { ProbeCandidate } from '../../streams/records.ts';

/** The rules of the probe queue, event by event and without a database: what the projection is held against. */
export interface ModelProbe {
  readonly key: string;
  readonly kind: string;
  readonly id: string;
  readonly priority: number;
  readonly due: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

interface Live {
  readonly source: string;
  readonly position: number;
  readonly at: number;
  readonly c: ProbeCandidate;
}
interface Settled {
  readonly position: number;
  readonly key: string;
  readonly firstAt: number;
  readonly lastAt: number;
}
interface Release {
  firstAt: number;
  lastAt: number;
  position: number;
  readonly members: Live[];
}

const THREE_DAYS = 3 * 86_400_000;
const UNSETTLED = 8;

const byChoice = (a: Live, b: Live): number =>
  a.c.rank - b.c.rank || (a.c.messageId < b.c.messageId ? -1 : Number(a.c.messageId > b.c.messageId)) || a.at - b.at;

function releasesOf(live: readonly Live[]): readonly Release[] {
  const releases: Release[] = [];
  for (const m of [...live].sort((a, b) => a.c.firstAt - b.c.firstAt)) {
    const last = releases.at(-1);
    if (last && m.c.firstAt - last.lastAt < THREE_DAYS) {
      last.members.push(m);
      last.lastAt = Math.max(last.lastAt, m.c.lastAt);
      last.position = Math.max(last.position, m.position);
    } else releases.push({ firstAt: m.c.firstAt, lastAt: m.c.lastAt, position: m.position, members: [m] });
  }
  return releases;
}

function probesOf(release: Release, isSettled: boolean): readonly ModelProbe[] {
  const best = new Map<string, Live>();
  for (const m of [...release.members].sort(byChoice)) if (!best.has(m.c.kind)) best.set(m.c.kind, m);
  return [...best.values()].map(({ c, at }) => ({
    key: c.key,
    kind: c.kind,
    id: c.messageId,
    priority: preferenceOf(c) + (isSettled ? 0 : UNSETTLED),
    due: at,
    firstAt: release.firstAt,
    lastAt: release.lastAt,
  }));
}

/** The queue after these events, by key, kind and id. */
export function modelProbes(events: readonly StoredEvent[]): readonly ModelProbe[] {
  const pairs = new Map<string, readonly [number, number]>();
  let live: Live[] = [];
  let settled: Settled[] = [];
  for (const { event, position } of events) {
    if (event.type === 'release.settled') {
      for (const { key, firstAt, lastAt } of event.data.releases) {
        const near = (s: Settled) =>
          s.key === key && firstAt - s.lastAt < THREE_DAYS && s.firstAt - lastAt < THREE_DAYS;
        settled = settled.filter((s) => !near(s));
        settled.push({ position: position.sequence, key, firstAt, lastAt });
      }
    }
    if (event.type !== 'release.opened' && event.type !== 'probe.candidates') continue;
    const { backbone, group, rangeId, run, pass } = event.data;
    const source = `${backbone}/${group}/${rangeId}`;
    const [highRun, highPass] = pairs.get(source) ?? [0, 0];
    if (run < highRun || (run === highRun && pass < highPass)) continue;
    if (run > highRun || pass > highPass) live = live.filter((l) => l.source !== source);
    pairs.set(source, [run, pass]);
    if (event.type === 'release.opened') continue;
    for (const c of event.data.body) {
      const same = (l: Live) => l.source === source && l.c.kind === c.kind && l.c.messageId === c.messageId;
      const known = live.some((l) => l.c.key === c.key && same(l));
      if (!known) live.push({ source, position: position.sequence, at: event.at, c });
    }
  }
  const probes = [...new Set(live.map((l) => l.c.key))].flatMap((key) =>
    releasesOf(live.filter((l) => l.c.key === key)).flatMap((release) => {
      const tells = (s: Settled) =>
        s.key === key && s.position > release.position && s.firstAt <= release.lastAt && s.lastAt >= release.firstAt;
      return probesOf(release, settled.some(tells));
    }),
  );
  const order = (p: ModelProbe) => `${p.key}/${p.kind}/${p.id}`;
  return probes.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
