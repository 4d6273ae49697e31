import { PAYLOAD_BYTES_MAX } from '../../streams/events/define.ts';
import type { Position } from '../../streams/ids.ts';
import { mergeIdOf } from '../../streams/merges.ts';
import { comparePositions } from '../../streams/topology.ts';
import type { Resolution } from '../resolution.ts';
import { runRounds } from '../run.ts';
import { type ClosingRule, closingRule } from './closing.ts';
import { mergePieces, type NewMerge } from './mergePieces.ts';
import { type MergePlace, MergeWriter } from './mergeWriter.ts';
import type { FragmentsPorts, OpenUnit, UnitCursor, UnitPage } from './ports.ts';
import { DEFAULT_FRAGMENTS_SETTINGS, type FragmentsSettings } from './settings.ts';
import { TooLargeUnits } from './tooLarge.ts';

interface DueUnit {
  readonly unit: OpenUnit;
  readonly rule: ClosingRule;
}

/** Its segment lists travel in one message: pieces that are larger together stay as they are. A part of it is for what is written anew. */
const UNIT_BYTES_MAX = PAYLOAD_BYTES_MAX - 900_000;

const placeOf = (u: MergePlace): string => `${u.backbone}/${u.group}/${u.epoch}`;

/** Cuts units, in order, into lists whose pieces take at most `limit` bytes; a larger one is a list of its own. */
function* inBatches(due: readonly DueUnit[], limit: number): Generator<readonly DueUnit[]> {
  let batch: DueUnit[] = [];
  let bytes = 0;
  for (const one of due) {
    if (batch.length > 0 && bytes + one.unit.payloadBytes > limit) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(one);
    bytes += one.unit.payloadBytes;
  }
  if (batch.length > 0) yield batch;
}

/** Closes units, round by round. Keeps nothing but a place to go on from and a barrier. */
class FragmentsRounds {
  readonly #ports: FragmentsPorts;
  readonly #settings: FragmentsSettings;
  readonly #writer: MergeWriter;
  readonly #tooLarge: TooLargeUnits;
  /** Nothing is decided before the projection has seen RELEASES up to here. */
  #barrier: Position | null = null;
  #others: UnitCursor | null = null;

  constructor(ports: FragmentsPorts, settings: FragmentsSettings) {
    this.#ports = ports;
    this.#settings = settings;
    this.#writer = new MergeWriter(ports);
    this.#tooLarge = new TooLargeUnits(ports.conditions);
  }

  /** One round: every complete unit, then some of the others. */
  async round(signal: AbortSignal): Promise<void> {
    if (!(await this.#caughtUp())) return;
    let after: UnitCursor | null = null;
    do {
      const page: UnitPage = await this.#ports.units.page(true, this.#settings.completeUnits, after);
      await this.#close(page, signal);
      after = page.next;
    } while (after !== null);
    this.#tooLarge.walked('complete');
    const page = await this.#ports.units.page(false, this.#settings.otherUnits, this.#others);
    await this.#close(page, signal);
    this.#others = page.next;
    if (this.#others === null) this.#tooLarge.walked('others');
  }

  /**
   * Whether the projection has seen all that this process appended; what it decided would look undone before. At the start:
   * all that the stream held, which an earlier process may have appended.
   */
  async #caughtUp(): Promise<boolean> {
    const { reader, units } = this.#ports;
    this.#barrier ??= (await reader.state('RELEASES')).last;
    return comparePositions(await units.position(), this.#barrier) >= 0;
  }

  async #close(page: UnitPage, signal: AbortSignal): Promise<void> {
    const due: DueUnit[] = [];
    const resolutions = new Map<string, Resolution>();
    for (const unit of page.units) {
      if (unit.payloadBytes > UNIT_BYTES_MAX) {
        this.#tooLarge.meet(unit);
        continue;
      }
      const rule = unit.complete
        ? 'complete'
        : closingRule(unit, await this.#resolution(resolutions, unit, page.revision));
      if (rule !== null) due.push({ unit, rule });
    }
    for (const batch of inBatches(due, this.#settings.batchBytes)) await this.#merge(batch, page.revision, signal);
  }

  async #resolution(known: Map<string, Resolution>, unit: OpenUnit, revision: Position): Promise<Resolution> {
    const place = placeOf(unit);
    const found = known.get(place) ?? (await this.#ports.resolved.of(unit.backbone, unit.group, unit.epoch, revision));
    known.set(place, found);
    return found;
  }

  async #merge(batch: readonly DueUnit[], revision: Position, signal: AbortSignal): Promise<void> {
    const { metrics, log, units } = this.#ports;
    const pieces = await units.pieces(batch.map(({ unit }) => unit.mergeId));
    const byPlace = new Map<string, { place: MergePlace; merges: NewMerge[] }>();
    for (const { unit, rule } of batch) {
      const sourced = pieces.get(unit.mergeId) ?? [];
      const sources = sourced.map((s) => s.source);
      // Its pieces changed since the page was read: the next round sees it as it is then.
      if (mergeIdOf(unit, unit.fileHash, sources) !== unit.mergeId) continue;
      const found = byPlace.get(placeOf(unit)) ?? { place: unit, merges: [] };
      found.merges.push(mergePieces(unit, unit.fileHash, sourced));
      byPlace.set(placeOf(unit), found);
      metrics.count('fragments_merges_total', { rule });
      metrics.count('fragments_pieces_merged_total', {}, sourced.length);
    }
    for (const { place, merges } of byPlace.values()) {
      for await (const position of this.#writer.append(place, revision, merges, signal)) this.#barrier = position;
      log.debug('fragments merged', { group: place.group, merges: merges.length });
    }
  }
}

/**
 * The fragments processor: merges what edges of ranges cut, once nothing more is to come or all of it is there. Runs until the
 * signal aborts; rejects only on a defect. Any number of these may run: a merge that was decided twice changes nothing, and of
 * two that share a piece the one that rests on the later revision lives.
 */
export async function runFragments(
  ports: FragmentsPorts,
  signal: AbortSignal,
  settings: FragmentsSettings = DEFAULT_FRAGMENTS_SETTINGS,
): Promise<void> {
  const rounds = new FragmentsRounds(ports, settings);
  await runRounds('fragments', settings.roundMs, (s) => rounds.round(s), ports, signal);
}
