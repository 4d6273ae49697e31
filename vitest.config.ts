import { defineConfig } from 'vitest/config';
import LongFirst from './test/kit/longFirst.ts';

const SETUP = ['test/kit/setup.ts'];
const UNIT = ['test/unit/**/*.test.ts', 'test/architecture.test.ts'];

// The full counts run properties twenty times as often.
const FULL = process.env.HEADWATER_TEST_FULL === '1';

// Each takes seconds of a core, which `make test-fast` does not have: it must answer within half a minute.
const SLOW = [
  'test/unit/bench/**',
  'test/unit/headers/{edges,splitRanges}.test.ts',
  'test/unit/nntp/compression.test.ts',
  'test/unit/processors/{headersLoop,renumbering,returning}.test.ts',
];

// They keep every core busy for minutes.
const ALONE = ['test/fault/kill.test.ts', 'test/e2e/innCompression.test.ts'];
const SERVICES = { setupFiles: SETUP, testTimeout: FULL ? 2_400_000 : 400_000, hookTimeout: 400_000 };

export default defineConfig({
  test: {
    reporters: ['default', './test/kit/countReporter.ts'],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          name: 'fast',
          isolate: false,
          maxWorkers: 2,
          include: UNIT,
          exclude: process.env.HEADWATER_TEST_FAST === '1' ? SLOW : [],
          setupFiles: SETUP,
          testTimeout: FULL ? 1_200_000 : 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...SERVICES,
          name: 'services',
          include: ['test/{contract,story,fault,e2e}/**/*.test.ts'],
          exclude: ALONE,
          // Real servers share two cores, but most of these tests wait: for a time-out, a retry, a condition to be gone.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...SERVICES,
          name: 'alone',
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
