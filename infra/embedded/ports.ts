import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { HeadwaterError } from '../base/errors/index.ts';

export const LOOPBACK = '127.0.0.1';
// Below the range that Linux takes for outgoing connections, so that none of those can sit on a kept port.
const LOWEST = 14_000;
const HIGHEST = 29_999;
const TRIES = 200;

/** True when a server could listen on that loopback port now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: LOOPBACK, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

export interface PortChoice {
  readonly server: string;
  /** The port of the last start; kept when it is still free. */
  readonly kept?: number | undefined;
  /** Ports that may not be taken although they look free. */
  readonly except?: readonly number[];
  readonly random?: (lowest: number, highest: number) => number;
  readonly isFree?: (port: number) => Promise<boolean>;
}

/** The kept port, or a free one by chance when there is none or another program took it. Throws EMBEDDED_NO_PORT. */
export async function choosePort(choice: PortChoice): Promise<number> {
  const { kept, except = [], isFree = isPortFree, random = (lo, hi) => randomInt(lo, hi + 1) } = choice;
  if (kept !== undefined && !except.includes(kept) && (await isFree(kept))) return kept;
  for (let i = 0; i < TRIES; i++) {
    const port = random(LOWEST, HIGHEST);
    if (!except.includes(port) && (await isFree(port))) return port;
  }
  throw new HeadwaterError('EMBEDDED_NO_PORT', { server: choice.server });
}

export const asPort = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536 ? value : undefined;
