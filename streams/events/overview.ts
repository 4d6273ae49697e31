import { Type } from 'typebox';
import { bulkEvent } from './define.ts';
import { backboneSchema, closed, groupSchema, numberSchema, ordinalSchema, rangeIdSchema } from './schemas.ts';

const schema = Type.Object(
  {
    backbone: backboneSchema,
    group: groupSchema,
    rangeId: rangeIdSchema,
    run: ordinalSchema,
    /** First number that the batch answers for; the next batch starts at its own hi + 1. */
    lo: numberSchema,
    hi: numberSchema,
  },
  closed,
);

/**
 * The overview lines of one stated number span inside a range. `body` is the frame of `codec/overviewBatch.ts`,
 * passed through undecoded: only the headers worker inflates it.
 */
export const overviewBatch = bulkEvent({
  type: 'overview.batch',
  version: 1,
  stream: 'OVERVIEW',
  schema,
  encodeBody: (frame: Uint8Array) => frame,
  decodeBody: (bytes) => bytes,
  subject: (d) => ({ verb: 'overview', backbone: d.backbone, rangeId: d.rangeId, run: d.run, group: d.group }),
  about: (d) => `${d.backbone}/${d.rangeId}/${d.run}/${d.group}/${d.lo}`,
});
export type OverviewBatchData = ReturnType<typeof overviewBatch.decode>;
