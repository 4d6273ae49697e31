/** What a service does that has nothing to do, such as fetch without a provider: it waits to be stopped. */
export const idleUntilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
