import type { Clock } from '../../infra/base/clock.ts';
import type { Log } from '../../infra/base/log.ts';
import { ArticleNumber, type Backbone, EpochMs, type Group, RangeId } from '../../streams/ids.ts';
import type { RangeJob } from '../fetch/rangeEvents.ts';
import type { EventReader, EventSink, RangeLedger, RangeRun } from '../ports.ts';
import { RangeCutter } from './cutRanges.ts';
import { ImportSession } from './session.ts';
import { DEFAULT_IMPORT_SETTINGS, type ImportSettings } from './settings.ts';
import { type FramedBatch, framed, storeRange } from './storeRange.ts';
import { wholeLines } from './wholeLines.ts';

export interface ImportPorts {
  readonly sink: EventSink;
  readonly reader: EventReader;
  readonly ledger: RangeLedger;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ImportProgress {
  /** Lines and bytes read so far. */
  readonly lines: number;
  readonly bytes: number;
  /** Ranges appended by this import, and those that an earlier one had appended. */
  readonly ranges: number;
  readonly known: number;
}

export interface ImportRequest {
  /** The file's bytes, unpacked, in pieces of any size. */
  readonly bytes: AsyncIterable<Buffer>;
  readonly group: Group;
  readonly backbone: Backbone;
  readonly onProgress?: (progress: ImportProgress) => void;
}

/** What an import did; lines without an article number went along and are counted by the parser. */
export interface ImportResult extends ImportProgress {
  readonly unnumbered: number;
  /** The last line has neither an end nor all fields: somebody cut the file there. */
  readonly cut: boolean;
}

const TAB = 9;
/** Number, the standard fields up to the count of lines; Xref may be left out. */
const FIELDS_MIN = 8;

const isCut = (line: Buffer): boolean => line.reduce((tabs, byte) => tabs + (byte === TAB ? 1 : 0), 0) < FIELDS_MIN - 1;

/**
 * Imports a file of overview lines through the path that a provider's lines take: the group joins the list, and ranges of
 * lane `import` are planned, stored and reported fetched. Importing a file again has no effect; one that was interrupted is
 * gone on with, and what of it failed is tried anew. Files that are imported one after the other share a session. Throws
 * IMPORT_NOT_ASCENDING, IMPORT_NO_NUMBERS, IMPORT_LINE_TOO_LONG, IMPORT_OTHER_CONTENT.
 */
export async function importOverview(
  request: ImportRequest,
  ports: ImportPorts,
  signal: AbortSignal,
  settings: ImportSettings = DEFAULT_IMPORT_SETTINGS,
  session: ImportSession = new ImportSession(),
): Promise<ImportResult> {
  await session.begin(ports, settings, signal);
  return await new OverviewImport(request, ports, signal, settings, session).run();
}

class OverviewImport {
  readonly #request: ImportRequest;
  readonly #ports: ImportPorts;
  readonly #signal: AbortSignal;
  readonly #settings: ImportSettings;
  readonly #cutter: RangeCutter;
  readonly #session: ImportSession;
  #batches: FramedBatch[] = [];
  #bytes = 0;
  #ranges = 0;
  #known = 0;
  #cut = false;

  constructor(
    request: ImportRequest,
    ports: ImportPorts,
    signal: AbortSignal,
    settings: ImportSettings,
    session: ImportSession,
  ) {
    this.#request = request;
    this.#ports = ports;
    this.#signal = signal;
    this.#settings = settings;
    this.#session = session;
    this.#cutter = new RangeCutter(settings);
  }

  async run(): Promise<ImportResult> {
    const onUnended = (line: Buffer) => {
      this.#cut = isCut(line);
    };
    for await (const piece of wholeLines(this.#request.bytes, onUnended)) {
      this.#signal.throwIfAborted();
      await this.#take(this.#cutter.push(piece));
      this.#bytes += piece.length;
      this.#request.onProgress?.(this.#progress());
    }
    await this.#take(this.#cutter.finish());
    this.#request.onProgress?.(this.#progress());
    return { ...this.#progress(), unnumbered: this.#cutter.lines - this.#cutter.numbered, cut: this.#cut };
  }

  async #take(cuts: ReturnType<RangeCutter['push']>): Promise<void> {
    for (const cut of cuts) {
      if (cut.kind === 'batch') this.#batches.push(await framed(cut.batch, this.#settings.level));
      else await this.#store(cut.lo, cut.hi);
    }
  }

  async #store(lo: number, hi: number): Promise<void> {
    const batches = this.#batches;
    this.#batches = [];
    const job = await this.#job(ArticleNumber(lo), ArticleNumber(hi));
    const { queue } = this.#session;
    if (await storeRange(job, batches, queue, this.#ports, this.#settings, this.#signal)) this.#ranges++;
    else this.#known++;
  }

  /** The group joins the list with its first range: a file that is refused leaves no trace. */
  async #job(lo: ArticleNumber, hi: ArticleNumber): Promise<RangeJob> {
    const { group, backbone } = this.#request;
    const now = EpochMs(this.#ports.clock.now());
    const { listVersion, epoch, garbageVersion } = await this.#session.versions(
      this.#ports,
      group,
      backbone,
      now,
      this.#signal,
    );
    const ends = { rangeId: RangeId.of(epoch, lo, hi), lo, hi };
    const run = await runToImport(this.#ports.ledger, { backbone, group, rangeId: ends.rangeId });
    const range = { backbone, group, epoch, ...ends, run, lane: 'import' as const };
    return { range, listVersion, garbageVersion, plannedAt: now };
  }

  #progress(): ImportProgress {
    return { lines: this.#cutter.lines, bytes: this.#bytes, ranges: this.#ranges, known: this.#known };
  }
}

/** Run 1, or the one behind runs that failed: an import that is repeated is their retry. */
async function runToImport(ledger: RangeLedger, range: Omit<RangeRun, 'run'>): Promise<number> {
  for (let run = 1; ; run++) {
    const state = await ledger.stateOf({ ...range, run });
    if (state === 'failed') continue;
    // Replaced by a later run, or retired for good: then nothing is behind it.
    if (state !== 'retired' || (await ledger.stateOf({ ...range, run: run + 1 })) === null) return run;
  }
}
