// Policies in the package: what a policy is made of, the host's callbacks, overrides.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CompositeBackend,
  PolicyWrapper,
  ringAudit,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const files = { "/pub/a.txt": "needle", "/secrets/k.txt": "needle TOP" };
const state = () => new StateBackend({ files });

test("a wrong policy is refused early, by name", () => {
  const wrong = [
    [{ denyPrefix: ["/a"] }, /"denyPrefix"/],
    [{ readOnly: "yes" }, /"readOnly"/],
    [{ denyPrefixes: ["/a"] }, /no option "denyPrefixes"/],
    [["/a"], /must be an object, not an array/],
    [{ readOnlyPrefixes: "/a" }, /"readOnlyPrefixes"/],
    [{ readOnlyPrefixes: ["/../a"] }, /\.\./],
    [{ permissions: [{ operations: ["read"], paths: [] }] }, /"paths"/],
    [{ permissions: [{ operations: ["delete"], paths: ["/a"] }] }, /"operations"/],
    [{ permissions: [{ operations: ["read"], paths: ["/a"], mode: "no" }] }, /"mode"/],
    [{ permissions: [{ operations: ["read"], paths: ["!/a"] }] }, /'!'/],
    [{ permissions: [{ operations: ["read"], paths: ["/a"], mode: "ask" }] }, /onAsk/],
    [{ permissions: [{ operations: ["read"], path: "/a", paths: ["/a"] }] }, /"path"/],
    [{ rateLimit: { operations: 1 } }, /rateLimit/],
    [{ rateLimit: { writes: { operations: 1, perMs: 1 } } }, /"writes"/],
    [{ quota: { bytes: 1 } }, /"bytes"/],
    [{ quota: { maxBytes: -1 } }, /"maxBytes"/],
    [{ inspect: true }, /"inspect"/],
    [{ hooks: { during() {} } }, /"during"/],
    [{ defaultMode: "ask" }, /"defaultMode"/],
  ];
  for (const [policy, says] of wrong) {
    assert.throws(
      () => withPolicy(state(), policy),
      (error) => error instanceof TypeError && says.test(error.message),
      JSON.stringify(policy),
    );
  }
  assert.throws(() => withPolicy({}, {}), TypeError);
  assert.throws(() => withPolicy(state(), undefined), TypeError);
});

test("the name that the documents use works", async () => {
  const backend = new PolicyWrapper(state(), ["/secrets/"]);
  assert.equal((await backend.write("/secrets/x", "1")).code, "permission_denied");
  assert.equal((await backend.write("/pub/x", "1")).path, "/pub/x");
});

test("an override is what a policy, a composite and a subclass of a policy call", async () => {
  const seen = [];
  class GuardedBackend extends StateBackend {
    write(path, content) {
      seen.push(path);
      if (path.startsWith("/no")) return { error: "guarded" };
      return super.write(path, content);
    }
  }
  const composite = new CompositeBackend(new StateBackend(), { "/g/": new GuardedBackend() });
  assert.equal((await composite.write("/g/no", "x")).error, "guarded");
  const patched = new StateBackend();
  patched.write = () => ({ error: "patched" });
  assert.equal((await withPolicy(patched, {}).write("/a", "x")).error, "patched");
  class Loud extends PolicyWrapper {
    async read(path) {
      const answer = await super.read(path);
      return { ...answer, content: answer.content?.toUpperCase() };
    }
  }
  const loud = new CompositeBackend(new Loud(state()), {});
  assert.equal((await loud.read("/pub/a.txt")).content, "NEEDLE");
  assert.deepEqual(seen, ["/no"]);
});

test("onAsk: only true is a yes", async () => {
  const ask = (onAsk, more) =>
    withPolicy(state(), {
      permissions: [{ operations: ["read", "write"], paths: ["/secrets/**"], mode: "ask" }],
      onAsk,
      ...more,
    });
  const asked = [];
  const yes = ask((question) => asked.push(question) > 0);
  assert.equal((await yes.read("/secrets/k.txt")).content, "needle TOP");
  assert.equal((await yes.write("/secrets/n.txt", "new text")).path, "/secrets/n.txt");
  assert.deepEqual(asked, [
    { operation: "read", path: "/secrets/k.txt", preview: "" },
    { operation: "write", path: "/secrets/n.txt", preview: "new text" },
  ]);
  const no = [
    ask(() => false),
    ask(async () => false),
    ask(() => "true"),
    ask(() => 1),
    ask(() => ({})),
    ask(() => undefined),
    ask(() => {
      throw new Error("x");
    }),
    ask(() => Promise.reject(new Error("x"))),
    ask(() => new Promise(() => {}), { askTimeoutMs: 5 }),
  ];
  for (const backend of no) {
    const answer = await backend.read("/secrets/k.txt");
    assert.equal(answer.code, "permission_denied");
    assert.equal(answer.content, undefined);
  }
  assert.equal((await no[0].read("/pub/a.txt")).content, "needle");
  assert.deepEqual(
    (await no[0].grep("needle")).matches.map((match) => match.path),
    ["/pub/a.txt"],
  );
});

test("inspect may refuse and replace, and a throw refuses", async () => {
  const backend = withPolicy(state(), {
    inspect({ path, content }) {
      if (path.endsWith(".bin")) return { content: Uint8Array.of(content.length) };
      if (content.includes("secret")) return { deny: "no secrets" };
      if (content.includes("throw")) throw new Error("x");
      if (content.includes("odd")) return { allow: true };
      if (content.includes("later")) return Promise.resolve({ content: "replaced" });
    },
  });
  assert.match((await backend.write("/a", "a secret")).error, /no secrets$/);
  assert.equal((await backend.write("/a", "throw")).code, "permission_denied");
  assert.equal((await backend.write("/a", "odd")).code, "permission_denied");
  assert.equal((await backend.write("/a", "later")).path, "/a");
  assert.equal((await backend.read("/a")).content, "replaced");
  assert.equal((await backend.edit("/a", "replaced", "se")).occurrences, 1);
  assert.match((await backend.edit("/a", "se", "secret")).error, /no secrets$/);
  const [stored, refused] = await backend.uploadFiles([
    ["/x.bin", new Uint8Array(5)],
    ["/y", new TextEncoder().encode("secret")],
  ]);
  assert.equal(stored.error, null);
  assert.equal(refused.error, "permission_denied");
  assert.deepEqual((await backend.downloadFiles(["/x.bin"]))[0].content, Uint8Array.of(5));
});

test("a rate says when to come again", async () => {
  const backend = withPolicy(state(), { rateLimit: { read: { operations: 2, perMs: 60_000 } } });
  const answers = await Promise.all([1, 2, 3, 4].map(() => backend.read("/pub/a.txt")));
  assert.deepEqual(
    answers.map((answer) => answer.code),
    [undefined, undefined, "rate_limited", "rate_limited"],
  );
  assert.ok(answers[2].retryAfterMs > 0 && answers[2].retryAfterMs <= 60_000);
  assert.equal((await backend.write("/n", "x")).path, "/n");
});

test("an audit tells of everything and of no content", async () => {
  const ring = ringAudit(5);
  const backend = withPolicy(state(), { readOnlyPrefixes: ["/secrets"], audit: ring });
  await backend.write("/w", "CONTENT");
  await backend.write("/secrets/x", "CONTENT");
  await backend.read("/../etc/passwd");
  await backend.grep("CONTENT");
  assert.deepEqual(
    ring.records.map(({ operation, path, bytes, code }) => [operation, path, bytes, code]),
    [
      ["write", "/w", 7, "ok"],
      ["write", "/secrets/x", 0, "permission_denied"],
      ["read", "", 0, "invalid_path"],
      ["grep", "/", 7, "ok"],
    ],
  );
  assert.ok(!JSON.stringify(ring.records).includes("CONTENT"));
  assert.ok(
    ring.records.every(
      (record) => !Number.isNaN(Date.parse(record.time)) && record.durationMs >= 0,
    ),
  );
  for (let n = 0; n < 7; n++) await backend.ls(`/${n}`);
  assert.deepEqual(
    ring.records.map((record) => record.path),
    ["/2", "/3", "/4", "/5", "/6"],
  );
  ring.clear();
  assert.deepEqual(ring.records, []);
  const loud = withPolicy(state(), {
    audit() {
      throw new Error("x");
    },
  });
  assert.equal((await loud.read("/pub/a.txt")).content, "needle");
  const late = withPolicy(state(), {
    audit: async () => {
      throw new Error("x");
    },
  });
  assert.equal((await late.read("/pub/a.txt")).content, "needle");
});

test("hooks stand around everything; before may refuse", async () => {
  const seen = [];
  const backend = withPolicy(state(), {
    hooks: {
      before({ operation, path }) {
        seen.push(`before ${operation} ${path}`);
        if (path === "/no") throw new Error("not today");
        if (path === "/deny") return { deny: "never" };
      },
      after({ operation, code }) {
        seen.push(`after ${operation} ${code}`);
        throw new Error("ignored");
      },
    },
  });
  assert.equal((await backend.read("/pub/a.txt")).content, "needle");
  assert.match((await backend.read("/no")).error, /not today/);
  assert.match((await backend.read("/deny")).error, /never/);
  assert.deepEqual(seen, [
    "before read /pub/a.txt",
    "after read ok",
    "before read /no",
    "after read permission_denied",
    "before read /deny",
    "after read permission_denied",
  ]);
});

test("a callback may use kitbag itself", async () => {
  const other = state();
  const log = [];
  const backend = withPolicy(state(), {
    inspect: () => void log.push(other.read("/pub/a.txt").content),
    audit: () => void log.push(other.glob("**").files.length),
    hooks: { before: async () => void (await withPolicy(other, {}).ls("/")) },
  });
  assert.equal((await backend.write("/a", "x")).path, "/a");
  assert.deepEqual(log, ["needle", 2]);
});

test("readOnlyPrefixes refuse changes and no reads", async () => {
  const policy = { readOnlyPrefixes: ["/new", "/old"] };
  const inner = new StateBackend({ files: { "/new/a": "a", "/old/a": "a", "/b": "b" } });
  const backend = withPolicy(inner, policy);
  for (const path of ["/new/a", "/old/a"]) {
    assert.equal((await backend.read(path)).content, "a");
    assert.equal((await backend.edit(path, "a", "b")).code, "permission_denied");
    assert.equal((await backend.delete(path)).code, "permission_denied");
  }
  assert.equal((await backend.edit("/b", "b", "c")).error, undefined);
});
