// `conformanceTests(test, () => new MyBackend())` as the README has it, with factories that are not told
// the mode of `write`, and backends whose bytes come from another realm, as under jsdom.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { conformanceCases, conformanceTests, runConformance } from "../../pkg/dist/conformance.js";
import { CompositeBackend, StateBackend } from "../lib/kitbag.mjs";

const OVERWRITE = conformanceCases()
  .filter(({ writeMode }) => writeMode === "overwrite")
  .map(({ name }) => name);

// The line as it is typed, for this framework.
describe("StateBackend", () => conformanceTests(test, () => new StateBackend()));
describe("a backend that answers with promises", () =>
  conformanceTests(test, () => new CompositeBackend(new StateBackend(), {})));
describe("a promise of a backend", () =>
  conformanceTests(test, async () => new StateBackend(), {
    only: ["write", "overwrite", "create"],
  }));

/** Only the methods of the protocol, each a promise. */
function plain(inner) {
  const methods = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
  return Object.fromEntries(
    methods.map((name) => [name, async (...args) => structuredClone(inner[name](...args))]),
  );
}

const FACTORIES = {
  "a bare factory": [() => new StateBackend(), "left out"],
  "a bare factory of a promise": [async () => new StateBackend(), "left out"],
  "a bare factory of promises": [() => new CompositeBackend(new StateBackend(), {}), "left out"],
  "a bare factory of plain methods": [() => plain(new StateBackend()), "left out"],
  "a factory that takes the mode": [({ writeMode }) => new StateBackend({ writeMode }), "passed"],
  "a factory with a default": [
    ({ writeMode } = { writeMode: "create" }) => new StateBackend({ writeMode }),
    "passed",
  ],
  "a factory with the rest": [(...[wanted]) => new StateBackend(wanted), "passed"],
  "a factory that ignores the mode": [(_wanted) => new StateBackend(), "failed"],
};

for (const [name, [make, outcome]] of Object.entries(FACTORIES)) {
  test(`${name}: overwriting has ${outcome}`, async () => {
    const report = await runConformance(make, { only: OVERWRITE });
    const wanted = report.leftOut.length === OVERWRITE.length ? "left out" : undefined;
    const failed = report.failed > 0 ? "failed" : "passed";
    assert.equal(wanted ?? failed, outcome, report.failures.join("\n"));
    if (outcome !== "failed") assert.deepEqual(report.failures, []);
  });
}

test("a bare factory of a backend that overwrites fails the cases about creating", async () => {
  const make = () => new StateBackend({ writeMode: "overwrite" });
  const report = await runConformance(make, { only: ["create is refused", ...OVERWRITE] });
  assert.deepEqual(
    report.failures.map((text) => text.split(":")[0]),
    conformanceCases()
      .map(({ name }) => name)
      .filter((one) => one.includes("create is refused")),
  );
  assert.deepEqual(report.leftOut, []);
});

test("what a bare factory makes to find out its mode is disposed of", async () => {
  let open = 0;
  const make = () => {
    open += 1;
    return new StateBackend();
  };
  const dispose = () => {
    open -= 1;
  };
  await runConformance(make, { only: OVERWRITE, dispose });
  assert.equal(open, 0);
});

/** Bytes in the answers of a backend are those of another realm. */
function elsewhere(inner) {
  const realm = createContext({});
  const Other = runInContext("Uint8Array", realm);
  const moved = (value) => {
    if (value instanceof Uint8Array) return new Other(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(moved);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, moved(one)]));
  };
  return new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...args) => moved(await Reflect.apply(value, target, args));
    },
  });
}

test("bytes of another realm are bytes", async () => {
  const report = await runConformance(({ writeMode }) =>
    elsewhere(new StateBackend({ writeMode })),
  );
  assert.deepEqual(report.failures, []);
  assert.deepEqual(report.leftOut, []);
  const other = await elsewhere(new StateBackend({ files: { "/a": Uint8Array.of(0) } })).read("/a");
  assert.equal(other.content instanceof Uint8Array, false);
});

test("what only looks like bytes is none, in either realm", async () => {
  for (const fake of [
    { length: 1, 0: 0 },
    [0],
    new Uint16Array(1),
    new DataView(new ArrayBuffer(1)),
  ]) {
    const make = ({ writeMode }) => {
      const inner = new StateBackend({ writeMode });
      return new Proxy(inner, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (name !== "downloadFiles")
            return typeof value === "function" ? value.bind(target) : value;
          return async (...args) =>
            (await target.downloadFiles(...args)).map((one) => ({ ...one, content: fake }));
        },
      });
    };
    const report = await runConformance(make, { only: ["downloaded as its bytes"] });
    assert.ok(report.failed > 0, String(fake));
  }
});
