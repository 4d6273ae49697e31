import { defineConfig } from 'vitest/config';

const SETUP = ['test/kit/setup.ts'];
const UNIT = ['test/unit/**/*.test.ts', 'test/architecture.test.ts'];

// The full counts run properties twenty times as often.
const FULL = process.env.HEADWATER_TEST_FULL === '1';

export default defineConfig({
  test: {
    reporters: ['default', './test/kit/countReporter.ts'],
    projects: [
      {
        test: {
          name: 'fast',
          isolate: false,
          include: UNIT,
          setupFiles: SETUP,
          testTimeout: FULL ? 1_200_000 : 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'services',
          setupFiles: SETUP,
          include: ['test/{contract,story,fault,e2e}/**/*.test.ts'],
          // Real servers share two cores: one file at a time, after everything that needs none.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: FULL ? 2_400_000 : 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
