// S3Backend in Deno and in Bun.

import assert from "node:assert/strict";
import test from "node:test";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { dist, location, servers } from "./lib.mjs";
import { held } from "./work.mjs";

const WORK = ["suite", "edits", "creates", "names", "many", "uploads"];

for (const [name, args] of [
  ["deno", ["run", "--allow-net", "--allow-read", "--allow-env"]],
  ["bun", ["run"]],
]) {
  for (const [server, endpoint] of Object.entries(servers)) {
    test(`${name}: what every host does, on ${server}`, async () => {
      const program = at("tests/deps/runtimes/node_modules/.bin", name);
      const where = JSON.stringify(await location(endpoint));
      const script = at("tests/s3/runtime.mjs");
      const output = await must(program, [...args, script, dist, where, JSON.stringify(WORK)]);
      const answers = JSON.parse(output.trim().split("\n").at(-1));
      for (const what of WORK) held(assert, what, answers[what]);
    });
  }
}
