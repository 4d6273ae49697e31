import type { StoredEvent } from '../../streams/envelope.ts';
import type { EncodedChunk } from '../../streams/records.ts';
import { BatchMerges, NO_MERGES, type StoredMerges } from '../batchMerges.ts';
import { BatchSources, type Pair } from '../batchSources.ts';
import type { SqlValue } from '../ports.ts';
import type { StagedRows } from '../projection.ts';

const OF_MERGES: Pair = { run: 0, pass: 0 };

const chunkRow = (n: number, { run, pass }: Pair, c: EncodedChunk): readonly SqlValue[] => {
  const lastAt = Math.max(c.firstAt, c.lastAt);
  return [n, run, pass, c.key, c.posting, c.k, c.firstAt, lastAt, c.segments, c.payload];
};

/** The staged rows of a batch of CHUNKS; payloads are passed on as they are. */
export function projectChunks(events: readonly StoredEvent[], stored: StoredMerges = NO_MERGES): StagedRows {
  const sources = new BatchSources();
  const merges = new BatchMerges(stored, sources);
  const chunks: (readonly SqlValue[])[] = [];
  for (const { event } of events) {
    if (event.type === 'chunks.merged') {
      for (const merge of event.data.body) {
        const n = merges.accept(event.data, merge);
        if (n !== null) chunks.push(...merge.chunks.map((c) => chunkRow(n, OF_MERGES, c)));
      }
    }
    if (event.type !== 'chunks.opened' && event.type !== 'chunks.written') continue;
    const source = sources.accept(event.data);
    if (!source || event.type === 'chunks.opened') continue;
    const { data } = event;
    for (const c of data.body) chunks.push(chunkRow(source.n, data, c));
  }
  return {
    stage_chunks_source: sources.rows(),
    stage_chunks_chunk: chunks,
    stage_chunks_merge: merges.rows(),
    stage_chunks_piece: merges.pieceRows(),
    stage_chunks_replaced: merges.replacedRows(),
  };
}
