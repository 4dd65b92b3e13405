// Other versions of Node than the one that runs the scripts: `npm test -- --node 22,24,26`. They are
// packages of npm in `tests/deps/nodes`, with checksums in its lock file, so a run needs no other source.

import { readFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { at } from "./paths.mjs";

const FOLDER = "tests/deps/nodes";

/** What runs on other versions without a name: what depends on the version of Node. */
export const SHORT = [
  ...["package", "state", "host-conformance", "command", "agents", "durable-sql"],
];

/** The versions by their first number, as set-up installs them: `{ 22: "22.23.3", … }`. */
export function versions() {
  const { optionalDependencies } = JSON.parse(readFileSync(at(FOLDER, "package.json"), "utf8"));
  return Object.fromEntries(
    Object.entries(optionalDependencies).map(([name, wanted]) => [
      name.replace("node-", ""),
      wanted.replace(/^.*@/, ""),
    ]),
  );
}

/** The program of a version, after the need `npm:nodes`. */
export function nodeOf(major) {
  return at(FOLDER, "node_modules", `node-${major}`, "bin/node");
}

/** Variables with which `node`, and so `npm`, is that of a version. */
export function environmentOf(major) {
  return { PATH: [dirname(nodeOf(major)), process.env.PATH].filter(Boolean).join(delimiter) };
}

/** Each of the suites once for each version of a list such as "22,24". */
export function onNodes(suites, list) {
  const known = versions();
  const wanted = [...new Set(list.split(",").map((one) => one.trim()))];
  const strange = wanted.filter((one) => !Object.hasOwn(known, one));
  if (strange.length > 0) {
    const all = Object.keys(known).join(", ");
    throw new Error(
      `--node has no ${strange.map((one) => `"${one}"`).join(", ")}: known are ${all}`,
    );
  }
  return wanted.flatMap((major) =>
    suites.map((suite) => ({
      ...suite,
      name: `${suite.name}@${major}`,
      suite: suite.name,
      node: major,
      needs: [...suite.needs, "npm:nodes"],
      // A suite may keep files at one place.
      uses: [...suite.uses, `suite-${suite.name}`],
    })),
  );
}
