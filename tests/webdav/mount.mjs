// davfs2: the files as a folder of Linux. Only root can mount, so this is in the long form alone.

import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { folder, program } from "./lib.mjs";

/** The server is in a thread of its own: calls of a mounted folder block this one. */
const SERVER = `
  import { parentPort } from "node:worker_threads";
  import { listen, serveFiles, StateBackend } from ${JSON.stringify(new URL("./lib.mjs", import.meta.url).href)};
  const backend = new StateBackend({ files: { "/d/a.txt": "one" }, writeMode: "overwrite" });
  const { url } = await listen(serveFiles(() => backend, { webdav: true }));
  parentPort.on("message", () =>
    parentPort.postMessage(backend.glob("**", "/").files.map(({ path }) => [path, backend.readRaw(path).data.content])),
  );
  parentPort.postMessage(url);
`;

test("davfs2 mounts the files, with locks", async (t) => {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(SERVER)}`));
  t.after(() => worker.terminate());
  const told = () => new Promise((resolve) => worker.once("message", resolve));
  const url = await told();
  const home = folder(t);
  const [mounted, cache, config] = ["mounted", "cache", "davfs2.conf"].map((one) =>
    join(home, one),
  );
  mkdirSync(mounted);
  mkdirSync(cache);
  // The program keeps its copies as a user of its own.
  chmodSync(home, 0o755);
  chmodSync(cache, 0o777);
  const options = [
    "ask_auth 0",
    "use_locks 1",
    `cache_dir ${cache}`,
    "delay_upload 0",
    "dir_refresh 1",
  ];
  writeFileSync(config, `${options.join("\n")}\n`);
  const { code, out } = await program("mount.davfs", ["-o", `conf=${config}`, `${url}/`, mounted]);
  assert.equal(code, 0, out);
  let isMounted = true;
  const unmount = async () => {
    if (!isMounted) return;
    isMounted = false;
    const ended = await program("umount", [mounted]);
    assert.equal(ended.code, 0, ended.out);
  };
  t.after(unmount);
  assert.equal(readFileSync(join(mounted, "d/a.txt"), "utf8"), "one");
  mkdirSync(join(mounted, "new/empty"), { recursive: true });
  for (let n = 0; n < 50; n++) writeFileSync(join(mounted, `new/${n}.txt`), `file ${n}`);
  renameSync(join(mounted, "new/7.txt"), join(mounted, "d/seven ü.txt"));
  rmSync(join(mounted, "d/a.txt"));
  assert.deepEqual(
    readdirSync(join(mounted, "new")).filter((one) => one === "empty"),
    ["empty"],
  );
  await unmount();
  worker.postMessage("files");
  const files = Object.fromEntries(await told());
  assert.equal(Object.keys(files).length, 50);
  assert.equal(files["/d/seven ü.txt"], "file 7");
  assert.equal(files["/new/49.txt"], "file 49");
});
