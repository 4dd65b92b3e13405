// Counts what held and what did not, in the form that the runner reads.

export function tally(log) {
  const result = { passed: 0, failed: 0, failures: [] };
  return {
    result,
    /** Runs one test. */
    async check(name, run) {
      const began = performance.now();
      try {
        await run();
        result.passed++;
        log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
      } catch (error) {
        result.failed++;
        result.failures.push(`${name}: ${error?.message ?? error}`);
        log(`FAIL  ${name}: ${error?.stack ?? error}`);
      }
    },
    /** Adds a report of many tests. */
    add(name, { passed, failed, failures }) {
      result.passed += passed;
      result.failed += failed;
      result.failures.push(...failures.map((failure) => `${name}: ${failure}`));
      log(`${failed > 0 ? "FAIL" : "ok  "}  ${name}: ${passed} passed, ${failed} failed`);
      for (const failure of failures) log(`      ${failure}`);
    },
  };
}
