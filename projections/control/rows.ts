/** What others read of the operator's decisions. */
import type { GarbageTable, GroupList } from '../../streams/events/control.ts';
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

/** The newest projected version of the garbage table, null before there is one: then the default holds. */
export async function currentGarbage(sql: Sql): Promise<GarbageTable | null> {
  const rows = await sql.query<{ garbage: GarbageTable }>(
    'select garbage from control.garbage_table order by garbage_version desc limit 1',
  );
  return rows[0]?.garbage ?? null;
}

/** That version; null when it is not projected (yet). Version 0, the default, is in no table. */
export async function garbageVersion(sql: Sql, version: number): Promise<GarbageTable | null> {
  const rows = await sql.query<{ garbage: GarbageTable }>(
    'select garbage from control.garbage_table where garbage_version = $1',
    [version],
  );
  return rows[0]?.garbage ?? null;
}

/** The versions of the garbage table. */
export const garbageTables = (sql: Sql) => ({
  current: () => currentGarbage(sql),
  version: (version: number) => garbageVersion(sql, version),
});
