// Doubles of two providers on loopback, which stream a tool call and then a sentence, or refuse; and
// the page that talks to them.

import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import { archive, view } from "./steps.mjs";

const HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*, authorization",
  "access-control-expose-headers": "retry-after",
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

/** What the doubles answer to keys that are no good. */
const REFUSALS = {
  "wrong-key": [401, {}, { error: { message: "invalid x-api-key: wrong-key" } }],
  "busy-key": [429, { "retry-after": "7" }, { error: { message: "too many tokens" } }],
  "broken-key": [529, {}, "overloaded"],
};

const keyOf = ({ headers }) =>
  headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");

/** `hold` keeps the last event of each answer back, until it resolves. */
async function double({ hold, headers = HEADERS } = {}) {
  const asked = [];
  const server = createServer((request, response) => {
    if (request.method === "OPTIONS") return void response.writeHead(204, headers).end();
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", async () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      asked.push({ path: request.url, headers: request.headers, body });
      const [status, more, said] = REFUSALS[keyOf(request)] ?? [];
      if (status) {
        response.writeHead(status, { ...headers, ...more });
        return void response.end(typeof said === "string" ? said : JSON.stringify(said));
      }
      response.writeHead(200, headers);
      const events = SCRIPTS[request.url](body).map((one) => `data: ${JSON.stringify(one)}\n\n`);
      response.write(events.slice(0, -1).join(""));
      await hold?.(asked.length);
      response.end(`${events.at(-1)}data: [DONE]\n\n`);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    address: `http://localhost:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(tab, provider, key, address, message = "Write a note.") {
  await view(tab, "#/model");
  await tab.page.selectOption(".settings select", provider);
  await tab.page.fill("input[name=key]", key);
  await tab.page.fill("input[name=base]", address);
  await tab.page.fill(".ask textarea", message);
  await tab.click(".ask button[type=submit]");
}

/** Forgets what the browser reports about the doubles: they were asked on purpose. */
function forget(trouble, address) {
  const own = (line) => line.includes(address) || /status of (401|429|529)|net::ERR/.test(line);
  for (const line of trouble.filter(own)) trouble.splice(trouble.indexOf(line), 1);
}

/** Everything that the page keeps anywhere, and its address, as one text. */
const kept = (tab) =>
  tab.eval(async () => {
    const out = [location.href, { ...localStorage }, { ...sessionStorage }, document.cookie];
    const done = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    for (const { name } of await indexedDB.databases()) {
      const database = await done(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const rows = await done(database.transaction(store).objectStore(store).getAll());
        for (const row of rows) {
          out.push(
            JSON.stringify(row, (_, value) =>
              ArrayBuffer.isView(value) ? new TextDecoder().decode(value) : value,
            ),
          );
        }
      }
      database.close();
    }
    const walk = async (directory) => {
      for await (const [name, handle] of directory.entries()) {
        if (handle.kind === "directory") await walk(handle);
        else out.push(name, await (await handle.getFile()).text());
      }
    };
    await walk(await navigator.storage.getDirectory());
    for (const name of await caches.keys()) {
      for (const { url } of await (await caches.open(name)).keys()) out.push(url);
    }
    return JSON.stringify(out);
  });

/** Both providers: text and calls are shown while they arrive, and the key stays in memory. */
export async function modelWorks(tab, trouble) {
  const said = [];
  const hear = (message) => said.push(message.text());
  tab.page.on("console", hear);
  // What must be seen while the last event of an answer is held back.
  const sights = [
    () => /write_file is being written: 9 characters/.test(document.body.innerText),
    () => [...document.querySelectorAll(".said.model")].at(-1)?.textContent === "All ",
  ];
  const hold = (answer) => tab.until(sights[(answer + 1) % 2]);
  const server = await double({ hold });
  try {
    for (const [at, provider] of ["anthropic", "openai"].entries()) {
      // One address ends as the documentation of many servers has it.
      await send(tab, provider, "secret-key", server.address + (at === 0 ? "" : "/v1"));
      await tab.until(() => document.querySelector(".ask button[type=submit]"));
      assert.equal(await tab.page.locator(".said.model").count(), at + 1);
      assert.equal(await tab.page.locator(".said.model").last().innerText(), "All done.");
      const files = await archive(tab);
      assert.equal(files[`/memories/${provider}.md`], `by ${provider}\n`);
    }
    const [first] = server.asked;
    assert.equal(first.headers["x-api-key"], "secret-key");
    assert.equal(server.asked.at(-1).headers.authorization, "Bearer secret-key");
    assert.ok(first.body.tools.some(({ name }) => name === "edit_file"));
    assert.equal(server.asked.length, 4);
    const paths = new Set(server.asked.map(({ path }) => path));
    assert.deepEqual([...paths], ["/v1/messages", "/v1/chat/completions"]);
    forget(trouble, server.address);
    const all = (await kept(tab)) + said.join("\n") + server.asked.map(({ path }) => path).join();
    assert.ok(all.includes("by openai"), "the files of the page are not among what is searched");
    assert.ok(!all.includes("secret-key"));
    await tab.reload();
    await view(tab, "#/model");
    await tab.until(() => document.querySelector("input[name=key]"));
    assert.equal(await tab.page.inputValue("input[name=key]"), "");
  } finally {
    tab.page.off("console", hear);
    await server.close();
  }
}

/** What goes wrong is said in words, without the key, and the next message works. */
export async function modelFailsInWords(tab, trouble) {
  const server = await double();
  const closed = await double();
  const strict = await double({ headers: { "content-type": "text/event-stream" } });
  await closed.close();
  const fails = async (provider, key, address, words) => {
    await send(tab, provider, key, address);
    await tab.until(() => document.querySelector(".said.error"));
    const text = await tab.page.locator(".said.error").innerText();
    assert.match(text, words);
    assert.ok(!text.includes(key), text);
  };
  try {
    for (const provider of ["anthropic", "openai"]) {
      const to = (key, words) => fails(provider, key, server.address, words);
      await to("wrong-key", /does not accept this key \(401\)\. invalid x-api-key: …$/);
      await to("busy-key", /limits .* \(429\)\. too many tokens/);
      await to("broken-key", /has a problem \(529\)\. overloaded/);
      await fails(
        provider,
        "some-key",
        closed.address,
        /No answer from http.*wrong.*no network.*CORS/,
      );
      await fails(provider, "some-key", strict.address, /No answer from http.*CORS/);
    }
    await send(tab, "anthropic", "some-key", server.address);
    await tab.until(() =>
      [...document.querySelectorAll(".said.model")].some(({ textContent }) =>
        /done/.test(textContent),
      ),
    );
    assert.equal(await tab.page.locator(".said.error").count(), 0);
    const asked = server.asked.length;
    await send(tab, "openai", "", server.address);
    await tab.until(() => document.querySelector(".ask button[type=submit]"));
    assert.equal(server.asked.length, asked + 2);
    assert.equal(server.asked.at(-1).headers.authorization, undefined);
    for (const { address } of [server, closed, strict]) forget(trouble, address);
  } finally {
    await server.close();
    await strict.close();
  }
}
