// The limit of a suite counts the time that it had, and a suite that is ended says what it waited for.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { cpus } from "node:os";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { end, start } from "../../scripts/lib/exec.mjs";
import { results } from "../../scripts/lib/paths.mjs";
import { clockOf, counts, REPORTING, unfinished, waitsFor } from "../../scripts/lib/waiting.mjs";

const COUNTS = [
  ["a sleep counts in full", { ran: 0, waited: 0 }, 1000],
  ["work that nothing disturbs counts in full", { ran: 1000, waited: 0 }, 1000],
  ["of work beside one other, half counts", { ran: 500, waited: 500 }, 500],
  ["nothing counts while it only waits for a processor", { ran: 0, waited: 1000 }, 0],
  ["a short wait in a long sleep is left out", { ran: 50, waited: 50 }, 950],
  ["what several threads waited is not more than there was", { ran: 1000, waited: 3000 }, 250],
];
for (const [name, times, wanted] of COUNTS) {
  test(name, () => assert.equal(counts(1000, times), wanted));
}

const LOGS = [
  ["no test has begun", "starting\n", []],
  ["one that has begun", "# Subtest: a\n", ["a"]],
  ["one behind one that has ended", "# Subtest: a\nok 1 - a\n# Subtest: b\n", ["b"]],
  ["one in another", "# Subtest: a\n    # Subtest: b\n", ["a", "b"]],
  [
    "one behind others in another",
    "# Subtest: a\n    # Subtest: b\n    not ok 1 - b\n    # Subtest: c\n",
    ["a", "c"],
  ],
  ["none when all have ended", "# Subtest: a\n    # Subtest: b\n    ok 1 - b\nok 1 - a\n", []],
];
for (const [name, log, wanted] of LOGS) {
  test(`unfinished tests of a log: ${name}`, () => assert.deepEqual(unfinished(log), wanted));
}

// Only Linux shows the processes of others as files.
if (process.platform === "linux") {
  test("a process that waits says what for", async () => {
    mkdirSync(results("reports"), { recursive: true });
    const program = `
      const { createServer } = require("node:net");
      createServer().listen(0, "127.0.0.1", () => console.log("ready"));
      setTimeout(() => {}, 600_000);
    `;
    const child = start(process.execPath, [...REPORTING, "-e", program]);
    try {
      await once(child.stdout, "data");
      const lines = (await waitsFor(child.pid)).join("\n");
      assert.match(lines, new RegExp(`^[A-Z] ${child.pid} .*node`, "m"));
      assert.match(lines, /^ {2}open: .*tcp \S+:\d+/m);
      assert.match(lines, /timer in 59\d{4} ms/);
    } finally {
      end(child);
    }
  });

  test("a process whose JavaScript never ends is named", async () => {
    const program = `require("node:fs").writeSync(1, "ready"); for (;;);`;
    const child = start(process.execPath, [...REPORTING, "-e", program]);
    try {
      await once(child.stdout, "data");
      assert.match((await waitsFor(child.pid)).join("\n"), /runs on and on/);
    } finally {
      end(child);
    }
  });

  test("a process that would be ended by the question is not asked", async () => {
    const child = start("sh", ["-c", "echo ready; sleep 600"]);
    try {
      await once(child.stdout, "data");
      const lines = await waitsFor(child.pid);
      assert.match(lines[0], /^[A-Z] \d+ sh -c/);
      assert.equal(child.exitCode ?? child.signalCode, null);
    } finally {
      end(child);
    }
  });

  test("time that others take does not count for work, and a sleep is no work", async () => {
    const loop = () => start("sh", ["-c", "while :; do :; done"]);
    const loops = Array.from({ length: 3 * cpus().length }, loop);
    const sleeping = start("sleep", ["600"]);
    try {
      const [worked, slept] = [clockOf(loops[0].pid), clockOf(sleeping.pid)];
      const began = performance.now();
      await pause(2_000);
      const whole = performance.now() - began;
      const [work, sleep] = [worked(), slept()];
      assert.ok(work < 0.7 * whole, `${work} of ${whole} ms counted for one of many loops`);
      assert.ok(sleep > 0.9 * whole, `${sleep} of ${whole} ms counted for a sleep`);
    } finally {
      for (const child of [...loops, sleeping]) end(child);
    }
  });
}
