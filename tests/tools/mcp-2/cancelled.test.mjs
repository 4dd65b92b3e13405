// A client that gives a call up ends it at the server: by the notification of the protocol over a connection and in
// sessions, by closing the answer over HTTP since 2026-07-28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { opened, WAYS } from "./ways.mjs";

/** A backend that answers when the call is given up. */
class Waiting extends StateBackend {
  began = Promise.withResolvers?.() ?? deferred();
  ended = Promise.withResolvers?.() ?? deferred();
  async glob(_pattern, _path, options) {
    this.began.resolve(options?.signal);
    options?.signal?.addEventListener("abort", () => this.ended.resolve("aborted"));
    await this.ended.promise;
    return { error: "given up", code: "cancelled" };
  }
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve) => {
    made.resolve = resolve;
  });
  return made;
}

/**
 * Before 2026 a server without sessions cannot be told: the notification comes to another one. Version 2.0.0 of the
 * SDK does not tell a handler of 2026 over one connection; 2.4 does.
 */
const TOLD = Object.entries(WAYS).filter(
  ([name, { session, era }]) => (session || era === 2026) && name !== "2026, server 2.0.0",
);

for (const [name, way] of TOLD) {
  test(`${name}: a call that is given up ends`, { timeout: 20_000 }, async (t) => {
    const backend = new Waiting({ scope: "instance", files: { "/a.txt": "a" } });
    const { call } = await opened(t, way, (server) => void registerFileTools(server, backend));
    const stop = new AbortController();
    const asked = call("glob", { pattern: "**" }, { signal: stop.signal });
    const failed = assert.rejects(asked);
    const signal = await backend.began.promise;
    assert.ok(signal, "the backend gets a signal");
    assert.equal(signal.aborted, false);
    stop.abort(new Error("enough"));
    await failed;
    assert.equal(await backend.ended.promise, "aborted");
  });
}
