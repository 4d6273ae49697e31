import { type ImportResult, importOverview } from '../../../processors/import/overviewFile.ts';
import type { Sql } from '../../../projections/ports.ts';
import { rangeLedger } from '../../../projections/ranges/rows.ts';
import { Backbone, type Group, isBackbone } from '../../../streams/ids.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { type Log, silentLog } from '../../base/log.ts';
import { findEndpoints } from '../endpoints.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type CommandContext, type NatsClient, withNats, withPatientReads } from './client.ts';
import { groupOf } from './groups.ts';
import { rateText, showProgress } from './progress.ts';
import { countText } from './table.ts';
import { fileSize, unpackedFile } from './unpackedFile.ts';

export interface OverviewImportOptions {
  readonly group: string;
  readonly backbone: string;
}

function backboneOf(name: string): Backbone {
  if (isBackbone(name)) return Backbone(name);
  throw new HeadwaterError('USAGE_WRONG_VALUE', { option: '--backbone', takes: 'a-z, 0-9 and -', value: name });
}

export interface ImportPlace {
  readonly file: string;
  readonly group: Group;
  readonly backbone: Backbone;
}

/** Imports one file through open connections; `update` hears of every piece. */
export function importFile(
  place: ImportPlace,
  { sink, reader }: NatsClient,
  db: Sql,
  options: { signal: AbortSignal; log?: Log; update?: (fileBytes: number, lines: number) => void },
): Promise<ImportResult> {
  let fileBytes = 0;
  const bytes = unpackedFile(place.file, (n) => {
    fileBytes += n;
  });
  const ports = { sink, reader, ledger: rangeLedger(db), clock: systemClock, log: options.log ?? silentLog };
  const onProgress = ({ lines }: { lines: number }) => options.update?.(fileBytes, lines);
  return importOverview({ ...place, bytes, onProgress }, ports, options.signal);
}

/** What an import says at its end. */
export function resultLines(file: string, group: string, result: ImportResult, elapsedMs: number): readonly string[] {
  const { lines, ranges, known, unnumbered, cut } = result;
  if (lines === 0) return [`warning: ${file} holds no line: nothing was imported`];
  const before = known > 0 ? `, ${countText(known, 'range')} imported before` : '';
  return [
    `${rateText('line', lines, elapsedMs)}, ${countText(ranges, 'new range')}${before}`,
    ...(unnumbered > 0 ? [`warning: ${countText(unnumbered, 'line')} had no article number`] : []),
    ...(cut ? [`warning: the last line of ${file} has no end and too few fields: the file was probably cut`] : []),
    // The services parse it when this command is over already.
    `once it is parsed, \`headwater ranges list --group ${group}\` shows how many lines were kept, and why others were not`,
  ];
}

/** `import overview`: returns once everything is in the event log; indexing goes on in the services. */
export function importOverviewCommand(
  context: CommandContext,
  file: string,
  options: OverviewImportOptions,
): Promise<ExitCode> {
  const place = { file, group: groupOf(options.group), backbone: backboneOf(options.backbone) };
  const total = fileSize(file);
  const endpoints = findEndpoints(context.config, context.env);
  const run = async (client: NatsClient, db: Sql): Promise<ExitCode> => {
    const startedAt = systemClock.now();
    const elapsed = () => systemClock.now() - startedAt;
    const progress = showProgress({ ...context, clock: systemClock, total });
    const result = await importFile(place, client, db, {
      signal: context.signal,
      update: (fileBytes, lines) => progress.update(fileBytes, rateText('line', lines, elapsed())),
    });
    const [summary = '', ...more] = resultLines(file, place.group, result, elapsed());
    progress.end(summary);
    for (const line of more) context.print(line);
    return EXIT.ok;
  };
  // What is read and not stored yet would have to be read again: an outage is waited out.
  const withReads = (client: NatsClient) => withPatientReads(context, (db) => run(client, db), endpoints);
  return withNats(context, withReads, endpoints, 'endless');
}
