import type { StoredEvent } from '../../streams/envelope.ts';
import { BatchSources } from '../batchSources.ts';
import type { SqlValue } from '../ports.ts';
import type { StagedRows } from '../projection.ts';

/** The staged rows of a batch of CHUNKS; payloads are passed on as they are. */
export function projectChunks(events: readonly StoredEvent[]): StagedRows {
  const sources = new BatchSources();
  const chunks: SqlValue[][] = [];
  for (const { event } of events) {
    if (event.type !== 'chunks.opened' && event.type !== 'chunks.written') continue;
    const source = sources.accept(event.data);
    if (!source || event.type === 'chunks.opened') continue;
    const { run, pass, body } = event.data;
    for (const c of body) {
      const lastAt = Math.max(c.firstAt, c.lastAt);
      chunks.push([source.n, run, pass, c.key, c.posting, c.k, c.firstAt, lastAt, c.segments, c.payload]);
    }
  }
  return { stage_chunks_source: sources.rows(), stage_chunks_chunk: chunks };
}
