// What rules ask their host: the same questions, contents and records as in the npm package, and the same
// answers; and hosts that throw, lie and call back.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { errorOf, Protocol, policyOptions, stateOptions } from "./protocol.mjs";

const text = (bytes) => Buffer.from(bytes).toString("utf8");
const both = { read: true, write: true };

/** Which paths are asked for, and what is said; which contents are refused or replaced. */
const ALLOWED = (path) => !path.includes("never");
const verdictOf = (content) => {
  if (content.includes("secret")) return { deny: "it has a secret" };
  if (content.includes("draft")) return { content: content.replaceAll("draft", "final") };
  return undefined;
};

/** The calls of both, in order. */
async function play(files) {
  const answers = [];
  const say = async (call) => {
    const answer = await call;
    answers.push(
      JSON.parse(
        JSON.stringify(answer, (name, value) =>
          /^(modified_at|created_at|metadata|filesUpdate|nextOffset|totalLines|startLine|endLine|mimeType)$/.test(
            name,
          )
            ? undefined
            : value,
        ),
      ),
    );
  };
  await say(files.write("/open.txt", "one\n"));
  await say(files.write("/asked/a.txt", "draft of a\n"));
  await say(files.read("/asked/a.txt"));
  await say(files.write("/asked/never.txt", "x"));
  await say(files.edit("/open.txt", "one", "a secret"));
  await say(files.edit("/open.txt", "one", "a draft"));
  await say(files.append("/open.txt", "more draft\n"));
  await say(files.read("/open.txt"));
  await say(files.move("/open.txt", "/asked/never/b.txt"));
  await say(files.copy("/open.txt", "/asked/c.txt"));
  await say(files.grep("final"));
  await say(files.delete("/asked"));
  await say(files.delete("/none.txt"));
  await say(files.ls("/"));
  return answers;
}

test("questions, contents and records are those of the npm package", async () => {
  const npm = { asked: [], seen: [], told: [] };
  const own = { asked: [], seen: [], told: [] };
  const theirs = withPolicy(new StateBackend(), {
    permissions: [
      { operations: ["read", "write"], paths: ["/asked/**"], mode: "ask", name: "mine" },
    ],
    onAsk: ({ operation, path, preview, rule, called }) => {
      npm.asked.push([operation, path, preview, rule, called]);
      return ALLOWED(path);
    },
    inspect: ({ operation, path, content }) => {
      npm.seen.push([operation, path, content]);
      return verdictOf(content);
    },
    audit: ({ operation, path, paths, bytes, code, rule, called }) =>
      npm.told.push([operation, path, paths ?? [], bytes, code, rule, called]),
  });
  const { Backend } = instance({
    decide(policy, { operation, path, preview, rule, called }) {
      assert.equal(policy, "host-1");
      own.asked.push([operation, path, preview, rule, called]);
      return ALLOWED(path);
    },
    inspect(policy, { operation, path, body, isText }) {
      assert.deepEqual([policy, isText], ["host-1", true]);
      own.seen.push([operation, path, text(body)]);
      const verdict = verdictOf(text(body));
      if (verdict?.deny) return { tag: "deny", val: verdict.deny };
      if (verdict?.content === undefined) return { tag: "pass" };
      return { tag: "replace", val: { tag: "text", val: verdict.content } };
    },
    audit(policy, { operation, path, paths, bytes, code, rule, called, at, durationUs }) {
      assert.equal(policy, "host-1");
      assert.ok(at > 1_700_000_000_000_000n && durationUs >= 0n);
      own.told.push([operation, path, paths, Number(bytes), code, rule, called]);
    },
  });
  const files = Backend.state(stateOptions()).withPolicy(
    policyOptions({
      switches: { inspects: true, audits: true },
      permissions: [{ operations: both, paths: ["/asked/**"], mode: "ask", name: "mine" }],
      host: "host-1",
    }),
  );
  assert.deepEqual(await play(new Protocol(files)), await play(theirs));
  assert.deepEqual(own.asked, npm.asked);
  assert.deepEqual(own.seen, npm.seen);
  assert.deepEqual(own.told, npm.told);
  assert.ok(npm.asked.length > 5 && npm.seen.length > 5 && npm.told.length === 14);
});

test("rules that ask need the name of their host", () => {
  const { Backend } = instance();
  const state = Backend.state(stateOptions());
  const rule = { operations: both, paths: ["/**"], mode: "ask" };
  for (const options of [
    { permissions: [rule] },
    { switches: { inspects: true } },
    { switches: { audits: true } },
  ]) {
    const error = errorOf(() => state.withPolicy(policyOptions(options)));
    assert.equal(error?.code, "invalid-argument");
    assert.match(error.message, /need the name of their host/);
  }
});

describe("a host that does not answer as it must", () => {
  const ruled = (given) => {
    const { Backend } = instance(given);
    const state = Backend.state(stateOptions());
    const files = state.withPolicy(
      policyOptions({
        switches: { inspects: true, audits: true },
        permissions: [{ operations: { write: true }, paths: ["/asked/**"], mode: "ask" }],
        host: "h",
      }),
    );
    return { state: new Protocol(state), files: new Protocol(files) };
  };
  const refuse = () => {
    throw { code: "unavailable", message: "nobody is here" };
  };

  test("an error of a question is a refusal", () => {
    const { files, state } = ruled({ decide: refuse });
    const answer = files.write("/asked/a.txt", "a");
    assert.equal(answer.code, "permission_denied");
    assert.match(answer.error, /asking failed/);
    assert.equal(state.read("/asked/a.txt").code, "not_found");
    assert.deepEqual(files.write("/b.txt", "b"), { path: "/b.txt" });
  });

  test("an error of an inspection is a refusal", () => {
    const { files, state } = ruled({ inspect: refuse });
    assert.match(files.write("/a.txt", "a").error, /inspect|refused|denied/);
    assert.equal(state.read("/a.txt").code, "not_found");
  });

  test("an error of an audit changes nothing", () => {
    const { files, state } = ruled({ audit: refuse });
    assert.deepEqual(files.write("/a.txt", "a"), { path: "/a.txt" });
    assert.equal(state.read("/a.txt").content, "a");
  });

  test("an exception ends the call, stores nothing, and the next calls go on", () => {
    for (const what of ["decide", "inspect"]) {
      let throws = true;
      const answers = { decide: true, inspect: { tag: "pass" } };
      const { files, state } = ruled({
        decide: () => true,
        [what]() {
          if (throws) throw new Error("boom");
          return answers[what];
        },
      });
      for (let time = 0; time < 20; time++) {
        assert.throws(() => files.write("/asked/a.txt", "a"), /boom/);
        assert.equal(state.read("/asked/a.txt").code, "not_found", what);
      }
      throws = false;
      assert.deepEqual(files.write("/asked/a.txt", "a"), { path: "/asked/a.txt" });
    }
  });

  test("a call while it is asked fails the call that asked", () => {
    let state;
    const made = ruled({
      decide() {
        state.write("/meanwhile.txt", "x");
        return true;
      },
    });
    ({ state } = made);
    const answer = made.files.write("/asked/a.txt", "a");
    assert.equal(answer.code, "permission_denied");
    assert.equal(state.read("/asked/a.txt").code, "not_found");
    assert.equal(state.read("/meanwhile.txt").content, "x");
  });

  test("a verdict with other bytes is stored as they are", () => {
    const { files, state } = ruled({
      inspect: () => ({ tag: "replace", val: { tag: "bytes", val: new Uint8Array([255, 0]) } }),
    });
    assert.deepEqual(files.write("/a.bin", "AAAA"), { path: "/a.bin" });
    assert.deepEqual([...state.downloadFiles(["/a.bin"])[0].content], [255, 0]);
  });
});
