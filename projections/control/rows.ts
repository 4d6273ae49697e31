/** What others read of the operator's decisions. */
import type { GroupList } from '../../streams/events/control.ts';
import type { Sql } from '../ports.ts';

/** The newest projected version of the group list, null before there is one. */
export async function currentGroupList(sql: Sql): Promise<GroupList | null> {
  const rows = await sql.query<{ list: GroupList }>(
    'select list from control.group_list order by list_version desc limit 1',
  );
  return rows[0]?.list ?? null;
}

/** That version; null when it is not projected (yet). */
export async function groupListVersion(sql: Sql, listVersion: number): Promise<GroupList | null> {
  const rows = await sql.query<{ list: GroupList }>('select list from control.group_list where list_version = $1', [
    listVersion,
  ]);
  return rows[0]?.list ?? null;
}

/** Implements `GroupLists` of processors/ports.ts. */
export const groupLists = (sql: Sql) => ({
  current: () => currentGroupList(sql),
  version: (listVersion: number) => groupListVersion(sql, listVersion),
});
