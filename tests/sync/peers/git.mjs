// git as a way to sync: each side is a work tree with a branch of its own. A run commits on both sides, merges
// the branch of the second side into that of the first with the default strategy, and brings the second one
// up to that. What git leaves as a conflict is committed as git leaves it, with its marks in texts.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "somebody"],
      [`GIT_${who}_EMAIL`, "somebody@example.com"],
    ]),
  ),
};
const git = (cwd, ...args) => execFileSync("git", args, { cwd, env, encoding: "utf8" });

/** A tree in a folder. */
function ofFolder(root) {
  const write = (path, text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const read = (path) =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
  return {
    read,
    write,
    remove: (path) => rmSync(join(root, path)),
    move(from, to) {
      mkdirSync(dirname(join(root, to)), { recursive: true });
      renameSync(join(root, from), join(root, to));
    },
    texts: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== ".git")
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
  };
}

/** `options` are those of `git merge`. */
export function ofGit(...options) {
  const place = mkdtempSync(join(tmpdir(), "kitbag-git-"));
  const repository = join(place, "repository.git");
  git(place, "init", "--quiet", "--bare", "--initial-branch=b", repository);
  git(repository, "config", "gc.auto", "0");
  const [a, b] = ["a", "b"].map((name) => join(place, name));
  git(repository, "worktree", "add", "--quiet", "--orphan", "-b", "b", b);
  const commit = (cwd) => {
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "--allow-empty", "--message", "work");
  };
  commit(b);
  git(repository, "worktree", "add", "--quiet", "-b", "a", a, "b");
  return {
    trees: [ofFolder(a), ofFolder(b)],
    sync() {
      for (const side of [a, b]) commit(side);
      const merge = ["merge", "--quiet", "--no-edit", ...options, "b"];
      const { status, stderr } = spawnSync("git", merge, { cwd: a, env, encoding: "utf8" });
      let conflicts = 0;
      if (status !== 0) {
        const open = git(a, "diff", "--name-only", "--diff-filter=U").split("\n").filter(Boolean);
        assert.ok(open.length > 0, stderr);
        conflicts = open.length;
        commit(a);
      }
      git(b, "merge", "--quiet", "--ff-only", "a");
      return { conflicts, copies: 0 };
    },
    close: () => rmSync(place, { recursive: true, force: true }),
  };
}
