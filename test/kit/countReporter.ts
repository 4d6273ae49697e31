import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Of a log of which only the end is kept, this much of each failure. */
const REASON_CHARS = 400;
const FAILURES_SHOWN = 20;

const reasonOf = (errors: readonly SerializedError[] = []): string =>
  (errors[0]?.message ?? 'no reason given').replaceAll(/\s+/g, ' ').slice(0, REASON_CHARS);

/**
 * Prints the failures once more, a line each, and then the closing line that scripts read: `N passed, N failed, N skipped`.
 * A file that does not load, or whose hook fails, is one failure.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = { passed: 0, skipped: 0 };
    const failures = unhandled.map((error) => `outside of tests: ${reasonOf([error])}`);
    for (const module of modules) {
      const failedBefore = failures.length;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed' || state === 'skipped') count[state]++;
        else failures.push(`${module.relativeModuleId}: ${test.fullName}: ${reasonOf(errors)}`);
      }
      // A hook that fails leaves the tests of its block as skipped: that must not look like a pass.
      if (module.state() !== 'failed' || failures.length > failedBefore) continue;
      const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
      failures.push(`${module.relativeModuleId}: ${reasonOf([...module.errors(), ...suites])}`);
    }
    for (const failure of failures.slice(0, FAILURES_SHOWN)) console.log(`FAILED ${failure}`);
    console.log(`\n${count.passed} passed, ${failures.length} failed, ${count.skipped} skipped`);
  }
}
