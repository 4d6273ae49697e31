import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Prints the closing line that scripts read: `N passed, N failed, N skipped`. A file that does not load is one failure. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests++;
        const { state } = test.result();
        if (state === 'passed' || state === 'failed' || state === 'skipped') count[state]++;
        else count.failed++;
      }
      if (module.errors().length > 0 || (tests === 0 && module.state() === 'failed')) count.failed++;
    }
    console.log(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}
