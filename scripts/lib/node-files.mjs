// The small modules that the build writes itself: what Node, Bun, and bundlers for Node load.
//
// Node loads one file, `core.cjs`, for `import` and `require`, of `kitbag` and `kitbag/slim`. So there
// is only one instance.
//
// Tools that copy the files of a server (Nitro, Nuxt, Next.js, Vercel: `@vercel/nft`) must find all
// that Node will load, wherever they began. They do not follow `createRequire(…)(file)`, and some began
// at the file for bundlers. So such a module has a function that nobody calls, which imports the files
// by an expression that these tools evaluate. Bundlers drop the function.

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENTRIES } from "./exports.mjs";

/** Bundlers do not look at an `import()` with these comments. */
const IGNORED = ["webpackIgnore: true", "turbopackIgnore: true", "@vite-ignore"]
  .map((text) => `/* ${text} */`)
  .join(" ");

/**
 * A line by which tools that copy files find two files. The expression is one that they evaluate and
 * bundlers do not: esbuild would take the branches apart if they were texts, or a sum of texts, and
 * Parcel evaluates `["…"][0]` alone.
 */
function copied(one, other) {
  const [first, second] = [one, other].map((file) => `[${JSON.stringify(file)}][0]`);
  return `const filesToCopy = (one) => import(${IGNORED} one ? ${first} : ${second});\n`;
}

/**
 * The last line of `core.cjs`. Its length depends on the build, since Deno before September 2026 takes two
 * large files at one path for the same if they are equally long, and then runs the code that it kept of the
 * older one: that of a version which differs in its WebAssembly alone.
 */
export function lastLine(build) {
  return `// build ${build} ${".".repeat(Number.parseInt(build.slice(0, 4), 16) % 1024)}`;
}

/**
 * Writes the modules into `dist`. `own` are the names that `kitbag` exports, `apart` those of entries
 * of their own, `testing` those that only tests need.
 */
export function writeNodeFiles(dist, { own, apart, testing }) {
  const write = (name, text) => writeFileSync(join(dist, name), text);
  // Not an `import` of the file: Node would scan its 200 KB for export names, which takes 20 ms.
  const esm = (name, names) =>
    `import { createRequire } from "node:module";\nexport const { ${names.join(", ")} } = createRequire(import.meta.url)("./core.cjs");\n${copied("./core.cjs", `./${name}.js`)}`;
  const cjs = (names) =>
    `const core = require("./core.cjs");\n${names.map((name) => `exports.${name} = core.${name};\n`).join("")}`;
  const both = (name, names) => {
    write(`${name}.js`, esm(name, names));
    write(`${name}.cjs`, cjs(names));
  };
  both("node", own);
  both("slim-node", [...own, ...apart.indexed, "init", "initSync"]);
  both("guided", ["guidedPrompts"]);
  for (const [name, names] of Object.entries(apart)) both(name, names);
  const empty = "// The chunk is loaded with the first expression.\n";
  write("regex.js", empty);
  write("regex.cjs", empty);
  if (testing.length > 0) write("testing.js", esm("testing", testing));

  // Bun takes the inlined form, but always has what pages import by name.
  const always = ["regex", "guided"].map((name) => `import "./browser/${name}.js";\n`).join("");
  write("bun.js", `${always}export * from "./browser.js";\n`);

  mkdirSync(join(dist, "server"), { recursive: true });
  for (const { server, bundle, node } of ENTRIES.values()) {
    if (!server) continue;
    const up = server.includes("/") ? "../" : "./";
    const forNode = copied(`${up}${node}.js`, `${up}${node}.cjs`);
    write(`${server}.js`, `export * from "${up}${bundle}.js";\n${forNode}`);
  }
}

/** Adds to the entries that are the same everywhere the file that Node takes for `require`. */
export function nameRequired(dist) {
  for (const { plain, bundle, node } of ENTRIES.values()) {
    if (plain) appendFileSync(join(dist, `${bundle}.js`), copied(`./${node}.cjs`, `./${node}.js`));
  }
}
