// Where things stand in the repository. Everything else asks here, so that no script cares
// which directory it was started from.

import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

export const at = (...parts) => join(root, ...parts);

/** What scripts keep between runs: tools they built, locks, stamps. Never committed. */
export const cache = (...parts) => at(".cache", ...parts);

/** Logs of the test suites. Never committed. */
export const results = (...parts) => at("test-results", ...parts);
