import { type ArticleNumber, type Backbone, type Epoch, type Group, MergeId, RangeId } from '../../streams/ids.ts';
import type { ContributionName } from '../../streams/merges.ts';
import type { SqlRow } from '../ports.ts';
import { hex } from './releaseRow.ts';

export interface NamedRow extends SqlRow {
  readonly backbone: Backbone;
  readonly group: Group;
  readonly epoch: Epoch;
  readonly lo: ArticleNumber | null;
  readonly hi: ArticleNumber | null;
  readonly run: number;
  readonly pass: number;
  readonly posting: number;
  readonly mergeId: string | null;
}

/** The columns that name a contribution `c`, with NAME_JOINS behind it. */
export const NAME_COLUMNS = `b.name as backbone, g.name as "group", s.epoch, s.lo, s.hi, s.run, s.pass, c.posting,
  s.merge_id as "mergeId"`;
export const NAME_JOINS = `
  join catalog.source s on s.id = c.source_id
  join catalog.backbone_name b on b.id = s.backbone_id
  join catalog.group_name g on g.id = s.group_id`;

export function nameOf({ backbone, group, epoch, lo, hi, run, pass, posting, mergeId }: NamedRow): ContributionName {
  if (mergeId !== null) return { mergeId: MergeId(hex(mergeId)) };
  return { backbone, group, rangeId: RangeId.of(epoch, lo!, hi!), run, pass, posting };
}
