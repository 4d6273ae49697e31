import type { Group } from '../../streams/ids.ts';
import type { Sql, SqlRow } from '../ports.ts';
import { categoryOf } from './categoryOf.ts';
import { tokensOf } from './tokens.ts';

interface UnfinishedRow extends SqlRow {
  readonly id: string;
  readonly name: string;
  readonly obfuscated: boolean;
  readonly main: Group;
  readonly others: readonly Group[];
}

const UNFINISHED = `
  select r.release_id as id, r.name, r.obfuscated, (select g.name from group_name g where g.id = r.group_id) as main,
         array(select g.name from group_name g where g.id = any (r.groups)) as others
    from release r where r.tokens is null or r.category is null`;

/**
 * Words and category of releases that merge.sql could not give them: named anew by a contribution of an earlier batch,
 * or with groups that no contribution has alone. Rare beside those that come with a contribution.
 */
export async function finishReleases(tx: Sql): Promise<void> {
  for (const { id, name, obfuscated, main, others } of await tx.query<UnfinishedRow>(UNFINISHED)) {
    const category = categoryOf({ name, groups: [main, ...[...others].sort()], obfuscated });
    await tx.query('update release set tokens = array_to_tsvector($2::text[]), category = $3 where release_id = $1', [
      id,
      tokensOf(name),
      category,
    ]);
  }
}
