import { createConnection, createServer } from 'node:net';

const HOST = '127.0.0.1';

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });

/** True when something accepts connections on the loopback port. */
export const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host: HOST, port });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });

/**
 * `count` free loopback ports. They lie below the range from which the kernel takes ports for outgoing connections, so
 * that a server can come back on its port after it was down.
 */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count; tries++) {
    if (tries > 1000) throw new Error('no free loopback port between 11000 and 31000');
    const port = 11_000 + Math.floor(Math.random() * 20_000);
    if (!found.has(port) && (await canListen(port))) found.add(port);
  }
  return [...found];
}
