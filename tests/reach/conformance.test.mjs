// The conformance suite over HTTP: what a backend promises, it promises through a server.

import assert from "node:assert/strict";
import test from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import { BACKENDS, begin, HttpBackend, listen, serveFiles, undo } from "./lib.mjs";

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`${name}: every case`, async (t) => {
    const backends = new Map();
    let last = 0;
    const serve = serveFiles((request) => backends.get(request.headers.get("authorization")), {
      maxParallel: 1000,
    });
    const listening = await listen(serve);
    t.after(() => listening.close());
    const { passed, failures, deviations } = await runConformance(
      async ({ writeMode }) => {
        const authorization = `case ${++last}`;
        backends.set(authorization, await make(t, writeMode));
        const files = new HttpBackend({ url: listening.url, headers: { authorization } });
        await files.ls("/");
        return files;
      },
      { turns: { begin, undo } },
    );
    assert.deepEqual(failures, []);
    assert.deepEqual(deviations, []);
    t.diagnostic(`${passed} cases`);
    assert.ok(passed > 100, `${passed}`);
  });
}
