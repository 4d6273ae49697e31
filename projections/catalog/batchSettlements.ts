import type { Settlement } from '../../streams/records.ts';
import { POSTING_GAP_MS } from '../../streams/rules.ts';
import type { SqlValue } from '../ports.ts';
import { int4 } from './int4.ts';

interface Said {
  readonly settlement: Settlement;
  readonly lastAt: number;
  replaced: boolean;
}

/**
 * The settlements of a batch. A later one of a key replaces all that are less than 3 days away; those that it replaced are
 * staged as well, since each has removed what was stored near it.
 */
export class BatchSettlements {
  readonly #all: Said[] = [];
  readonly #byKey = new Map<string, Said[]>();

  settled(releases: readonly Settlement[]): void {
    for (const settlement of releases) this.#add(settlement);
  }

  /** Rows of SETTLEMENT_COLUMNS. */
  rows(): readonly (readonly SqlValue[])[] {
    return this.#all.map(({ settlement: s, lastAt, replaced }) => [
      ...[!replaced, s.key, s.setHash, s.firstAt, lastAt, s.bytes, s.par2Bytes],
      ...[s.files, s.filesComplete, s.segments, s.segmentsTotal].map(int4),
      ...[s.par2Files, s.par2Segments, s.par2SegmentsTotal].map(int4),
    ]);
  }

  #add(settlement: Settlement): void {
    const said = { settlement, lastAt: Math.max(settlement.firstAt, settlement.lastAt), replaced: false };
    const alike = this.#byKey.get(settlement.key) ?? [];
    for (const other of alike) {
      const distance = Math.max(settlement.firstAt - other.lastAt, other.settlement.firstAt - said.lastAt);
      if (distance < POSTING_GAP_MS) other.replaced = true;
    }
    this.#byKey.set(settlement.key, [...alike, said]);
    this.#all.push(said);
  }
}

export const SETTLEMENT_COLUMNS = `live bool, key uuid, set_hash uuid, first_at int8, last_at int8, bytes int8,
  par2_bytes int8, files int4, files_complete int4, segments int4, segments_total int4, par2_files int4,
  par2_segments int4, par2_segments_total int4`;
