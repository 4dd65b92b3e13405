// git on a backend, by isomorphic-git: clone, branch, commit, merge and push over smart HTTP. What comes
// of it is checked by git itself.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { git, repository } from "./git-server.mjs";
import { author, http, iso, ONLY_MAIN, work } from "./git-work.mjs";
import { BACKENDS, begin, createFs, failure, folder, withPolicy } from "./lib.mjs";

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`clone, branch, commit, merge and push over ${name}; git finds nothing wrong`, async (t) => {
    await work(t, await make(t));
  });
}

test("git reads a clone in a folder where it is", async (t) => {
  const { url } = await repository(t);
  const root = folder(t);
  const { FilesystemBackend } = await import("./lib.mjs");
  const fs = createFs(new FilesystemBackend({ rootDir: root }));
  await iso.clone({ fs, dir: "/", http, url, ...ONLY_MAIN });
  assert.equal(git(root, "fsck", "--strict"), "");
  assert.equal(git(root, "status", "--porcelain"), "");
});

test("a turn is committed with its author and receipt as trailers, and pushed", async (t) => {
  const { root, url } = await repository(t);
  const backend = BACKENDS.memory();
  const fs = createFs(backend);
  const repo = { fs, dir: "/repo" };
  await iso.clone({ ...repo, http, url, ...ONLY_MAIN });
  const turn = begin(backend, { by: "agent-7" });
  await turn.edit("/repo/README.md", "# One", "# Two");
  const { receipt } = await turn.commit();
  const changed = receipt.files.map(({ path }) => path.slice("/repo/".length));
  await iso.add({ ...repo, filepath: changed });
  const trailers = `Turn-By: ${receipt.by}\nTurn-Receipt: ${receipt.id}`;
  await iso.commit({ ...repo, message: `Retitle\n\n${trailers}\n`, author });
  await iso.push({ ...repo, http, remote: "origin", ref: "main" });
  const origin = join(root, "origin.git");
  const format = "--format=%(trailers:key=Turn-By,valueonly)%(trailers:key=Turn-Receipt,valueonly)";
  const [by, id] = git(origin, "log", "-1", format, "main").split("\n");
  assert.deepEqual([by, id], ["agent-7", receipt.id]);
  assert.equal(git(origin, "show", "main:README.md"), "# Two\n");
});

test("a rule holds: git writes what it may, and the rest is EACCES", async (t) => {
  const { url } = await repository(t);
  const backend = BACKENDS.memory();
  const guarded = withPolicy(backend, {
    permissions: [{ operations: ["write"], paths: ["/repo/src/**"], mode: "deny" }],
  });
  const fs = createFs(guarded);
  const error = await failure(iso.clone({ fs, dir: "/repo", http, url, ...ONLY_MAIN }));
  assert.equal(error?.code ?? error?.data?.errors?.[0]?.code, "EACCES", String(error));
  assert.deepEqual(backend.glob("**", "/repo/src").files, []);
});
