// The recorded cases of `kitbag/conformance` on the component: the same answers as the npm package gave.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { instance } from "./load.mjs";
import { Protocol, policyOptions, stateOptions } from "./protocol.mjs";
import { MapVolume, volumeOptions } from "./volume.mjs";

const cases = JSON.parse(
  readFileSync(new URL("../conformance/recorded.json", import.meta.url), "utf8"),
);

const { Backend } = instance();
const state = () => Backend.state(stateOptions());

const SUBJECTS = {
  state,
  "files below a router": () => Backend.composite(state(), []),
  "a policy that allows everything": () =>
    state().withPolicy(
      policyOptions({
        permissions: [{ operations: { read: true, write: true }, paths: ["/**"], mode: "allow" }],
        quota: { maxBytes: 1n << 30n },
      }),
    ),
  "a volume that the host lends": () => Backend.lent(new MapVolume(), volumeOptions()),
};

/** A recorded argument. */
const given = (value) =>
  value?.base64 === undefined
    ? Array.isArray(value)
      ? value.map(given)
      : value
    : new Uint8Array(Buffer.from(value.base64, "base64"));

/** An answer as it is recorded. */
function plain(value) {
  if (value === undefined) return null;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(plain);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.map(([name, one]) => [name, plain(one)]));
}

function timeless(method, answer) {
  const without = ({ modified_at, created_at, ...rest }) => rest;
  if (answer?.files) {
    const files = answer.files.map(without);
    if (method === "glob") {
      files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    }
    return { ...answer, files };
  }
  return answer?.data ? { ...answer, data: without(answer.data) } : answer;
}

function replay(backend, { calls }) {
  for (const [method, args, wanted] of calls) {
    const answer = backend[method](...args.map((arg) => given(arg) ?? undefined));
    assert.deepEqual(plain(timeless(method, answer)), wanted, `${method}(${JSON.stringify(args)})`);
  }
}

for (const [subject, make] of Object.entries(SUBJECTS)) {
  test(`${subject}: as recorded`, async (t) => {
    for (const one of cases) {
      await t.test(one.name, () => replay(new Protocol(make()), one));
    }
    t.diagnostic(`${cases.length} cases`);
  });
}
