// The list of versions, and what the runner makes of `--node`.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { test } from "node:test";
import { run } from "../../scripts/lib/exec.mjs";
import { environmentOf, nodeOf, onNodes, SHORT, versions } from "../../scripts/lib/nodes.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { suiteNames } from "../../scripts/lib/suites.mjs";

const suite = { name: "state", needs: ["build"], uses: ["cargo"] };

test("docs/start.md names the versions that are tested", () => {
  const majors = Object.keys(versions());
  ok(majors.length >= 3);
  const listed = `${majors.slice(0, -1).join(", ")} and ${majors.at(-1)}`;
  const docs = readFileSync(at("docs/start.md"), "utf8").replace(/\s+/g, " ");
  ok(docs.includes(`Node 20, ${listed}`), listed);
});

test("what is installed is the version that the list names", async () => {
  for (const [major, version] of Object.entries(versions())) {
    equal((await run(nodeOf(major), ["--version"])).output.trim(), `v${version}`);
    const env = environmentOf(major);
    equal((await run("node", ["--version"], { env })).output.trim(), `v${version}`);
    ok(env.PATH.includes(delimiter));
  }
});

test("each suite runs once for each version, and none beside itself", () => {
  const all = onNodes([suite, { ...suite, name: "agents" }], "22, 24,22");
  const names = all.map(({ name }) => name);
  deepEqual(names, ["state@22", "agents@22", "state@24", "agents@24"]);
  deepEqual(all[0].needs, ["build", "npm:nodes"]);
  deepEqual(all[0].uses, ["cargo", "suite-state"]);
  equal(all[2].suite, "state");
});

test("a version that is not there is refused by name", async () => {
  throws(() => onNodes([suite], "22,18"), /"18": known are 22, 24, 26/);
  throws(() => onNodes([suite], ""), /"": known are/);
  const done = await run(process.execPath, [at("scripts/test.mjs"), "--node", "23", "state"]);
  equal(done.code, 2);
  match(done.output, /^--node has no "23": known are /);
});

test("what runs without a name are suites", () => {
  for (const name of SHORT) ok(suiteNames().includes(name), name);
});
