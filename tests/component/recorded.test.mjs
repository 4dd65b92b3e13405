// The recorded cases of `kitbag/conformance` on the component: the same answers as the npm package gave.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { over, wasi } from "./folder.mjs";
import { instance } from "./load.mjs";
import { Protocol, policyOptions, stateOptions } from "./protocol.mjs";
import { MapVolume, volumeOptions } from "./volume.mjs";

const cases = JSON.parse(
  readFileSync(new URL("../conformance/recorded.json", import.meta.url), "utf8"),
);

const { Backend } = instance();
const state = () => Backend.state(stateOptions());

const DIRECTORY = "a directory by way of kitbag-wasi";
const root = mkdtempSync(join(tmpdir(), "kitbag-recorded-"));
after(() => rmSync(root, { recursive: true, force: true }));
const host = wasi({ "/lent": root });
const onWasi = over(host);
let opened = 0;

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
  [DIRECTORY]: () => {
    opened += 1;
    return onWasi.Backend.lent(host.folders.open(`/lent/${opened}`, undefined), volumeOptions());
  },
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

/** A case that asks for more than a file system of Linux has: a name of more than 255 bytes. */
const TOO_LONG = "a path of 1,024 bytes is the longest";

/** What that case gets instead; its other calls are answered before anybody asks the file system. */
function replayRefused(backend, { calls }) {
  const [[method, args, wanted], ...others] = calls;
  const { code, error } = backend[method](...args);
  assert.deepEqual([code, wanted.path], ["invalid_path", args[0]]);
  assert.match(error, /no name for the file system/);
  const refused = others.filter((call) => call[2].code === "invalid_path");
  assert.ok(refused.length > 0);
  replay(backend, { calls: refused });
}

for (const [subject, make] of Object.entries(SUBJECTS)) {
  test(`${subject}: as recorded`, async (t) => {
    let replayed = 0;
    for (const one of cases) {
      const is = subject === DIRECTORY && one.name === TOO_LONG ? replayRefused : replay;
      if (is === replay) replayed += 1;
      await t.test(one.name, () => is(new Protocol(make()), one));
    }
    assert.equal(replayed, cases.length - (subject === DIRECTORY ? 1 : 0));
    t.diagnostic(`${replayed} cases`);
  });
}

test("each case had a directory of its own", () => {
  assert.equal(opened, cases.length);
  assert.equal(readdirSync(root).length, cases.length);
  const all = readdirSync(root, { recursive: true, withFileTypes: true });
  assert.ok(all.filter((one) => one.isFile()).length > cases.length / 2);
  assert.deepEqual(
    all.filter(({ name }) => name.startsWith(".~kitbag-")),
    [],
  );
});
