// The conformance suite through routers, policies, both stacked, and foreign objects.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import {
  adaptBackendProtocol,
  begin,
  CompositeBackend,
  ringAudit,
  StateBackend,
  toV1,
  undo,
  withPolicy,
} from "../lib/kitbag.mjs";

/** Mounts where the suite keeps its files. */
const PREFIXES = ["/dir", "/src", "/src/lib/", "/docs", "/v", "/deep"];

const state = (wanted) => new StateBackend(wanted);

function mounted(wanted, wrap = (backend) => backend) {
  const routes = Object.fromEntries(PREFIXES.map((prefix) => [prefix, wrap(state(wanted))]));
  return withoutEmptyDirectories(new CompositeBackend(wrap(state(wanted)), routes));
}

/** A router shows its mounts also while they are empty, which the suite does not expect. */
function withoutEmptyDirectories(backend) {
  return new Proxy(backend, {
    get(_, name) {
      if (name !== "ls") {
        const value = Reflect.get(backend, name, backend);
        return typeof value === "function" ? value.bind(backend) : value;
      }
      return async (...args) => {
        const listed = await backend.ls(...args);
        if (!listed.files) return listed;
        const keep = await Promise.all(
          listed.files.map(
            async (one) => !one.is_dir || (await backend.glob("**", one.path)).files.length > 0,
          ),
        );
        return { files: listed.files.filter((_, at) => keep[at]) };
      };
    },
  });
}

const allowAll = () => ({
  permissions: [
    { operations: ["read", "write"], paths: ["/never/**"], mode: "deny" },
    { operations: ["read", "write"], paths: ["/**"] },
  ],
  defaultMode: "deny",
  readOnlyPrefixes: ["/never/"],
  rateLimit: { operations: 1e6, perMs: 1000 },
  quota: { maxBytes: 2 ** 40, maxFiles: 1e9 },
  inspect() {},
  audit: ringAudit(10),
  hooks: { before() {}, after() {} },
});

class Guarded extends StateBackend {
  static writes = 0;
  write(...args) {
    Guarded.writes += 1;
    return super.write(...args);
  }
}

const ways = {
  "a composite with mounts": (wanted) => mounted(wanted),
  "a policy that allows everything": (wanted) => withPolicy(state(wanted), allowAll()),
  "a policy over a composite with mounts": (wanted) => withPolicy(mounted(wanted), allowAll()),
  "a composite with mounts of policies": (wanted) =>
    mounted(wanted, (backend) => withPolicy(backend, allowAll())),
  "a subclass in a composite": (wanted) => new CompositeBackend(new Guarded(wanted), {}),
  "an adapted object": (wanted) => new CompositeBackend(adaptBackendProtocol(state(wanted)), {}),
};

for (const [name, make] of Object.entries(ways)) {
  test(`the suite passes through ${name}`, async () => {
    const report = await runConformance(make, { turns: { begin, undo } });
    assert.deepEqual(report.failures, []);
    assert.ok(report.passed >= 100, `${report.passed} cases ran`);
  });
}

test("the override of a subclass is what a composite calls", () => {
  assert.ok(Guarded.writes > 100);
});

test("the suite's protocol part passes through the first version and back", async () => {
  const report = await runConformance((wanted) => new CompositeBackend(toV1(state(wanted)), {}), {
    extras: false,
  });
  assert.deepEqual(report.failures, []);
  assert.ok(report.passed >= 80, `${report.passed} cases ran`);
});
