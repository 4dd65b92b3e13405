// The build's own steps: what it removes, and the change of a crate.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { lastLine } from "../../scripts/lib/node-files.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { removeUnreached } from "../../scripts/lib/reached.mjs";
import { applyPatch } from "../../scripts/lib/splitter.mjs";

const folder = mkdtempSync(join(tmpdir(), "kitbag-scripts-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function written(name, files) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return join(folder, name);
}

test("scripts that no entry reaches are removed, and folders that are empty then", () => {
  const dist = written("dist", {
    "index.js": `import { a } from "./a/one.js"; const b = () => import("./two.js");`,
    "a/one.js": `export * from "../three.js";`,
    "two.js": `const files = (one) => import(one ? ["./four.cjs"][0] : "./none.js");`,
    "three.js": "",
    "four.cjs": `require("./five.cjs")`,
    "five.cjs": "",
    "a/stub.js": `export * from "./one.js";`,
    "b/stub.js": `export * from "../three.js";`,
    "wasm/part.wasm": "",
  });
  removeUnreached(dist, [join(dist, "index.js")]);
  const kept = ["index.js", "a/one.js", "two.js", "three.js", "four.cjs", "five.cjs"];
  for (const name of [...kept, "wasm/part.wasm"]) assert.ok(existsSync(join(dist, name)), name);
  for (const name of ["a/stub.js", "b"]) assert.ok(!existsSync(join(dist, name)), name);
});

test("the file of Node has another length in another build", () => {
  const [one, two] = ["77263d0e2df1abb3", "8d01f00d2df1abb3"].map(lastLine);
  assert.notEqual(one.length, two.length);
  assert.match(one, /^\/\/ build 77263d0e2df1abb3 \.+$/);
});

const SOURCE = `                    marked_for_main,
                } => {
                    self.color = self.scc_colors.remove(&this).unwrap();
                    if marked_for_main {
                        self.color = SplitModuleIdentifier::Main;
                    }
                    color_all(&mut self.scc_colors, out_edges, self.color.clone());
`;

test("the splitter's patch changes the source that it is written for", async () => {
  const crate = written("crate", { "src/split_point.rs": "\n".repeat(452) + SOURCE });
  await applyPatch(crate);
  const patched = readFileSync(join(crate, "src/split_point.rs"), "utf8");
  assert.match(patched, /groups\.is_subset\(set\)/);
  assert.match(patched, /min_by_key\(BTreeSet::len\)/);
});

test("the splitter's patch refuses any other source", async () => {
  const other = SOURCE.replace("if marked_for_main {", "if marked_for_main && true {");
  const crate = written("other", { "src/split_point.rs": "\n".repeat(452) + other });
  await assert.rejects(applyPatch(crate), /patch does not apply/);
});

test("the crate, the simulator and the program that writes the glue have one version of wasm-bindgen", () => {
  const pins = ["Cargo.toml", "tests/simulation/Cargo.toml", "tools/splitter/Cargo.toml"].map(
    (file) =>
      /^wasm-bindgen(?:-cli-support)? = .*?"=([\d.]+)"/m.exec(readFileSync(at(file), "utf8"))?.[1],
  );
  assert.match(pins[0], /^\d+\.\d+\.\d+$/);
  assert.deepEqual(new Set(pins), new Set([pins[0]]));
});
