import { HeadwaterError } from '../../infra/base/errors/index.ts';
import type { BatchRef } from '../../streams/events/ranges.ts';
import type { RangeRef } from '../../streams/records.ts';
import type { EventReader } from '../ports.ts';

/** Bytes that may be on their way at once; the stated raw size bounds what a batch takes. */
const AHEAD_BYTES = 16_000_000;

const gone = (range: RangeRef, sequence: number): HeadwaterError =>
  new HeadwaterError('RANGE_BATCH_GONE', { range: range.rangeId, group: range.group, run: range.run, sequence });

/** The body of one listed batch. Throws RANGE_BATCH_GONE when it is not there, or another message is. */
async function bodyOf(reader: EventReader, range: RangeRef, batch: BatchRef): Promise<Uint8Array> {
  const stored = await reader.get('OVERVIEW', { number: 1, sequence: batch.sequence });
  if (stored?.event.type !== 'overview.batch') throw gone(range, batch.sequence);
  const { rangeId, run, group, lo, hi, body } = stored.event.data;
  // A stream that was made anew counts from 1 again: another batch may lie where ours did.
  const ours = rangeId === range.rangeId && run === range.run && group === range.group;
  if (!ours || lo !== batch.lo || hi !== batch.hi) throw gone(range, batch.sequence);
  return body;
}

/** The bodies of the listed batches in order, some of them read ahead while the one before is worked on. */
export async function* readBatches(
  reader: EventReader,
  range: RangeRef,
  batches: readonly BatchRef[],
): AsyncGenerator<Uint8Array> {
  const ahead: { readonly bytes: number; readonly body: Promise<Uint8Array> }[] = [];
  let next = 0;
  let bytes = 0;
  const fill = () => {
    for (let batch = batches[next]; batch; batch = batches[next]) {
      if (ahead.length > 0 && bytes + batch.rawBytes > AHEAD_BYTES) return;
      const body = bodyOf(reader, range, batch);
      // Whoever leaves early does not ask for it any more; its error is then nobody's.
      body.catch(() => {});
      ahead.push({ bytes: batch.rawBytes, body });
      bytes += batch.rawBytes;
      next++;
    }
  };
  fill();
  for (let first = ahead.shift(); first; first = ahead.shift()) {
    const body = await first.body;
    bytes -= first.bytes;
    fill();
    yield body;
  }
}
