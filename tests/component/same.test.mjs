// Rules and routers of the component against those of the npm package: the same calls, the same answers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CompositeBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { errorOf, Protocol, policyOptions, stateOptions } from "./protocol.mjs";

const cases = JSON.parse(
  readFileSync(new URL("../conformance/recorded.json", import.meta.url), "utf8"),
);

const { Backend } = instance();

const both = { read: true, write: true };

const npmState = () => new StateBackend();
const state = () => Backend.state(stateOptions());

/** Routers as both know them. */
const ROUTERS = {
  "mounts that the cases meet": [
    () =>
      new CompositeBackend(npmState(), {
        "/src/": npmState(),
        "/a": npmState(),
        "/d/e": npmState(),
      }),
    () =>
      Backend.composite(state(), [
        { prefix: "/src/", backend: state() },
        { prefix: "/a", backend: state() },
        { prefix: "/d/e", backend: state() },
      ]),
  ],
  "rules around a router, a router around rules": [
    () =>
      withPolicy(
        new CompositeBackend(withPolicy(npmState(), { readOnlyPrefixes: ["/src"] }), {
          "/d": npmState(),
        }),
        { permissions: [{ operations: ["read", "write"], paths: ["/a/**"], mode: "deny" }] },
      ),
    () =>
      Backend.composite(state().withPolicy(policyOptions({ readOnlyPrefixes: ["/src"] })), [
        { prefix: "/d", backend: state() },
      ]).withPolicy(
        policyOptions({ permissions: [{ operations: both, paths: ["/a/**"], mode: "deny" }] }),
      ),
  ],
};

/** Policies as both know them. */
const POLICIES = {
  "read-only": [{ readOnly: true }, { switches: { readOnly: true } }],
  "a read-only directory": [{ readOnlyPrefixes: ["/src"] }, { readOnlyPrefixes: ["/src"] }],
  "a rule that hides": [
    {
      permissions: [{ operations: ["read", "write"], paths: ["/a/**", "/**/*.txt"], mode: "deny" }],
    },
    { permissions: [{ operations: both, paths: ["/a/**", "/**/*.txt"], mode: "deny" }] },
  ],
  "rules that allow some": [
    {
      permissions: [
        { name: "notes", operations: ["write"], paths: ["/notes.txt"], mode: "deny" },
        { operations: ["read", "write"], paths: ["/**"], mode: "allow" },
      ],
      defaultMode: "deny",
    },
    {
      switches: { denyByDefault: true },
      permissions: [
        { name: "notes", operations: { write: true }, paths: ["/notes.txt"], mode: "deny" },
        { operations: both, paths: ["/**"], mode: "allow" },
      ],
    },
  ],
  "nothing is allowed": [{ defaultMode: "deny" }, { switches: { denyByDefault: true } }],
  "a quota": [
    { quota: { maxBytes: 40, maxFiles: 2, maxFileBytes: 30 } },
    { quota: { maxBytes: 40n, maxFiles: 2n, maxFileBytes: 30n } },
  ],
  "a rate": [
    { rateLimit: { operations: 3, perMs: 3_600_000 } },
    { rates: [{ kind: "all", operations: 3, perMs: 3_600_000n }] },
  ],
};

const given = (value) =>
  value?.base64 === undefined
    ? Array.isArray(value)
      ? value.map(given)
      : value
    : new Uint8Array(Buffer.from(value.base64, "base64"));

/** Without times, and without what depends on them. */
function comparable(answer) {
  const without = ({ modified_at, created_at, ...rest }) => rest;
  if (Array.isArray(answer)) {
    return answer.map(({ path, error, content }) => ({ path, error, content }));
  }
  const { retryAfterMs, files, data, ...rest } = answer;
  const sorted = (list) => [...list].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    ...rest,
    ...(files && { files: sorted(files.map(without)) }),
    ...(data && { data: without(data) }),
    ...(retryAfterMs === undefined ? {} : { waits: true }),
    error: rest.error?.replace(/again in \d+ ms/, "again in some ms"),
  };
}

/** An object with fields that are there, as JSON has it. */
const plain = (value) =>
  JSON.parse(
    JSON.stringify(value, (_, one) => (one instanceof Uint8Array ? { bytes: [...one] } : one)),
  );

const PAIRS = [
  ...Object.entries(ROUTERS),
  ...Object.entries(POLICIES).map(([name, [ours, theirs]]) => [
    name,
    [() => withPolicy(npmState(), ours), () => state().withPolicy(policyOptions(theirs))],
  ]),
];

for (const [name, [ours, theirs]] of PAIRS) {
  describe(`${name}: answers as the npm package`, () => {
    for (const { name: about, calls } of cases) {
      test(about, async () => {
        const npm = ours();
        const component = new Protocol(theirs());
        for (const [method, args] of calls) {
          const values = args.map((arg) => given(arg) ?? undefined);
          const wanted = plain(comparable(await npm[method](...values)));
          const seen = plain(comparable(component[method](...values)));
          assert.deepEqual(seen, wanted, `${method}(${JSON.stringify(args)})`);
        }
      });
    }
  });
}

const refusal = (options) =>
  errorOf(() => Backend.state(stateOptions()).withPolicy(policyOptions(options)));

test("a rule that can never apply is refused when it is made", () => {
  const rule = { operations: both, paths: ["/**"], mode: "deny" };
  for (const [wrong, code] of [
    [{ ...rule, paths: [] }, "invalid-argument"],
    [{ ...rule, operations: {} }, "invalid-argument"],
    [{ ...rule, paths: ["/a/../b"] }, "invalid-pattern"],
  ]) {
    assert.equal(refusal({ permissions: [wrong] })?.code, code);
  }
  assert.equal(refusal({ permissions: [rule] }), undefined);
  assert.equal(refusal({ readOnlyPrefixes: ["/a/../b"] })?.code, "invalid-path");
  const never = { kind: "all", operations: 1, perMs: 0n };
  assert.equal(refusal({ rates: [never] })?.code, "invalid-argument");
});
