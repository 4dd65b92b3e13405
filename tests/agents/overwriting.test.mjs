// `write_file` of deepagents' own tools over a file that exists. Since 1.13 the text of the tool tells
// the model that it replaces the file; kitbag does that with `writeMode: "overwrite"`, and the refusal
// of its default names this option.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as latest from "../deps/latest/deepagents.mjs";
import * as older from "../deps/older/deepagents.mjs";
import { CompositeBackend, StateBackend, StoreBackend, withPolicy } from "../lib/kitbag.mjs";
import { answersOf, scriptedModels } from "../lib/model.mjs";

const { InMemoryStore } = await import(
  "../deps/latest/node_modules/@langchain/langgraph/dist/index.js"
);

const write = (content, file_path) => ["write_file", { file_path, content }];

/** An agent writes a file twice and reads it. */
async function writtenTwice(deepagents, backend, path = "/notes/plan.md") {
  const described = {};
  const Scripted = scriptedModels(deepagents);
  class Model extends Scripted {
    bindTools(tools) {
      for (const { name, description } of tools) described[name] = description;
      return this;
    }
  }
  const calls = [
    [write("first\n", path)],
    [write("second\n", path)],
    [["read_file", { file_path: path }]],
  ];
  const agent = deepagents.createDeepAgent({ model: new Model(() => calls), backend });
  const state = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const [first, second, page] = answersOf(state);
  return { first, second, page, description: described.write_file };
}

const MADE = {
  StateBackend: (options) => [new StateBackend(options)],
  StoreBackend: (options) => [
    new StoreBackend({ store: new InMemoryStore(), namespace: ["ann"], ...options }),
  ],
  "a route of a CompositeBackend": (options) => [
    new CompositeBackend(new StateBackend(), {
      "/m/": new StateBackend({ files: {}, ...options }),
    }),
    "/m/plan.md",
  ],
  "a backend with a policy": (options) => [withPolicy(new StateBackend(options), { quota: {} })],
};

for (const [version, deepagents] of [
  ["1.14.1", latest],
  ["1.10.7", older],
]) {
  describe(`write_file of deepagents ${version}`, () => {
    for (const [name, made] of Object.entries(MADE)) {
      test(`${name}: refuses by default, and names the option`, async () => {
        for (const options of [{}, { writeMode: "create" }]) {
          const { first, second, page } = await writtenTwice(deepagents, ...made(options));
          assert.doesNotMatch(first, /[Ee]rror|exists/);
          assert.match(second, /because it already exists\. Read and then make an edit/);
          assert.match(second, /option writeMode: "overwrite" replaces it/);
          assert.match(page, /first/);
        }
      });

      test(`${name}: replaces with writeMode "overwrite"`, async () => {
        const { first, second, page } = await writtenTwice(
          deepagents,
          ...made({ writeMode: "overwrite" }),
        );
        for (const answer of [first, second]) assert.doesNotMatch(answer, /[Ee]rror|exists/);
        assert.match(page, /second/);
        assert.doesNotMatch(page, /first/);
      });
    }
  });
}

test("the text of the tool says what each version expects of write", async () => {
  const now = await writtenTwice(latest, new StateBackend());
  assert.match(now.description, /replace the whole file/);
  const before = await writtenTwice(older, new StateBackend());
  assert.match(before.description, /new file/);
  assert.doesNotMatch(before.description, /replace the whole file/);
});
