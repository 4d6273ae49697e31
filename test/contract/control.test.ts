import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import type { GroupLists } from '../../processors/ports.ts';
import { control } from '../../projections/control/index.ts';
import { garbageTables, groupLists } from '../../projections/control/rows.ts';
import { allPositions } from '../../projections/position.ts';
import { controlGarbage, controlGroups } from '../../streams/events/control.ts';
import { makeEvent } from '../../streams/events/index.ts';
import { EpochMs, Group } from '../../streams/ids.ts';
import { openDatabase, projectAll } from '../kit/projections.ts';
import { stored } from '../kit/releaseEvents.ts';
import { sampleGroups } from '../kit/sampleEvents.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  services = await startServices({ nats: false });
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});
beforeEach(async () => {
  await db?.close();
  db = await openDatabase(await services.freshDatabase());
});

const table = (garbageVersion: number, pattern: string) => ({
  origin: 'operator' as const,
  garbageVersion,
  signatures: [{ signature: 'spam', field: 'poster' as const, pattern }],
});
const garbage = (garbageVersion: number, pattern: string) =>
  makeEvent(controlGarbage, EpochMs(1000 + garbageVersion), table(garbageVersion, pattern));

describe('the garbage tables in the database', () => {
  it('are none before the operator has one', async () => {
    await projectAll(db, control, stored([]));
    expect(await garbageTables(db).current()).toBeNull();
    expect(await garbageTables(db).version(0)).toBeNull();
  });

  it.each([[[1]], [[99]], [[3, 1]]])('keep every version beside the group lists (batches of %j)', async (sizes) => {
    const events = [
      sampleGroups(1),
      garbage(1, 'a'),
      garbage(2, 'b'),
      sampleGroups(2),
      garbage(2, 'c'),
      garbage(3, 'd'),
    ];
    await projectAll(db, control, stored(events), sizes);
    expect(await garbageTables(db).current()).toEqual(table(3, 'd'));
    expect(await garbageTables(db).version(1)).toEqual(table(1, 'a'));
    // The first event with a number counts.
    expect(await garbageTables(db).version(2)).toEqual(table(2, 'b'));
    expect(await garbageTables(db).version(4)).toBeNull();
    expect((await groupLists(db).current())?.listVersion).toBe(2);
  });
});

describe('the group lists', () => {
  const version = (listVersion: number, names: readonly string[]) => {
    const entries = names.map((name, i) => {
      return { group: Group(name), rank: i + 1, backfill: { kind: 'all' as const }, spans: [], removed: false };
    });
    return makeEvent(controlGroups, EpochMs(1), { origin: 'operator' as const, listVersion, entries });
  };

  it('keep every version whole, and the entries of the newest', async () => {
    const lists: GroupLists = groupLists(db);
    await projectAll(db, control, stored([version(1, ['b.one']), version(2, ['b.one', 'a.two'])]), [1]);
    expect((await lists.current())?.entries.map((e) => e.group)).toEqual(['b.one', 'a.two']);
    expect(await lists.version(1)).toEqual(version(1, ['b.one']).data);
    expect(await lists.version(3)).toBeNull();
    expect(await db.query('select group_name from control.group_entry order by rank')).toEqual([
      { group_name: 'b.one' },
      { group_name: 'a.two' },
    ]);
    expect(await allPositions(db)).toEqual([
      { name: 'control', family: 'CONTROL', position: { number: 1, sequence: 2 }, version: control.version },
    ]);
  });

  it('are none before the first', async () => {
    await projectAll(db, control, []);
    expect(await groupLists(db).current()).toBeNull();
  });
});
