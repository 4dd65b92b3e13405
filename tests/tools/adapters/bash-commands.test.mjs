// Scripts of `bash-commands.txt`, one a line: over a backend each prints and returns the same as over
// just-bash's own files in memory, and leaves the same files. `DEPARTURES` lists those that do not.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Bash, InMemoryFs } from "just-bash";
import { StateBackend } from "kitbag";
import { bashExecute, bashFileSystem } from "kitbag/just-bash";

const DEPARTURES = {
  "mkdir d; echo a | tee d; echo $?": "in memory, a file takes the place of a directory",
  "mkdir d; echo a > f; mv d f; echo $?": "the refusal has other words",
  "touch 'we\"ird' \"q'q\" 'b\\s'; ls": "names have no backslashes",
  "touch '*'; ls '*'; rm '*'; ls": "`ls` knows no new names that match a quoted pattern",
  "which ls": "commands are no files",
};

const source = readFileSync(new URL("bash-commands.txt", import.meta.url), "utf8");
const scripts = source.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

const start = "mkdir /w; cd /w;";

async function bare(script) {
  const fs = new InMemoryFs();
  const { stdout, stderr, exitCode } = await new Bash({ cwd: "/", fs }).exec(`${start} ${script}`);
  return { output: stdout + stderr, exitCode, files: await filesIn(fs, "/w") };
}

async function ours(script) {
  const backend = new StateBackend();
  const { output, exitCode } = await bashExecute(backend)(`${start} ${script}`);
  return { output, exitCode, files: await filesIn(bashFileSystem(backend), "/w") };
}

/** The files below a directory, with their content. */
async function filesIn(fs, dir) {
  const found = {};
  if (!(await fs.exists(dir))) return found;
  for (const name of await fs.readdir(dir)) {
    const path = `${dir}/${name}`;
    if ((await fs.stat(path)).isDirectory) Object.assign(found, await filesIn(fs, path));
    // Archives contain times.
    else if (/\.t(ar|gz)$/.test(name)) found[path] = "";
    else found[path] = Buffer.from(await fs.readFileBuffer(path)).toString("base64");
  }
  return found;
}

test(`${scripts.length} scripts, at least 300, and each stands once`, () => {
  assert.ok(scripts.length >= 300);
  assert.equal(new Set(scripts).size, scripts.length);
  for (const script of Object.keys(DEPARTURES)) assert.ok(scripts.includes(script), script);
});

for (const script of scripts) {
  const reason = DEPARTURES[script];
  test(`${reason ? `departs, since ${reason}` : "the same"}: ${script}`, async () => {
    const [expected, found] = [await bare(script), await ours(script)];
    if (reason) assert.notDeepEqual(found, expected, "it departs no longer: take it off the list");
    else assert.deepEqual(found, expected);
  });
}
