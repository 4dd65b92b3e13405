// A program's work on a repository: clone, branch, commit, merge and push by isomorphic-git over an fs object
// of a backend. What comes of it is checked by git itself.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git, repository } from "./git-server.mjs";
import { createFs, dependency, folder } from "./lib.mjs";

export const { default: iso } = await dependency("isomorphic-git");
export const { default: http } = await dependency("isomorphic-git/http/node");

export const author = { name: "Agent", email: "agent@example.org" };
export const ONLY_MAIN = { ref: "main", singleBranch: true };

export async function work(t, backend) {
  const { root, url } = await repository(t);
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
  const changed = matrix.filter(([, head, work, stage]) => head !== 1 || work !== 1 || stage !== 1);
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
}

async function copied(fs, from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of await fs.promises.readdir(from, { withFileTypes: true })) {
    const [source, target] = [`${from}/${entry.name}`, join(to, entry.name)];
    if (entry.isDirectory()) await copied(fs, source, target);
    else writeFileSync(target, await fs.promises.readFile(source));
  }
}
