// Runs the rows of `npm run bench -- state` in a page of Chromium. Both contenders are bundled as for an
// application, and served on loopback.

import { copyFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { at } from "../../scripts/lib/paths.mjs";
import { inPages, launch } from "../../tests/browser/lib/browsers.mjs";
import { serve } from "../../tests/browser/lib/server.mjs";
import { withoutBuiltins } from "../../tests/tools/hosts/builtins.mjs";
import { median, Table } from "./compare.mjs";

const bundle = (contents, resolveDir, outfile) =>
  build({
    stdin: { contents, resolveDir, sourcefile: "entry.mjs" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    plugins: [withoutBuiltins],
    // picomatch, which deepagents uses, asks what the host is.
    define: { "process.platform": '"browser"', "process.version": '""' },
    logLevel: "error",
    outfile,
  });

/** `wasm` is the path of the module of `benches/native`. */
export async function inChromium({ files, wasm, machine, effort = 1 }) {
  const made = await mkdtemp(join(tmpdir(), "kitbag-bench-"));
  const served = { mounts: { "/bench/": at("benches/lib"), "/made/": made }, isolated: true };
  const server = await serve(served);
  let browser;
  try {
    copyFileSync(wasm, join(made, "limits.wasm"));
    await writeFile(join(made, "corpus.json"), JSON.stringify(files));
    const kitbag = `export { StateBackend } from ${JSON.stringify(at("pkg/dist/browser.js"))}`;
    await bundle(kitbag, at(), join(made, "kitbag.js"));
    const peer = 'export { StateBackend } from "deepagents"';
    await bundle(peer, at("tests/deps/latest"), join(made, "deepagents.js"));
    browser = await launch("chromium");
    const fresh = () => browser.page(`${server.origin}/pages/blank.html`);
    const call = inPages(fresh, "/bench/state-page.mjs");
    const { said, rows, limits, bounds } = await call("measure", { machine, effort });
    const starts = { deepagents: [], kitbag: [] };
    for (let round = 0; round < Math.max(3, 7 * effort); round++) {
      for (const which of Object.keys(starts)) starts[which].push(await call("start", which));
    }
    const table = new Table("deepagents");
    for (const { name, peer, ours, goal, share } of rows) {
      table.add(name, { peer, ours }, goal, share && share * ours);
    }
    const [theirs, own] = [median(starts.deepagents), median(starts.kitbag)];
    table.add("import and first operation, 100 files", { peer: theirs, ours: own }, 15);
    return { version: browser.context.browser()?.version() ?? "", said, table, limits, bounds };
  } finally {
    await browser?.close();
    await server.close();
    await rm(made, { recursive: true, force: true });
  }
}
