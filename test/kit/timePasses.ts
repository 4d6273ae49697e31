import type { ManualClock } from './manualClock.ts';

/** Lets everything run that can run without time passing: promise chains, finished thread-pool work. */
export const settle = async (turns = 20): Promise<void> => {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** Moves the clock by `ms` in steps, and lets what each step wakes run to where it waits again. */
export async function pass(clock: ManualClock, ms: number, stepMs = Math.max(1, ms / 20)): Promise<void> {
  await settle();
  for (let left = ms; left > 0; left -= stepMs) {
    await clock.advance(Math.min(stepMs, left));
    await settle();
  }
}

/** Moves the clock until `probe` holds; an error when it does not within `limitMs` of test time. */
export async function passUntil(
  clock: ManualClock,
  what: string,
  probe: () => boolean | Promise<boolean>,
  { limitMs = 1_800_000, stepMs = 500 }: { readonly limitMs?: number; readonly stepMs?: number } = {},
): Promise<void> {
  const end = clock.now() + limitMs;
  await settle();
  while (!(await probe())) {
    if (clock.now() >= end) throw new Error(`${what}: not within ${limitMs} ms of test time`);
    await clock.advance(stepMs);
    await settle();
  }
}
