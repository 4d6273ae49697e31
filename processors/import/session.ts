import type { Backbone, Epoch, EpochMs, Group } from '../../streams/ids.ts';
import { newestGarbage } from '../garbage/garbageTableLog.ts';
import { listImported } from './listing.ts';
import type { ImportPorts } from './overviewFile.ts';
import type { ImportSettings } from './settings.ts';
import { ParseQueue } from './storeRange.ts';

/** What a plan of an import is parsed with. */
export interface ImportVersions {
  readonly listVersion: number;
  readonly epoch: Epoch;
  readonly garbageVersion: number;
}

/** What the files that one command imports have in common, so that a thousand small ones take no longer than a large one. */
export class ImportSession {
  readonly queue = new ParseQueue();
  readonly #versions = new Map<string, ImportVersions>();
  #begun = false;

  /** Waits, once, until the ledger knows what was imported before; without projections it never will. */
  async begin(ports: ImportPorts, settings: ImportSettings, signal: AbortSignal): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const { ledger, reader, clock, log } = ports;
    const { last } = await reader.state('RANGES');
    const until = clock.now() + settings.ledgerWaitMs;
    while ((await ledger.position()).sequence < last.sequence) {
      if (clock.now() >= until) {
        log.warn('the range ledger lags behind: ranges that were imported before may be parsed once more');
        return;
      }
      await clock.sleep(settings.waitMs, signal);
    }
  }

  /** Lists the group when it is not; asked with its first range only: a file that is refused leaves no trace. */
  async versions(
    ports: ImportPorts,
    group: Group,
    backbone: Backbone,
    now: EpochMs,
    signal: AbortSignal,
  ): Promise<ImportVersions> {
    const key = `${backbone}/${group}`;
    const known = this.#versions.get(key);
    if (known) return known;
    const { listVersion, epoch } = await listImported(ports, group, backbone, now, signal);
    const garbageVersion = (await newestGarbage(ports.reader)).table?.garbageVersion ?? 0;
    const versions = { listVersion, epoch, garbageVersion };
    this.#versions.set(key, versions);
    return versions;
  }
}
