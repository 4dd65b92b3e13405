// Which checks have passed for which commit. `npm run lint` and a whole `npm test` record it, and a
// release asks for it.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cache, root } from "./paths.mjs";

const file = (name) => cache("checked", `${name}.json`);
const git = (...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** The commit of the work tree, and the paths that differ from it; undefined without git. */
export function state() {
  try {
    const changed = git("status", "--porcelain").split("\n").filter(Boolean);
    return { commit: git("rev-parse", "HEAD").trim(), changed };
  } catch {
    return undefined;
  }
}

/** Records that a check has passed for the files as they are. A changed tree has no commit. */
export function passed(name) {
  const now = state();
  mkdirSync(cache("checked"), { recursive: true });
  const commit = now && now.changed.length === 0 ? now.commit : undefined;
  writeFileSync(file(name), JSON.stringify({ commit }));
}

/** The commit for which a check has passed last. */
export function commitOf(name) {
  try {
    return JSON.parse(readFileSync(file(name), "utf8")).commit;
  } catch {
    return undefined;
  }
}
