// kitbag/mcp: a server of the SDK's and its own client, in memory; then the files as resources.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { registerFileTools } from "kitbag/mcp";
import { PICTURE } from "../cases/material.mjs";
import { SHELL_TASK } from "../cases/task.mjs";

export const steps = SHELL_TASK;

export async function play(backend, script) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, backend);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  try {
    await converse(client, script);
    script.faults.push(...(await resources(client)));
    return "done";
  } finally {
    await client.close();
    await server.close();
  }
}

/** Lets the script call the tools of a server until it is done. */
export async function converse(client, script) {
  const { tools } = await client.listTools();
  script.offered(tools.map((tool) => tool.name));
  const results = [];
  for (;;) {
    const call = script.next(results);
    if (!call) return;
    const answer = await client.callTool({ name: call.name, arguments: call.input });
    results.push(shown(call.id, answer));
  }
}

const shown = (id, { content, isError }) => ({
  id,
  text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
  media: content
    .filter((block) => block.type === "image")
    .map(({ mimeType, data }) => ({ mimeType, data })),
  isError,
});

/** What is wrong with the files as resources: listed but for what may not be read, and readable. */
async function resources(client) {
  const { resources: listed } = await client.listResources();
  const names = listed.map((one) => one.name).sort();
  const faults = [];
  for (const name of ["/notes/b.md", "/pictures/dot.png"])
    if (!names.includes(name)) faults.push(`${name} is no resource`);
  if (names.includes("/secret/key.txt")) faults.push("/secret/key.txt is a resource");
  const read = async (name) => {
    const { uri } = listed.find((one) => one.name === name);
    return (await client.readResource({ uri })).contents[0];
  };
  const note = await read("/notes/b.md");
  if (note.text !== "x = 1\ny = 2\nx = 3\n") faults.push(`resource: ${JSON.stringify(note)}`);
  const picture = await read("/pictures/dot.png");
  if (picture.blob !== PICTURE) faults.push(`resource: ${JSON.stringify(picture)}`);
  const secret = client.readResource({ uri: "kitbag:///secret/key.txt" });
  await secret.then(
    () => faults.push("a resource that may not be read was read"),
    () => {},
  );
  return faults;
}
