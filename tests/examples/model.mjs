// A model on loopback that speaks OpenAI's Chat Completions and does what the user's message says:
// each of its lines is a call, `tool {"argument": …}`. Then it repeats what the last tool answered.

import { createServer } from "node:http";

/** Between two words of a streamed answer, in milliseconds. */
const PAUSE = 20;

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
  const message = next(body.messages);
  if (body.stream) await streamed(response, message);
  else {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices: [{ message }] }));
  }
  return true;
}

/** Sends a message as events, its text word by word. */
async function streamed(response, { content, tool_calls }) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, finish_reason = null) =>
    response.write(
      `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  send({ role: "assistant" });
  for (const word of (content ?? "").match(/\S*\s*/g)) {
    if (word === "") continue;
    send({ content: word });
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  if (tool_calls) send({ tool_calls: tool_calls.map((call, index) => ({ index, ...call })) });
  send({}, tool_calls ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
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
