import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { firstGroup, nzbOverview } from '../../../processors/import/nzbLines.ts';
import { readNzb } from '../../../processors/import/nzbReader.ts';
import { type ImportPorts, importOverview } from '../../../processors/import/overviewFile.ts';
import { ImportSession } from '../../../processors/import/session.ts';
import { DEFAULT_IMPORT_SETTINGS, type ImportSettings } from '../../../processors/import/settings.ts';
import type { Sql } from '../../../projections/ports.ts';
import { rangeLedger } from '../../../projections/ranges/rows.ts';
import { Backbone, type Group } from '../../../streams/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { type ErrorCode, HeadwaterError, isHeadwaterError } from '../../base/errors/index.ts';
import { silentLog } from '../../base/log.ts';
import { findEndpoints } from '../endpoints.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, type NatsClient, withNats, withPatientReads } from './client.ts';
import { groupOf } from './groups.ts';
import { showProgress } from './progress.ts';
import { countText } from './table.ts';
import { unpackedFile } from './unpackedFile.ts';

export interface NzbImportOptions {
  /** The group of NZBs that name none. */
  readonly group?: string;
}

/** No provider's: the numbers of NZBs are made up. */
const NZB_BACKBONE = Backbone('nzb');
/** A range an NZB: most are small, so more of them may wait than of a file's ranges. */
const SETTINGS: ImportSettings = { ...DEFAULT_IMPORT_SETTINGS, outstandingRanges: 128 };
const NZB_NAME = /\.nzb(\.gz|\.zst)?$/i;
const FOLDERS_DEEP = 16;
/** With these one file is left out and the others go on. */
const OF_ONE_FILE: ReadonlySet<ErrorCode> = new Set([
  'IMPORT_FILE_UNREADABLE',
  'IMPORT_NZB_BROKEN',
  'IMPORT_OTHER_CONTENT',
]);

const unreadable = (file: string, error: unknown): HeadwaterError =>
  new HeadwaterError('IMPORT_FILE_UNREADABLE', { file, reason: (error as Error).message }, { cause: error });

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw unreadable(folder, error);
  }
}

function* nzbsBelow(folder: string, deep: number): Generator<string> {
  const entries = [...entriesOf(folder)].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && deep > 0) yield* nzbsBelow(path, deep - 1);
    else if (entry.isFile() && NZB_NAME.test(entry.name)) yield path;
  }
}

/** The file itself, whatever its name, or all NZBs in and below a folder by name. Throws IMPORT_FILE_UNREADABLE. */
export function nzbFiles(path: string): readonly string[] {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(path, error);
  }
  return isFolder ? [...nzbsBelow(path, FOLDERS_DEEP)] : [path];
}

export interface NzbTotals {
  readonly files: number;
  /** NZBs that are new, that were imported before, and that are broken. */
  readonly imported: number;
  readonly known: number;
  readonly refused: number;
  readonly segments: number;
  readonly unusable: number;
}

interface NzbImport {
  readonly ports: ImportPorts;
  readonly group: Group | null;
  readonly signal: AbortSignal;
  readonly settings?: ImportSettings;
  /** Hears of every file: how many are done, and why this one was refused. */
  readonly onFile: (totals: NzbTotals, failure: HeadwaterError | null) => void;
}

type Outcome = Pick<NzbTotals, 'segments' | 'unusable'> & { readonly isNew: boolean };

async function* eachOf(pieces: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* pieces;
}

async function importOne(file: string, session: ImportSession, request: NzbImport): Promise<Outcome> {
  const content = await readNzb(
    file,
    unpackedFile(file, () => {}),
  );
  const group = firstGroup(content) ?? request.group;
  if (group === null) {
    const reason = 'it names no newsgroup: say --group to import it';
    throw new HeadwaterError('IMPORT_NZB_BROKEN', { file, line: 1, reason });
  }
  const bytes = eachOf(nzbOverview(content, group).pieces());
  const place = { group, backbone: NZB_BACKBONE, bytes };
  const { ranges } = await importOverview(place, request.ports, request.signal, request.settings ?? SETTINGS, session);
  return { isNew: ranges > 0, segments: content.segments, unusable: content.unusable };
}

/** Imports NZBs one after the other; one that cannot be read or is no NZB is told of and left out. */
export async function importNzbs(files: readonly string[], request: NzbImport): Promise<NzbTotals> {
  const session = new ImportSession();
  let totals: NzbTotals = { files: 0, imported: 0, known: 0, refused: 0, segments: 0, unusable: 0 };
  for (const file of files) {
    request.signal.throwIfAborted();
    const before = { ...totals, files: totals.files + 1 };
    try {
      const { isNew, segments, unusable } = await importOne(file, session, request);
      const counted = isNew ? { imported: before.imported + 1 } : { known: before.known + 1 };
      const sums = { segments: before.segments + segments, unusable: before.unusable + unusable };
      totals = { ...before, ...counted, ...sums };
      request.onFile(totals, null);
    } catch (error) {
      if (!isHeadwaterError(error) || !OF_ONE_FILE.has(error.code)) throw error;
      totals = { ...before, refused: before.refused + 1 };
      request.onFile(totals, error);
    }
  }
  return totals;
}

const wordsOf = ({ files, segments, imported, known, refused, unusable }: NzbTotals): string =>
  [
    `${countText(files, 'NZB')}, ${countText(segments, 'segment')}: ${imported} new`,
    ...(known > 0 ? [`${known} imported before`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(unusable > 0 ? [`${countText(unusable, 'segment')} without a usable number or message-id`] : []),
  ].join(', ');

/** `import nzb`: returns once everything is in the event log; indexing goes on in the services. */
export function importNzbCommand(context: CommandContext, path: string, options: NzbImportOptions): Promise<ExitCode> {
  const group = options.group === undefined ? null : groupOf(options.group);
  const files = nzbFiles(path);
  if (files.length === 0) throw unreadable(path, new Error('there is no .nzb, .nzb.gz or .nzb.zst file in it'));
  const endpoints = findEndpoints(context.config, context.env);
  const run = async ({ sink, reader }: NatsClient, db: Sql): Promise<ExitCode> => {
    const ports = { sink, reader, ledger: rangeLedger(db), clock: systemClock, log: silentLog };
    const progress = showProgress({ ...context, clock: systemClock, total: files.length });
    const onFile = (totals: NzbTotals, failure: HeadwaterError | null): void => {
      if (failure) context.print(failure.message);
      progress.update(totals.files, wordsOf(totals));
    };
    const totals = await importNzbs(files, { ports, group, signal: context.signal, onFile });
    progress.end(wordsOf(totals));
    return totals.refused > 0 ? EXIT.failed : EXIT.ok;
  };
  // As for overview files: an outage is waited out.
  const withReads = (client: NatsClient) => withPatientReads(context, (db) => run(client, db), endpoints);
  return withNats(context, withReads, endpoints, 'endless');
}
