import type { StoredEvent } from '../../streams/envelope.ts';
import type { ReleaseMerged, ReleaseSeen } from '../../streams/events/releases.ts';
import type { Group } from '../../streams/ids.ts';
import type { Contribution } from '../../streams/records.ts';
import { BatchMerges, NO_MERGES, type StoredMerges } from '../batchMerges.ts';
import { type BatchSource, BatchSources, type PassRef } from '../batchSources.ts';
import type { SqlValue } from '../ports.ts';
import { packPosition } from '../position.ts';
import type { StagedRows } from '../projection.ts';
import { BatchSettlements } from './batchSettlements.ts';
import { categoryOf } from './categoryOf.ts';
import { int4, int4OrNull } from './int4.ts';
import { tokensOf } from './tokens.ts';

/** Names and posters are cut where no client shows more. */
const TEXT_MAX = 1_000;
const cut = (text: string): string => text.slice(0, TEXT_MAX).replaceAll('\0', '\ufffd');

/** All groups, in an order that does not depend on the server's. */
const groupsOf = ({ mainGroup, groups }: Contribution): readonly Group[] => [
  mainGroup,
  ...[...new Set(groups)].filter((name) => name !== mainGroup).sort(),
];

/** Gives each distinct thing of a batch a number, so that rows can name it in four bytes. */
class Numbering<T> {
  readonly #numbers = new Map<string, number>();
  readonly all: T[] = [];
  of(key: string, value: () => T): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.all.length);
    this.all.push(value());
    return this.all.length - 1;
  }
}

/** Where and when a contribution was said; those of merges have no pass, and 0 for its numbers. */
interface Saying {
  readonly n: number;
  readonly run: number;
  readonly pass: number;
  readonly at: number;
  readonly position: number;
}

/** One batch being turned into staged rows. */
class Batch {
  readonly settlements = new BatchSettlements();
  readonly #sources = new BatchSources();
  readonly #merges: BatchMerges;
  readonly #groups = new Numbering<string>();
  readonly #lists = new Numbering<readonly string[]>();
  readonly #names = new Numbering<readonly SqlValue[]>();
  readonly #contributions: SqlValue[][] = [];

  constructor(stored: StoredMerges) {
    this.#merges = new BatchMerges(stored, this.#sources);
  }

  /** Null when the pass was replaced before this message. */
  accept(ref: PassRef): BatchSource | null {
    this.#group(ref.group);
    return this.#sources.accept(ref);
  }

  seen({ n }: BatchSource, { run, pass, body }: ReleaseSeen, at: number, position: number): void {
    for (const c of body) this.#contribution({ n, run, pass, at, position }, c);
  }

  merged(message: ReleaseMerged, at: number, position: number): void {
    for (const merge of message.body) {
      const n = this.#merges.accept(message, merge);
      if (n !== null) this.#contribution({ n, run: 0, pass: 0, at, position }, merge.contribution);
    }
  }

  rows(): StagedRows {
    return {
      stage_catalog_source: this.#sources.rows(),
      stage_catalog_group: this.#groups.all.map((name, n) => [n, name]),
      stage_catalog_list: this.#lists.all.map((names, n) => [n, names]),
      stage_catalog_name: this.#names.all,
      stage_catalog_contribution: this.#contributions,
      stage_catalog_merge: this.#merges.rows(),
      stage_catalog_piece: this.#merges.pieceRows(),
      stage_catalog_replaced: this.#merges.replacedRows(),
      stage_catalog_settlement: this.settlements.rows(),
    };
  }

  #group(name: string): number {
    return this.#groups.of(name, () => name);
  }

  /** The groups beside the main one; null when there is none. */
  #list(main: Group, groups: readonly Group[]): number | null {
    const others = [...new Set(groups)].filter((name) => name !== main).sort();
    if (others.length === 0) return null;
    for (const name of others) this.#group(name);
    return this.#lists.of(others.join(' '), () => others);
  }

  #contribution({ n, run, pass, at, position }: Saying, c: Contribution): void {
    const name = cut(c.name);
    this.#names.of(name, () => [name, tokensOf(name)]);
    const lastAt = Math.max(c.firstAt, c.lastAt);
    this.#contributions.push([
      ...[this.#contributions.length, position, at, n, run, pass, c.key, int4(c.posting)],
      ...[c.firstNumber, c.lastNumber, c.firstAt, lastAt, c.bytes, c.par2Bytes, packPosition(c.chunksPosition)],
      ...[int4(c.files), int4(c.filesComplete), int4OrNull(c.filesTotal), int4(c.segments), int4(c.segmentsTotal)],
      ...[int4(c.par2Files), int4(c.par2Segments), int4(c.par2SegmentsTotal), int4(c.chunks)],
      ...[this.#group(c.mainGroup), this.#list(c.mainGroup, c.groups)],
      categoryOf({ name, groups: groupsOf(c), obfuscated: c.obfuscated }),
      ...[c.hasNfo, c.obfuscated, name, cut(c.poster), Buffer.from(c.fileHashes.join(''), 'hex')],
    ]);
  }
}

/**
 * The staged rows of a batch of RELEASES. What a batch alone can tell is decided here (a message that an earlier message
 * of the batch replaced is dropped), and which merges live; what else depends on stored rows is decided in merge.sql.
 */
export function projectCatalog(events: readonly StoredEvent[], stored: StoredMerges = NO_MERGES): StagedRows {
  const batch = new Batch(stored);
  for (const { event, position } of events) {
    if (event.type === 'release.settled') batch.settlements.settled(event.data.releases);
    if (event.type === 'release.merged') batch.merged(event.data, event.at, packPosition(position));
    if (event.type !== 'release.opened' && event.type !== 'release.seen') continue;
    const source = batch.accept(event.data);
    if (source && event.type === 'release.seen') batch.seen(source, event.data, event.at, packPosition(position));
  }
  return batch.rows();
}
