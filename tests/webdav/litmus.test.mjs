// `litmus`, the test program for servers of WebDAV, in full: each of its tests passes, and warns of nothing.

import assert from "node:assert/strict";
import test from "node:test";
import { BACKENDS, drive, folder, program, StateBackend } from "./lib.mjs";

/** The parts of litmus, and how many tests each has. */
const PARTS = { basic: 16, copymove: 13, props: 30, locks: 41, http: 4 };

async function passes(t, url) {
  const cwd = folder(t);
  const env = { TESTS: Object.keys(PARTS).join(" ") };
  const { out } = await program("litmus", ["-k", `${url}/`], { cwd, env });
  for (const [part, count] of Object.entries(PARTS)) {
    const [, run, passed] =
      new RegExp(`summary for \`${part}': of (\\d+) tests run: (\\d+) passed`).exec(out) ?? [];
    assert.equal(run, passed, out);
    assert.ok(Number(run) >= count, `${part} ran ${run} tests\n${out}`);
  }
  assert.ok(!/WARNING|SKIPPED|FAIL/.test(out), out);
}

for (const name of ["memory", "disk"]) {
  test(`${name}: every test of litmus`, async (t) => {
    const backend = await BACKENDS[name](t, "overwrite");
    await passes(t, (await drive(t, backend)).url);
  });
}

test("SQLite, with what is known of locks in another backend: every test of litmus", async (t) => {
  const backend = await BACKENDS.SQLite(t, "overwrite");
  const keepIn = { backend: new StateBackend(), path: "/dav/known.json", key: "k".repeat(16) };
  const { url } = await drive(t, backend, { webdav: { keepIn }, client: () => "ann" });
  await passes(t, url);
});
