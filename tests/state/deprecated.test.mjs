// Deprecated ways still work. Each prints one warning in a process, and all can be turned off.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";

/** What a program with kitbag's names prints to standard output and to standard error. */
function printed(program, ...flags) {
  const names =
    "createFileTools, silenceDeprecations, CompositeBackend, StateBackend, StoreBackend";
  const source = `import { ${names} } from ${JSON.stringify(at("pkg/dist/node.js"))};
    const store = { get: () => null, put() {}, delete() {}, search: () => [] };
    ${program}`;
  const done = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", source], {
    encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
  return { said: done.stdout.trim(), warnings: done.stderr.trim().split("\n").filter(Boolean) };
}

const STATE =
  'new StateBackend({ state: { files: {} } }).write("/a", "x").filesUpdate["/a"].content';
const STORE = 'new StoreBackend({ state: {}, store }, { namespace: ["n"] })';

test("new StateBackend(runtime) works and says once what to do instead", () => {
  const { said, warnings } = printed(`console.log(${STATE}, ${STATE}, ${STATE});`);
  assert.equal(said, "x x x");
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0], /`new StateBackend\(runtime\)` is deprecated.*new StateBackend\(\)/);
  assert.match(warnings[0], /channel.*silenceDeprecations\(\)/);
});

test("new StoreBackend(runtime) works and says once what to do instead", () => {
  const { said, warnings } = printed(
    `${STORE}; ${STORE}; console.log((await ${STORE}.ls("/")).files.length);`,
  );
  assert.equal(said, "0");
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0], /`new StoreBackend\(runtime\)` is deprecated.*namespace/);
});

test("a factory of deprecated parts warns for each of them once, however often it is called", () => {
  const { warnings } = printed(`
    const factory = (runtime) =>
      new CompositeBackend(new StateBackend(runtime), {
        "/m/": new StoreBackend({ ...runtime, store }, { namespace: ["n"] }),
      });
    const { call } = createFileTools(factory);
    for (let at = 0; at < 3; at++) await call("ls", {}, { runtime: { state: { files: {} } } });`);
  assert.deepEqual(
    warnings.map((text) => /`new (\w+)\(/.exec(text)[1]),
    ["StateBackend", "StoreBackend"],
  );
});

test("a function without parameters that always returns one backend is told that it need not be", () => {
  const { warnings } = printed(`
    const backend = new StateBackend();
    const { call } = createFileTools(() => backend);
    for (let at = 0; at < 3; at++) await call("ls", {});`);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /Pass the backend itself/);
});

test("a function that needs its runtime or makes backends is not warned of", () => {
  const { warnings } = printed(`
    const byUser = { ann: new StateBackend() };
    const tools = [
      createFileTools((runtime) => byUser[runtime.user]),
      createFileTools(() => new StateBackend({ files: {} })),
    ];
    for (const { call } of tools) for (let at = 0; at < 3; at++)
      await call("ls", {}, { runtime: { user: "ann" } });`);
  assert.deepEqual(warnings, []);
});

test("a namespace function that reads a deprecated property is warned of once", () => {
  const { warnings } = printed(`
    const namespace = ({ runtime, state }) => [typeof runtime + typeof state];
    const backend = new StoreBackend({ store, namespace });
    await backend.ls("/");
    await backend.ls("/");`);
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0], /namespace function.*deprecated/);
});

test("instances are not warned of", () => {
  const { warnings } = printed(`
    new StateBackend(); new StateBackend({ files: {} });
    new StateBackend({ channel: { read: () => ({}), send() {} } });
    new StoreBackend({ store, namespace: ["n"] });`);
  assert.deepEqual(warnings, []);
});

test("silenceDeprecations() and node --no-deprecation turn the warnings off", () => {
  assert.deepEqual(printed(`silenceDeprecations(); ${STATE}; ${STORE};`).warnings, []);
  assert.deepEqual(printed(`${STATE}; ${STORE};`, "--no-deprecation").warnings, []);
  const again = printed(`silenceDeprecations(); silenceDeprecations(false); ${STATE};`);
  assert.equal(again.warnings.length, 1);
});
