// Names with characters that mean something in a pattern. What looks for one path as a pattern, a shell, the
// roots of an MCP client, a review that leaves a file out, finds this path and no other.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { begin, StateBackend } from "kitbag";
import { reviewOf, settleReview } from "kitbag/history";
import { bashExecute } from "kitbag/just-bash";
import { elicitReview, registerFileTools } from "kitbag/mcp";

/** A name, and another one that it would match as a pattern, if there is one. */
const NAMES = {
  "@(a|b)": "a",
  "?(a)": "a",
  "(a|b)": "b",
  "+(a)": "a",
  "*(a|b)": "a",
  "!(a)": "b",
  "!a": "a",
  "{a,b}": "a",
  "[ab]": "a",
  "[!a]": "b",
  "[": "a",
  "{": "a",
  "a*": "ab",
  "?": "a",
  "**": "a",
  "a(1)|b,c": "a1",
  "[[:alpha:]]": "a",
  "^a+$": "a",
};

const text = "text\n";
const memory = (files) => new StateBackend({ scope: "instance", files });
const quoted = (path) => `'${path.replaceAll("'", "'\\''")}'`;

for (const [name, other] of Object.entries(NAMES)) {
  test(`${name}: a shell finds, moves and removes this file alone`, async () => {
    const files = memory({ [`/d/${name}`]: text, [`/d/${other}`]: "other\n" });
    const run = bashExecute(files);
    const at = quoted(`/d/${name}`);
    const done = await run(`cat ${at} && test -f ${at} && mv ${at} /d/moved && cat /d/moved`);
    assert.deepEqual([done.output, done.exitCode], [text + text, 0]);
    const back = await run(
      `cp /d/moved ${at} && rm ${at}; test -e ${at}; echo $?; cat /d/${other}`,
    );
    assert.equal(back.output, "1\nother\n");
    const below = await run(`mkdir ${at}; echo in > ${at}/f; cat ${at}/f; cd ${at} && ls`);
    assert.equal(below.output, "in\nf\n");
  });

  test(`${name}: as a root of an MCP client, this directory alone is served`, async () => {
    const backend = memory({ [`/${name}/in.md`]: text, [`/${other}/out.md`]: text });
    const server = new McpServer({ name: "kitbag", version: "1" });
    registerFileTools(server, backend, { roots: (uri) => decodeURIComponent(uri.slice(12)) });
    const client = new Client({ name: "t", version: "1" }, { capabilities: { roots: {} } });
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: `file:///tree/${encodeURIComponent(name)}` }],
    }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    const read = async (file_path) => {
      const answer = await client.callTool({ name: "read_file", arguments: { file_path } });
      return answer.isError === true ? "refused" : "read";
    };
    const answers = [await read(`/${name}/in.md`), await read(`/${other}/out.md`)];
    await client.close();
    assert.deepEqual(answers, ["read", "refused"]);
  });

  test(`${name}: a review leaves out the changes of this file alone`, async () => {
    const before = { [`/${name}`]: text, [`/${other}`]: text };
    const files = memory(before);
    const turn = begin(files);
    for (const path of Object.keys(before)) await turn.edit(path, "text", "new");
    const review = await reviewOf(turn);
    const [hunk] = review.files.find(({ path }) => path === `/${other}`).hunks;
    const settled = await settleReview(turn, { type: "edit", hunks: [hunk.id] });
    assert.equal(settled.error, undefined);
    assert.deepEqual(
      [files.read(`/${name}`).content, files.read(`/${other}`).content],
      [text, "new\n"],
    );
  });

  test(`${name}: a person who leaves this file out of a commit leaves out no other`, async () => {
    const before = { [`/${name}`]: text, [`/${other}`]: text };
    const files = memory(before);
    const turn = begin(files);
    for (const path of Object.keys(before)) await turn.edit(path, "text", "new");
    const server = new McpServer({ name: "kitbag", version: "1" });
    const client = new Client({ name: "t", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: "accept",
      content: { decision: "accept", leaveOut: [`/${name}`] },
    }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    const decision = await elicitReview(server)(await reviewOf(turn));
    await client.close();
    assert.equal((await settleReview(turn, decision)).error, undefined);
    assert.deepEqual(
      [files.read(`/${name}`).content, files.read(`/${other}`).content],
      [text, "new\n"],
    );
  });
}
