import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Conditions } from '../../processors/ports.ts';
import type { Clock } from '../base/clock.ts';
import { HeadwaterError } from '../base/errors/index.ts';
import type { EmbeddedNats } from './natsServer.ts';

/** What the watch over a store needs. */
export interface StoreWatchContext {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly conditions: Conditions;
  /** Between two looks, ms; default 5,000. */
  readonly everyMs?: number;
  /** Free bytes of the disk below which a start anew would fail at once; default 32 MiB, four of the largest messages. */
  readonly roomBytes?: number;
}

const ABOUT = 'store/nats';
const EVERY_MS = 5000;
const ROOM_BYTES = 32 * 2 ** 20;
const LOOK_MS = 5000;
/** What /healthz says when writing failed; older servers turn JetStream off altogether. Others (a start in progress) pass. */
const UNWRITABLE = /write error|no space left|read-only file system|not enabled/i;

/** Why the server does not write its store, in its own words; null when it does, or does not answer. */
async function troubleOf(monitorUrl: string, signal: AbortSignal): Promise<string | null> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
    const reply = (await (await fetch(`${monitorUrl}/healthz`, { signal: limit })).json()) as Record<string, unknown>;
    const error = typeof reply.error === 'string' ? reply.error : '';
    return reply.status !== 'ok' && UNWRITABLE.test(error) ? error : null;
  } catch {
    return null;
  }
}

async function hasRoom(folder: string, bytes: number): Promise<boolean> {
  const disk = await statfs(folder);
  return disk.bavail * disk.bsize >= bytes;
}

/**
 * A server whose write once failed (a full disk) keeps refusing that stream until it starts anew, also when there is room
 * again. Reports `store/nats` while that is so, and resolves, with the reason in words, when a start anew may help.
 * Rejects when the signal aborts.
 */
export async function untilStoreNeedsStart(
  nats: Pick<EmbeddedNats, 'monitorUrl'>,
  context: StoreWatchContext,
  signal: AbortSignal,
): Promise<string> {
  const { dataDir, clock, conditions, everyMs = EVERY_MS, roomBytes = ROOM_BYTES } = context;
  const folder = join(dataDir, 'nats');
  for (;;) {
    await clock.sleep(everyMs, signal);
    const reason = await troubleOf(nats.monitorUrl, signal);
    signal.throwIfAborted();
    if (reason === null) {
      conditions.clear(ABOUT);
      continue;
    }
    conditions.report(
      ABOUT,
      new HeadwaterError('EMBEDDED_STORE_UNWRITABLE', { server: 'nats-server', folder, reason }),
    );
    if (await hasRoom(folder, roomBytes)) return 'its store could not be written, and there is room now';
  }
}
