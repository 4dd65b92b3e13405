// Paths in the repository. All scripts use them, so that none depends on the directory in which it
// was started.

import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

export const at = (...parts) => join(root, ...parts);

/** Files that scripts keep between runs: tools they built, locks, stamps. Never committed. */
export const cache = (...parts) => at(".cache", ...parts);

/** Logs of the test suites. Never committed. */
export const results = (...parts) => at("test-results", ...parts);
