// A whole agent of eve over kitbag: eve's server with its own tools and a scripted model, in a folder that this
// process changes as well.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "eve/client";
import { FilesystemBackend } from "kitbag";
import { at } from "../../scripts/lib/paths.mjs";
import { FILES, PERMISSIONS, SECRET } from "./attempts.mjs";
import { folder } from "./lib.mjs";

const textIn = async (backend, path) =>
  new TextDecoder().decode((await backend.downloadFiles([path]))[0].content);

/** A server of eve with the agent of `eve/` over a folder: runs tool calls, each list in a session of its own. */
async function server(t, rootDir) {
  const home = folder(t);
  cpSync(at("tests/seats/eve"), home, { recursive: true });
  const modules = at("tests/deps/newest/node_modules");
  symlinkSync(modules, join(home, "node_modules"), "junction");
  const command = [join(modules, "eve/bin/eve.js"), "dev", "--no-ui"];
  const env = {
    ...process.env,
    HOME: home,
    EVE_TELEMETRY_DISABLED: "1",
    KITBAG_EVE: JSON.stringify({ rootDir, permissions: PERMISSIONS }),
  };
  const address = ["--host", "127.0.0.1", "--port", "0"];
  const child = spawn(process.execPath, [...command, ...address], { cwd: home, env });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  let said = "";
  const host = await new Promise((resolve, reject) => {
    const hear = (data) => {
      said += data;
      const found = /listening at (http:\S+?)\/?\s/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => reject(new Error(said)));
  });
  const client = new Client({ host });
  return async (...calls) => {
    const message = JSON.stringify(calls.map(([name, input]) => ({ name, input })));
    const { response } = await client.sessions.create({ message });
    const result = await response.result();
    assert.ok(result.message, `${JSON.stringify(result)}\n${said}`);
    return JSON.parse(result.message);
  };
}

test("eve's tools work in a folder that kitbag has, under rules", async (t) => {
  const rootDir = folder(t);
  const backend = new FilesystemBackend({ rootDir });
  const utf8 = new TextEncoder();
  await backend.uploadFiles(Object.entries(FILES).map(([path, text]) => [path, utf8.encode(text)]));
  const call = await server(t, rootDir);

  const [wrote, ran] = await call(
    ["write_file", { filePath: "/workspace/notes/a.txt", content: "one\n" }],
    ["bash", { command: "cp open/b.txt copy.txt; cat open/b.txt; pwd" }],
  );
  assert.ok(!wrote.isError, JSON.stringify(wrote));
  assert.equal(ran.output.stdout, "open/workspace\n");
  assert.equal(await textIn(backend, "/notes/a.txt"), "one\n");
  assert.equal(await textIn(backend, "/copy.txt"), "open");

  await backend.write("/notes/b.txt", "needle of the backend\n");
  const [read, globbed] = await call(
    ["read_file", { filePath: "/workspace/notes/b.txt" }],
    ["glob", { pattern: "**/*.txt" }],
  );
  // Two searches of one message hang in eve 0.80.1, over its own files as well.
  const [grepped] = await call(["grep", { pattern: "needle|secret" }]);
  assert.match(read.output.content, /needle of the backend/);
  assert.match(JSON.stringify(globbed.output), /notes\/a\.txt.*notes\/b\.txt/);
  assert.match(JSON.stringify(grepped.output), /needle of the backend/);
  assert.doesNotMatch(JSON.stringify([globbed, grepped]), /key\.txt|secret text/);

  const attempts = [
    ["read_file", { filePath: "/workspace/secret/key.txt" }],
    ["write_file", { filePath: "/workspace/fixed/a.txt", content: "x" }],
    ["bash", { command: "cat secret/key.txt" }],
    ["bash", { command: "echo x > fixed/a.txt" }],
    ["bash", { command: "cp -r secret open/s" }],
  ];
  for (const attempt of attempts) {
    const [{ isError, output }] = await call(attempt);
    assert.ok(isError || output.exitCode !== 0, JSON.stringify(output));
    assert.ok(!JSON.stringify(output).includes(SECRET));
  }
  for (const [path, text] of Object.entries(FILES)) assert.equal(await textIn(backend, path), text);

  await backend.write("/log.txt", "start\n");
  const names = Array.from({ length: 5 }, (_, n) => n);
  const lines = names.flatMap((n) => [`agent ${n}`, `host ${n}`]);
  await Promise.all([
    ...names.map((n) => call(["bash", { command: `echo 'agent ${n}' >> log.txt` }])),
    ...names.map((n) => backend.edit("/log.txt", "start\n", `start\nhost ${n}\n`)),
  ]);
  const got = (await textIn(backend, "/log.txt")).trim().split("\n").sort();
  assert.deepEqual(got, ["start", ...lines].sort());
});
