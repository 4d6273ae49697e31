/** What "acknowledged" means on the server in force. */
export type Durability =
  | { readonly kind: 'always' }
  /** On disk at the latest this long after the acknowledgement. */
  | { readonly kind: 'interval'; readonly seconds: number }
  | { readonly kind: 'unknown'; readonly reason: string };

const TIMEOUT_MS = 5_000;

interface Jsz {
  readonly config?: { readonly sync_always?: boolean; readonly sync_interval?: number };
}

/** Asks the server's monitoring, e.g. `http://127.0.0.1:8222`; without an answer the durability is unknown. */
export async function readDurability(monitorUrl: string | null): Promise<Durability> {
  if (monitorUrl === null) return { kind: 'unknown', reason: 'the monitoring address of the server is not configured' };
  try {
    const reply = await fetch(new URL('/jsz', monitorUrl), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { config } = (await reply.json()) as Jsz;
    if (config?.sync_always === true) return { kind: 'always' };
    const nanos = config?.sync_interval;
    if (typeof nanos === 'number' && nanos > 0) return { kind: 'interval', seconds: nanos / 1e9 };
    return { kind: 'unknown', reason: 'the monitoring does not tell' };
  } catch (error) {
    return { kind: 'unknown', reason: (error as Error).message };
  }
}

/** One sentence for the operator. */
export function describeDurability(durability: Durability): string {
  switch (durability.kind) {
    case 'always':
      return 'events are on disk before they are acknowledged (sync always)';
    case 'interval':
      return `a power failure may lose the last ${durability.seconds} s of acknowledged events (sync interval); set sync_interval: always`;
    case 'unknown':
      return `whether acknowledged events are on disk is unknown: ${durability.reason}`;
  }
}
