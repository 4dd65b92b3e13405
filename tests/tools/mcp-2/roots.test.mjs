// Roots in the protocol of 2026-07-28: a call ends with the question for them, and the client makes it again with
// the answer. Each call asks, as nobody tells when they have changed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { begin, StateBackend } from "kitbag";
import { changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";
import { opened, WAYS } from "./ways.mjs";

const roots = (given) => (given.startsWith("file:///tree/") ? given.slice(12) : undefined);
// Of one time, as a listing has the newest first.
const TIME = "2026-11-01T00:00:00.000Z";
const file = (content) => ({ content, created_at: TIME, modified_at: TIME });
const FILES = {
  ...{ "/a.txt": file("top"), "/one/a.txt": file("one") },
  ...{ "/two/b.txt": file("two"), "/two/c.txt": file("see") },
};
const filled = () => new StateBackend({ scope: "instance", files: FILES });
const uri = (path) => `kitbag://${path}`;
const ROOTS = { capabilities: { roots: {} } };

/** A client with roots, which `tell` changes; `asked` counts how often it was asked. */
async function rooted(t, way, names, { capabilities, set = () => ({}), backend = filled() } = {}) {
  const given = { capabilities: { roots: {}, ...capabilities } };
  const made = await opened(
    t,
    way,
    (server) => void registerFileTools(server, backend, { roots, ...set(server) }),
    given,
  );
  const state = { asked: 0, names };
  made.client.setRequestHandler("roots/list", () => {
    state.asked += 1;
    return { roots: state.names.map((name) => ({ uri: name })) };
  });
  const text = async (name, input) => {
    const { content, isError } = await made.call(name, input);
    return isError ? `failed: ${content[0].text}` : content[0].text;
  };
  return { ...made, backend, state, text };
}

const MODERN = Object.entries(WAYS).filter(([, { era }]) => era === 2026);

for (const [name, way] of MODERN) {
  describe(name, () => {
    test("tools see what is in the roots, and ask for them each time", async (t) => {
      const { state, text, backend } = await rooted(t, way, ["file:///tree/two"]);
      assert.equal(await text("glob", { pattern: "**" }), "/two/b.txt\n/two/c.txt");
      assert.match(await text("read_file", { file_path: "/two/b.txt" }), /two/);
      assert.match(await text("read_file", { file_path: "/one/a.txt" }), /^failed/);
      assert.match(await text("write_file", { file_path: "/n.txt", content: "x" }), /^failed/);
      assert.match(await text("write_file", { file_path: "/two/n.txt", content: "x" }), /^Wrote/);
      assert.equal(state.asked, 5);
      assert.deepEqual(backend.read("/n.txt").code, "not_found");
    });

    test("other roots count from the next call on, and come back", async (t) => {
      const { state, text } = await rooted(t, way, ["file:///tree/one"]);
      const all = () => text("glob", { pattern: "**" });
      assert.equal(await all(), "/one/a.txt");
      state.names = ["file:///tree/two/"];
      assert.equal(await all(), "/two/b.txt\n/two/c.txt");
      state.names = ["file:///tree/one", "file:///tree/two"];
      assert.equal(await all(), "/one/a.txt\n/two/b.txt\n/two/c.txt");
      state.names = ["file:///tree/"];
      assert.equal((await all()).split("\n").length, 4);
      state.names = ["file:///tree/one"];
      assert.equal(await all(), "/one/a.txt");
    });

    test("calls at once keep their own roots", async (t) => {
      const { client, call } = await rooted(t, way, []);
      let turn = 0;
      client.setRequestHandler("roots/list", async () => {
        turn += 1;
        const name = turn % 2 ? "one" : "two";
        await new Promise((resolve) => setImmediate(resolve));
        return { roots: [{ uri: `file:///tree/${name}` }] };
      });
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => call("glob", { pattern: "**" })),
      );
      const texts = answers.map(({ content }) => content[0].text).sort();
      const [one, two] = ["/one/a.txt", "/two/b.txt\n/two/c.txt"];
      assert.deepEqual(texts, [one, one, one, one, two, two, two, two]);
    });

    for (const [what, names, says] of [
      ["no roots", [], /names none.*nothing is offered/],
      ["roots elsewhere", ["file:///home/ann"], /are not in this tree/],
      ["the root of all, which is not here", ["file:///"], /are not in this tree/],
    ]) {
      test(`${what}: nothing is offered`, async (t) => {
        const { text, backend } = await rooted(t, way, names);
        const calls = { ls: { path: "/" }, read_file: { file_path: "/a.txt" } };
        for (const [tool, input] of Object.entries(calls)) {
          assert.match(await text(tool, input), says);
        }
        assert.match(await text("write_file", { file_path: "/n.txt", content: "x" }), says);
        assert.equal(backend.read("/n.txt").code, "not_found");
      });
    }

    test("a resource asks for them too; a list cannot, and is empty", async (t) => {
      const { client, state } = await rooted(t, way, ["file:///tree/two"]);
      const { contents } = await client.readResource({ uri: uri("/two/b.txt") });
      assert.equal(contents[0].text, "two");
      await assert.rejects(client.readResource({ uri: uri("/one/a.txt") }));
      assert.equal(state.asked, 2);
      assert.deepEqual((await client.listResources()).resources, []);
    });

    test("a client that does not answer gets nothing", async (t) => {
      const { client, call, backend } = await rooted(t, way, []);
      client.setRequestHandler("roots/list", () => {
        throw new Error("not today");
      });
      await assert.rejects(call("write_file", { file_path: "/n.txt", content: "x" }));
      assert.equal(backend.read("/n.txt").code, "not_found");
    });

    test("an answer that is none gives nothing", async (t) => {
      const { client, backend } = await rooted(t, way, []);
      const params = {
        name: "write_file",
        arguments: { file_path: "/n.txt", content: "x" },
      };
      for (const answer of [{}, { roots: null }, { roots: "file:///tree" }, { roots: [null, 5] }]) {
        const more = { inputResponses: { roots: answer } };
        const request = { method: "tools/call", params: { ...params, ...more } };
        const said = await client
          .request(request, { allowInputRequired: true })
          .catch((error) => ({ isError: true, error }));
        assert.ok(said.isError || said.resultType === "input_required", JSON.stringify(said));
        assert.equal(backend.read("/n.txt").code, "not_found");
      }
    });

    test("a client without roots sees all", async (t) => {
      const make = (server) => void registerFileTools(server, filled(), { roots });
      const { call, client } = await opened(t, way, make);
      assert.match((await call("read_file", { file_path: "/a.txt" })).content[0].text, /top/);
      assert.equal((await client.listResources()).resources.length, 4);
    });

    test("a review in the roots: both are asked for in one call", async (t) => {
      const base = filled();
      const turn = begin(base);
      await turn.edit("/two/b.txt", "two", "2");
      const set = (server) => ({ changes: changeTools({ commit: elicitReview(server) }) });
      const capabilities = { elicitation: { form: {} } };
      const backend = turn;
      const { client, text, state } = await rooted(t, way, ["file:///tree/two"], {
        ...{ capabilities, set, backend },
      });
      const messages = [];
      client.setRequestHandler("elicitation/create", ({ params }) => {
        messages.push(params.message);
        return { action: "accept", content: { decision: "accept" } };
      });
      assert.match(await text("commit", {}), /^Committed \/two\/b\.txt\.$/);
      assert.equal(base.read("/two/b.txt").content, "2");
      assert.equal(messages.length, 1);
      assert.equal(state.asked, 2);
    });
  });
}

test("before 2026 a client without roots sees all in a session, and nothing without", async (t) => {
  for (const [name, way] of Object.entries(WAYS)) {
    const make = (server) => void registerFileTools(server, filled(), { roots });
    const { call } = await opened(t, way, make);
    const { isError } = await call("read_file", { file_path: "/a.txt" });
    assert.equal(isError, !(way.session || way.era === 2026), name);
  }
});

test("a client of 2026 is asked by the question of the protocol, which has no state", async (t) => {
  const make = (server) => void registerFileTools(server, filled(), { roots });
  const { client } = await opened(t, WAYS["2026, HTTP"], make, ROOTS);
  const params = { name: "ls", arguments: { path: "/" } };
  const asked = await client.request(
    { method: "tools/call", params },
    { allowInputRequired: true },
  );
  assert.equal(asked.resultType, "input_required");
  assert.deepEqual(asked.inputRequests, { roots: { method: "roots/list" } });
  assert.equal(asked.requestState, undefined);
});
