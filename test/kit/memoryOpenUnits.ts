import type { OpenUnit, OpenUnits, SourcePiece, UnitCursor, UnitPage } from '../../processors/fragments/ports.ts';
import { placeText } from '../../projections/fragments/held.ts';
import { FragmentsState, type PlacedUnit } from '../../projections/fragments/step.ts';
import type { MergeId, Position } from '../../streams/ids.ts';
import type { MemoryEvents } from './memoryEvents.ts';
import { decoded } from './memoryStream.ts';

/**
 * The fragments projection, worked out from an in-memory log whenever it is asked. `lagging` holds it where it is, as a
 * projection that does not get on.
 */
export class MemoryOpenUnits implements OpenUnits {
  readonly #events: MemoryEvents;
  /** The RELEASES sequence that it does not get beyond; null: it follows at once. */
  lagging: number | null = null;
  /** How often pages of complete units, and of others, were asked for. */
  readonly asked = { complete: 0, others: 0 };

  constructor(events: MemoryEvents) {
    this.#events = events;
  }

  /** Stops it where the stream is now. */
  freeze(): void {
    this.lagging = this.#events.stream('RELEASES').last;
  }

  async position(): Promise<Position> {
    const { last } = this.#events.stream('RELEASES');
    return { number: 1, sequence: Math.min(last, this.lagging ?? last) };
  }

  state(): FragmentsState {
    const state = new FragmentsState();
    const end = this.lagging ?? Number.POSITIVE_INFINITY;
    for (const message of this.#events.stream('RELEASES').messages) {
      if (message.sequence <= end) state.apply(decoded(message).event);
    }
    return state;
  }

  async page(complete: boolean, limit: number, after: UnitCursor | null): Promise<UnitPage> {
    this.asked[complete ? 'complete' : 'others']++;
    const open = [...this.state().units()].filter((u) => u.open && u.mergeable && u.complete === complete);
    const order = (u: PlacedUnit) => `${placeText(u.place)} ${u.mergeId}`;
    const sorted = open.sort((a, b) => (order(a) < order(b) ? -1 : 1));
    const from = after === null ? 0 : sorted.findIndex((u) => u.mergeId === after.mergeId) + 1;
    const units = sorted.slice(from, from + limit).map(openUnit);
    const last = units.at(-1);
    const next = last && units.length === limit ? { numbering: 1, mergeId: last.mergeId } : null;
    return { revision: await this.position(), units, next };
  }

  async pieces(wanted: readonly MergeId[]): Promise<ReadonlyMap<MergeId, readonly SourcePiece[]>> {
    const found = new Map<MergeId, readonly SourcePiece[]>();
    for (const { mergeId, pieces } of this.state().units()) {
      if (!wanted.includes(mergeId)) continue;
      const sourced = pieces.map(({ rangeId, run, pass, posting, piece }) => {
        return { source: { rangeId, run, pass, posting }, piece: piece! };
      });
      found.set(mergeId, sourced);
    }
    return found;
  }
}

const openUnit = (u: PlacedUnit): OpenUnit => ({
  ...u.place,
  mergeId: u.mergeId,
  fileHash: u.fileHash,
  firstNumber: u.firstNumber,
  lastNumber: u.lastNumber,
  lastAt: u.lastAt,
  complete: u.complete,
  payloadBytes: u.pieces.reduce((sum, p) => sum + (p.piece?.payload.length ?? 0), 0),
});
