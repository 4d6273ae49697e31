import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Prints the closing line that scripts read: `N passed, N failed, N skipped`. A file that does not load, or whose hook fails, is one failure. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed' || state === 'skipped') count[state]++;
        else count.failed++;
      }
      // A hook that fails leaves the tests of its block as skipped: that must not look like a pass.
      if (module.state() === 'failed' && count.failed === failedBefore) count.failed++;
    }
    console.log(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}
