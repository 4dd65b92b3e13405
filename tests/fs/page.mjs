// In a page: a clone, a commit and a push over a storage of the browser, and reads and writes without the
// classes of Node.

import git from "isomorphic-git";
import http from "isomorphic-git/http/web";
import { IndexedDbBackend, OpfsBackend } from "kitbag";
import { createFs } from "kitbag/fs";

const BACKENDS = {
  IndexedDB: () => new IndexedDbBackend({ database: "files" }),
  OPFS: () => new OpfsBackend(),
};

async function work(name) {
  const fs = createFs(BACKENDS[name]());
  const repo = { fs, dir: "/repo" };
  const url = `${location.origin}/origin.git`;
  await git.clone({ ...repo, http, url, ref: "main", singleBranch: true });
  await fs.promises.mkdir("/repo/empty");
  await fs.promises.appendFile("/repo/README.md", `By ${name}.\n`);
  await git.add({ ...repo, filepath: "README.md" });
  const author = { name, email: "page@example.org" };
  const oid = await git.commit({ ...repo, message: name, author });
  const pushed = await git.push({ ...repo, http, remote: "origin", ref: "main" });
  const handle = await fs.promises.open("/repo/README.md");
  const text = await new Response(handle.readableWebStream()).text();
  await handle.close();
  const failed = await fs.promises.stat("/none").catch((error) => error.message);
  const changed = await git.statusMatrix(repo);
  return {
    ...{ oid, ok: pushed.ok, text, failed },
    entries: (await fs.promises.readdir("/repo")).filter((entry) => !entry.startsWith(".")),
    changed: changed.filter(([, head, workdir, stage]) => head + workdir + stage !== 3).length,
  };
}

globalThis.done = (async () => {
  const seen = {};
  for (const name of Object.keys(BACKENDS)) seen[name] = await work(name);
  return seen;
})();
