import { contributionsOf, releaseById } from '../../projections/catalog/rows.ts';
import { chunksOfContributions } from '../../projections/chunks/rows.ts';
import type { Sql } from '../../projections/ports.ts';
import { decodeChunk } from '../../streams/codec/chunk.ts';
import { isReleaseId, type ReleaseId } from '../../streams/ids.ts';
import type { ChunkFile } from '../../streams/records.ts';
import { nzbDocument } from '../nzb/document.ts';
import { contentDisposition } from '../nzb/fileName.ts';
import { mergeFiles } from '../nzb/mergeFiles.ts';
import { categoryName } from './categories.ts';
import { NewznabError } from './errors.ts';
import type { Parameters } from './parameters.ts';

/** The id of a request: bare, with `.nzb` behind it, or as the last part of a page's address. */
export function releaseIdOf(parameters: Parameters): ReleaseId {
  const text = parameters.text('id', 'guid');
  if (text === undefined) throw new NewznabError(200, 'id');
  const id = text
    .toLowerCase()
    .replace(/\.nzb$/, '')
    .split('/')
    .at(-1)!
    .replaceAll('-', '');
  if (!isReleaseId(id)) throw new NewznabError(300);
  return id;
}

async function filesOf(sql: Sql, id: ReleaseId): Promise<ChunkFile[]> {
  const contributions = await contributionsOf(sql, id);
  const files: ChunkFile[] = [];
  for await (const payload of chunksOfContributions(sql, contributions)) {
    for (const file of decodeChunk(payload)) files.push(file);
  }
  return files;
}

export interface NzbDownload {
  readonly disposition: string;
  readonly pieces: Iterable<string>;
}

/** t=get: the NZB of a release. Error 300 when there is none, or when nothing of it can be downloaded. */
export async function get(parameters: Parameters, sql: Sql): Promise<NzbDownload> {
  const release = await releaseById(sql, releaseIdOf(parameters));
  if (!release) throw new NewznabError(300);
  const files = mergeFiles(await filesOf(sql, release.releaseId));
  if (!files.some((f) => f.segments.length > 0)) throw new NewznabError(300);
  return {
    disposition: contentDisposition(release.name),
    pieces: nzbDocument({ title: release.name, category: categoryName(release.category) }, files),
  };
}
