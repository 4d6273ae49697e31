import type { Clock } from '../infra/base/clock.ts';
import type { Delivery } from './ports.ts';

/**
 * Keeps the lease of a delivery while its work goes on: asks for another ack wait every third of it, so that two asks may
 * get lost. Returns the function that lets go; after it nothing is asked for any more.
 */
export function holdLease(delivery: Delivery, ackWaitMs: number, clock: Clock): () => void {
  const letGo = new AbortController();
  const extend = async () => {
    while (!letGo.signal.aborted) {
      await clock.sleep(ackWaitMs / 3, letGo.signal);
      delivery.working();
    }
  };
  extend().catch((error: unknown) => {
    if (!letGo.signal.aborted) throw error;
  });
  return () => letGo.abort();
}
