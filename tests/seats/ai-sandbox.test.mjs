// The sandbox session of `kitbag/ai` with AI SDK 7 and its mock of a model: over a machine, a folder and
// memory. What a session must do is taken from the SDK's description of the type.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { begin, LocalShellBackend, SandboxBackend, StateBackend, withPolicy } from "kitbag";
import { sandboxSession } from "kitbag/ai";
import { withBash } from "kitbag/just-bash";
import { failure, folder } from "./lib.mjs";

/** A machine whose commands run in a folder of this one. */
function machine(t) {
  const cwd = folder(t);
  const execute = (command) =>
    new Promise((done) => {
      execFile("sh", ["-c", command], { cwd }, (error, stdout, stderr) => {
        done({ output: stdout + stderr, exitCode: error ? (error.code ?? 1) : 0 });
      });
    });
  return new SandboxBackend({ id: "m", execute, rootDir: cwd });
}

const SHELLS = {
  memory: () => withBash(new StateBackend({ files: {} })),
  folder: (t) =>
    LocalShellBackend.create({ rootDir: folder(t), virtualMode: true, inheritEnv: true }),
  machine,
};

const utf8 = (text) => new TextEncoder().encode(text);
const all = async (stream) =>
  new TextDecoder().decode(Buffer.concat(await Array.fromAsync(stream)));

const CASES = {
  "files of commands and of the session are the same": async (session) => {
    await session.writeTextFile({ path: "notes/a.txt", content: "one\ntwo\nthree\n" });
    assert.deepEqual(
      await session
        .run({ command: "cat notes/a.txt | wc -l" })
        .then(({ stdout, exitCode }) => [stdout.trim(), exitCode]),
      ["3", 0],
    );
    await session.run({ command: "mkdir -p made && printf 'by a command' > made/b.txt" });
    assert.equal(await session.readTextFile({ path: "made/b.txt" }), "by a command");
  },
  "a file is read whole, in lines, as bytes, as a stream": async (session) => {
    await session.writeTextFile({ path: "a.txt", content: "é1\n2\n3\n4" });
    const lines = (startLine, endLine) =>
      session.readTextFile({ path: "a.txt", startLine, endLine });
    assert.equal(await session.readTextFile({ path: "./a.txt" }), "é1\n2\n3\n4");
    assert.deepEqual(
      [await lines(2, 3), await lines(3), await lines(1, 1), await lines(4, 99)],
      ["2\n3", "3\n4", "é1", "4"],
    );
    assert.deepEqual(
      Buffer.from(await session.readBinaryFile({ path: "a.txt" })),
      Buffer.from("é1\n2\n3\n4"),
    );
    assert.equal(await all(await session.readFile({ path: "a.txt" })), "é1\n2\n3\n4");
    assert.equal(
      await session.readTextFile({ path: "a.txt", encoding: "latin1" }).then((text) => text.length),
      9,
    );
  },
  "writes replace, make directories, and take streams": async (session) => {
    await session.writeBinaryFile({ path: "deep/er/b.bin", content: Uint8Array.of(0, 255, 1) });
    assert.deepEqual([...(await session.readBinaryFile({ path: "deep/er/b.bin" }))], [0, 255, 1]);
    await session.writeFile({
      path: "deep/er/b.bin",
      content: ReadableStream.from([utf8("a"), utf8("b")]),
    });
    assert.equal(await session.readTextFile({ path: "deep/er/b.bin" }), "ab");
    assert.equal(
      (await failure(session.writeTextFile({ path: "deep", content: "x" }))).code,
      "EISDIR",
    );
  },
  "what is missing is null": async (session) => {
    for (const name of ["readFile", "readBinaryFile", "readTextFile", "stat", "listDirectory"]) {
      assert.equal(await session[name]({ path: "no/thing" }), null, name);
    }
    assert.equal(await session.deleteFile({ path: "no/thing" }), false);
  },
  "what is there": async (session) => {
    await session.writeTextFile({ path: "d/a.txt", content: "12" });
    await session.writeTextFile({ path: "d/e/b.txt", content: "x" });
    assert.deepEqual(await session.stat({ path: "d/a.txt" }), { type: "file", size: 2 });
    assert.equal((await session.stat({ path: "d" })).type, "directory");
    assert.deepEqual(await session.listDirectory({ path: "d" }), [
      { name: "a.txt", type: "file" },
      { name: "e", type: "directory" },
    ]);
    assert.equal((await failure(session.listDirectory({ path: "d/a.txt" }))).code, "ENOTDIR");
    assert.equal((await failure(session.deleteFile({ path: "d" }))).code, "EISDIR");
    assert.equal(await session.deleteFile({ path: "d/a.txt" }), true);
    assert.equal(await session.stat({ path: "d/a.txt" }), null);
  },
  "commands have a directory, variables and an exit code": async (session) => {
    await session.writeTextFile({ path: "it's here/a.txt", content: "in" });
    const { stdout } = await session.run({
      command: 'cat a.txt; printf " %s" "$NAME"',
      workingDirectory: "it's here",
      env: { NAME: `O'Hara "$x"` },
    });
    assert.equal(stdout, `in O'Hara "$x"`);
    const failed = await session.run({ command: "echo out; exit 3" });
    assert.deepEqual([failed.exitCode, failed.stdout.trim()], [3, "out"]);
    const astray = await session.run({ command: "echo ran", workingDirectory: "nowhere" });
    assert.ok(astray.exitCode !== 0 && !astray.stdout.includes("ran"));
    assert.match(
      (await failure(session.run({ command: "env", env: { "A;B": "1" } }))).message,
      /no name of a variable/,
    );
  },
  "a process has streams and an end": async (session) => {
    const running = await session.spawn({ command: "echo one; exit 2" });
    assert.deepEqual([await all(running.stdout), await all(running.stderr)], ["one\n", ""]);
    assert.deepEqual(await running.wait(), { exitCode: 2 });
    await running.kill();
    assert.equal((await failure(session.spawn({ command: "cat", stdin: true }))).code, "ENOSYS");
  },
  "a signal ends a call": async (session) => {
    const abortSignal = AbortSignal.abort(new Error("enough"));
    for (const call of [
      () => session.run({ command: "echo x > made.txt", abortSignal }),
      () => session.writeTextFile({ path: "made.txt", content: "x", abortSignal }),
      () => session.readTextFile({ path: "made.txt", abortSignal }),
    ]) {
      assert.equal((await failure((async () => call())())).message, "enough");
    }
    assert.equal(await session.stat({ path: "made.txt" }), null);
  },
};

for (const [kind, make] of Object.entries(SHELLS)) {
  for (const [name, run] of Object.entries(CASES)) {
    test(`${kind}: ${name}`, async (t) => {
      await run(sandboxSession(await make(t)));
    });
  }
}

test("a command that runs is ended by kill, and by its signal", async (t) => {
  const session = sandboxSession(await SHELLS.folder(t));
  const running = await session.spawn({ command: "sleep 30" });
  await running.kill();
  assert.deepEqual(await running.wait(), { exitCode: 137 });
  const controller = new AbortController();
  const ended = session.run({ command: "sleep 30", abortSignal: controller.signal });
  setTimeout(() => controller.abort(new Error("stop")), 50);
  assert.equal((await failure(ended)).message, "stop");
});

test("a backend without a shell is refused, and so are wrong options", () => {
  assert.throws(
    () => sandboxSession(new StateBackend()),
    /sandboxSession: the backend cannot run commands; take/,
  );
  assert.throws(() => sandboxSession(undefined), /first argument must be a backend/);
  const backend = withBash(new StateBackend());
  assert.throws(() => sandboxSession(backend, { cdw: "/" }), /sandboxSession.*cwd/);
  assert.throws(
    () => sandboxSession(backend, { description: 1 }),
    /option "description" must be a string/,
  );
});

test("rules hold for files and for commands", async () => {
  const inner = new StateBackend({ files: { "/secret/key": "k", "/open": "o" } });
  const permissions = [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }];
  const session = sandboxSession(withBash(withPolicy(inner, { permissions })));
  for (const call of [
    session.readTextFile({ path: "secret/key" }),
    session.writeTextFile({ path: "secret/new", content: "x" }),
    session.deleteFile({ path: "open/../secret/key" }),
  ]) {
    assert.equal((await failure(call)).code, "EACCES");
  }
  const { stdout, exitCode } = await session.run({ command: "cat /secret/key" });
  assert.ok(exitCode !== 0 && !/^k$/m.test(stdout));
});

test("the SDK gives the session to its tools: an agent works in a turn", async () => {
  const inner = new StateBackend({ files: { "/a.txt": "3\n1\n2\n" } });
  const turn = begin(inner, { by: "agent" });
  const results = [];
  const script = [
    ["bash", { command: "sort a.txt > sorted.txt && cat sorted.txt" }],
    ["write", { path: "b.txt", content: "by the SDK" }],
    ["bash", { command: "cat b.txt; cat missing" }],
  ];
  let at = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      if (last.role === "tool") results.push(last.content[0].output.value);
      const call = script[at++];
      const content = call
        ? [
            {
              type: "tool-call",
              toolCallId: `c${at}`,
              toolName: call[0],
              input: JSON.stringify(call[1]),
            },
          ]
        : [{ type: "text", text: "done" }];
      const unified = call ? "tool-calls" : "stop";
      const none = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
      return {
        content,
        finishReason: { unified, raw: unified },
        usage: { inputTokens: none, outputTokens: none },
        warnings: [],
      };
    },
  });
  const schema = (...names) =>
    jsonSchema({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    });
  const { text } = await generateText({
    model,
    prompt: "go",
    experimental_sandbox: sandboxSession(withBash(turn)),
    stopWhen: isStepCount(5),
    tools: {
      bash: tool({
        inputSchema: schema("command"),
        execute: ({ command }, { experimental_sandbox: sandbox }) => sandbox.run({ command }),
      }),
      write: tool({
        inputSchema: schema("path", "content"),
        execute: async (input, { experimental_sandbox: sandbox }) => {
          await sandbox.writeTextFile(input);
          return "written";
        },
      }),
    },
  });
  assert.equal(text, "done");
  assert.deepEqual(results[0], { stdout: "1\n2\n3\n", stderr: "", exitCode: 0 });
  assert.equal(results[2].exitCode, 1);
  assert.match(results[2].stdout, /^by the SDK.*missing/s);
  assert.deepEqual(Object.keys(inner.snapshot()), ["/a.txt"]);
  await turn.commit();
  assert.equal(inner.read("/sorted.txt").content, "1\n2\n3\n");
});
