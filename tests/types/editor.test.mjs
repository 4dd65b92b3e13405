// `kitbag/vscode` with the types of VS Code: the published ones, and the proposals for its searches.

import { deepEqual, match, ok } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { packedProject } from "../lib/packed.mjs";
import { compiled } from "../lib/tsc.mjs";

const PROGRAM = `import { type AnyBackend, StateBackend, withPolicy } from "kitbag";
import { fileSystemProvider } from "kitbag/vscode";
import * as vscode from "vscode";

export function activate({ subscriptions }: vscode.ExtensionContext, other: AnyBackend) {
  for (const backend of [new StateBackend(), withPolicy(new StateBackend(), {}), other]) {
    const provider = fileSystemProvider(backend, vscode);
    const files: vscode.FileSystemProvider = provider;
    const isReadonly: boolean = provider.isReadonly;
    const options = { isCaseSensitive: true, isReadonly };
    subscriptions.push(vscode.workspace.registerFileSystemProvider("kitbag", files, options));
    subscriptions.push(provider.onDidChangeFile((changes) => changes[0]?.uri.fsPath));
  }
}

export async function used(uri: vscode.Uri) {
  const provider = fileSystemProvider(new StateBackend(), vscode);
  const stat: vscode.FileStat = await provider.stat(uri);
  const names: [string, vscode.FileType][] = await provider.readDirectory(uri);
  const change: vscode.Event<vscode.FileChangeEvent[]> = provider.onDidChangeFile;
  await provider.writeFile(uri, await provider.readFile(uri), { create: true, overwrite: true });
  return [stat, names, change] as const;
}

export class Mine implements vscode.FileSystemProvider {
  readonly #files = fileSystemProvider(new StateBackend(), vscode);
  readonly onDidChangeFile = this.#files.onDidChangeFile;
  readonly watch = this.#files.watch;
  readonly stat = this.#files.stat;
  readonly readDirectory = this.#files.readDirectory;
  readonly createDirectory = this.#files.createDirectory;
  readonly readFile = this.#files.readFile;
  readonly writeFile = this.#files.writeFile;
  readonly delete = this.#files.delete;
  readonly rename = this.#files.rename;
}
`;

const SEARCHES = `
export function searching() {
  const provider = fileSystemProvider(new StateBackend(), vscode);
  const text: vscode.TextSearchProvider2 = provider;
  const names: vscode.FileSearchProvider2 = provider;
  vscode.workspace.registerTextSearchProvider2("kitbag", text);
  vscode.workspace.registerFileSearchProvider2("kitbag", names);
}
`;

let project;
before(async () => {
  project = await packedProject({ set: ["editor"] });
});
after(() => project?.remove());

/** What the compiler says of a program, with the declarations of these proposals. */
async function complaints(program, proposals = [], declaration = false) {
  writeFileSync(join(project.root, "main.ts"), program);
  const folder = at("tests/deps/editor/node_modules/@codingame/monaco-vscode-api/vscode-dts");
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: !declaration,
    declaration,
    outDir: "out",
    types: [],
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
  };
  const files = [
    "main.ts",
    ...proposals.map((name) => join(folder, `vscode.proposed.${name}.d.ts`)),
  ];
  const { mistakes, read } = await compiled(project.root, { compilerOptions, files });
  ok(read.some((name) => name.includes("@types/vscode")));
  return mistakes.map(({ text }) => text);
}

test("a provider is a FileSystemProvider, strictly, also in parts", async () => {
  deepEqual(await complaints(PROGRAM), []);
});

test("a provider is what the proposals for searches want", async () => {
  const proposals = ["textSearchProvider2", "fileSearchProvider2"];
  deepEqual(await complaints(PROGRAM + SEARCHES, proposals), []);
});

test("its type can stand in the declarations of a program", async () => {
  const program = PROGRAM.concat(
    "export const provider = fileSystemProvider(new StateBackend(), vscode);\n",
  );
  deepEqual(await complaints(program, [], true), []);
});

test("wrong uses are found", async () => {
  for (const [right, wrong] of [
    ["(backend, vscode)", "(backend)"],
    ["(backend, vscode)", "(backend, {})"],
    ["const isReadonly: boolean", "const isReadonly: string"],
    ["changes[0]?.uri.fsPath", "changes[0]?.uri.fsPathh"],
    ["await provider.stat(uri)", 'await provider.stat("kitbag:/a")'],
    ["{ create: true, overwrite: true }", "{ create: 1 }"],
    ["vscode.FileStat = await", "string = await"],
  ]) {
    const program = PROGRAM.replace(right, wrong);
    ok(program !== PROGRAM, right);
    match((await complaints(program)).join("\n"), /./, wrong);
  }
});
