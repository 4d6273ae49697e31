import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from 'nats';
import type { Endpoints } from '../../infra/processes/endpoints.ts';
import type { Headwater } from '../kit/headwater.ts';

interface Jsz {
  readonly storage: number;
  readonly config: { readonly max_storage: number };
}

const MESSAGE_BYTES = 1 << 20;

/**
 * Fills the embedded store with a stream of another program until little more than 1 MiB is left below its limit: events
 * still fit, but only one or two batches. `remove` gives all of it back.
 */
export async function fillStore(hw: Headwater): Promise<{ readonly remove: () => Promise<void> }> {
  const text = readFileSync(join(hw.dataDir, 'runtime/endpoints.json'), 'utf8');
  const { url, user = '', pass = '', monitorUrl } = (JSON.parse(text) as Endpoints).nats;
  const nc = await connect({ servers: url, user, pass });
  const manager = await jetstreamManager(nc);
  await manager.streams.add({ name: 'BALLAST', subjects: ['ballast'], storage: 'file', discard: 'new' });
  const js = jetstream(nc);
  const left = async (): Promise<number> => {
    const reply = await fetch(`${monitorUrl}/jsz`, { signal: AbortSignal.timeout(5000) });
    const { storage, config } = (await reply.json()) as Jsz;
    return config.max_storage - storage;
  };
  while ((await left()) >= MESSAGE_BYTES * 1.25) await js.publish('ballast', randomBytes(MESSAGE_BYTES));
  return {
    async remove() {
      if (nc.isClosed()) return;
      await manager.streams.delete('BALLAST');
      await nc.close();
    },
  };
}
