const TIMEOUT_MS = 5_000;

interface Jsz {
  readonly config?: { readonly max_storage?: number };
}

/** What all file streams of the server together may hold, bytes; null when the monitoring does not tell. */
export async function readStoreLimit(monitorUrl: string | null): Promise<number | null> {
  if (monitorUrl === null) return null;
  try {
    const reply = await fetch(new URL('/jsz', monitorUrl), { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const limit = ((await reply.json()) as Jsz).config?.max_storage;
    return typeof limit === 'number' && limit > 0 ? limit : null;
  } catch {
    return null;
  }
}
