// The cases as tests of a framework, one test each. Frameworks differ in little: all take a name and
// a function, most of them a time limit after that.

/** `test` of `node:test`, Vitest, Jest or Bun, or `Deno.test`. */
export type TestFunction = (
  name: string,
  run: () => Promise<void>,
  // biome-ignore lint/suspicious/noExplicitAny: frameworks differ in what comes third
  timeout?: any,
) => unknown;

/** Time that a framework is given beyond the limit of a case, which says more. */
const SLACK_MS = 10_000;

/** Registers one test. The framework's own limit is often five seconds, and would come first. */
export function registered(
  test: TestFunction,
  name: string,
  timeoutMs: number,
  run: () => Promise<void>,
): void {
  const { Deno } = globalThis as { Deno?: { test?: unknown } };
  // Deno has no limit, and takes no third argument.
  if (Deno !== undefined && Deno.test === test) test(name, run);
  else test(name, run, timeoutMs + SLACK_MS);
}
