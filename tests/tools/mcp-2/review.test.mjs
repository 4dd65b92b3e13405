// A review as a question of 2026-07-28: it ends the call, and counts when the call is made again with the answer.
// Whatever comes back instead of that answer is refused, and nothing is committed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { begin, StateBackend } from "kitbag";
import { changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";
import { opened, WAYS } from "./ways.mjs";

const FORMS = { capabilities: { elicitation: { form: {} } } };
const ACCEPT = { action: "accept", content: { decision: "accept" } };
const memory = () =>
  new StateBackend({
    scope: "instance",
    files: { "/plan.md": "one\ntwo\n", "/b.bin": new Uint8Array([0, 255, 0]) },
  });

/** A turn with changes, and servers that ask before they commit them. */
async function edited() {
  const backend = memory();
  const turn = begin(backend);
  await change(turn);
  const make =
    (options, more = {}) =>
    (server) => {
      const changes = changeTools({ commit: elicitReview(server, options) });
      registerFileTools(server, turn, { changes, ...more });
    };
  return { backend, turn, make };
}

async function change(turn) {
  await turn.edit("/plan.md", "two", "2");
  await turn.write("/new.md", "new\n");
}

const stateOf = ({ backend }) => [
  backend.read("/plan.md").content,
  backend.read("/new.md").error === undefined,
];
const BEFORE = ["one\ntwo\n", false];
const AFTER = ["one\n2\n", true];

const ASK = Object.entries(WAYS).filter(
  ([name]) => /^2026/.test(name) || /^(2025, one|2025, the|a server of version 1)/.test(name),
);

for (const [name, way] of ASK) {
  describe(name, () => {
    for (const [what, answer, says, after, left] of [
      ["accept commits", ACCEPT, /^Committed \/new\.md, \/plan\.md\.$/, AFTER, 0],
      [
        "accept without a file commits the others",
        { action: "accept", content: { decision: "accept", leaveOut: ["/new.md"] } },
        /^Committed \/plan\.md\. The user left out \/new\.md\.$/,
        ["one\n2\n", false],
        0,
      ],
      [
        "reject drops all, and says why",
        { action: "accept", content: { decision: "reject", message: "too much" } },
        /rejected, and none was made: too much/,
        BEFORE,
        0,
      ],
      ["decline drops all", { action: "decline" }, /rejected/, BEFORE, 0],
      ["cancel does nothing", { action: "cancel" }, /nobody has decided; nothing was/, BEFORE, 2],
    ]) {
      test(what, async (t) => {
        const files = await edited();
        const { client, call } = await opened(t, way, files.make(), FORMS);
        const asked = [];
        client.setRequestHandler("elicitation/create", ({ params }) => {
          asked.push(params);
          return answer;
        });
        const { content } = await call("commit", {});
        assert.match(content[0].text, says);
        assert.equal(asked.length, 1);
        assert.match(asked[0].message, /Commit these changes\?\n\n[\s\S]*\+2\n/);
        const { enum: names } = asked[0].requestedSchema.properties.leaveOut.items;
        assert.deepEqual(names, ["/new.md", "/plan.md"]);
        assert.deepEqual(stateOf(files), after);
        assert.equal((await files.turn.diff()).changes.length, left);
      });
    }

    for (const [what, capabilities] of [
      ["no questions", {}],
      ["only questions by URL", { elicitation: { url: {} } }],
    ]) {
      test(`a client that takes ${what} gets an error, and nothing is done`, async (t) => {
        const files = await edited();
        const { call } = await opened(t, way, files.make(), { capabilities });
        const { isError, content } = await call("commit", {});
        assert.equal(isError, true);
        assert.match(content[0].text, /does not support form elicitation/);
        assert.deepEqual(stateOf(files), BEFORE);
        assert.equal((await files.turn.diff()).changes.length, 2);
      });
    }
  });
}

test("2025 without sessions: nobody can be asked, and nothing is done", async (t) => {
  const files = await edited();
  const { call } = await opened(t, WAYS["2025, HTTP"], files.make(), FORMS);
  assert.equal((await call("commit", {})).isError, true);
  assert.deepEqual(stateOf(files), BEFORE);
});

const MODERN = Object.entries(WAYS).filter(([, { era }]) => era === 2026);
const KEY = "k".repeat(32);

/** A call by hand: with the answer and the state of another round, or with neither. */
const byHand = ({ client }) => {
  const ask = async (params) =>
    client.request(
      { method: "tools/call", params: { name: "commit", arguments: {}, ...params } },
      { allowInputRequired: true },
    );
  return { ask, answer: (state, more) => ask({ ...replied(ACCEPT, state), ...more }) };
};
const replied = (answer, requestState) => ({ inputResponses: { review: answer }, requestState });

/** Makes one character of a text another. */
const bent = (text, at) => {
  const place = at < 0 ? text.length + at : at;
  return text.slice(0, place) + (text[place] === "0" ? "1" : "0") + text.slice(place + 1);
};
const parts = (state, change) => {
  const all = state.split(".");
  change(all);
  return all.join(".");
};

/** By what is done to a state. Its last part is the signature, and the one before it the time. */
const FORGED = {
  "no state": () => undefined,
  "an empty state": () => "",
  "a state of somebody's": () => "0.9999999999999.00",
  "only dots": () => "...",
  "another first character of the id": (state) => parts(state, (all) => (all[1] = bent(all[1], 0))),
  "a later time": (state) => parts(state, (all) => (all[2] = `${Number(all[2]) + 1}`)),
  "a time without an end": (state) => parts(state, (all) => (all[2] = "Infinity")),
  "the same time in other digits": (state) => parts(state, (all) => (all[2] += ".0")),
  "a signature of which a bit is another": (state) => bent(state, -1),
  "a signature that begins otherwise": (state) => parts(state, (all) => (all[3] = bent(all[3], 0))),
  "half a signature": (state) => state.slice(0, -32),
  "no signature": (state) => parts(state, (all) => (all[3] = "")),
  "a signature in capitals": (state) => parts(state, (all) => (all[3] = `${all[3]}AA`)),
  "a longer state": (state) => `${state}00`,
};

for (const [name, way] of MODERN) {
  describe(`refused, ${name}`, () => {
    const setUp = async (t, options, more) => {
      const files = await edited();
      const { client } = await opened(t, way, files.make(options, more), FORMS);
      const hand = byHand({ client });
      const question = await hand.ask();
      assert.equal(question.resultType, "input_required");
      assert.deepEqual(Object.keys(question.inputRequests), ["review"]);
      const refused = async (answered, state = BEFORE) => {
        const { isError, content } = await answered;
        assert.equal(isError, true, JSON.stringify(content));
        assert.match(content[0].text, /The answer was refused, and nothing was done/);
        assert.deepEqual(stateOf(files), state);
      };
      return { ...files, ...hand, files, refused, state: question.requestState };
    };

    for (const [what, forge] of Object.entries(FORGED)) {
      test(what, async (t) => {
        const { answer, refused, state, files } = await setUp(t);
        await refused(answer(forge(state)));
        // The state itself is still good.
        assert.equal((await answer(state)).isError, false);
        assert.deepEqual(stateOf(files), AFTER);
      });
    }

    for (const [what, state] of [
      ["a number", 5],
      ["an object", {}],
      ["a list", []],
    ]) {
      test(`${what} as the state is an error of the protocol`, async (t) => {
        const { answer, files } = await setUp(t);
        await assert.rejects(answer(state), { code: -32602 });
        assert.deepEqual(stateOf(files), BEFORE);
      });
    }

    test("a state that was used, for the same changes again", async (t) => {
      const { answer, refused, state, backend, turn } = await setUp(t);
      assert.equal((await answer(state)).isError, false);
      backend.edit("/plan.md", "2", "two");
      backend.delete("/new.md");
      await change(turn);
      assert.equal((await turn.diff()).changes.length, 2);
      await refused(answer(state));
    });

    test("a state that comes twice at once: one counts", async (t) => {
      const { answer, state, files } = await setUp(t);
      const answers = await Promise.all([answer(state), answer(state), answer(state)]);
      const said = answers.map(({ content }) => content[0].text);
      assert.equal(said.filter((text) => /^Committed/.test(text)).length, 1, said.join("\n"));
      assert.deepEqual(stateOf(files), AFTER);
    });

    test("other arguments, and other tools", async (t) => {
      const { answer, ask, refused, state, files } = await setUp(t);
      await refused(answer(state, { arguments: { a: 1 } }));
      await refused(answer(state, { arguments: { file_path: "/plan.md" } }));
      for (const [tool, input] of [
        ["diff", {}],
        ["ls", { path: "/" }],
        ["no_such_tool", {}],
      ]) {
        await ask({ name: tool, arguments: input, ...replied(ACCEPT, state) });
        assert.deepEqual(stateOf(files), BEFORE);
      }
    });

    test("changes that are others now", async (t) => {
      const { answer, refused, state, turn } = await setUp(t);
      await turn.write("/unseen.md", "unseen\n");
      await refused(answer(state));
      await turn.discard(["/unseen.md"]);
      await turn.edit("/plan.md", "one", "1");
      await refused(answer(state));
    });

    test("contents that a patch does not show", async (t) => {
      const { answer, ask, refused, turn, backend } = await setUp(t);
      const put = (byte) => turn.uploadFiles([["/b.bin", new Uint8Array([0, 255, byte])]]);
      const content = () => [...backend.downloadFiles(["/b.bin"])[0].content];
      await put(1);
      const { requestState, inputRequests } = await ask();
      await put(2);
      const { inputRequests: again } = await ask();
      assert.deepEqual(inputRequests, again);
      await refused(answer(requestState));
      assert.deepEqual(content(), [0, 255, 0]);
      await put(1);
      assert.equal((await answer(requestState)).isError, false);
      assert.deepEqual(content(), [0, 255, 1]);
    });

    test("a file that the user was not shown, and left out", async (t) => {
      const { ask, state, files } = await setUp(t);
      const content = { decision: "accept", leaveOut: ["/elsewhere.md"] };
      const { isError } = await ask(replied({ action: "accept", content }, state));
      assert.equal(isError, true);
      assert.deepEqual(stateOf(files), BEFORE);
    });

    for (const [what, answered] of Object.entries({
      "no action": {},
      "another action": { action: "yes" },
      "no content": { action: "accept" },
      "no decision": { action: "accept", content: {} },
      "another decision": { action: "accept", content: { decision: "Accept" } },
      "a list as decision": { action: "accept", content: { decision: ["accept"] } },
      "a text of names": { action: "accept", content: { decision: "accept", leaveOut: "/new.md" } },
      "names that are none": { action: "accept", content: { decision: "accept", leaveOut: [1] } },
      "a message that is no text": {
        action: "accept",
        content: { decision: "reject", message: 1 },
      },
    })) {
      test(`an answer with ${what}: nothing is committed or dropped`, async (t) => {
        const { ask, state, files, turn } = await setUp(t);
        const { isError, content } = await ask(replied(answered, state));
        assert.equal(isError, true, content[0].text);
        assert.match(content[0].text, /does not fit the question/);
        assert.deepEqual(stateOf(files), BEFORE);
        assert.equal((await turn.diff()).changes.length, 2);
      });
    }

    test("an answer to no question of ours: the question comes again", async (t) => {
      const { ask, state, files } = await setUp(t);
      for (const params of [
        { inputResponses: { other: ACCEPT }, requestState: state },
        { inputResponses: {}, requestState: state },
        { inputResponses: { review: { method: "x", result: ACCEPT } }, requestState: state },
        { requestState: state },
      ]) {
        assert.equal((await ask(params)).resultType, "input_required");
        assert.deepEqual(stateOf(files), BEFORE);
      }
    });

    test("an answer that comes too late", async (t) => {
      const { answer, refused, state, files } = await setUp(t);
      const now = Date.now();
      t.mock.method(Date, "now", () => now + 600_000);
      await refused(answer(state));
      t.mock.method(Date, "now", () => now + 599_000);
      assert.equal((await answer(state)).isError, false);
      assert.deepEqual(stateOf(files), AFTER);
    });

    test("a state that was signed with another key", async (t) => {
      const { answer, refused, state, files } = await setUp(t, { key: KEY });
      const signedBy = async (options) => {
        const { client } = await opened(t, way, files.make(options), FORMS);
        return (await byHand({ client }).ask()).requestState;
      };
      await refused(answer(await signedBy({ key: "l".repeat(32) })));
      await refused(answer(await signedBy({ key: `${KEY}k` })));
      await refused(answer(await signedBy()));
      const other = await signedBy({ key: new TextEncoder().encode(KEY) });
      assert.notEqual(other, state);
      assert.equal((await answer(other)).isError, false);
      assert.deepEqual(stateOf(files), AFTER);
    });
  });
}

test("another client's answer is refused, where the program checks tokens", async (t) => {
  const files = await edited();
  let clientId = "ann";
  const way = WAYS["2026, HTTP"];
  const authorized = { token: "t", scopes: [], expiresAt: 9_999_999_999 };
  const { client } = await opened(t, way, files.make(), FORMS, (_, handler) => (url, init) => {
    const authInfo = { ...authorized, clientId };
    return handler.fetch(new Request(url, init), { authInfo });
  });
  const { ask, answer } = byHand({ client });
  const { requestState } = await ask();
  clientId = "bob";
  assert.match((await answer(requestState)).content[0].text, /The answer was refused/);
  assert.deepEqual(stateOf(files), BEFORE);
  clientId = "ann";
  assert.equal((await answer(requestState)).isError, false);
  assert.deepEqual(stateOf(files), AFTER);
});

test("a question of another turn is refused for this one", async (t) => {
  const way = WAYS["2026, HTTP"];
  const [one, two] = [await edited(), await edited()];
  await two.turn.write("/more.md", "more\n");
  const hands = [];
  for (const { make } of [one, two]) {
    hands.push(byHand(await opened(t, way, make({ key: KEY }), FORMS)));
  }
  const { requestState } = await hands[0].ask();
  assert.match((await hands[1].answer(requestState)).content[0].text, /The answer was refused/);
  assert.deepEqual(stateOf(two), BEFORE);
});

test("a program that checks states itself can let ours through by how they begin", async (t) => {
  const files = await edited();
  const { McpServer } = await import("@modelcontextprotocol/server");
  const seen = [];
  const verify = (state) => {
    seen.push(state);
    if (!state.startsWith("kitbag.")) throw new Error("not ours");
  };
  class Checking extends McpServer {
    constructor(info) {
      super(info, { requestState: { verify } });
    }
  }
  const { over } = WAYS["2026, one connection"];
  const way = { over: (make, given) => over(make, given, Checking) };
  const { client } = await opened(t, way, files.make(), FORMS);
  const { ask, answer } = byHand({ client });
  const { requestState } = await ask();
  await assert.rejects(answer("another"), { code: -32602 });
  assert.equal((await answer(requestState)).isError, false);
  assert.deepEqual(seen, ["another", requestState]);
  assert.deepEqual(stateOf(files), AFTER);
});

test("a key that is too short, or none, is refused by name", () => {
  const server = {};
  for (const key of ["", "short", "k".repeat(31), new Uint8Array(31), 5, null, {}, [], "é"]) {
    assert.throws(() => elicitReview(server, { key }), /elicitReview: option "key"/);
  }
  assert.throws(() => elicitReview(server, { keys: KEY }), /no option "keys"/);
  for (const key of [KEY, "é".repeat(16), new Uint8Array(32)]) elicitReview(server, { key });
});
