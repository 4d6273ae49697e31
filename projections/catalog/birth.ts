import { createHash } from 'node:crypto';
import type { ArticleNumber, Backbone, Epoch, Group, ReleaseId, ReleaseKey } from '../../streams/ids.ts';

/**
 * The id that a contribution gives birth to: 128 bits of sha256 over where its first article lies and its key. The same
 * as `birth_id` in schema.sql, and a contract: a release is known by it for ever.
 */
export function birthOf(
  backbone: Backbone,
  group: Group,
  epoch: Epoch,
  firstNumber: ArticleNumber,
  key: ReleaseKey,
): ReleaseId {
  const text = `${backbone}/${group}/${epoch}/${firstNumber}/${key}`;
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 32) as ReleaseId;
}
