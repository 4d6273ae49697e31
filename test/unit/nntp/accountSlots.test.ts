import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../infra/base/clock.ts';
import { HeadwaterError } from '../../../infra/base/errors/index.ts';
import { silentLog } from '../../../infra/base/log.ts';
import { noMetrics } from '../../../infra/base/metrics.ts';
import { createNntpPool, type NntpConnection, type NntpPool } from '../../../infra/nntp/index.ts';
import { withProvider } from '../../../infra/processes/commands/providerPool.ts';
import { Backbone, Group, MessageId, ProviderName } from '../../../streams/ids.ts';
import { CountedSlots } from '../../kit/countedSlots.ts';
import type { FakeNews } from '../../kit/fakeNews.ts';
import { ManualClock } from '../../kit/manualClock.ts';
import { type ProviderChanges, providerAt } from '../../kit/nntpProvider.ts';
import { type FakeNntp, type FakeNntpOptions, startFakeNntp } from '../../kit/nntpServer.ts';
import { until } from '../../kit/until.ts';

const NEWS: FakeNews = { groups: [{ name: 'alt.test', low: 1, high: 9, overview: new Map() }] };
const marks = (c: NntpConnection) => c.group(Group('alt.test'));
const stat = (c: NntpConnection) => c.stat(MessageId('no@where'));

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Started {
  readonly server: FakeNntp;
  readonly pool: NntpPool;
  readonly slots: CountedSlots;
}

async function start(
  limit: number,
  more: { changes?: ProviderChanges; options?: Partial<FakeNntpOptions>; clock?: Clock } = {},
): Promise<Started> {
  const server = await startFakeNntp({ news: NEWS, ...more.options });
  const slots = new CountedSlots(limit);
  const clock = more.clock ?? systemClock;
  const pool = createNntpPool(providerAt(server, more.changes), {
    clock,
    log: silentLog,
    metrics: noMetrics,
    accountSlots: slots,
  });
  ends.push(
    () => server.stop(),
    () => pool.close(),
  );
  return { server, pool, slots };
}

/** A server that closes its side of a connection only when it is told to. */
async function startSlowLeaver() {
  const server = createServer({ allowHalfOpen: true });
  let connections = 0;
  let leave: () => void = () => {};
  const told = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      connections++;
      leave = () => socket.end();
      socket.write('200 hello\r\n');
      socket.on('end', resolve).on('data', (data) => {
        for (const line of data.toString().trim().split('\r\n')) {
          if (line.startsWith('GROUP')) socket.write('211 9 1 9 alt.test\r\n');
          else if (line !== 'QUIT') socket.write('500 what\r\n');
        }
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ host: '127.0.0.1', port, told, leave: () => leave() },
    get connections() {
      return connections;
    },
  };
}

describe('a pool whose account is shared', () => {
  it('opens a socket only with a slot, whatever its own limit', async () => {
    const { server, pool, slots } = await start(2, { changes: { connections: 8 } });
    slots.wanted = true;
    await Promise.all(Array.from({ length: 30 }, () => pool.withConnection(marks)));
    expect(server.connections.most).toBeLessThanOrEqual(2);
    await until('every slot to be given back', () => slots.given === 30);
    expect(slots.most).toBe(2);
  });

  it('keeps the slot with a kept connection, and gives it back only after the socket is closed', async () => {
    const server = await startSlowLeaver();
    const slots = new CountedSlots(1);
    // Its clock stands still: the pool does not break a connection that takes long to leave.
    const dependencies = { clock: new ManualClock(), log: silentLog, metrics: noMetrics, accountSlots: slots };
    const pool = createNntpPool(providerAt(server), dependencies);
    await pool.withConnection(marks);
    await pool.withConnection(marks);
    expect([slots.held, slots.given, server.connections]).toEqual([1, 0, 1]);
    const closing = pool.close();
    await server.told;
    expect(slots.held).toBe(1);
    server.leave();
    await closing;
    expect([slots.held, slots.given]).toEqual([0, 1]);
  });

  it('takes leave at the end of a use when the slot is wanted, in place of keeping the connection', async () => {
    const { server, pool, slots } = await start(1);
    await pool.withConnection(async (c) => {
      await marks(c);
      slots.wanted = true;
    });
    await until('the slot to be given back', () => slots.held === 0);
    expect(server.commands.at(-1)).toBe('QUIT');
  });

  it('lets go of a kept connection soon after its slot is wanted', async () => {
    const clock = new ManualClock();
    const { pool, slots } = await start(1, { clock });
    await pool.withConnection(marks);
    await clock.advance(2000);
    expect(slots.held).toBe(1);
    slots.wanted = true;
    await clock.advance(250);
    await until('the slot to be given back', () => slots.held === 0);
  });

  it('breaks what is used and what is kept when the slots are lost, and gives them back', async () => {
    const { server, pool, slots } = await start(2, {
      changes: { connections: 2 },
      options: { rules: [{ on: /^STAT/, act: { do: 'stall' } }] },
    });
    const used = pool.withConnection(stat);
    await until('the command to arrive', () => server.commands.some((command) => command.startsWith('STAT')));
    await pool.withConnection(marks);
    expect(slots.held).toBe(2);
    const gone = new HeadwaterError('POSTGRES_UNAVAILABLE', { server: 'x', reason: 'it stopped' });
    slots.loseAll(gone);
    await expect(used).rejects.toBe(gone);
    await until('the slots to be given back', () => slots.held === 0);
    await until('the sockets to close', () => server.connections.now === 0);
    await pool.withConnection(marks);
    expect(server.connections.total).toBe(3);
  });

  it('gives the slot of a connect that failed back', async () => {
    const { pool, slots } = await start(1, { options: { rules: [{ on: /^greeting/, act: { do: 'cut' }, times: 2 }] } });
    const all = await Promise.allSettled([1, 2, 3].map(() => pool.withConnection(marks)));
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect([slots.most, slots.given]).toEqual([1, 2]);
  });

  it('gives the slot of a kept connection back that the server closed', async () => {
    const { server, pool, slots } = await start(1);
    await pool.withConnection(marks);
    server.cutAll();
    await until('the slot to be given back', () => slots.held === 0);
    await pool.withConnection(marks);
    expect(slots.held).toBe(1);
  });

  it('stops waiting for a slot when the caller does', async () => {
    const { server, pool, slots } = await start(1, { changes: { connections: 2 } });
    const stop = new AbortController();
    await pool.withConnection(async () => {
      const second = pool.withConnection(marks, stop.signal);
      await until('two to be busy', () => pool.stats().busy === 2);
      stop.abort(new Error('no longer needed'));
      await expect(second).rejects.toThrow('no longer needed');
    });
    expect([slots.most, server.connections.total]).toEqual([1, 1]);
  });
});

it('a command that gets no connection of an account that is in use says so: PROVIDER_IN_USE', async () => {
  const server = await startFakeNntp({ news: NEWS });
  ends.push(() => server.stop());
  const slots = new CountedSlots(1);
  const held = await slots.take(new AbortController().signal);
  const provider = {
    ...{ name: ProviderName('mine'), backbone: Backbone('mine'), host: server.host, port: server.port, tls: false },
    ...{ insecure: false, connections: 1, pipeline: 4, compression: 'none' as const },
  };
  const accounts = { slotsOf: () => slots, reach: async () => {}, close: async () => {} };
  const asking = { accounts, waitMs: 30, signal: new AbortController().signal };
  await expect(withProvider(provider, asking, marks)).rejects.toMatchObject({
    code: 'PROVIDER_IN_USE',
    fields: { name: 'mine', connections: 1 },
  });
  expect(server.connections.total).toBe(0);
  await held.give();
  await expect(withProvider(provider, asking, marks)).resolves.toMatchObject({ high: 9 });
});
