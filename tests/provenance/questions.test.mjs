// What a person is asked, and how often: the questions of single calls, and those of whole tasks of
// scripted agents, none of which carries anything.

import assert from "node:assert/strict";
import { test } from "node:test";
import { build } from "esbuild";
import { begin, createFileTools, StateBackend } from "kitbag";
import { withBash } from "kitbag/just-bash";
import { withProvenance } from "kitbag/provenance";
import { at } from "../../scripts/lib/paths.mjs";
import { SHELL_TASK } from "../tools/cases/task.mjs";
import { memory, must, PAGE, SCRATCH } from "./lib.mjs";

const encoder = new TextEncoder();
const labels = [{ paths: ["/web/**"], as: "untrusted" }];
const to = ["/AGENTS.md", "/skills/**", "/memories/**"];
const flows = [{ from: "untrusted", to, then: "ask" }];
const NEW = "/memories/new.md";
const read = { label: "untrusted", path: PAGE, operation: "read" };

/** Files with a flow that asks; the questions, each answered by `answer`. */
function asking(answer = () => true, more = {}) {
  const questions = [];
  const onAsk = (asked) => {
    questions.push(asked);
    return answer(asked);
  };
  const inner = memory();
  return { inner, questions, files: withProvenance(inner, { labels, flows, onAsk, ...more }) };
}

const QUESTIONS = [
  ["write", (files) => files.write(NEW, "new"), { path: NEW, preview: "new" }],
  [
    "edit",
    (files) => files.edit("/AGENTS.md", "kept", "new"),
    { path: "/AGENTS.md", preview: "- kept\n+ new" },
  ],
  ["append", (files) => files.append("/AGENTS.md", "new"), { path: "/AGENTS.md", preview: "new" }],
  [
    "uploadFiles",
    (files) =>
      files.uploadFiles([
        [SCRATCH, encoder.encode("no question")],
        [NEW, encoder.encode("new")],
      ]),
    { path: NEW, preview: "new" },
  ],
  [
    "copy",
    (files) => files.copy("/work/todo.md", NEW),
    { path: NEW, preview: `/work/todo.md -> ${NEW}\n` },
  ],
  [
    "move",
    (files) => files.move("/work", "/skills/work"),
    { path: "/skills/work", preview: "/work/todo.md -> /skills/work/todo.md\n" },
  ],
];

for (const [operation, call, shown] of QUESTIONS) {
  test(`${operation} asks once, and shows what was read and by which call`, async () => {
    const { files, questions } = asking();
    must(await call(files.conversation()));
    assert.deepEqual(questions, []);
    const { files: tainted, questions: asked } = asking();
    must(await tainted.read(PAGE));
    must(await call(tainted));
    assert.deepEqual(asked, [{ operation, ...shown, labels: ["untrusted"], reads: [read] }]);
  });
}

test("a copy of a labelled file asks with the file itself", async () => {
  const { files, questions } = asking();
  must(await files.copy(PAGE, NEW));
  assert.deepEqual(questions[0].reads, [{ ...read, operation: "copy" }]);
  assert.deepEqual(await files.labels(NEW), { labels: ["untrusted"] });
});

const NOT = {
  false: () => false,
  "something else than true": () => "yes",
  "a rejection": () => Promise.reject(new Error("no")),
  "an exception": () => {
    throw new Error("no");
  },
  "no answer in time": () => new Promise(() => {}),
};

for (const [name, answer] of Object.entries(NOT)) {
  test(`${name} refuses, and changes nothing`, async () => {
    const { inner, files, questions } = asking(answer, { askTimeoutMs: 5 });
    must(await files.read(PAGE));
    const refused = await files.write(NEW, "new");
    assert.equal(refused.code, "permission_denied");
    assert.match(
      refused.error,
      /'untrusted' from \/web\/page\.md \(read\); it (was|had to be) asked/,
    );
    assert.equal(questions.length, 1);
    assert.equal(inner.read(NEW).code, "not_found");
  });
}

test("a flow that refuses wins over one that asks", async () => {
  const refuse = [{ from: "untrusted", to: ["/memories/**"], then: "refuse" }];
  const { files, questions } = asking(undefined, { flows: [...flows, ...refuse] });
  must(await files.read(PAGE));
  assert.equal((await files.write(NEW, "new")).code, "permission_denied");
  must(await files.append("/AGENTS.md", "new"));
  assert.equal(questions.length, 1);
});

test("what changed while a person was asked is not moved", async () => {
  const { inner, files } = asking(() => {
    must(inner.write("/work/more.md", "more"));
    return true;
  });
  must(await files.read(PAGE));
  assert.equal((await files.move("/work", "/skills/work")).code, "conflict");
  assert.equal(inner.read("/work/todo.md").content, "milk\n");
});

test("a long preview is shortened", async () => {
  const { files, questions } = asking();
  must(await files.read(PAGE));
  must(await files.write(NEW, "é".repeat(5_000)));
  assert.equal(questions[0].preview, `${"é".repeat(2_000)}…`);
});

test("a turn is asked about when it is committed", async () => {
  const { files, questions } = asking();
  const turn = begin(files);
  must(await turn.read(PAGE));
  must(await turn.write(NEW, "new"));
  assert.equal(questions.length, 0);
  must(await turn.commit());
  assert.equal(questions.length, 1);
});

/** The scripted agent of the playground, and its project. */
async function playground() {
  const contents = 'export { script } from "./script.ts"; export { project } from "./project.ts";';
  const stdin = { contents, resolveDir: at("www/src/agent") };
  const { outputFiles } = await build({ stdin, bundle: true, format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** Runs the calls of a script; the number of questions, all answered with yes. */
async function questionsOf(steps, files, untrusted, guarded = to) {
  let asked = 0;
  const inner = new StateBackend({ scope: "instance", files });
  const wrapped = withProvenance(inner, {
    labels: [{ paths: untrusted, as: "untrusted" }],
    flows: [{ from: "untrusted", to: guarded, then: "ask" }],
    onAsk: () => {
      asked += 1;
      return true;
    },
  });
  const tools = createFileTools(withBash(wrapped));
  for (const { tool, name, input } of steps) {
    await tools.call(tool ?? name, typeof input === "function" ? input([]) : input);
  }
  return asked;
}

const WEB = ["/web/**", "/inbox/**"];

test("needless questions of the playground's agent: none, or one if its project is untrusted", async () => {
  const { script, project } = await playground();
  const files = Object.fromEntries(
    Object.entries(project).map(([path, text]) => [`/work${path}`, text]),
  );
  assert.equal(script.length, 13);
  assert.equal(await questionsOf(script, files, WEB), 0);
  assert.equal(await questionsOf(script, files, ["/work/data/**"]), 1);
  assert.equal(await questionsOf(script, files, ["/work/**"]), 1);
});

test("needless questions of the task of the tools: none, or two of one redirect", async () => {
  const files = { "/pictures/dot.png": new Uint8Array([1]) };
  const count = SHELL_TASK.length;
  assert.equal(count, 20);
  assert.equal(await questionsOf(SHELL_TASK, files, WEB), 0);
  // The picture is read after the notes are written. A command then redirects into one: it makes an
  // empty file, and fills it.
  assert.equal(await questionsOf(SHELL_TASK, files, ["/pictures/**"], ["/notes/**"]), 2);
});
