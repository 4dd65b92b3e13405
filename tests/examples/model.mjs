// A model on loopback that speaks OpenAI's Chat Completions and does what the user's message says:
// each of its lines is a call, `tool {"argument": …}`. Then it repeats what the last tool answered.

import { createServer } from "node:http";

/** The next message of the model in a conversation. */
function next(messages) {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const since = messages.slice(asked + 1);
  const lines = messages[asked].content.split("\n");
  const line = lines[since.filter(({ role }) => role === "assistant").length];
  if (line === undefined) return { role: "assistant", content: since.at(-1).content };
  const [, name, input] = /^(\w+) (.*)$/.exec(line);
  const call = { id: `call_${messages.length}`, type: "function" };
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ ...call, function: { name, arguments: input } }],
  };
}

/** Answers a request to the API; false if it is none. */
export async function answered(request, response, seen = []) {
  if (request.url !== "/v1/chat/completions") return false;
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  seen.push(body);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ choices: [{ message: next(body.messages) }] }));
  return true;
}

/** The model as a server of its own: `{ url, seen, stop }`. */
export async function startModel() {
  const seen = [];
  const server = createServer(async (request, response) => {
    if (!(await answered(request, response, seen))) response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    seen,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
