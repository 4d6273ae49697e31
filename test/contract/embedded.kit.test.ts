import { connect } from 'nats';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Services, startServices } from '../kit/services.ts';

let services: Services;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());

async function query(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test('the kit gives every test an empty database of its own', async () => {
  const [one, two] = [await services.freshDatabase(), await services.freshDatabase()];
  await query(one, 'create table t as select 1 as n');
  expect(await query(one, 'select n from t')).toEqual([{ n: 1 }]);
  await expect(query(two, 'select n from t')).rejects.toThrow('does not exist');
});

test('the kit restarts both servers on their ports after a kill', async () => {
  const { natsUrl: servers, natsUser: user, natsPass: pass } = services;
  const url = await services.freshDatabase();
  await query(url, 'create table kept as select 7 as n');
  await Promise.all([services.killNats(), services.killPostgres()]);
  expect(() => services.natsPid()).toThrow('not running');
  await Promise.all([services.startNats(), services.startPostgres()]);
  const nc = await connect({ servers, user, pass });
  await nc.close();
  expect(await query(url, 'select n from kept')).toEqual([{ n: 7 }]);
});
