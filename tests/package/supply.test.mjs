// What the package is made of: where its crates come from and under which licences, that nothing of
// it runs at installation, and that SECURITY.md names tests that exist. The database of advisories
// is not asked: that needs the network, see docs/dependencies.md.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadSuite, suiteNames } from "../../scripts/lib/suites.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const json = (path) => JSON.parse(readFileSync(`${root}${path}`, "utf8"));
const text = (path) => readFileSync(`${root}${path}`, "utf8");

function metadata(target) {
  const args = ["metadata", "--offline", "--locked", "--format-version", "1"];
  const only = target === undefined ? [] : ["--filter-platform", target];
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe"] };
  return JSON.parse(execFileSync("cargo", [...args, ...only], options));
}

/** The crates that get into the WebAssembly or make it, with their dependencies. */
function shipped() {
  const { packages, resolve } = metadata("wasm32-unknown-unknown");
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const byId = new Map(packages.map((one) => [one.id, one]));
  const seen = new Set();
  const waiting = [resolve.root];
  while (waiting.length > 0) {
    const id = waiting.pop();
    if (seen.has(id)) continue;
    seen.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      if (dep_kinds.some(({ kind }) => kind !== "dev")) waiting.push(pkg);
    }
  }
  return [...seen].map((id) => byId.get(id));
}

const LICENCES = new Set([
  ...["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unlicense"],
  ...["Unicode-3.0", "CC0-1.0", "0BSD"],
]);

/** Whether a licence expression can be met with the licences above. */
function allowed(expression) {
  const plain = expression.replaceAll("/", " OR ").replaceAll(/[()]/g, " ").trim();
  return plain
    .split(/\s+AND\s+/)
    .every((part) => part.split(/\s+OR\s+/).some((one) => LICENCES.has(one.trim())));
}

test("every crate, also those of the tests, has a licence that may be used", () => {
  const { packages } = metadata();
  assert.ok(packages.length > 40);
  const wrong = packages.filter(({ license }) => !license || !allowed(license));
  assert.deepEqual(
    wrong.map(({ name, license }) => `${name}: ${license}`),
    [],
  );
});

test("every crate comes from the registry, with a checksum", () => {
  const { packages, workspace_members: own } = metadata();
  const ours = packages.filter(({ id }) => own.includes(id)).map(({ name }) => name);
  const locked = text("Cargo.lock").split("[[package]]").slice(1);
  for (const one of locked) {
    const name = /name = "(.*)"/.exec(one)[1];
    if (ours.includes(name)) continue;
    assert.match(one, /^source = "registry\+/m, name);
    assert.match(one, /^checksum = "[0-9a-f]{64}"/m, name);
  }
});

test("crates that come from nowhere else lie below the workspace, as the component's bytes depend on where they are", () => {
  const { packages, workspace_root: top } = metadata();
  const outside = packages.filter((one) => !one.source && !one.manifest_path.startsWith(`${top}/`));
  assert.deepEqual(
    outside.map(({ manifest_path: path }) => path),
    [],
  );
  assert.equal(`${top}/`, root);
});

test("no crate of the package is there in two versions", () => {
  const versions = new Map();
  for (const { name, version } of shipped()) {
    versions.set(name, [...(versions.get(name) ?? []), version]);
  }
  // Macros run at build time, and their parsers may differ from crate to crate.
  const twice = [...versions].filter(([name, all]) => all.length > 1 && name !== "syn");
  assert.deepEqual(twice, []);
});

test("only known crates run a program at build time", () => {
  const known = [
    ...["generic-array", "kitbag", "mime_guess", "proc-macro2", "quote", "rustversion"],
    "wasm-bindgen",
  ];
  const build = shipped().filter(({ targets }) =>
    targets.some(({ kind }) => kind.includes("custom-build")),
  );
  const names = build.map(({ name }) => name).sort();
  const wanted = [...known, "wasm-bindgen-shared"].sort();
  assert.deepEqual(
    names.filter((name) => !wanted.includes(name)),
    [],
  );
});

test("the package has no dependencies and no scripts", () => {
  const made = json("pkg/package.json");
  for (const field of [
    ...["dependencies", "optionalDependencies", "bundledDependencies", "bundleDependencies"],
    ...["scripts", "gypfile"],
  ]) {
    assert.equal(made[field], undefined, field);
  }
  assert.ok(!existsSync(`${root}pkg/binding.gyp`));
});

/** Packages of the build and of tests that run a program when they are installed. */
const INSTALLING = {
  "": ["esbuild", "sharp", "workerd"],
  agents: ["@mongodb-js/zstd", "node-liblzma"],
  frameworks: ["esbuild"],
  newest: ["@mongodb-js/zstd", "node-liblzma"],
  docs: ["esbuild"],
  filesystems: ["@mongodb-js/zstd", "node-liblzma"],
  runtimes: ["bun", "deno"],
  servers: ["esbuild"],
};

test("only known packages of the build and the tests run a program at installation", () => {
  const sets = readdirSync(`${root}tests/deps`, { withFileTypes: true });
  const folders = sets.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  for (const folder of ["", ...folders]) {
    // Frameworks of the suite `stacks`, which runs on request.
    if (folder === "stacks" || folder === "nuxt") continue;
    const path = folder === "" ? "package-lock.json" : `tests/deps/${folder}/package-lock.json`;
    const { packages } = json(path);
    const running = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([place]) => place.split("node_modules/").at(-1));
    assert.deepEqual(
      running.filter((name) => !(INSTALLING[folder] ?? []).includes(name)),
      [],
      path,
    );
    for (const [place, { integrity, resolved, link, inBundle }] of Object.entries(packages)) {
      if (place === "" || link) continue;
      // A bundled package is in the archive of another, whose checksum counts.
      assert.ok(integrity || inBundle, `${path}: ${place} has no checksum`);
      assert.equal(resolved, undefined, `${path}: ${place}`);
    }
  }
});

test("every test that SECURITY.md names exists, and every promise names one", async () => {
  const layers = text("SECURITY.md")
    .split("\n## Promises")[1]
    .split("\n## ")[0]
    .split("\n### ")
    .slice(1);
  assert.ok(layers.length >= 8, `${layers.length}`);
  for (const layer of layers) {
    assert.match(layer, /\| promise \| to \| shown by \|/);
    assert.match(layer, /^Not promised:/m);
  }
  const promises = layers.flatMap((layer) =>
    layer.split("\n").filter((line) => /^\| [A-Z`]/.test(line)),
  );
  assert.ok(promises.length >= 35, `${promises.length}`);
  const suites = new Set(suiteNames());
  for (const line of promises) {
    const shown = line.split(" | ").at(-1);
    const names = [...shown.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    assert.ok(names.length > 0, line);
    for (const name of names) {
      if (name.includes("::")) {
        const last = name.split("::").at(-1);
        const place = `src/layer/${name.replaceAll("::", "/")}.rs`;
        assert.ok(existsSync(`${root}${place}`), `${place} (${last})`);
      } else if (name.includes("/")) {
        assert.ok(existsSync(`${root}${name}`), name);
      } else {
        const file = ["router", "host", "state", "bad-input"].some((folder) =>
          existsSync(`${root}tests/${folder}/${name}.test.mjs`),
        );
        assert.ok(suites.has(name) || file, `${name} is neither a suite nor a test`);
        if (suites.has(name)) assert.ok(await loadSuite(name));
      }
    }
  }
});
