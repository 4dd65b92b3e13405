// A project for pages: no types of Node, no other package, and the compiler checks declarations as well.

import { deepEqual, match, ok } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { entriesOf, packedProject } from "../lib/packed.mjs";
import { compiled } from "../lib/tsc.mjs";

/** Entries whose declarations name packages that they are for. */
const FOR_OTHERS = ["ai", "mastra", "just-bash", "langchain", "mcp", "opentelemetry"];

let project;
before(async () => {
  project = await packedProject();
});
after(() => project?.remove());

/** What the compiler says of a program, of the declarations it reads, and of the options. */
async function complaints(program, more = {}) {
  writeFileSync(join(project.root, "main.ts"), program);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
    ...more,
  };
  const { mistakes, read } = await compiled(project.root, { compilerOptions, files: ["main.ts"] });
  ok(read.length > 20, `only ${read.length} files were read`);
  ok(!read.some((name) => name.includes("@types/node")));
  return mistakes.map(
    ({ file, text }) => `${file?.slice(project.root.length + 1) ?? "options"}: ${text}`,
  );
}

test("every entry that needs no other package compiles", async () => {
  const entries = entriesOf(project.manifest).filter(
    (name) => !FOR_OTHERS.some((other) => name === `kitbag/${other}`),
  );
  ok(entries.length > 12);
  const lines = entries.map(
    (name, at) => `import * as m${at} from "${name}";\nconsole.log(m${at});`,
  );
  deepEqual(await complaints(lines.join("\n")), []);
});

test("a result tells by a check what it has", async () => {
  const program = `import { IndexedDbBackend, StateBackend } from "kitbag";
const files = new IndexedDbBackend({ database: "a" });
const made = await files.write("/a", "");
export const path: string = made.error === undefined ? made.path : made.error;
const page = await files.read("/a");
export const lines: string | Uint8Array = page.error === undefined ? page.content : "";
const text = await files.readText("/a");
export const whole: string = text.error === undefined ? text.content : text.code;
export const now: string = new StateBackend().readText("/a").content ?? "";
`;
  deepEqual(await complaints(program), []);
});

test("the compiler does look: without a check there may be no text", async () => {
  const program = `import { StateBackend } from "kitbag";
export const text: string = new StateBackend().readText("/a").content;
`;
  match(
    (await complaints(program)).join("\n"),
    /main\.ts: Type 'string \| undefined' is not assignable/,
  );
});
