// createDeepAgent of both versions, driven by a chat model that follows a script: every file tool
// is called once, and what the model is told and what files remain are looked at.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as latest from "../deps/latest/deepagents.mjs";
import * as older from "../deps/older/deepagents.mjs";
import { StateBackend } from "../lib/kitbag.mjs";
import { contents } from "./work.mjs";

/** A chat model that asks for one tool after the other, then says that it is done. */
function scripted({ AIMessage, BaseChatModel }, calls) {
  return new (class extends BaseChatModel {
    step = 0;

    constructor() {
      super({});
    }

    _llmType() {
      return "scripted";
    }

    bindTools() {
      return this;
    }

    async _generate() {
      const call = calls[this.step];
      this.step += 1;
      const message = call
        ? new AIMessage({
            content: "",
            tool_calls: [{ id: `call-${this.step}`, type: "tool_call", ...call }],
          })
        : new AIMessage("done");
      return { generations: [{ text: "", message }] };
    }
  })();
}

const FILE = "/notes/todo.md";

const CALLS = [
  { name: "write_file", args: { file_path: FILE, content: "# Todo\n\n- milk\n- eggs\n" } },
  { name: "write_file", args: { file_path: "/notes/done.txt", content: "nothing yet\n" } },
  { name: "ls", args: { path: "/notes" } },
  { name: "read_file", args: { file_path: FILE } },
  { name: "edit_file", args: { file_path: FILE, old_string: "milk", new_string: "oat milk" } },
  { name: "glob", args: { pattern: "**/*.md", path: "/" } },
  { name: "grep", args: { pattern: "oat", path: "/" } },
  { name: "read_file", args: { file_path: "/missing.txt" } },
];

async function ran(deepagents, backend, calls = CALLS) {
  const agent = deepagents.createDeepAgent({ model: scripted(deepagents, calls), backend });
  const { messages, files } = await agent.invoke(
    { messages: [new deepagents.HumanMessage("go")] },
    { recursionLimit: 100 },
  );
  assert.equal(messages.at(-1).content, "done");
  const text = ({ content }) =>
    typeof content === "string" ? content : content.map((block) => block.text).join("\n");
  const answers = messages.filter((message) => message.getType() === "tool").map(text);
  return { answers, files };
}

for (const [version, deepagents] of [
  ["1.14.1", latest],
  ["1.10.7", older],
]) {
  describe(`an agent of deepagents ${version}`, () => {
    test("uses every file tool and leaves the files it should", async () => {
      const backend = new StateBackend();
      const { answers, files } = await ran(deepagents, backend);
      assert.equal(answers.length, CALLS.length);
      const [written, , listed, read, edited, globbed, found, missing] = answers;
      assert.ok(written.includes(FILE), written);
      assert.ok(listed.includes(FILE) && listed.includes("/notes/done.txt"), listed);
      // 1.10.7 numbers the lines; 1.14.1 heads the page instead.
      assert.match(read, /# Todo\n(\s*2\t)?\n(\s*3\t)?- milk/);
      assert.match(edited, /1 (instance|occurrence)|[Ss]uccess/);
      assert.ok(globbed.includes(FILE) && !globbed.includes("done.txt"), globbed);
      assert.ok(found.includes(FILE), found);
      assert.match(missing, /not found/);

      assert.deepEqual(contents(files), {
        "/notes/done.txt": "nothing yet\n",
        [FILE]: "# Todo\n\n- oat milk\n- eggs\n",
      });
    });

    test("is told of a refusal and goes on", async () => {
      const backend = new StateBackend({ files: { "/a.txt": "x y x" } });
      const edit = (old_string) => ({
        name: "edit_file",
        args: { file_path: "/a.txt", old_string, new_string: "z" },
      });
      const calls = [edit("x"), edit("nowhere"), edit("y")];
      const [ambiguous, none, sound] = (await ran(deepagents, backend, calls)).answers;
      assert.match(ambiguous, /appears 2 times/);
      assert.match(none, /not found/);
      assert.doesNotMatch(sound, /[Ee]rror/);
      assert.equal(backend.read("/a.txt").content, "x z x");
    });

    test("keeps its files in the graph's own state by the older construction", async () => {
      const backends = [];
      const factory = (runtime) => {
        const backend = new StateBackend(runtime);
        backends.push(backend);
        return backend;
      };
      const model = scripted(deepagents, CALLS);
      const agent = deepagents.createDeepAgent({ model, backend: factory });
      const { files } = await agent.invoke(
        { messages: [new deepagents.HumanMessage("go")] },
        { recursionLimit: 100 },
      );
      assert.ok(backends.length > 0);
      assert.deepEqual(Object.keys(files).sort(), ["/notes/done.txt", FILE]);
      assert.match(JSON.stringify(files[FILE].content), /oat milk/);
    });
  });
}
