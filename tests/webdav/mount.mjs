// davfs2: the files as a folder of Linux. Only root can mount, so this is in the long form alone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { freePorts } from "../s3/servers.mjs";
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

/** Mounts an address; where, and what ends it. */
async function mount(t, url) {
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
  return { mounted, unmount };
}

/** Whether davfs2 can list directories under this kernel, as the server of rclone shows: 1.6.1 cannot under 6.18. */
async function canList(t) {
  const root = folder(t);
  writeFileSync(join(root, "a.txt"), "one");
  const [port] = await freePorts(1);
  const args = [
    "serve",
    "webdav",
    root,
    "--addr",
    `127.0.0.1:${port}`,
    "--config",
    join(root, "c"),
  ];
  const server = spawn("rclone", args, { stdio: "ignore" });
  t.after(() => server.kill());
  const url = `http://127.0.0.1:${port}`;
  for (const until = Date.now() + 10_000; ; ) {
    if (await fetch(url).catch(() => undefined)) break;
    assert.ok(Date.now() < until, "rclone does not serve");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { mounted, unmount } = await mount(t, url);
  // From another process: the server may need this one.
  const { code } = await program("ls", [mounted]);
  await unmount();
  return code === 0;
}

test("davfs2 mounts the files, with locks", async (t) => {
  const lists = await canList(t);
  if (!lists) t.diagnostic("davfs2 lists no directory under this kernel, of no server");
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(SERVER)}`));
  t.after(() => worker.terminate());
  const told = () => new Promise((resolve) => worker.once("message", resolve));
  const { mounted, unmount } = await mount(t, await told());
  assert.equal(readFileSync(join(mounted, "d/a.txt"), "utf8"), "one");
  mkdirSync(join(mounted, "new/empty"), { recursive: true });
  for (let n = 0; n < 50; n++) writeFileSync(join(mounted, `new/${n}.txt`), `file ${n}`);
  renameSync(join(mounted, "new/7.txt"), join(mounted, "d/seven ü.txt"));
  rmSync(join(mounted, "d/a.txt"));
  assert.equal(existsSync(join(mounted, "d/a.txt")), false);
  assert.equal(readFileSync(join(mounted, "d/seven ü.txt"), "utf8"), "file 7");
  assert.ok(statSync(join(mounted, "new/empty")).isDirectory());
  if (lists) assert.equal(readdirSync(join(mounted, "new")).length, 50);
  await unmount();
  worker.postMessage("files");
  const files = Object.fromEntries(await told());
  assert.equal(Object.keys(files).length, 50);
  assert.equal(files["/d/seven ü.txt"], "file 7");
  assert.equal(files["/new/49.txt"], "file 49");
});
