import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKey, findKey, listKeys, revokeKey } from '../../api/keys.ts';
import type { ClosableDatabase } from '../../infra/postgres/index.ts';
import { firstKey } from '../../infra/processes/up/firstKey.ts';
import { openDatabase } from '../kit/projections.ts';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
let db: ClosableDatabase;

beforeAll(async () => {
  services = await startServices({ nats: false });
  db = await openDatabase(await services.freshDatabase());
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});
beforeEach(() => db.script('truncate api_key'));

const create = (name: string) => createKey(db, { name, scopes: ['search'], randomBytes });
const namesOf = async () => (await listKeys(db)).filter((k) => k.revokedAt === null).map((k) => k.name);

describe('API keys', () => {
  it('have a name that no other valid key has, also when two are made at once', async () => {
    const made = await Promise.allSettled(Array.from({ length: 4 }, () => create('sonarr')));
    const refused = made.filter((m) => m.status === 'rejected');
    expect(refused.map((m) => m.reason.code)).toEqual(Array(3).fill('KEY_NAME_TAKEN'));
    expect(await namesOf()).toEqual(['sonarr']);
  });

  it('may have the name of a revoked one', async () => {
    const { key, record } = await create('sonarr');
    await revokeKey(db, String(record.id));
    expect(await findKey(db, key)).toBeNull();
    await create('sonarr');
    expect(await namesOf()).toEqual(['sonarr']);
  });

  it('are made by up once, and under another name when the text of the first was lost', async () => {
    const folder = join(services.dataDir, 'first');
    mkdirSync(join(folder, 'runtime'), { recursive: true });
    const key = await firstKey(db, folder);
    expect(await firstKey(db, folder)).toBe(key);
    rmSync(join(folder, 'runtime/first-key'));
    expect(await firstKey(db, folder)).not.toBe(key);
    expect(await namesOf()).toEqual(['first', 'first-2']);
  });
});
