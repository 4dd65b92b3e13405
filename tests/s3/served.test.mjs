// The conformance suite through `HttpBackend` and `serveFiles`, over a bucket. All cases in the long form.

import assert from "node:assert/strict";
import test from "node:test";
import { conform } from "../clients/client.mjs";
import { serving, whole } from "../clients/lib.mjs";
import * as reach from "../reach/lib.mjs";
import { location, runConformance, servers } from "./lib.mjs";

for (const [name, endpoint] of Object.entries(servers)) {
  test(`${name}: over HTTP`, async (t) => {
    const where = await location(endpoint);
    const server = await serving(
      (writeMode, prefix) => new reach.S3Backend({ ...where, prefix, writeMode }),
    );
    t.after(() => server.close());
    const except = { "a path of 1,024 bytes is the longest": "the key has a prefix" };
    const asked = { url: server.files, host: "node", whole, except };
    const { passed, failures } = await conform({ ...reach, runConformance }, asked);
    assert.deepEqual(failures, []);
    assert.ok(passed >= (whole ? 100 : 15), `only ${passed} cases ran`);
    t.diagnostic(`${passed} cases`);
  });
}
