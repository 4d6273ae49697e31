/**
 * Waits until `probe` gives something other than undefined, null or false, and returns it.
 *
 * Tests never sleep for a fixed time: they wait for what they need, with a deadline (ms) after which the error names
 * it. A probe that throws counts as "not yet"; its last error is shown when the deadline passes.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: { readonly deadlineMs?: number; readonly everyMs?: number } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + (options.deadlineMs ?? 60_000);
  let last: unknown;
  for (;;) {
    try {
      const got = await probe();
      if (got !== undefined && got !== null && got !== false) return got as NonNullable<Exclude<T, false>>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) break;
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 25));
  }
  const why = last === undefined ? '' : `: ${last instanceof Error ? last.message : String(last)}`;
  throw new Error(`waited ${options.deadlineMs ?? 60_000} ms for ${what}${why}`);
}
