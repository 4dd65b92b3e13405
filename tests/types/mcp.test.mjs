// The servers of both versions of the MCP SDK, from the oldest to the newest, where `kitbag/mcp` takes one.

import { deepEqual, match } from "node:assert/strict";
import { after, before, test } from "node:test";
import { packedProject } from "../lib/packed.mjs";
import { complaintsOf } from "../lib/tsc.mjs";

const SERVERS = {
  "sdk 1.32.2": "@modelcontextprotocol/sdk/server/mcp.js",
  "sdk 1.20.0": "mcp-sdk-1-20/server/mcp.js",
  "server 2.4.0": "@modelcontextprotocol/server",
  "server 2.0.0": "mcp-server-2-0",
};

const program = (name) => `import { McpServer } from "${name}";
import { begin, StateBackend } from "kitbag";
import { changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";

const server = new McpServer({ name: "files", version: "1" });
const changes = changeTools({ commit: elicitReview(server, { key: new Uint8Array(32) }) });
registerFileTools(server, begin(new StateBackend()), { changes, structured: true });
`;

let project;
before(async () => {
  project = await packedProject({ set: ["mcp"] });
});
after(() => project?.remove());

const complaints = (program) =>
  complaintsOf(program, project.root, { exactOptionalPropertyTypes: true });

for (const [name, module] of Object.entries(SERVERS)) {
  test(`an McpServer of ${name} is taken without a cast`, async () => {
    deepEqual(await complaints(program(module)), []);
  });
}

for (const [what, change] of [
  ["an object that is no server", [/server, begin/, "{ server: {} }, begin"]],
  ["a server's lower half", [/registerFileTools\(server/, "registerFileTools(server.server"]],
  ["a review of what is no server", [/elicitReview\(server/, "elicitReview({}"]],
  ["a key that is a number", [/new Uint8Array\(32\)/, "5"]],
]) {
  test(`${what} is not taken`, async () => {
    const text = program(SERVERS["server 2.4.0"]).replace(...change);
    match((await complaints(text)).join("\n"), /not assignable|missing/);
  });
}
