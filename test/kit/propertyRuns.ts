/**
 * How often a property is tried. `make test-fast` must be quick and tries a twentieth, `make test-full` tries twenty times as
 * often. A seed that fails is printed by fast-check and can be given back to it.
 */
const SCALE = process.env.HEADWATER_TEST_FULL ? 20 : process.env.HEADWATER_TEST_FAST ? 0.05 : 1;

/** Of what is tried at every byte, the quick run tries one in so many: a prime, so that no field is always missed. */
export const EVERY = process.env.HEADWATER_TEST_FAST ? 7 : 1;

export const propertyRuns = (usual: number): number => Math.max(3, Math.round(usual * SCALE));
