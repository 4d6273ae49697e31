import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../infra/base/clock.ts';
import { isHeadwaterError } from '../../infra/base/errors/index.ts';
import { silentLog } from '../../infra/base/log.ts';
import { noMetrics } from '../../infra/base/metrics.ts';
import { parseConfig } from '../../infra/config/index.ts';
import { type AccountSlot, createNntpPool } from '../../infra/nntp/index.ts';
import {
  type ClosableDatabase,
  createDatabase,
  createSharedAccounts,
  type ProviderAccount,
  type SharedAccounts,
} from '../../infra/postgres/index.ts';
import { examine } from '../../infra/processes/commands/doctor.ts';
import { Group } from '../../streams/ids.ts';
import { providerAt } from '../kit/nntpProvider.ts';
import { startFakeNntp } from '../kit/nntpServer.ts';
import { type Services, startServices } from '../kit/services.ts';
import { until } from '../kit/until.ts';

let services: Services;
let url: string;
let db: ClosableDatabase;
beforeAll(async () => {
  services = await startServices({ nats: false });
  url = await services.freshDatabase();
  db = createDatabase({ url, connectionsMax: 2, log: silentLog, applicationName: 'test' });
});
afterAll(async () => {
  await db?.close();
  await services?.stop();
});
const open: SharedAccounts[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((accounts) => accounts.close()));
});

/** Ten times as fast as time is. */
const fastClock: Clock = {
  now: () => performance.now() * 10,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};

/** What one process has: a session of its own. */
function processNamed(name: string, clock: Clock = fastClock): SharedAccounts {
  const accounts = createSharedAccounts({ url, applicationName: name, clock, log: silentLog });
  open.push(accounts);
  return accounts;
}

let accountsMade = 0;
/** An account that no other test uses. */
const account = (connections: number): ProviderAccount => {
  return { host: 'news.example', port: 563, user: `user${accountsMade++}`, connections };
};

const terminate = (name: string) =>
  db.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name]);
const never = new AbortController().signal;

/** Whether `slot` is lost within the deadline of `until`. */
const lost = (slot: AccountSlot) => until('the slot to be lost', () => slot.lost.aborted);

function outage(error: unknown): null {
  if (isHeadwaterError(error, 'POSTGRES_UNAVAILABLE')) return null;
  throw error;
}

describe('the slots of an account', () => {
  it('are never more than its limit, whatever processes take, give back or are killed', async () => {
    const names = ['one', 'two', 'three'];
    const shared = account(3);
    const used = new Set<AccountSlot>();
    let [most, uses, losses, ended] = [0, 0, 0, false];
    const work = async (slots: ReturnType<SharedAccounts['slotsOf']>, seed: number) => {
      for (let i = 0; !ended; i++) {
        const slot = await slots.take(never).catch(outage);
        if (slot === null) continue;
        used.add(slot);
        // Lost or not: what it stood for is closed at once, and given back a moment later.
        slot.lost.addEventListener('abort', () => {
          losses++;
          used.delete(slot);
        });
        if (slot.lost.aborted) used.delete(slot);
        most = Math.max(most, used.size);
        uses++;
        await systemClock.sleep((seed * 7 + i * 13) % 23);
        used.delete(slot);
        await slot.give();
      }
    };
    const workers = names.flatMap((name, n) => {
      const slots = processNamed(name).slotsOf(shared);
      return [1, 2, 3].map((k) => work(slots, 3 * n + k));
    });
    for (let round = 1; round <= 9; round++) {
      await until('the work to go on', () => uses > 12 * round);
      await terminate(names[round % 3]!);
    }
    ended = true;
    await Promise.all(workers);
    expect(most).toBe(3);
    expect(losses).toBeGreaterThan(0);
  });

  it('go to whoever waited, not to the process that just gave one back', async () => {
    const shared = account(1);
    const [a, b] = [processNamed('a').slotsOf(shared), processNamed('b').slotsOf(shared)];
    const order: string[] = [];
    let held = await a.take(never);
    for (let round = 0; round < 5; round++) {
      const waiting = b.take(never).then((slot) => {
        order.push('b');
        return slot;
      });
      await until('the holder to see that it is wanted', () => held.wanted);
      const given = held.give();
      const again = a.take(never).then((slot) => {
        order.push('a');
        return slot;
      });
      await given;
      await (await waiting).give();
      held = await again;
    }
    expect(order.join('')).toBe('bababababa');
    expect(held.wanted).toBe(false);
    await held.give();
  });

  it('are free again once the session of their holder is killed, which learns of it', async () => {
    const shared = account(1);
    const [a, b] = [processNamed('killed').slotsOf(shared), processNamed('other').slotsOf(shared)];
    const held = await a.take(never);
    const waiting = b.take(never);
    await terminate('killed');
    await lost(held);
    expect(held.lost.reason).toMatchObject({ code: 'POSTGRES_UNAVAILABLE' });
    const next = await waiting;
    await held.give();
    const third = a.take(never);
    await next.give();
    const slot = await third;
    expect(slot.lost.aborted).toBe(false);
    await slot.give();
  });

  it('are lost when the server freezes, before it can give them to anybody else', async () => {
    const held = await processNamed('frozen').slotsOf(account(1)).take(never);
    const [row] = await db.query<{ pid: number }>('select pid from pg_stat_activity where application_name = $1', [
      'frozen',
    ]);
    process.kill(row!.pid, 'SIGSTOP');
    try {
      await lost(held);
    } finally {
      process.kill(row!.pid, 'SIGCONT');
    }
    await held.give();
  });

  it('are one for two names of an account in one process, and others for another user', async () => {
    const shared = account(1);
    const accounts = processNamed('names');
    const first = await accounts.slotsOf(shared).take(never);
    const second = accounts.slotsOf(shared).take(never);
    expect(first.wanted).toBe(true);
    const other = await accounts.slotsOf({ ...shared, user: 'somebody else' }).take(never);
    expect(other.wanted).toBe(false);
    await first.give();
    await (await second).give();
    await other.give();
  });

  it('are not waited for any longer than the caller wants, who then holds up nobody', async () => {
    const shared = account(1);
    const [a, b] = [processNamed('a').slotsOf(shared), processNamed('b').slotsOf(shared)];
    const held = await a.take(never);
    const stop = new AbortController();
    const first = b.take(stop.signal);
    const second = b.take(never);
    await until('the wish to be seen', () => held.wanted);
    stop.abort(new Error('no longer needed'));
    await expect(first).rejects.toThrow('no longer needed');
    await held.give();
    await (await second).give();
  });

  it('are lost when the server stops, and given out 3 s after it started again at the earliest', async () => {
    const slots = processNamed('restart', systemClock).slotsOf(account(1));
    const held = await slots.take(never);
    await services.stopPostgres();
    await lost(held);
    await held.give();
    await expect(slots.take(never)).rejects.toMatchObject({ code: 'POSTGRES_UNAVAILABLE' });
    await services.startPostgres();
    const slot = await slots.take(never);
    const [row] = await db.query<{ s: number }>(
      'select extract(epoch from clock_timestamp() - pg_postmaster_start_time())::float8 as s',
    );
    expect(row!.s).toBeGreaterThanOrEqual(3);
    await slot.give();
  });
});

describe('an account of one connection', () => {
  const NEWS = { groups: [{ name: 'alt.test', low: 1, high: 9, overview: new Map() }] };

  it('serves two processes in turn, and the provider never sees two', async () => {
    const server = await startFakeNntp({ news: NEWS, maxConnections: 1 });
    const shared = { host: server.host, port: server.port, user: null, connections: 1 };
    const pools = ['one', 'two'].map((name) => {
      const dependencies = { clock: fastClock, log: silentLog, metrics: noMetrics };
      const accountSlots = processNamed(name).slotsOf(shared);
      return createNntpPool(providerAt(server, { connections: 1 }), { ...dependencies, accountSlots });
    });
    const order: number[] = [];
    const use = async (index: number) => {
      // Both have work without end; each is to come to its tenth use while the other still has some.
      while (order.filter((who) => who === 0).length < 10 || order.filter((who) => who === 1).length < 10) {
        await pools[index]!.withConnection(async (c) => {
          await c.group(Group('alt.test'));
          order.push(index);
          await systemClock.sleep(5);
        });
      }
    };
    await Promise.all([use(0), use(1)]);
    await Promise.all(pools.map((pool) => pool.close()));
    expect(server.connections.most).toBe(1);
    expect(order.filter((who, i) => i > 0 && who !== order[i - 1]).length).toBeGreaterThan(1);
    await server.stop();
  });

  it('that is in use is nothing that doctor finds fault with', async () => {
    const server = await startFakeNntp({ news: NEWS });
    const held = await processNamed('service')
      .slotsOf({ host: server.host, port: server.port, user: null, connections: 1 })
      .take(never);
    const folder = mkdtempSync(join(tmpdir(), 'hw-doctor-'));
    const provider = `{name: mine, host: ${server.host}, port: ${server.port}, tls: false, connections: 1}`;
    const config = parseConfig(`dataDir: ${folder}\npostgres: {url: '${url}'}\nproviders: [${provider}]\n`, 'f', {});
    const context = { config, configFile: null, env: {}, print() {}, isTerminal: false, signal: never };
    const ofProvider = async () => (await examine(context)).find((f) => f.check === 'provider/mine');
    expect(await ofProvider()).toMatchObject({ level: 'ok', text: expect.stringContaining('in use by Headwater') });
    await held.give();
    expect(await ofProvider()).toMatchObject({ level: 'ok', text: expect.stringContaining('answers') });
    rmSync(folder, { recursive: true });
    await server.stop();
  });
});
