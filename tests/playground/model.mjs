// Doubles of two providers on loopback, which stream a tool call and then a sentence; and the page
// that talks to them.

import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import { archive, view } from "./steps.mjs";

const HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*",
  "content-type": "text/event-stream",
};

const file = (name) => ({ file_path: `/memories/${name}.md`, content: `by ${name}\n` });

/** The arguments arrive in two pieces, as they do in truth. */
const halves = (value) => {
  const json = JSON.stringify(value);
  return [json.slice(0, 9), json.slice(9)];
};

const SCRIPTS = {
  "/v1/messages": (body) => {
    const [first, second] = halves(file("anthropic"));
    const answered = JSON.stringify(body.messages).includes("tool_result");
    if (answered) {
      return [
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "All " } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "done." } },
      ];
    }
    const use = { type: "tool_use", id: "use_1", name: "write_file" };
    const part = (json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: json },
    });
    return [
      { type: "content_block_start", index: 0, content_block: use },
      part(first),
      part(second),
    ];
  },
  "/v1/chat/completions": (body) => {
    const [first, second] = halves(file("openai"));
    const choice = (delta) => ({ choices: [{ delta }] });
    if (body.messages.at(-1).role === "tool") {
      return [choice({ content: "All " }), choice({ content: "done." })];
    }
    const call = { index: 0, id: "call_1", function: { name: "write_file", arguments: first } };
    return [
      choice({ tool_calls: [call] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: second } }] }),
    ];
  },
};

async function double() {
  const asked = [];
  const server = createServer((request, response) => {
    if (request.method === "OPTIONS") return void response.writeHead(204, HEADERS).end();
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      asked.push({ path: request.url, headers: request.headers, body });
      response.writeHead(200, HEADERS);
      for (const event of SCRIPTS[request.url](body)) {
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    address: `http://localhost:${server.address().port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

export async function modelWorks(tab, trouble) {
  const server = await double();
  try {
    for (const provider of ["anthropic", "openai"]) {
      await view(tab, "#/model");
      await tab.page.selectOption(".settings select", provider);
      await tab.page.fill("input[name=key]", "secret-key");
      await tab.page.fill("input[name=base]", server.address);
      await tab.page.fill(".ask textarea", "Write a note.");
      await tab.click(".ask button[type=submit]");
      await tab.until(
        (count) => document.querySelectorAll(".said.model").length === count,
        provider === "anthropic" ? 1 : 2,
      );
      await tab.until(() => document.querySelector(".ask button[type=submit]"));
      assert.equal(await tab.page.locator(".said.model").last().innerText(), "All done.");
      const files = await archive(tab);
      assert.equal(files[`/memories/${provider}.md`], `by ${provider}\n`);
    }
    const [first] = server.asked;
    assert.equal(first.headers["x-api-key"], "secret-key");
    assert.ok(first.body.tools.some(({ name }) => name === "edit_file"));
    assert.equal(server.asked.length, 4);
    // The providers are the only other hosts, because their address was typed in.
    const elsewhere = trouble.filter((line) => line.startsWith(`asked for ${server.address}`));
    for (const line of elsewhere) trouble.splice(trouble.indexOf(line), 1);
    const kept = await tab.eval(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    assert.ok(!kept.includes("secret-key"));
  } finally {
    await server.close();
  }
}
