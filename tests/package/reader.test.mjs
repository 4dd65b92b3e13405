// The pages that the package has for coding agents, followed word for word by a reader without ideas of
// its own: in an empty project it runs each command, writes each file, and compares what is printed.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { must, run } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { pack } from "../lib/pack.mjs";
import { startRegistry } from "../lib/registry.mjs";

/** What the reader is asked to have: models, whose answers are given. */
const MODELS = {
  "model.mjs": `import { MockLanguageModelV3 } from "ai/test";
const usage = { inputTokens: {}, outputTokens: {} };
const input = JSON.stringify({ file_path: "/plan.md", content: "# Plan\\n" });
const call = { type: "tool-call", toolCallId: "1", toolName: "write_file", input };
const answers = [
  { content: [call], finishReason: { unified: "tool-calls", raw: "" } },
  { content: [{ type: "text", text: "planned" }], finishReason: { unified: "stop", raw: "" } },
];
let next = 0;
export const model = new MockLanguageModelV3({
  doGenerate: async () => ({ ...answers[next++], usage, warnings: [] }),
});
`,
  "chat-model.mjs": `import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
const args = { file_path: "/plan.md", content: "# Plan" };
export const model = fakeModel()
  .respondWithTools([{ name: "write_file", args, id: "1" }])
  .respond(new AIMessage("done"));
`,
};

/** The steps of a page, in its order: `{ kind: "run" | "write" | "prints", … }`. */
export function stepsOf(page) {
  const steps = [];
  const fences = page.matchAll(/([^\n]*)\n+```(\w+)\n([\s\S]*?)\n```/g);
  for (const [, before, language, body] of fences) {
    const [, file] = /Write `([\w./-]+)`:$/.exec(before) ?? [];
    if (language === "sh") steps.push(...body.split("\n").map((line) => ({ kind: "run", line })));
    else if (file) steps.push({ kind: "write", file, body: `${body}\n` });
    else if (before === "It prints:") steps.push({ kind: "prints", text: body });
    else throw new Error(`nobody says what to do with the block after "${before}"`);
  }
  return steps;
}

let folder;
let home;
let registry;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "kitbag-reader-"));
  const { filename } = await pack(folder);
  const file = join(folder, filename);
  home = join(folder, "unpacked/package");
  mkdirSync(dirname(home));
  await must("tar", ["-xzf", file, "-C", dirname(home)]);
  const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  registry = await startRegistry({ tarballs: [{ manifest, file }], set: "agents", folder });
});
after(async () => {
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const page = (name) => readFileSync(join(home, name), "utf8");
const links = (text) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);

test("the reader takes every block, and refuses one that nobody explains", () => {
  const steps = stepsOf(
    "Write `a.mjs`:\n\n```js\n1\n```\n\n```sh\na\nb\n```\n\nIt prints:\n\n```text\n1\n```\n",
  );
  deepEqual(
    steps.map(({ kind }) => kind),
    ["write", "run", "run", "prints"],
  );
  let refused;
  try {
    stepsOf("So:\n\n```js\n1\n```\n");
  } catch (error) {
    refused = error.message;
  }
  match(refused, /after "So:"/);
});

describe("llms.txt", () => {
  test("begins with the name and one summary, and lists links with descriptions", () => {
    const text = page("llms.txt");
    match(text, /^# kitbag\n\n> \S/);
    const items = text.match(/^- \[.*$/gm);
    for (const item of items) match(item, /^- \[[^\]]+\]\([^)]+\): \S/);
    ok(items.length > 10);
  });

  test("leads to files of the package and pages of the documentation, and to the skill", () => {
    const targets = links(page("llms.txt"));
    for (const target of targets) {
      ok(existsSync(target.startsWith("docs/") ? at(target) : join(home, target)), target);
    }
    ok(targets.includes("skills/kitbag/SKILL.md"));
  });
});

describe("the skill", () => {
  test("has a head that an agent can choose it by", () => {
    const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(page("skills/kitbag/SKILL.md"));
    const fields = Object.fromEntries(head.split("\n").map((line) => line.split(/: (.*)/s)));
    equal(fields.name, "kitbag");
    ok(fields.description.length > 100 && fields.description.length <= 1024);
    match(fields.description, /Use it when/);
  });

  test("names every backend that most projects need, as it is made", async () => {
    const text = page("skills/kitbag/SKILL.md");
    const kitbag = await import(join(home, "dist/node.js"));
    const named = [...text.matchAll(/`(\w+Backend)`/g)].map(([, name]) => name);
    ok(new Set(named).size >= 10);
    for (const name of named) equal(typeof kitbag[name], "function", name);
    const binding = {
      get() {},
      put() {},
      list() {},
      delete() {},
      head() {},
      prepare() {},
      batch() {},
      search() {},
    };
    const given = {
      ...{ bucket: "b", region: "r", client: { query() {} }, query() {}, store: binding },
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      env: { FILES: binding, DB: binding },
      ...{ first: new kitbag.StateBackend(), second: new kitbag.StateBackend() },
      ...kitbag,
    };
    const calls = [...text.matchAll(/^\| .* \| (`new .*`) \|$/gm)].flatMap(([, cell]) =>
      cell.match(/`[^`]+`/g).map((code) => code.slice(1, -1)),
    );
    ok(calls.length >= 10);
    for (const code of calls) {
      const names = Object.keys(given).filter((name) => name !== "default");
      const made = new Function(...names, `return ${code};`);
      // Storages of pages are looked for when they are used, or refused for their lack alone.
      try {
        made(...names.map((name) => given[name]));
      } catch (error) {
        match(`${error}`, /IndexedDB|OPFS|indexedDB|navigator/i, code);
      }
    }
  });

  test("followed in an empty project, works to its end and prints what it says", async () => {
    const project = join(folder, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "name": "empty", "private": true }\n');
    for (const [name, text] of Object.entries(MODELS)) writeFileSync(join(project, name), text);
    const env = {
      // `npm test` hands its own settings on to what it starts.
      npm_config_legacy_peer_deps: "false",
      ...{ npm_config_registry: registry.origin, npm_config_cache: join(folder, "npm") },
      ...{
        npm_config_audit: "false",
        npm_config_fund: "false",
        npm_config_update_notifier: "false",
      },
    };
    let printed = "";
    let prints = 0;
    for (const { kind, line, file, body, text } of stepsOf(page("skills/kitbag/SKILL.md"))) {
      if (kind === "write") writeFileSync(join(project, file), body);
      else if (kind === "prints") {
        equal(printed, text);
        prints += 1;
      } else {
        match(line, /^(npm install|npx kitbag|node|mkdir) [\w@/. -]+$/);
        const { code, output } = await run("sh", ["-c", line], { cwd: project, env });
        equal(code, 0, `${line}:\n${output}`);
        printed = output.trim();
        if (line === "node agent.mjs") equal(printed, "planned");
        if (line === "node deep.mjs") equal(printed, "[ '/plan.md' ]");
        if (/plan\.md$/.test(line)) equal(printed, "# Plan");
      }
    }
    equal(prints, 3);
    ok(existsSync(join(project, "workspace/notes/todo.md")));
    ok(registry.asked.has("kitbag"));
    const head = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    match(head.dependencies.kitbag, /^\^\d/);
  });
});
