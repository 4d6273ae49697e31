import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sql } from '../../../projections/ports.ts';
import { allPositions } from '../../../projections/position.ts';
import { rangeCounts } from '../../../projections/ranges/rows.ts';
import { Backbone, Group } from '../../../streams/ids.ts';
import { comparePositions } from '../../../streams/topology.ts';
import { systemClock } from '../../base/clock.ts';
import { HeadwaterError } from '../../base/errors/index.ts';
import { type CommandContext, type NatsClient, withNats, withPatientReads } from '../commands/client.ts';
import { importFile } from '../commands/importOverview.ts';
import type { Endpoints } from '../endpoints.ts';

interface SampleFile {
  readonly group: string;
  readonly file: string;
}

/** Article numbers of the sample mean nothing on any real backbone. */
const SAMPLE_BACKBONE = Backbone('sample');
const SAMPLE_FOLDER = fileURLToPath(new URL('../../sample/', import.meta.url));
const POLL_MS = 100;

/** Written when the sample is in, so that the next start does not read it again. */
const markerOf = (dataDir: string): string => join(dataDir, 'runtime', 'sample-loaded');

/** Whether everything that was planned is parsed and every projection is at the end of its stream. Throws SAMPLE_FAILED. */
export async function isIndexed(db: Sql, { reader }: NatsClient): Promise<boolean> {
  const { planned = 0, fetched = 0, failed = 0 } = await rangeCounts(db);
  if (failed > 0) throw new HeadwaterError('SAMPLE_FAILED', { failed });
  if (planned + fetched > 0) return false;
  for (const { family, position } of await allPositions(db)) {
    if (comparePositions(position, (await reader.state(family)).last) < 0) return false;
  }
  return true;
}

async function importSample(context: CommandContext, client: NatsClient, db: Sql): Promise<void> {
  const files = JSON.parse(readFileSync(join(SAMPLE_FOLDER, 'index.json'), 'utf8')) as readonly SampleFile[];
  for (const { group, file } of files) {
    const place = { file: join(SAMPLE_FOLDER, file), group: Group(group), backbone: SAMPLE_BACKBONE };
    await importFile(place, client, db, { signal: context.signal });
  }
  while (!(await isIndexed(db, client))) await systemClock.sleep(POLL_MS, context.signal);
}

/**
 * Without a provider there would be nothing to search: the bundled overview lines go the way that a provider's go.
 * Once only; returns when they can be searched.
 */
export async function loadSample(context: CommandContext, endpoints: Endpoints): Promise<void> {
  const { config, print } = context;
  if (!config.sample || config.providers.length > 0 || existsSync(markerOf(config.dataDir))) return;
  print('loading the bundled sample ...');
  await withNats(
    context,
    (client) => withPatientReads(context, (db) => importSample(context, client, db), endpoints),
    endpoints,
    'endless',
  );
  writeFileSync(markerOf(config.dataDir), '');
}
