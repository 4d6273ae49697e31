import fc from 'fast-check';
import type { HeadwaterEvent } from '../../streams/events/index.ts';
import type { ArticleNumber, EpochMs } from '../../streams/ids.ts';
import type { Contribution } from '../../streams/records.ts';
import { modelCatalog } from './catalogModel.ts';
import {
  contribution,
  DAY,
  HOUR,
  keyOf,
  merged,
  opened,
  type PassOptions,
  seen,
  settled,
  settlement,
  stored,
  T0,
} from './releaseEvents.ts';

/** Histories of RELEASES in a small world, in which passes, ranges, merges, backbones and times collide all the time. */
interface Part {
  readonly name: string;
  readonly title: string;
  readonly linux: boolean;
  readonly obfuscated: boolean;
  readonly posting: number;
  readonly days: number;
  readonly length: number;
  readonly first: number;
  readonly count: number;
}

const small = (max: number) => fc.integer({ min: 0, max });
const ordinal = fc.constantFrom(1, 1, 1, 2);
const title = fc.constantFrom('a', 'Show.S01E02.720p.HDTV.x264', 'Artist-Title-WEB-2024-GRP');

const part: fc.Arbitrary<Part> = fc.record({
  name: fc.constantFrom('a', 'b'),
  title,
  linux: fc.boolean(),
  obfuscated: fc.boolean(),
  posting: small(1),
  days: small(14),
  length: small(3),
  first: fc.integer({ min: 1, max: 4 }),
  count: fc.integer({ min: 1, max: 9 }),
});

/** An article has one date: what its number says. */
function said(range: number, p: Part): Contribution {
  const first = (range * 10 + p.first) as ArticleNumber;
  const firstAt = (T0 + (((first * 7) % 13) + (p.days > 10 ? 0 : p.days * 0.01)) * DAY) as EpochMs;
  return contribution(p.title, {
    key: keyOf(p.name),
    groups: ['alt.binaries.test', ...(p.linux ? ['alt.binaries.linux.iso'] : [])],
    obfuscated: p.obfuscated,
    posting: p.posting,
    segments: p.count,
    poster: p.count > 4 ? 'one' : 'other',
    firstNumber: first,
    lastNumber: first,
    firstAt: Math.round(firstAt) as EpochMs,
    lastAt: (Math.round(firstAt) + p.length * DAY) as EpochMs,
  });
}

const rangeOptions = (range: number) => ({ lo: range * 10 + 1, hi: range * 10 + 10 });

/** What happens next, given all that has happened. */
type Happening = (before: readonly HeadwaterEvent[]) => HeadwaterEvent | null;

const pass = { range: small(2), backbone: fc.constantFrom('bb', 'bb', 'bc'), run: ordinal, pass: ordinal };
/** Most messages say something: what replaces is the rarer kind. */
const opens = fc.constantFrom(true, false, false);

const passMessage: fc.Arbitrary<Happening> = fc
  .record({ ...pass, opens, parts: fc.array(part, { maxLength: 3 }), k: small(1), hours: small(3) })
  .map(({ range, opens, parts, k, hours, ...numbers }) => {
    const o = { ...numbers, ...rangeOptions(range) };
    const body = parts.map((p) => said(range, p));
    return () => (opens ? opened(o) : seen(o, body, k, T0 + hours * HOUR));
  });

/** The highest pair of each range so far, as options. */
function pairsOf(before: readonly HeadwaterEvent[], backbone: string): PassOptions[] {
  const highest = new Map<number, Required<Pick<PassOptions, 'lo' | 'run' | 'pass'>>>();
  for (const { type, data } of before) {
    if (type !== 'release.opened' || data.backbone !== backbone) continue;
    const { lo, run, pass: n } = data;
    const known = highest.get(lo) ?? { lo, run: 0, pass: 0 };
    if (run > known.run || (run === known.run && n > known.pass)) highest.set(lo, { lo, run, pass: n });
  }
  return [...highest.values()].map((o) => ({ ...o, hi: o.lo + 9, backbone }));
}

/** Most are of runs and passes that are there: others say little. */
const mergeMessage: fc.Arbitrary<Happening> = fc
  .record({
    backbone: fc.constantFrom('bb', 'bb', 'bb', 'bc'),
    pieces: fc.uniqueArray(fc.record({ range: small(2), posting: fc.constantFrom(0, 0, 0, 1), stale: small(9) }), {
      minLength: 1,
      maxLength: 3,
      selector: (p) => p.range,
    }),
    revision: fc.integer({ min: 1, max: 5 }),
    fileHash: fc.constantFrom('00000000000000aa', '00000000000000aa', '00000000000000aa', 'ffffffffffffffff'),
    hours: small(3),
    part,
  })
  .map(({ backbone, pieces, revision, fileHash, hours, part: p }) => (before) => {
    const there = pairsOf(before, backbone);
    const of = ({ range, posting, stale }: (typeof pieces)[number]) => {
      const pair = there[range % there.length]!;
      return { ...pair, posting, ...(stale === 0 ? { run: 1, pass: 1 } : {}) };
    };
    if (there.length === 0) return null;
    const c = said(pieces[0]!.range, p);
    const distinct = new Map(pieces.map((piece) => [piece.range % there.length, of(piece)]));
    return merged({ pieces: [...distinct.values()], revision, fileHash }, c, T0 + hours * HOUR);
  });

/** Of a release as it is, or of one whose contributions were others. */
const settleMessage: fc.Arbitrary<Happening> = fc
  .record({ which: fc.nat(9), segments: fc.integer({ min: 50, max: 99 }), holds: small(3), days: small(4) })
  .map(({ which, segments, holds, days }) => (before) => {
    const { releases, names } = modelCatalog(stored(before));
    const release = releases[which % Math.max(1, releases.length)];
    if (!release) return null;
    const contributions = names.get(release.id)!;
    const firstAt = (release.firstAt + (holds === 0 ? days * DAY : 0)) as EpochMs;
    const lastAt = Math.max(firstAt, release.lastAt) as EpochMs;
    const told = { key: keyOf(''), segments, firstAt, lastAt };
    const set = holds === 0 ? contributions.slice(1) : contributions;
    return settled([settlement('', set, { ...told, key: release.key as typeof told.key })]);
  });

/** A message may come again. */
const repeated: fc.Arbitrary<Happening> = fc
  .nat(30)
  .map((n) => (before) => before[n % Math.max(1, before.length)] ?? null);

const happening = fc.oneof(
  { weight: 5, arbitrary: passMessage },
  { weight: 6, arbitrary: mergeMessage },
  { weight: 2, arbitrary: settleMessage },
  { weight: 1, arbitrary: repeated },
);

/** At least one event. */
export const catalogWorld: fc.Arbitrary<readonly HeadwaterEvent[]> = fc
  .array(happening, { minLength: 1, maxLength: 30 })
  .map((happenings) => {
    const events: HeadwaterEvent[] = [0, 1].map((range) => opened(rangeOptions(range)));
    for (const next of happenings) {
      const event = next(events);
      if (event) events.push(event);
    }
    return events;
  });
