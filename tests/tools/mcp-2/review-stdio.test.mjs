// Reviews over standard input and output: a server of either version of the SDK in a process of its own, and
// clients of both versions and in both eras.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { at } from "../../../scripts/lib/paths.mjs";
import { plant } from "../../command/lib.mjs";
import { CLIENTS, connected } from "./processes.mjs";

const FORMS = { capabilities: { elicitation: { form: {} } } };
const SERVERS = { "a server of version 1": "1", "a server of version 2": "2" };

async function opened(t, kind, version, given, handlers) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-review-"));
  plant(folder, { "plan.md": "one\ntwo\n" });
  t.after(() => rmSync(folder, { recursive: true }));
  const program = at("tests/tools/mcp-2/review-server.mjs");
  const transport = kind.stdio({
    command: process.execPath,
    args: ["--import", at("tests/tools/packages.mjs"), program, version, folder],
    env: { ...process.env },
  });
  const { call } = await connected(t, kind, transport, given, handlers);
  const text = async (name, input) => (await call(name, input)).content[0].text;
  const edit = async () => {
    await text("read_file", { file_path: "/plan.md" });
    await text("edit_file", { file_path: "/plan.md", old_string: "two", new_string: "2" });
  };
  return { text, edit, plan: () => readFileSync(join(folder, "plan.md"), "utf8") };
}

/** What the user does, what the model is told, and the file after it; what is not decided is asked again. */
const ANSWERS = [
  [{ action: "cancel" }, /nobody has decided/, "one\ntwo\n"],
  [{ action: "decline" }, /rejected/, "one\ntwo\n"],
  [
    { action: "accept", content: { decision: "reject", message: "too much" } },
    /rejected, and none was made: too much/,
    "one\ntwo\n",
  ],
  [
    { action: "accept", content: { decision: "accept", leaveOut: ["/plan.md"] } },
    /left out/,
    "one\ntwo\n",
  ],
  [{ action: "accept", content: { decision: "accept" } }, /^Committed \/plan\.md\.$/, "one\n2\n"],
];

for (const [server, version] of Object.entries(SERVERS)) {
  for (const [name, kind] of Object.entries(CLIENTS)) {
    if (kind.modern && version === "1") continue;
    describe(`${name}, ${server}`, () => {
      test("each answer of the user", async (t) => {
        const asked = [];
        let answer;
        const elicitation = ({ params }) => {
          asked.push(params.message);
          return answer;
        };
        const { text, edit, plan } = await opened(t, kind, version, FORMS, { elicitation });
        for (const [given, says, after] of ANSWERS) {
          answer = given;
          if (asked.length !== 1) await edit();
          assert.match(await text("commit"), says);
          assert.equal(plan(), after, JSON.stringify(given));
          assert.match(asked.at(-1), /-two\n\+2/);
        }
        assert.equal(asked.length, ANSWERS.length);
      });

      test("a client without forms gets an error, and nothing is done", async (t) => {
        const { text, edit, plan } = await opened(t, kind, version, {});
        await edit();
        assert.match(await text("commit"), /elicitation/);
        assert.equal(plan(), "one\ntwo\n");
      });
    });
  }
}
