// The compiler of TypeScript 7 as a program: it takes a fifth of the time of TypeScript 5, which the tests
// use where they need its API, or its older ways to resolve imports.

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";

/** Path of the compiler, a script for Node. */
export const TSC = at("node_modules/tsc/bin/tsc");

/** A mistake as the compiler prints it: place, line and text; without a place it is about an option. */
const MISTAKE = /^(?:(.+?)\((\d+),\d+\): )?error TS\d+: (.*)$/;

/** What the compiler says of a strict program for Node, in a project with its packages. */
export async function complaintsOf(program, root, more = {}) {
  writeFileSync(join(root, "main.mts"), program);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "es2022",
    module: "nodenext",
    moduleResolution: "nodenext",
    lib: ["es2023", "dom", "dom.iterable"],
    types: ["node"],
    typeRoots: [at("node_modules/@types")],
    ...more,
  };
  const { mistakes } = await compiled(root, { compilerOptions, files: ["main.mts"] });
  return mistakes.map(({ text }) => text);
}

/** Compiles a project in a folder, under a name; returns its mistakes and the files that were read. */
export async function compiled(folder, { compilerOptions, files }, name = "tsconfig") {
  const config = join(folder, `${name}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const args = [TSC, "-p", config, "--pretty", "false", "--listFiles"];
  const { code, output } = await run(process.execPath, args, { cwd: folder });
  const mistakes = [];
  const read = [];
  for (const line of output.split("\n")) {
    const found = MISTAKE.exec(line);
    if (found) {
      const [, file, number, text] = found;
      mistakes.push({ file: file && resolve(folder, file), line: Number(number ?? 0), text });
    } else if (line.startsWith("/")) read.push(line);
    // The rest of a long text is indented.
    else if (/^\s+\S/.test(line) && mistakes.length > 0) mistakes.at(-1).text += `\n${line}`;
  }
  if (code !== 0 && mistakes.length === 0) throw new Error(`tsc ended with ${code}: ${output}`);
  return { mistakes, read };
}
