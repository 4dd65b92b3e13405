// tsc --strict over assignable.ts, once for each version of deepagents; over the names of the package
// as `import` and as `require` see them; and over mistakes, to know that the compiler looks at all.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { run } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { TSC } from "../lib/tsc.mjs";

const folder = cache("types");
mkdirSync(folder, { recursive: true });

const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
};

async function compiled(name, files, options = {}) {
  const config = `${folder}/${name}.json`;
  const compilerOptions = { ...OPTIONS, ...options };
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  return run(process.execPath, [TSC, "-p", config]);
}

const paths = (version) => ({
  kitbag: [at("pkg/types/index.d.ts")],
  deepagents: [at(`tests/deps/${version}/node_modules/deepagents`)],
});

for (const version of ["latest", "older"]) {
  test(`kitbag's types stand in for those of deepagents (${version})`, async () => {
    const files = [at("tests/types/assignable.ts")];
    // The stricter rule includes what the usual one demands of a result's absent fields.
    const options = { paths: paths(version), exactOptionalPropertyTypes: true };
    const { code, output } = await compiled(version, files, options);
    assert.equal(code, 0, output);
  });

  test(`the version is the one that is meant (${version})`, () => {
    const file = at(`tests/deps/${version}/node_modules/deepagents/package.json`);
    const wanted = { latest: "1.14.1", older: "1.10.7" }[version];
    assert.equal(JSON.parse(readFileSync(file, "utf8")).version, wanted);
  });
}

test("the compiler does look: a mistake is found", async () => {
  const file = `${folder}/mistake.ts`;
  writeFileSync(
    file,
    'import { StateBackend } from "kitbag";\nexport const n: number = new StateBackend().ls("/");\n',
  );
  const { code, output } = await compiled("mistake", [file], { paths: paths("latest") });
  assert.notEqual(code, 0);
  assert.match(output, /not assignable to type 'number'/);
});

for (const [kind, extension] of [
  ["import", "mts"],
  ["require", "cts"],
]) {
  test(`the package and kitbag/slim as \`${kind}\` sees them under node16`, async () => {
    const project = `${folder}/by-${kind}`;
    rmSync(project, { recursive: true, force: true });
    mkdirSync(`${project}/node_modules`, { recursive: true });
    symlinkSync(at("pkg"), `${project}/node_modules/kitbag`, "junction");
    const file = `${project}/main.${extension}`;
    writeFileSync(
      file,
      `import * as whole from "kitbag";
       import { FilesystemBackend, withIndex, init, initSync, StateBackend } from "kitbag/slim";
       import type { IndexBackend } from "kitbag/indexed";
       export const made: whole.StateBackend = new StateBackend();
       export const kind: typeof whole.FilesystemBackend = FilesystemBackend;
       export const ready: Promise<void> = init("kitbag", new Uint8Array());
       export const searched: IndexBackend = withIndex(new StateBackend(), { keepIn: { path: "/i/" } });
       export const now: void = initSync(new Uint8Array());
       // @ts-expect-error: an answer is no number
       export const one: number = new StateBackend().ls("/");
       // @ts-expect-error: a root is a text
       new FilesystemBackend({ rootDir: 1 });
      `,
    );
    const options = { module: "node16", moduleResolution: "node16" };
    const { code, output } = await compiled(`by-${kind}`, [file], options);
    assert.equal(code, 0, output);
  });
}
