// MCP's official conformance tool against kitbag/mcp, and against `kitbag serve`: every scenario passes, or does not
// apply and says why (scenarios.mjs). What is listed there and passes is a failure too.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { nodeOf } from "../../../scripts/lib/nodes.mjs";
import { at } from "../../../scripts/lib/paths.mjs";
import { installed, plant } from "../../command/lib.mjs";
import { conforming } from "./conformance-server.mjs";
import { CHECKS, NOT_APPLICABLE } from "./scenarios.mjs";

/** Its code is compiled once for all its runs. */
const COMPILED = mkdtempSync(join(tmpdir(), "kitbag-mcp-conformance-code-"));
after(() => rmSync(COMPILED, { recursive: true }));

/** The tool needs a newer Node. */
const tool = (args) =>
  new Promise((resolve) => {
    const program = at(
      "tests/deps/mcp-conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js",
    );
    const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED };
    execFile(nodeOf(22), [program, ...args], { timeout: 120_000, env }, (error, out, err) =>
      resolve({ out, err, code: error?.code ?? 0 }),
    );
  });

/** Runs scenarios; for each the ids of the checks that failed, and how many passed. */
async function results(t, url, spec, scenarios) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-mcp-conformance-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const found = {};
  const runs = scenarios ? scenarios.map((one) => ["--scenario", one]) : [["--suite", "all"]];
  for (const which of runs) {
    const { err } = await tool([
      "server",
      "--url",
      url,
      ...which,
      "--spec-version",
      spec,
      "-o",
      folder,
    ]);
    assert.doesNotMatch(err, /Unknown|SyntaxError/);
  }
  for (const name of readdirSync(folder)) {
    const scenario = name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/, "$1");
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"));
    const failed = checks.filter(({ status }) => status === "FAILURE");
    found[scenario] = {
      failed: failed.map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
      passed: checks.filter(({ status }) => status === "SUCCESS").length,
    };
  }
  return found;
}

/** Scenarios about questions, which a server with a review asks, and one about roots. */
const REVIEWED = {
  "2025-11-25": ["tools-call-elicitation"],
  "2026-07-28": [
    ...["request-state", "tampered-state", "missing-input-response", "result-type"],
    ...["unsupported-methods", "ignore-extra-params", "validate-input"],
  ].map((name) => (name.startsWith("tools") ? name : `input-required-result-${name}`)),
};
const ROOTED = ["input-required-result-basic-list-roots"];

const seen = new Set();

function judge(found, { except = [], least }) {
  for (const [scenario, { failed, passed }] of Object.entries(found)) {
    if (except.includes(scenario)) continue;
    seen.add(scenario);
    if (Object.hasOwn(NOT_APPLICABLE, scenario)) {
      assert.ok(failed.length > 0, `${scenario} passes, so it applies`);
      continue;
    }
    const left = failed.filter((one) => {
      const known = Object.hasOwn(CHECKS, one.split(":")[0]);
      if (known) seen.add(one.split(":")[0]);
      return !known;
    });
    assert.deepEqual(left, [], scenario);
    assert.ok(passed > 0 || failed.length > 0, `${scenario} checked nothing`);
  }
  assert.ok(Object.keys(found).length >= least, `${Object.keys(found).length} scenarios ran`);
}

const CASES = [
  [1, "2025-11-25", 30],
  [2, "2025-11-25", 30],
  [2, "2026-07-28", 38],
];

for (const [version, spec, least] of CASES) {
  describe(`${spec}, SDK ${version}`, () => {
    test("a server of files", async (t) => {
      const server = await conforming(version);
      t.after(server.end);
      const except = [...REVIEWED[spec], ...ROOTED, "dns-rebinding-protection"];
      judge(await results(t, server.url, spec), { except, least });
    });

    test("a server that asks before it commits", async (t) => {
      const server = await conforming(version, { review: true });
      t.after(server.end);
      const some = REVIEWED[spec];
      judge(await results(t, server.url, spec, some), { least: some.length });
    });

    test("kitbag serve", async (t) => {
      const kitbag = await installed();
      const name = `@modelcontextprotocol/${version === 1 ? "sdk" : "server"}`;
      kitbag.link(name, "mcp");
      t.after(kitbag.remove);
      plant(kitbag.root, { "data/a.txt": "a" });
      const child = kitbag.begin(["serve", "data", "--http", "0", "--ignore-roots"]);
      t.after(async () => {
        const gone = new Promise((resolve) => child.once("close", resolve));
        child.kill();
        await gone;
      });
      const url = await new Promise((resolve) => {
        child.stderr.on("data", (said) => resolve(/serving at (\S+)/.exec(said)?.[1]));
      });
      const some = ["tools-list", "resources-list", "dns-rebinding-protection"];
      const more =
        spec === "2026-07-28"
          ? ["server-stateless", "http-header-validation", "caching", "sep-2164-resource-not-found"]
          : ["server-initialize", "server-session-lifecycle", "ping"];
      const all = [...some, ...more];
      judge(await results(t, url, spec, all), { least: all.length });
    });
  });
}

test("2026-07-28: a server that follows roots", async (t) => {
  const server = await conforming(2, { roots: true });
  t.after(server.end);
  judge(await results(t, server.url, "2026-07-28", ROOTED), { least: 1 });
});

test("every scenario that is listed was run, or is of an extension", () => {
  const listed = [...Object.keys(NOT_APPLICABLE), ...Object.keys(CHECKS)];
  const extensions = listed.filter((name) => /^(tasks-|sep-2640)/.test(name));
  const rest = listed.filter((name) => !seen.has(name) && !extensions.includes(name));
  assert.deepEqual(rest, []);
});
