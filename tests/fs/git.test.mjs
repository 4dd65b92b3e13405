// git on a backend, by isomorphic-git: clone, branch, commit, merge and push over smart HTTP. What comes
// of it is checked by git itself.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { git, repository } from "./git-server.mjs";
import { BACKENDS, begin, createFs, dependency, failure, folder, withPolicy } from "./lib.mjs";

const { default: iso } = await dependency("isomorphic-git");
const { default: http } = await dependency("isomorphic-git/http/node");

const author = { name: "Agent", email: "agent@example.org" };
const ONLY_MAIN = { ref: "main", singleBranch: true };

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`clone, branch, commit, merge and push over ${name}; git finds nothing wrong`, async (t) => {
    const { root, url } = await repository(t);
    const backend = await make(t);
    const fs = createFs(backend);
    const repo = { fs, dir: "/repo" };
    await iso.clone({ ...repo, http, url, ...ONLY_MAIN });
    assert.equal(await fs.promises.readFile("/repo/src/deep/ünï.txt", "utf8"), "text\r\n");

    await iso.branch({ ...repo, ref: "work", checkout: true });
    await fs.promises.writeFile("/repo/README.md", "# One\n\nMore.\n");
    await fs.promises.mkdir("/repo/notes");
    await fs.promises.writeFile("/repo/notes/a.md", "a\n");
    await iso.add({ ...repo, filepath: ["README.md", "notes/a.md"] });
    await iso.commit({ ...repo, message: "Work", author });

    await iso.checkout({ ...repo, ref: "main" });
    assert.equal(await fs.promises.readFile("/repo/README.md", "utf8"), "# One\n");
    await fs.promises.writeFile("/repo/src/file-1.ts", "export const one = 1;\n");
    await fs.promises.unlink("/repo/src/file-2.ts");
    await iso.add({ ...repo, filepath: "src/file-1.ts" });
    await iso.remove({ ...repo, filepath: "src/file-2.ts" });
    await iso.commit({ ...repo, message: "Meanwhile", author });

    await iso.merge({ ...repo, ours: "main", theirs: "work", author });
    await iso.checkout({ ...repo, ref: "main" });
    const matrix = await iso.statusMatrix(repo);
    const changed = matrix.filter(
      ([, head, work, stage]) => head !== 1 || work !== 1 || stage !== 1,
    );
    assert.deepEqual(changed, []);
    const pushed = await iso.push({ ...repo, http, remote: "origin", ref: "main" });
    assert.equal(pushed.ok, true);

    const origin = join(root, "origin.git");
    assert.equal(git(origin, "fsck", "--strict", "--full"), "");
    const [merged] = await iso.log({ ...repo, depth: 1 });
    assert.equal(merged.commit.parent.length, 2);
    assert.equal(git(origin, "rev-parse", "main").trim(), merged.oid);
    // The files and the repository itself, as git sees them.
    const copy = join(folder(t), "copy");
    await copied(fs, "/repo", copy);
    assert.equal(git(copy, "fsck", "--strict", "--full"), "");
    assert.equal(git(copy, "status", "--porcelain"), "");
    assert.equal(readFileSync(join(copy, "README.md"), "utf8"), "# One\n\nMore.\n");
  });
}

async function copied(fs, from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of await fs.promises.readdir(from, { withFileTypes: true })) {
    const [source, target] = [`${from}/${entry.name}`, join(to, entry.name)];
    if (entry.isDirectory()) await copied(fs, source, target);
    else writeFileSync(target, await fs.promises.readFile(source));
  }
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
