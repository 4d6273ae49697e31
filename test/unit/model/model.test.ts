import { beforeAll, describe, expect, it } from 'vitest';
import { initCompression } from '../../../streams/codec/compression.ts';
import type { ReleaseId } from '../../../streams/ids.ts';
import { Random } from '../../bench/random.ts';
import { modelCatalog } from '../../kit/catalogModel.ts';
import { generatedWorld } from './generated.ts';
import { History, randomCut, uncut } from './history.ts';
import { idsOf, type Outcome, outcomeOf, Said, settleAll } from './outcome.ts';
import { makeWorld, type World } from './world.ts';

/** Issue text: at least 2,000 seeds in full. */
const FULL = process.env.HEADWATER_TEST_FULL === '1';
const FAST = process.env.HEADWATER_TEST_FAST === '1';
const SEEDS = FULL ? 2000 : FAST ? 6 : 12;
const FIRST = Number(process.env.HEADWATER_MODEL_SEED ?? 1);
/** So many rounds end everything that can end; one more is needed only by what stays open for ever. */
const ROUNDS_MAX = 50;

beforeAll(initCompression);

/** Rounds until nothing is due, before and after the last zombies. */
function close(history: History): void {
  history.sleep();
  untilQuiet(history);
  history.haunt();
  untilQuiet(history);
}

function untilQuiet(history: History): void {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (history.mergeRound(history.releases.length) === 0 && !history.step()) return;
  }
  throw new Error('units stay open though every number is resolved');
}

/** Every range as one, nothing in between: what any other history has to end in. */
function plainEnd(world: World): Outcome {
  const history = new History(world, new Random(world.seed), { cut: uncut, trouble: 0 });
  while (history.step());
  close(history);
  const said = new Said();
  settleAll(history, said);
  return outcomeOf(history, said);
}

/** What was shown on the way: the articles that each id stood for. */
class Witness {
  readonly shown = new Map<ReleaseId, { readonly key: string; readonly ids: ReadonlySet<string> }>();

  look(history: History, said: Said): void {
    said.read(history);
    const { releases, names } = modelCatalog(history.releases);
    for (const { id, key } of releases) {
      const held = idsOf(said, key, names.get(id)!);
      for (const [place, ids] of held) {
        expect(new Set(ids).size, `${place}: an article of ${key} is counted twice`).toBe(ids.length);
      }
      this.shown.set(id, { key, ids: new Set([...held.values()].flat()) });
    }
  }

  /** Every id leads to the release that holds what it stood for, as far as that is held at all. */
  check({ catalog }: Outcome, said: Said): void {
    const holders = new Map<string, Set<ReleaseId>>();
    for (const { id, key } of catalog.releases) {
      for (const article of [...idsOf(said, key, catalog.names.get(id)!).values()].flat()) {
        holders.set(article, (holders.get(article) ?? new Set()).add(id));
      }
    }
    for (const [id, { ids }] of this.shown) {
      const now = new Set([...ids].flatMap((article) => [...(holders.get(article) ?? [])]));
      const lead = catalog.births.get(id) ?? null;
      if (now.size === 0) continue;
      expect(lead, `${id} leads nowhere`).not.toBeNull();
      expect([...now], `${id} leads elsewhere`).toContain(lead);
    }
  }
}

/** The world read in a random way, watched on it. */
function troubledEnd(world: World, random: Random, ranges = 7): { outcome: Outcome; said: Said; witness: Witness } {
  const count = random.int(1, ranges);
  const cut = (place: World['places'][number]) => randomCut(random, place, count);
  const history = new History(world, random, { cut, trouble: 0.35 });
  const [said, witness] = [new Said(), new Witness()];
  while (history.step()) {
    if (random.chance(0.3)) history.mergeRound(random.int(0, history.releases.length), random.int(1, 6));
    if (random.chance(0.05)) settleAll(history, said);
    if (random.chance(0.15)) witness.look(history, said);
  }
  close(history);
  witness.look(history, said);
  settleAll(history, said);
  const outcome = outcomeOf(history, said);
  return { outcome, said, witness };
}

describe('the rules of ranges, fragments, settling and identity', () => {
  it(`hold in ${SEEDS} worlds: any cut, order, crash and re-run ends in one catalog, and no id is lost`, () => {
    let releases = 0;
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const world = makeWorld(seed);
      const plain = plainEnd(world);
      releases += plain.lines.length;
      const { outcome, said, witness } = troubledEnd(world, new Random(seed + 1_000_000));
      expect(outcome.lines, `seed ${seed}`).toEqual(plain.lines);
      expect(
        outcome.catalog.releases.filter((r) => r.provisional),
        `seed ${seed}`,
      ).toEqual([]);
      witness.check(outcome, said);
    }
    // Worlds without releases would prove nothing.
    expect(releases).toBeGreaterThan(SEEDS * 2);
  }, 1_800_000);

  it("hold for any split of the generator's stream, parsed in any order", () => {
    const splits = FULL ? 20 : FAST ? 1 : 2;
    for (let seed = 1; seed <= splits; seed++) {
      const world = generatedWorld(seed, FULL ? 2500 : 600);
      const plain = plainEnd(world);
      expect(plain.lines.length).toBeGreaterThan(5);
      const { outcome } = troubledEnd(world, new Random(seed), 9);
      expect(outcome.lines, `seed ${seed}`).toEqual(plain.lines);
    }
  }, 1_800_000);
});
