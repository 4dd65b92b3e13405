// What a start takes that nobody waits for gladly: of a process of Node, of a command, of a Worker, of a page.
// Each is compared with the same without kitbag, in turn.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { at } from "../scripts/lib/paths.mjs";
import { launch } from "../tests/browser/lib/browsers.mjs";
import { serve } from "../tests/browser/lib/server.mjs";
import { median } from "./lib/compare.mjs";
import { startTimes } from "./lib/start.mjs";

const ROUNDS = 15;
const WORK = `
  const files = new StateBackend({ scope: "instance" });
  for (let at = 0; at < 100; at++) files.write("/f" + at + ".txt", "text " + at + "\\n");
  const { matches } = files.grep("text 7");`;

/** Medians of what `run` takes for each of these, in turn. */
async function inTurn(names, run) {
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -2; round < ROUNDS; round++) {
    for (const name of names) {
      const took = await run(name);
      if (round >= 0) times[name].push(took);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])]));
}

/** `kitbag ls` of a folder with 100 files, and an empty process. */
async function command(node, env) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  try {
    for (let count = 0; count < 100; count++)
      writeFileSync(join(folder, `f${count}.txt`), "text\n");
    const lines = { empty: ["-e", ""], ls: [at("pkg/dist/kitbag.js"), "ls", folder] };
    const { empty, ls } = await inTurn(Object.keys(lines), (name) => {
      const began = performance.now();
      execFileSync(node, lines[name], { env: { ...process.env, ...env } });
      return performance.now() - began;
    });
    return ls - empty;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The modules of a Worker, as a Worker that loads others takes them. */
async function workerModules(contents) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  try {
    await build({
      stdin: { contents, resolveDir: at(), sourcefile: "entry.mjs" },
      outfile: join(folder, "main.js"),
      ...{ bundle: true, minify: true, format: "esm", logLevel: "error" },
      ...{ loader: { ".wasm": "copy" }, assetNames: "[name]" },
    });
    return readdirSync(folder).map((name) => ({ name, body: readFileSync(join(folder, name)) }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Loads a Worker that has never run, and asks it once. The clock is ours: that of a Worker stands still. */
const LOADER = `
  import { all } from "all.js";
  export default {
    async fetch(request, env) {
      const [, which, id] = new URL(request.url).pathname.split("/");
      const worker = env.LOADER.get(which + id, () => ({
        compatibilityDate: "2026-04-01", mainModule: "main.js", modules: all[which] }));
      return worker.getEntrypoint().fetch(request);
    },
  };`;

async function worker() {
  const kitbag = JSON.stringify(at("pkg/dist/workerd.js"));
  const sources = {
    empty: `export default { fetch: () => new Response("1") }`,
    kitbag: `import { StateBackend } from ${kitbag};
      export default { fetch() { ${WORK} return new Response(String(matches.length)); } };`,
  };
  const modules = [{ type: "ESModule", path: "host.js", contents: LOADER }];
  let all = "";
  let imports = "";
  for (const [which, source] of Object.entries(sources)) {
    all += `${which}: {`;
    for (const { name, body } of await workerModules(source)) {
      const own = `${which}_${modules.length}`;
      const isText = name.endsWith(".js");
      modules.push({ type: isText ? "Text" : "Data", path: own, contents: body });
      imports += `import ${own} from "${own}";\n`;
      all += `${JSON.stringify(name)}: ${isText ? own : `{ wasm: ${own} }`},`;
    }
    all += "},";
  }
  modules.push({
    type: "ESModule",
    path: "all.js",
    contents: `${imports}export const all = {${all}};`,
  });
  const running = new Miniflare({
    ...{ compatibilityDate: "2026-04-01", modules, modulesRoot: "/" },
    workerLoaders: { LOADER: {} },
  });
  try {
    const url = await running.ready;
    let id = 0;
    const { empty, kitbag: ours } = await inTurn(Object.keys(sources), async (name) => {
      id += 1;
      const began = performance.now();
      const answer = await fetch(new URL(`/${name}/${id}`, url));
      const text = await answer.text();
      if (!(Number(text) >= 1)) throw new Error(`${name}: ${answer.status} ${text}`);
      return performance.now() - began;
    });
    return ours - empty;
  } finally {
    await running.dispose();
  }
}

/** From the beginning of the navigation to the answer of a search, in a browser that has cached nothing. */
async function page() {
  const made = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  const scripts = {
    empty: "globalThis.answered = performance.now();",
    kitbag: `import { StateBackend } from ${JSON.stringify(at("pkg/dist/browser.js"))};
      ${WORK} if (matches.length > 0) globalThis.answered = performance.now();`,
  };
  for (const [name, contents] of Object.entries(scripts)) {
    await build({
      stdin: { contents, resolveDir: at(), sourcefile: "entry.mjs" },
      outfile: join(made, `${name}.js`),
      ...{ bundle: true, minify: true, format: "esm", logLevel: "error" },
    });
    const html = `<!doctype html><title>${name}</title><script type="module" src="${name}.js"></script>`;
    writeFileSync(join(made, `${name}.html`), html);
  }
  const server = await serve({ mounts: { "/made/": made }, isolated: true });
  const browser = await launch("chromium");
  try {
    const { empty, kitbag } = await inTurn(Object.keys(scripts), async (name) => {
      const tab = await browser.context.newPage();
      await tab.goto(`${server.origin}/made/${name}.html`);
      const took = await tab.waitForFunction("globalThis.answered");
      const ms = await took.jsonValue();
      await tab.close();
      return ms;
    });
    return { empty, kitbag };
  } finally {
    await browser.close();
    await server.close();
    rmSync(made, { recursive: true });
  }
}

async function measure({ print }) {
  const rows = [];
  const row = (name, ms, goal) =>
    rows.push(`| ${name} | ${ms.toFixed(1)} | ${goal === undefined ? "" : `≤ ${goal}`} |`);
  const newer = at("tests/deps/nodes/node_modules/node-24/bin/node");
  const cache = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  try {
    const start = startTimes(ROUNDS);
    row("Node: import, 100 files, a search", start.ours.over, 20);
    row("— deepagents' `StateBackend`", start.peer.over);
    row("— a module that is only read, compiled and made an instance", start.least.over);
    const env = { NODE_COMPILE_CACHE: cache };
    startTimes(3, { node: newer, env });
    row("Node 24", startTimes(ROUNDS, { node: newer }).ours.over, 20);
    const kept = startTimes(ROUNDS, { node: newer, env });
    row("Node 24, with `NODE_COMPILE_CACHE`", kept.ours.over, 20);
    row("`kitbag ls`", await command(process.execPath, {}), 80);
    row("`kitbag ls`, Node 24", await command(newer, {}), 80);
    row("workerd: a Worker that has never run, its first answer", await worker());
    const { empty, kitbag } = await page();
    row("Chromium: a page, from its address to the first answer", kitbag - empty);
    print("| milliseconds more than the same without kitbag | measured | goal |");
    print("|---|---:|---:|");
    for (const line of rows) print(line);
    print(
      `\nParts of the first row, ms: ${start.parts}. The empty page takes ${empty.toFixed(1)} ms.`,
    );
  } finally {
    rmSync(cache, { recursive: true });
  }
  return {};
}

export default {
  title: "Starts: of a process, a command, a Worker and a page",
  needs: ["build", "npm", "npm:latest", "npm:nodes", "chromium"],
  run: measure,
};
