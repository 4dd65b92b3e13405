// Warnings about deprecated ways to use kitbag. Each is printed once in a process, and all can be
// turned off.

import { shared } from "./context.js";

// Shared by all copies of this module, because each bundle of the package has one.
const warnings = shared("kitbag.deprecated", () => ({ off: false, printed: new Set<string>() }));

/**
 * Turns the warnings about deprecated ways off, or on again with `false`. Node's `--no-deprecation`
 * turns them off, too.
 */
export function silenceDeprecations(off = true): void {
  warnings.off = off;
}

/** Prints a warning, the first time. */
export function deprecated(message: string): void {
  const { process } = globalThis as { process?: { noDeprecation?: boolean } };
  if (warnings.off || process?.noDeprecation || warnings.printed.has(message)) return;
  warnings.printed.add(message);
  console.warn(`kitbag: ${message} silenceDeprecations() turns this warning off.`);
}
