// The declarations of the packed package: what the checkers of packages say about them, and strict
// programs that import every entry, for each way in which TypeScript resolves imports.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import ts from "typescript";
import { run } from "../../scripts/lib/exec.mjs";
import { publicNames } from "../../scripts/lib/figures/surface.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { entriesOf, packedProject } from "../lib/packed.mjs";
import { publicMembers } from "./members.mjs";

const consumer = readFileSync(at("tests/types/consumer.ts"), "utf8");
const program = (set, name) => at("tests/deps", set, "node_modules/.bin", name);
const loaded = [];
let project;

before(async () => {
  project = await packedProject({ set: ["agents", "optional", "newest"] });
});

after(() => project?.remove());

test("are-the-types-wrong has no complaint about any entry", async () => {
  const args = [project.tarball, "--format", "json"];
  const { output } = await run(program("declarations", "attw"), args);
  const { analysis } = JSON.parse(output.slice(output.indexOf("{")));
  const entries = Object.values(analysis.entrypoints).filter((entry) => !entry.isWildcard);
  console.log(`attw: ${entries.length} entries, ${analysis.problems.length} problems`);
  assert.deepEqual(analysis.problems, []);
  assert.deepEqual(
    entries
      .map(({ subpath }) => project.manifest.name + subpath.slice(1))
      .filter((name) => !name.endsWith(".json")),
    entriesOf(project.manifest),
  );
});

test("publint has no complaint", async () => {
  const args = ["run", project.tarball, "--strict"];
  const { code, output } = await run(program("declarations", "publint"), args);
  assert.equal(code, 0, output);
  assert.match(output, /All good!/);
});

for (const [kind, load] of [
  ["import", "await import(name)"],
  ["require", "require(name)"],
]) {
  test(`every entry loads by ${kind}, with the names that it has by the other way`, async () => {
    const script = `
      import { createRequire } from "node:module";
      const require = createRequire(process.cwd() + "/");
      const names = ${JSON.stringify(entriesOf(project.manifest))};
      const loaded = {};
      for (const name of names) loaded[name] = Object.keys(${load}).filter((key) => key !== "default" && key !== "module.exports" && key !== "__esModule").sort();
      console.log(JSON.stringify(loaded));`;
    const node = await run(process.execPath, ["--input-type=module", "-e", script], {
      cwd: project.root,
    });
    assert.equal(node.code, 0, node.output);
    loaded.push(JSON.parse(node.output));
    assert.deepEqual(loaded.at(-1), loaded[0]);
    const empty = Object.entries(loaded[0]).filter(([, keys]) => keys.length === 0);
    assert.deepEqual(empty, [["kitbag/regex", []]]);
  });
}

test("the program that is compiled imports every entry", () => {
  for (const entry of entriesOf(project.manifest)) {
    assert.ok(consumer.includes(`"${entry}"`), `${entry} is not imported`);
  }
});

const parsed = new Map();

/** What reads the files of a program: those of packages are parsed once for all programs that read them alike. */
function hostOf(options) {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile;
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseForTypeErrors;
  host.getSourceFile = (name, how, ...rest) => {
    if (!name.includes("/node_modules/")) return parse(name, how, ...rest);
    const key = JSON.stringify([name, how.languageVersion, how.impliedNodeFormat]);
    if (!parsed.has(key)) parsed.set(key, parse(name, how, ...rest));
    return parsed.get(key);
  };
  return host;
}

/**
 * What TypeScript says about the program and the declarations of the package. Those of other
 * packages are read, but not checked: they are not ours to mend.
 */
function complaints({ compilerOptions, files }) {
  const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, project.root);
  const program = ts.createProgram(
    files.map((file) => join(project.root, file)),
    options,
    hostOf(options),
  );
  const ours = program
    .getSourceFiles()
    .filter(
      ({ fileName }) => fileName.startsWith(project.root) || fileName.startsWith(project.home),
    );
  const own = ours.filter(({ fileName }) => fileName.includes("/kitbag/types/"));
  assert.ok(own.length > 20, `only ${own.length} declarations of the package were read`);
  const all = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...ours.flatMap((file) => program.getSyntacticDiagnostics(file)),
    ...ours.flatMap((file) => program.getSemanticDiagnostics(file)),
  ];
  return all.map(({ file, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, "\n");
    return `${file?.fileName.slice(project.root.length + 1) ?? "options"}: ${text}`;
  });
}

const NODE = { lib: ["es2023"], types: ["node"], typeRoots: [at("node_modules/@types")] };
const PAGE = { lib: ["es2023", "dom", "dom.iterable"], types: ["node"], typeRoots: NODE.typeRoots };

for (const [name, file, options] of [
  ["bundler", "main.mts", { module: "esnext", moduleResolution: "bundler", ...PAGE }],
  ["node16, ES module", "main.mts", { module: "node16", moduleResolution: "node16", ...PAGE }],
  ["node16, CommonJS", "main.cts", { module: "node16", moduleResolution: "node16", ...PAGE }],
  [
    "nodenext, ES module",
    "main.mts",
    { module: "nodenext", moduleResolution: "nodenext", ...PAGE },
  ],
  ["nodenext, CommonJS", "main.cts", { module: "nodenext", moduleResolution: "nodenext", ...PAGE }],
  [
    "node16 without the types of pages",
    "main.mts",
    { module: "node16", moduleResolution: "node16", ...NODE },
  ],
  ["node10", "main.ts", { module: "esnext", moduleResolution: "node10", ...PAGE }],
]) {
  test(`a strict program with every entry compiles: ${name}`, async () => {
    writeFileSync(join(project.root, file), consumer);
    const config = {
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
        target: "es2022",
        ...options,
      },
      files: [file],
    };
    assert.deepEqual(complaints(config), []);
  });
}

/**
 * A program that exports, inferred, what every method and function of an entry returns, and every
 * property. Its declarations can be written only if all types in them have a name that it can import, or
 * are written out.
 */
function inferring(path, names) {
  const types = names.flatMap(({ name, kind, members }) => {
    const whole = `m.${name}`;
    if (kind === "function") return [`Out<typeof ${whole}>`];
    if (kind !== "class") return [];
    return members.flatMap((member) => {
      const [own] = member.match(/\w+(?=\??$)/);
      const of = member.startsWith("static ") ? `(typeof ${whole})` : whole;
      const type = `NonNullable<${of}[${JSON.stringify(own)}]>`;
      return [type, `Out<${type}>`];
    });
  });
  const from = JSON.stringify(project.manifest.name + path.slice(1));
  return `import * as m from ${from};
    type Open<T> = T extends object ? { [Name in keyof T]: T[Name] } : T;
    type Out<T> = T extends (...given: never[]) => infer R ? Open<Awaited<R>> : T;
    const made = <T,>(): T => null as never;
    ${types.map((type, at) => `export const n${at} = made<${type}>();`).join("\n")}
    export {};`;
}

/** What TypeScript says about the declarations of a program, by line. */
const refusals = (() => {
  const options = {
    ...{ strict: true, skipLibCheck: true, declaration: true, emitDeclarationOnly: true },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: [] },
  };
  const host = hostOf(options);
  return (file) => {
    const program = ts.createProgram([file], options, host);
    const all = [...program.getSemanticDiagnostics(), ...program.getDeclarationDiagnostics()];
    return all.map(({ file: at, start, messageText }) => {
      const line = at ? at.text.slice(at.text.lastIndexOf("\n", start) + 1).split("\n")[0] : "";
      return `${line.trim()}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
  };
})();

/** The same about a type of another package, which is not ours to mend. */
const ofOthers = /cannot be named without a reference to '\.\/node_modules\/(?!kitbag\/)/;

test("a program that exports what it infers can write its declarations", () => {
  let count = 0;
  for (const [path, names] of publicNames()) {
    const file = join(project.root, `inferred${path.slice(1).replace("/", "-")}.mts`);
    const text = inferring(path, names);
    writeFileSync(file, text);
    const ours = refusals(file).filter((one) => !ofOthers.test(one));
    assert.deepEqual(ours, [], path);
    count += text.split("\nexport const").length;
  }
  assert.ok(count > 150, `only ${count} names were found`);
});

test("a type without a name that can be imported is refused there", () => {
  const file = join(project.root, "nameless.mts");
  writeFileSync(
    file,
    `import type { LocalShellBackendOptions } from "kitbag";
     const made = <T,>(): T => null as never;
     export const asked = made<Parameters<NonNullable<LocalShellBackendOptions["execute"]>>[0]>();`,
  );
  const [refusal] = refusals(file);
  assert.match(refusal, /'asked' cannot be named without a reference/);
});

test("every public member has documentation", () => {
  const types = join(project.home, "types");
  const named = (value) =>
    typeof value === "string" ? [value] : Object.values(value).flatMap(named);
  const entries = named(project.manifest.exports).filter((file) => file.endsWith(".d.ts"));
  const members = publicMembers(
    types,
    [...new Set(entries)].map((file) => join(project.home, file)),
  );
  const without = members.filter(({ documented }) => !documented);
  console.log(`JSDoc: ${members.length - without.length} of ${members.length} public members`);
  assert.deepEqual(without, []);
  assert.ok(members.length > 500, `only ${members.length} members were found`);
});

test("a member without documentation is found wherever it is", () => {
  const folder = cache("members");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "other.d.ts"),
    "/** Reached. */ export interface Other { hidden: string }\nexport interface Unreached { no: string }\n",
  );
  writeFileSync(
    join(folder, "index.d.ts"),
    `import type { Other } from "./other.js";
     export interface A {
       /** Documented. */
       a: string;
       b: {
         /** Documented. */
         c: Other;
         d: number;
       };
     }
     /** Documented. */
     export declare class B {
       #secret;
       private own;
       protected below;
       constructor(a: A);
       /** Documented. */
       get value(): string;
       method(): void;
     }
     /** Documented. */
     export declare class C extends B { method(): void }
     export declare function f(options?: { g: string }): { h: string };
     export type T = { kind: "a" } | Promise<{ i: string }>;`,
  );
  const members = publicMembers(folder, [join(folder, "index.d.ts")]);
  const without = members.filter(({ documented }) => !documented).map(({ name }) => name);
  assert.deepEqual(without.sort(), [
    "A",
    "A.b",
    "A.b.d",
    "B.constructor",
    "B.method",
    "C.method",
    "Other.hidden",
    "T",
    "T.i",
    "T.kind",
    "f",
    "f.g",
    "f.h",
  ]);
});
