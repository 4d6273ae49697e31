import { connect, createServer, type Server, type Socket } from 'node:net';

/** What lies between a client and a server, and how many connections there are at once. */
export interface CountingProxy {
  readonly host: string;
  readonly port: number;
  readonly connections: { readonly now: number; readonly most: number; readonly total: number };
  /** The first bytes that the client of every connection sent (as latin1), in order of connecting. */
  readonly openings: readonly string[];
  stop(): Promise<void>;
}

const OPENING_BYTES = 2000;

/** Passes bytes on to `target`, both ways and untouched. */
export async function startCountingProxy(target: { host: string; port: number }): Promise<CountingProxy> {
  const connections = { now: 0, most: 0, total: 0 };
  const openings: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ ...target, noDelay: true });
    const place = openings.push('') - 1;
    connections.total++;
    connections.most = Math.max(connections.most, ++connections.now);
    client.on('data', (bytes: Buffer) => {
      if (openings[place]!.length < OPENING_BYTES) openings[place] += bytes.toString('latin1');
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    client.once('close', () => connections.now--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    host: '127.0.0.1',
    port: address.port,
    connections,
    openings,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
