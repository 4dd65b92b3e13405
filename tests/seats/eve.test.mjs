// kitbag as the workspace of eve: sessions of its just-bash sandbox, over each kind of backend.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend, withPolicy } from "kitbag";
import { eveSession } from "./eve.mjs";
import { BACKENDS } from "./lib.mjs";

const BYTES = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 7) % 256);

const bytesIn = async (backend, path) =>
  new Uint8Array((await backend.downloadFiles([path]))[0].content);
const textIn = async (backend, path) => new TextDecoder().decode(await bytesIn(backend, path));

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`${name}: files of eve's session are those of the backend`, async (t) => {
    const backend = make(t);
    const session = await eveSession(backend, t);

    await session.writeTextFile({ path: "notes/a.txt", content: "two\none\n" });
    const { exitCode, stderr } = await session.run({ command: "sort notes/a.txt > sorted.txt" });
    assert.deepEqual([exitCode, stderr], [0, ""]);
    await session.writeBinaryFile({ path: "/workspace/image.bin", content: BYTES });
    assert.equal(await textIn(backend, "/notes/a.txt"), "two\none\n");
    assert.equal(await textIn(backend, "/sorted.txt"), "one\ntwo\n");
    assert.deepEqual(await bytesIn(backend, "/image.bin"), BYTES);

    await backend.uploadFiles([["/from/outside.bin", BYTES]]);
    assert.deepEqual(
      new Uint8Array(await session.readBinaryFile({ path: "from/outside.bin" })),
      BYTES,
    );
    const { stdout } = await session.run({ command: "find . -type f | sort; wc -c < image.bin" });
    const found = ["./from/outside.bin", "./image.bin", "./notes/a.txt", "./sorted.txt"];
    assert.deepEqual(stdout.trim().split(/\s+/), [...found, String(BYTES.length)]);

    await session.removePath({ path: "notes", recursive: true });
    const { files } = await backend.glob("**/*.txt");
    assert.deepEqual(
      files.map(({ path }) => path.replace(/^\//, "")),
      ["sorted.txt"],
    );
    // The rest of the sandbox is not in the backend.
    await session.writeTextFile({ path: "/tmp/elsewhere.txt", content: "x" });
    assert.deepEqual((await backend.glob("**/elsewhere.txt")).files, []);
  });
}

test("two sessions and the backend change one file at once, no line is lost", async (t) => {
  const backend = new StateBackend({ files: { "/log.txt": "start\n" } });
  const sessions = [await eveSession(backend, t, "one"), await eveSession(backend, t, "two")];
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`);
  const add = (line, n) => {
    if (n % 4 === 3) return backend.edit("/log.txt", "start\n", `start\n${line}\n`);
    return sessions[n % 2].run({ command: `echo '${line}' >> log.txt` });
  };
  await Promise.all(lines.map(add));
  const got = (await textIn(backend, "/log.txt")).trim().split("\n").sort();
  assert.deepEqual(got, ["start", ...lines].sort());
});

test("rules refuse what eve's session may not do", async (t) => {
  const inner = new StateBackend({ files: { "/secret/key.txt": "hidden", "/open.txt": "open" } });
  const permissions = [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }];
  const session = await eveSession(withPolicy(inner, { permissions }), t);
  assert.equal(await session.readTextFile({ path: "open.txt" }), "open");
  assert.equal(await session.readTextFile({ path: "secret/key.txt" }), null);
  await assert.rejects(session.writeTextFile({ path: "secret/key.txt", content: "x" }));
  const { exitCode, stdout } = await session.run({ command: "cat secret/key.txt" });
  assert.notEqual(exitCode, 0);
  assert.equal(stdout, "");
  assert.equal(await textIn(inner, "/secret/key.txt"), "hidden");
});
