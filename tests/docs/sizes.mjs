// The table of docs/sizes.md: what a page downloads for each class. `node tests/docs/sizes.mjs`
// prints it for the package in `pkg/`; `--write` puts it into the documents that state sizes.

import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { at } from "../../scripts/lib/paths.mjs";

/** What is imported, in the order of the table. */
export const IMPORTS = [
  ["StateBackend"],
  ["StateBackend", "IndexedDbBackend"],
  ["StateBackend", "OpfsBackend"],
  ["StateBackend", "S3Backend"],
  ["StateBackend", "HttpBackend"],
  ["StateBackend", "SqlBackend"],
  ["StateBackend", "StoreBackend"],
  ["StateBackend", "ContextHubBackend"],
  ["StateBackend", "CustomBackend"],
  ["StateBackend", "FilesystemBackend"],
  ["StateBackend", "SandboxBackend"],
  ["StateBackend", "CompositeBackend"],
  ["StateBackend", "withPolicy"],
  ["StateBackend", "withIndex"],
  ["StateBackend", "createFs"],
  ["StateBackend", "createFileTools"],
  ["StateBackend", "withPolicy", "CompositeBackend", "createFileTools"],
];

async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: at("tests/docs") },
    alias: {
      kitbag: at("pkg/dist/browser.js"),
      "kitbag/indexed": at("pkg/dist/browser/indexed.js"),
      "kitbag/fs": at("pkg/dist/fs.js"),
    },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    logLevel: "error",
  });
  const { contents: code } = outputFiles[0];
  return { code, raw: code.length, gzip: gzipSync(code).length };
}

const SUBPATHS = { withIndex: "/indexed", createFs: "/fs" };
const imported = (name) => `import { ${name} } from "kitbag${SUBPATHS[name] ?? ""}";`;

const kib = (bytes) => (bytes / 1024).toFixed(1);

/** The rows as they must stand in the table. */
export async function rows() {
  const named = IMPORTS.map((names) => ({
    label: names.map((name) => `\`${name}\``).join(", "),
    source: `${names.map(imported).join(" ")} globalThis.used = [${names.join(", ")}];`,
  }));
  const all = [
    ...named,
    { label: "everything", source: `import * as all from "kitbag"; globalThis.used = all;` },
  ];
  const measured = [];
  for (const { label, source } of all) measured.push({ label, ...(await bundle(source)) });
  return measured;
}

/** The rows of the page: label to KiB after gzip. */
export function documented() {
  const text = readFileSync(at("docs/sizes.md"), "utf8");
  const table = [...text.matchAll(/^\| (.+?) \| [\d.]+ \| ([\d.]+) \| [\d.]+ \|$/gm)];
  return new Map(table.map(([, label, gzip]) => [label, Number(gzip)]));
}

/** Files that state sizes after gzip, besides docs/sizes.md. */
const OTHERS = ["README.md", "pkg-template/README.md", "docs/performance.md"];

if (process.argv[1] === import.meta.filename) {
  const measured = await rows();
  const write = process.argv.includes("--write");
  const text = (file) => readFileSync(at(file), "utf8");
  let page = text("docs/sizes.md");
  const others = new Map(OTHERS.map((file) => [file, text(file)]));
  for (const { label, code, raw, gzip } of measured) {
    const start = `\n| ${label} | `;
    const row = `${start}${kib(raw)} | ${kib(gzip)} | ${kib(brotliCompressSync(code).length)} |\n`;
    console.log(row.trim());
    page = replacedRow(page, start, row);
    for (const [file, now] of others) {
      others.set(file, replacedRow(now, start, `${start}${kib(gzip)} |\n`));
    }
  }
  if (write)
    for (const [file, now] of [["docs/sizes.md", page], ...others]) writeFileSync(at(file), now);
}

/** The text with the row of figures that begins so replaced, if it has one. */
function replacedRow(text, start, row) {
  const label = start.replace(/[|`*]/g, "\\$&");
  return text.replace(new RegExp(`${label}[\\d. |]+\n`), () => row);
}
