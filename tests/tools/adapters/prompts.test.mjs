// The texts about the tools: short, guided, or the caller's own. What they cost is printed: tokens
// (4 characters) of all definitions, and of all that a model is sent during the task.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { build } from "esbuild";
import { createFileTools, StateBackend } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { fileTools as anthropicTools } from "kitbag/anthropic";
import { guidedPrompts } from "kitbag/guided";
import { kitbagMiddleware, fileTools as langchainTools } from "kitbag/langchain";
import { registerFileTools } from "kitbag/mcp";
import { fileTools as openaiTools } from "kitbag/openai";
import { TASK } from "../cases/task.mjs";
import * as plain from "../drivers/plain.mjs";
import { run } from "../drivers/run.mjs";
import { SET } from "../set.mjs";

const NAMES = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"];
const shell = () => {
  const files = new StateBackend();
  const methods = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
  const object = { id: "shell", execute: async () => ({ output: "", exitCode: 0 }) };
  for (const name of methods) object[name] = (...args) => files[name](...args);
  return object;
};
const definitions = ({ tools, systemPrompt }) =>
  [systemPrompt, ...tools.map(({ execute: _, ...tool }) => JSON.stringify(tool))].join("\n");
const tokens = (text) => Math.ceil(text.length / 4);

test("short is the default", () => {
  const [given, short] = [undefined, { prompts: "short" }].map((options) =>
    definitions(createFileTools(shell(), options)),
  );
  assert.equal(given, short);
  assert.notEqual(given, definitions(createFileTools(shell(), { prompts: "guided" })));
});

test("guided by name and as an object are the same, in 3,000 tokens at most", () => {
  const byName = createFileTools(shell(), { prompts: "guided" });
  assert.equal(
    definitions(byName),
    definitions(createFileTools(shell(), { prompts: guidedPrompts })),
  );
  assert.deepEqual(
    byName.tools.map(({ name }) => name),
    NAMES,
  );
  const short = tokens(definitions(createFileTools(shell())));
  const guided = tokens(definitions(byName));
  console.log(`# definitions and prompt: short ${short} tokens, guided ${guided}`);
  assert.ok(guided > short && guided <= 3_000, `${guided}`);
});

test("guided has for each tool when to use it, and examples where a call has several forms", () => {
  const text = Object.fromEntries(NAMES.map((name) => [name, guidedPrompts.describe(name, NAMES)]));
  for (const name of ["ls", "read_file", "glob", "grep", "execute"]) {
    assert.ok(text[name].includes(`${name}(`), `an example of ${name}`);
  }
  assert.match(text.read_file, /offset=100, limit=200/);
  assert.match(text.read_file, /in one response/);
  assert.match(text.glob, /\*\*\/\*\.ts/);
  assert.match(text.grep, /output_mode='content'/);
  assert.match(text.execute, /&&/);
  assert.match(text.execute, /timeout=/);
  const system = guidedPrompts.system(NAMES);
  for (const word of [/Conventions/, /in one response/, /\/large_tool_results\//, /exit code/]) {
    assert.match(system, word);
  }
});

test("guided names no tool that is not offered, whatever is left out", () => {
  const sets = [
    ...NAMES.map((name) => [name]),
    ...NAMES.map((out) => NAMES.filter((name) => name !== out)),
    ["ls", "read_file"],
    ["glob", "grep", "read_file"],
  ];
  for (const set of sets) {
    const texts = [["", guidedPrompts.system(set)]];
    for (const name of set) texts.push([name, guidedPrompts.describe(name, set)]);
    for (const [of, text] of texts) {
      assert.doesNotMatch(text, /undefined|false\b|\n\n\n|^\n|\n$/);
      for (const name of NAMES) {
        // `glob` is a parameter of grep, too.
        if (set.includes(name) || (of === "grep" && name === "glob")) continue;
        // "execute", "delete" and "grep" are also words; as tools they stand with a call or a name.
        const word = new RegExp(
          name === "delete" || name === "execute"
            ? `\\b${name}\\(`
            : `(?<!program |not )\\b${name}\\b`,
        );
        assert.doesNotMatch(text, word, `${name} in a text for ${set}`);
      }
    }
  }
  assert.equal(guidedPrompts.system([]), "");
});

test("own texts win, tool by tool, and may replace all", () => {
  const { tools, systemPrompt } = createFileTools(shell(), {
    prompts: "guided",
    systemPrompt: "Be brief.",
    customToolDescriptions: { ls: "Shows a directory." },
  });
  assert.equal(systemPrompt, "Be brief.");
  assert.equal(tools[0].description, "Shows a directory.");
  assert.equal(tools[1].description, guidedPrompts.describe("read_file", NAMES));
  const own = createFileTools(shell(), {
    tools: ["ls", "glob"],
    prompts: { describe: (name, all) => `${name} of ${all}`, system: (all) => `${all}!` },
  });
  assert.deepEqual(
    [own.systemPrompt, ...own.tools.map(({ description }) => description)],
    ["ls,glob!", "ls of ls,glob", "glob of ls,glob"],
  );
});

test("what is no text is refused by name", async (t) => {
  for (const prompts of ["long", 3, {}, { describe() {} }, { describe: "a", system: "b" }]) {
    await t.test(`${typeof prompts} ${Object.keys(prompts)}`, async () => {
      assert.throws(
        () => createFileTools(shell(), { prompts }),
        /option "prompts" must be "short"/,
      );
    });
  }
});

test("every adapter hands the guided texts to its framework", async (t) => {
  const prompts = "guided";
  const wanted = (name) => guidedPrompts.describe(name, NAMES);
  const described = {
    ai: Object.entries(aiTools(shell(), { prompts }).tools),
    anthropic: anthropicTools(shell(), { prompts }).definitions.map((tool) => [tool.name, tool]),
    openaiChat: openaiTools(shell(), { prompts, api: "chat" }).definitions.map(
      ({ function: tool }) => [tool.name, tool],
    ),
    openaiResponses: openaiTools(shell(), { prompts }).definitions.map((one) => [one.name, one]),
    langchain: langchainTools(shell(), { prompts }).tools.map((tool) => [tool.name, tool]),
    middleware: kitbagMiddleware(shell(), { prompts }).tools.map((tool) => [tool.name, tool]),
  };
  const server = new McpServer({ name: "s", version: "1" });
  registerFileTools(server, shell(), { prompts });
  const list = server.server._requestHandlers.get("tools/list");
  const { tools } = await list({ method: "tools/list" }, {});
  described.mcp = tools.map((tool) => [tool.name, tool]);
  for (const [adapter, all] of Object.entries(described)) {
    await t.test(adapter, async () => {
      assert.deepEqual(
        all.map(([name]) => name),
        NAMES,
        adapter,
      );
      for (const [name, { description }] of all) assert.equal(description, wanted(name), adapter);
    });
  }
});

/** The task with these texts: its steps, and the tokens that a model is sent for all of them. */
async function cost(prompts) {
  let [sent, calls] = [0, 0];
  const play = (backend, script) => {
    const said = tokens(definitions(createFileTools(backend, { prompts })));
    const counting = Object.assign(Object.create(script), {
      offered: (...args) => script.offered(...args),
      next(results) {
        const call = script.next(results);
        sent += said + tokens(JSON.stringify(results.map(({ text }) => text)));
        if (call) calls += 1;
        return call;
      },
    });
    return plain.play(backend, counting, { prompts });
  };
  const { faults } = await run({ play, steps: TASK }, new StateBackend({ files: {} }));
  assert.deepEqual(faults, []);
  return { sent, calls };
}

test("the task is done in the same steps under both", async () => {
  const [short, guided] = [await cost("short"), await cost("guided")];
  console.log(
    `# the task: ${short.calls} steps; sent in all: short ${short.sent} tokens, guided ${guided.sent}`,
  );
  assert.equal(short.calls, guided.calls);
  assert.equal(short.calls, TASK.length);
});

/** What `createFileTools` needs of `kitbag/slim`. */
const SLIM = ["kitbag", "common", "files", "layers", "tools"];

for (const form of ["browser", "slim"]) {
  test(`in the form ${form} the name is refused with what to do; the object is taken`, async () => {
    const {
      createFileTools: make,
      StateBackend: Files,
      initSync,
    } = await import(new URL(`dist/${form}.js`, PACKAGE));
    for (const name of form === "slim" ? SLIM : []) {
      const file = new URL(`dist/wasm/${name}.wasm`, PACKAGE);
      if (existsSync(file)) initSync(readFileSync(file));
    }
    const files = new Files();
    assert.throws(
      () => make(files, { prompts: "guided" }),
      /import "kitbag\/guided".*guidedPrompts/,
    );
    const made = make(files, { prompts: guidedPrompts });
    assert.match(made.systemPrompt, /### How to work/);
  });
}

test("in a page the name is known after kitbag/guided", async () => {
  await import(new URL("dist/browser/guided.js", PACKAGE));
  const { createFileTools: make, StateBackend: Files } = await import(
    new URL("dist/browser.js", PACKAGE)
  );
  const made = make(new Files(), { prompts: "guided" });
  assert.match(made.systemPrompt, /### How to work/);
});

test("servers know the name: Bun's form, and those of Workers and the edge contain the texts", async () => {
  const { createFileTools: make, StateBackend: Files } = await import(
    new URL("dist/bun.js", PACKAGE)
  );
  assert.match(make(new Files(), { prompts: "guided" }).systemPrompt, /### How to work/);
  for (const form of ["workerd", "edge"]) {
    assert.ok(await holdsTexts(form, 'import { createFileTools } from "kitbag";'), form);
  }
});

test("a page's bundle has the texts only if it asks for them", async () => {
  const use = 'import { createFileTools } from "kitbag";';
  assert.equal(await holdsTexts("browser", use), false);
  assert.equal(await holdsTexts("browser", `import "kitbag/guided"; ${use}`), true);
  const object = `import { guidedPrompts } from "kitbag/guided"; console.log(guidedPrompts); ${use}`;
  assert.equal(await holdsTexts("browser", object), true);
});

/** Whether the bundle of a program has the texts, in a form of the package. */
async function holdsTexts(form, program) {
  const { outputFiles } = await build({
    stdin: { contents: `${program} console.log(createFileTools);`, resolveDir: HERE },
    bundle: true,
    format: "esm",
    write: false,
    conditions: [form === "edge" ? "edge-light" : form],
    platform: "neutral",
    external: ["*.wasm", "*.wasm?module"],
    nodePaths: [NODE_PATH],
  });
  return outputFiles[0].text.includes("### How to work");
}

test("kitbag itself does not export the texts", async () => {
  assert.equal((await import("kitbag")).guidedPrompts, undefined);
});

const PACKAGE = new URL("../../../pkg/", import.meta.url);
const HERE = fileURLToPath(new URL("./", import.meta.url));
const NODE_PATH = fileURLToPath(new URL(`../../deps/${SET}/node_modules`, import.meta.url));
