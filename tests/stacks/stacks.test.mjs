// Every stack builds the packed package with nothing configured for it, and what it built gives the
// right answers. Prints a table: what each built weighs, and when its first operation was done.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { must } from "../../scripts/lib/exec.mjs";
import { at, results } from "../../scripts/lib/paths.mjs";
import { chromium } from "./chromium.mjs";
import {
  command,
  freePort,
  noWarning,
  opened,
  served,
  tool,
  weight,
  withServer,
  workshop,
} from "./lib.mjs";
import { NITRO_ANSWERS, nextFiles, svelteFiles } from "./templates.mjs";

const IN_PAGE = "memory database";
const IN_NODE = "memory disk";
const IN_WORKER = "memory bucket";
const SUBPATHS = NITRO_ANSWERS["/subpaths"];
const HTML =
  '<!doctype html><html lang="en"><title>stack</title><script type="module" src="./main.js"></script></html>\n';

/** Entries for packages that are not in the set of this suite. */
const FOR_PACKAGES = [
  "ai",
  "just-bash",
  "langchain",
  "mastra",
  "mcp",
  "opentelemetry",
  "tar",
  "zip",
].map((name) => `./${name}`);

const PARCEL = ["--no-cache", "--no-source-maps", "--dist-dir"];

let shop;
let browser;
const rows = [];

before(async () => {
  shop = await workshop();
  browser = await chromium();
});

after(async () => {
  await browser?.close();
  shop?.remove();
  const lines = [
    "| stack | worked | raw KB | gzip KB | first operation, ms |",
    "|---|---|---:|---:|---:|",
  ];
  for (const { name, worked = true, raw, gzip, first } of rows) {
    const kb = (bytes) => (bytes === undefined ? "" : (bytes / 1000).toFixed(0));
    const figures = `${kb(raw)} | ${kb(gzip)} | ${first?.toFixed(0) ?? ""}`;
    lines.push(`| ${name} | ${worked ? "yes" : "NO"} | ${figures} |`);
  }
  console.log(lines.join("\n"));
  writeFileSync(results("stacks.md"), `${lines.join("\n")}\n`);
});

/** A test that has a row in the table: `work` gives what stands there, if there is more to say. */
function listed(name, work) {
  test(name, async () => {
    const row = { name, worked: false };
    rows.push(row);
    Object.assign(row, await work(), { worked: true });
  });
}

/** A test of one stack: `work` gives what was said, and what was built. */
function stack(name, expected, work) {
  listed(name, async () => {
    const { said, built } = await work(name.replace(/\W+/g, "-").toLowerCase());
    strictEqual(said?.text ?? said, expected);
    return { first: said.first, ...(built ? weight(built) : {}) };
  });
}

/** What a folder's page says in Chromium. */
async function inPage(folder, path = "/index.html", headers = {}) {
  const server = await served(folder, headers);
  try {
    return await opened(browser, server.origin + path);
  } finally {
    await server.close();
  }
}

/** What webpack says of scripts of a page over 244 KiB, and Rspack of those over 300 KiB. */
const LARGE = [/^\W*(asset|entrypoint) size limit/, /^\W*\w+ performance recommendations/];

stack("import map, no bundler", IN_PAGE, async (name) => {
  const map = { imports: { kitbag: "/kitbag/dist/browser.js" } };
  const folder = shop.project(name, {
    "index.html": `<!doctype html><html lang="en"><title>stack</title><script type="importmap">${JSON.stringify(map)}</script><script type="module" src="./main.js"></script></html>`,
  });
  await must("cp", ["-r", join(shop.root, "node_modules/kitbag"), join(folder, "kitbag")]);
  return { said: await inPage(folder) };
});

for (const kind of ["web", "shared", "service"]) {
  stack(`${kind} worker (esbuild)`, IN_PAGE, async (name) => {
    const folder = shop.project(name, {
      "index.html": `<!doctype html><html lang="en"><title>stack</title><script type="module">
        const kind = ${JSON.stringify(kind)};
        const said = (data) => { globalThis.said = data; };
        if (kind === "web") new Worker("./built.js").onmessage = ({ data }) => said(data);
        else if (kind === "shared") new SharedWorker("./built.js").port.onmessage = ({ data }) => said(data);
        else {
          const channel = new MessageChannel();
          channel.port1.onmessage = ({ data }) => said(data);
          await navigator.serviceWorker.register("./built.js", { scope: "./" });
          const { active } = await navigator.serviceWorker.ready;
          active.postMessage("", [channel.port2]);
        }
      </script></html>`,
    });
    await tool(folder, "esbuild", ["worker.js", "--bundle", "--minify", "--outfile=built.js"]);
    return { said: await inPage(folder), built: join(folder, "built.js") };
  });
}

stack("esbuild, page", IN_PAGE, async (name) => {
  const folder = shop.project(name, { "index.html": HTML.replace("./main.js", "./built/main.js") });
  await tool(folder, "esbuild", [
    "main.js",
    "--bundle",
    "--minify",
    "--format=esm",
    "--outdir=built",
  ]);
  return { said: await inPage(folder), built: join(folder, "built") };
});

for (const format of ["esm", "cjs"]) {
  stack(`esbuild, Node (${format})`, IN_NODE, async (name) => {
    const folder = shop.project(name);
    const file = join(folder, `built/command.${format === "esm" ? "mjs" : "cjs"}`);
    await tool(folder, "esbuild", [
      "command.mjs",
      "--bundle",
      "--minify",
      "--platform=node",
      `--format=${format}`,
      `--outfile=${file}`,
    ]);
    return { said: await command(file), built: file };
  });
}

stack("Vite, build", IN_PAGE, async (name) => {
  const folder = shop.project(name, { "index.html": HTML });
  await tool(folder, "vite", ["build"]);
  return { said: await inPage(join(folder, "dist")), built: join(folder, "dist") };
});

stack("Vite, dev server", IN_PAGE, async (name) => {
  const folder = shop.project(name, { "index.html": HTML });
  const port = await freePort();
  const bin = join(shop.root, "node_modules/vite/bin/vite.js");
  const args = [bin, "--port", String(port), "--strictPort", "--host", "127.0.0.1"];
  const said = await withServer({ cwd: folder, args, port }, (origin) =>
    opened(browser, `${origin}/`),
  );
  return { said };
});

for (const external of [true, false]) {
  stack(`Vite, SSR (kitbag ${external ? "external" : "bundled"})`, IN_NODE, async (name) => {
    // Packages are external by default; some servers want one file.
    const config = external ? "{}" : "{ ssr: { noExternal: true } }";
    const folder = shop.project(name, { "vite.config.mjs": `export default ${config};\n` });
    await tool(folder, "vite", ["build", "--ssr", "command.mjs"]);
    const [file] = readdirSync(join(folder, "dist")).filter((entry) => /^command/.test(entry));
    return { said: await command(join(folder, "dist", file)), built: join(folder, "dist") };
  });
}

for (const bundler of ["webpack", "@rspack/core"]) {
  const title = bundler === "webpack" ? "webpack 5" : "Rspack";
  for (const [target, expected] of [
    ["web", IN_PAGE],
    ["node", IN_NODE],
  ]) {
    stack(`${title}, ${target === "web" ? "page" : "Node"}`, expected, async (name) => {
      const folder = shop.project(name, {
        "index.html": HTML.replace("./main.js", "./built/main.js"),
      });
      const pack = createRequire(join(folder, "package.json"))(bundler);
      const file = target === "web" ? "main.js" : "command.cjs";
      const compiler = pack({
        mode: "production",
        target,
        context: folder,
        entry: target === "web" ? "./main.js" : "./command.mjs",
        output: { path: join(folder, "built"), filename: file },
      });
      const stats = await new Promise((resolve, reject) => {
        compiler.run((error, done) => (error ? reject(error) : resolve(done)));
      });
      const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
      await new Promise((resolve) => compiler.close(resolve));
      deepStrictEqual(errors, []);
      for (const { message } of warnings) {
        const isSize = target === "web" && LARGE.some((pattern) => pattern.test(message));
        ok(isSize, message);
      }
      const said =
        target === "web" ? await inPage(folder) : await command(join(folder, "built", file));
      return { said, built: join(folder, "built", file) };
    });
  }
}

const ROLLUP_PAGE = `import resolve from "@rollup/plugin-node-resolve";
export default {
  input: "main.js",
  plugins: [resolve({ browser: true })],
  output: { dir: "built", entryFileNames: "[name].js" },
};
`;
const ROLLUP_NODE = `import resolve from "@rollup/plugin-node-resolve";
export default {
  input: "command.mjs",
  external: [/^node:/],
  plugins: [resolve()],
  output: { dir: "built", entryFileNames: "[name].mjs" },
};
`;

for (const [what, expected] of [
  ["page", IN_PAGE],
  ["Node", IN_NODE],
]) {
  stack(`Rollup, ${what}`, expected, async (name) => {
    const page = what === "page";
    const folder = shop.project(name, {
      "index.html": HTML.replace("./main.js", "./built/main.js"),
      "rollup.config.mjs": page ? ROLLUP_PAGE : ROLLUP_NODE,
    });
    await tool(folder, "rollup", ["-c"]);
    const said = page ? await inPage(folder) : await command(join(folder, "built/command.mjs"));
    return { said, built: join(folder, "built") };
  });
}

stack("Parcel", IN_PAGE, async (name) => {
  const folder = shop.project(name, { "index.html": HTML });
  await tool(folder, "parcel", ["build", "index.html", ...PARCEL, join(folder, "dist")]);
  return { said: await inPage(join(folder, "dist")), built: join(folder, "dist") };
});

listed("Parcel, subpaths", async () => {
  const folder = shop.project("parcel-subpaths", {
    "index.html": HTML,
    "main.js": `import { init } from "kitbag/slim";
import address from "url:kitbag/wasm/kitbag.wasm";
import { says } from "./subpaths.mjs";
says().then((said) => fetch(address).then(({ ok }) => {
  globalThis.said = { text: [said.text, typeof init, ok].join(" ") };
}));
`,
  });
  const built = join(folder, "dist");
  await tool(folder, "parcel", ["build", "index.html", ...PARCEL, built]);
  strictEqual((await inPage(built)).text, `${SUBPATHS} function true`);
  // One script: no file for Node is built beside it.
  const scripts = readdirSync(built).filter((name) => /js$/.test(name));
  strictEqual(scripts.length, 1, scripts.join(", "));
  return weight(built);
});

listed("Parcel finds every entry; of some it lacks the packages that they are for", async () => {
  const folder = shop.project("parcel-entries");
  const { exports } = JSON.parse(
    readFileSync(join(shop.root, "node_modules/kitbag/package.json"), "utf8"),
  );
  const entries = Object.keys(exports).filter((path) => !/\*|json$/.test(path));
  const lacking = [];
  for (const path of entries) {
    const name = `kitbag${path.slice(1)}`;
    writeFileSync(
      join(folder, "entry.js"),
      `import * as all from "${name}";\nglobalThis.all = all;\n`,
    );
    const args = ["build", "entry.js", "--no-optimize", ...PARCEL, join(folder, "dist")];
    // It marks large files with a sign of warning.
    const quiet = () => undefined;
    const failed = await tool(folder, "parcel", args, { quiet }).then(
      () => undefined,
      (error) => error.message,
    );
    if (failed === undefined) continue;
    lacking.push(path);
    const missing = [...failed.matchAll(/Failed to resolve '([^']+)'/g)].map(([, one]) => one);
    ok(missing.length > 0 && !missing.some((one) => /^kitbag/.test(one)), failed);
  }
  console.log(
    `Parcel: ${entries.length} entries, of which lack their packages: ${lacking.join(", ")}`,
  );
  deepStrictEqual(lacking.toSorted(), FOR_PACKAGES);
});

for (const compiled of [false, true]) {
  stack(`Bun, ${compiled ? "--compile" : "build"}`, IN_NODE, async (name) => {
    const folder = shop.project(name);
    const bun = createRequire(at("tests/deps/runtimes/package.json")).resolve("bun/package.json");
    const binary = join(bun, "../bin/bun.exe");
    const out = join(folder, compiled ? "program" : "built.mjs");
    const kind = compiled ? ["--compile"] : ["--target=bun"];
    await must(binary, ["build", ...kind, "command.mjs", `--outfile=${out}`], { cwd: folder });
    const said = compiled ? await command(out, [], out) : await command(out, ["run", out], binary);
    return { said, ...(compiled ? {} : { built: out }) };
  });
}

stack("wrangler, its output in miniflare", IN_WORKER, async (name) => {
  const folder = shop.project(name, {
    "wrangler.toml": `name = "stack"
main = "edge.js"
compatibility_date = "2026-01-01"
[[r2_buckets]]
binding = "FILES"
bucket_name = "files"
`,
  });
  await tool(folder, "wrangler", ["deploy", "--dry-run", "--outdir", "built"]);
  const { Miniflare } = await import(
    createRequire(join(folder, "package.json")).resolve("miniflare")
  );
  const modules = readdirSync(join(folder, "built"))
    .filter((file) => /\.(js|wasm)$/.test(file))
    .sort((a, b) => Number(b === "edge.js") - Number(a === "edge.js"))
    .map((file) => ({
      type: file.endsWith(".js") ? "ESModule" : "CompiledWasm",
      path: join(folder, "built", file),
    }));
  strictEqual(modules[0]?.path, join(folder, "built/edge.js"));
  const worker = new Miniflare({
    modules,
    modulesRoot: join(folder, "built"),
    compatibilityDate: "2026-01-01",
    r2Buckets: ["FILES"],
  });
  try {
    const said = await (await worker.dispatchFetch("http://localhost/")).json();
    // A Worker's clock stands still while it computes.
    return { said: { text: said.text }, built: join(folder, "built") };
  } finally {
    await worker.dispose();
  }
});

for (const bundler of ["turbopack", "webpack"]) {
  listed(
    `Next.js (${bundler}): server component, server action, routes on Node and edge, client component`,
    async () => {
      const folder = shop.project(`next-${bundler}`, nextFiles());
      const edge = /edge runtime|No build cache/i;
      await tool(folder, "next", ["build", `--${bundler}`], {
        quiet: (said) => noWarning(said, edge),
      });
      const port = await freePort();
      const bin = join(shop.root, "node_modules/next/dist/bin/next");
      const args = [bin, "start", "-p", String(port), "-H", "127.0.0.1"];
      await withServer({ cwd: folder, args, port }, async (origin) => {
        for (const [path, text] of [
          ["/api/node", IN_NODE],
          ["/api/edge", "memory"],
        ]) {
          const said = await (await fetch(origin + path)).json();
          strictEqual(said.text, text, path);
          rows.push({ name: `Next.js (${bundler}), ${path}`, first: said.first });
        }
        const page = await browser.newPage();
        await page.goto(`${origin}/`);
        strictEqual(await page.textContent("#component"), "server component");
        await page.fill("input[name=text]", "from a form");
        await page.click("button");
        await page.waitForFunction(
          () => document.querySelector("#action").textContent !== "nothing",
        );
        strictEqual(await page.textContent("#action"), "from a form");
        await page.close();
        const said = await opened(browser, `${origin}/client`);
        strictEqual(said?.text, IN_PAGE);
        const built = weight(join(folder, ".next/static"));
        rows.push({ name: `Next.js (${bundler}), client component`, first: said.first, ...built });
      });
    },
  );
}

listed("SvelteKit: server route and page", async () => {
  const folder = shop.project("sveltekit", svelteFiles());
  await tool(folder, "vite", ["build"]);
  const port = await freePort();
  const env = { PORT: String(port), HOST: "127.0.0.1" };
  await withServer(
    { cwd: folder, args: [join(folder, "build/index.js")], port, env },
    async (origin) => {
      const server = await (await fetch(`${origin}/api`)).json();
      strictEqual(server.text, IN_NODE);
      const said = await opened(browser, `${origin}/`);
      strictEqual(said?.text, IN_PAGE);
      rows.push({ name: "SvelteKit", first: said.first, ...weight(join(folder, "build/client")) });
    },
  );
});

const UNIT = (imports, call) => `${imports}
test("kitbag in a test", async () => {
  const files = new StateBackend();
  await files.write("/a.txt", "memory");
  ${call}((await files.read("/a.txt")).content).toBe("memory");
});
`;

for (const environment of ["node", "jsdom"]) {
  listed(`Vitest, ${environment}`, async () => {
    const imports =
      'import { StateBackend } from "kitbag";\nimport { expect, test } from "vitest";';
    const folder = shop.project(`vitest-${environment}`, { "a.test.mjs": UNIT(imports, "expect") });
    const said = await tool(folder, "vitest", ["run", "--environment", environment]);
    ok(/1 passed/.test(said), said);
  });

  listed(`Jest, ${environment}, import and require`, async () => {
    const folder = shop.project(`jest-${environment}`, {
      "package.json": '{ "name": "jested", "private": true }\n',
      "jest.config.mjs": 'export default { testMatch: ["**/*.test.*js"], transform: {} };\n',
      "a.test.mjs": UNIT('import { StateBackend } from "kitbag";', "expect"),
      "b.test.cjs": UNIT('const { StateBackend } = require("kitbag");', "expect"),
    });
    const env = { NODE_OPTIONS: "--experimental-vm-modules" };
    const quiet = (output) => noWarning(output, /VM Modules|trace-warnings/);
    const said = await tool(folder, "jest", ["--env", environment], { env, quiet });
    ok(/Tests: +2 passed/.test(said), said);
  });
}

listed("Vitest, browser mode", async () => {
  const imports = 'import { StateBackend } from "kitbag";\nimport { expect, test } from "vitest";';
  const folder = shop.project("vitest-browser", {
    "a.test.js": UNIT(imports, "expect"),
    "vitest.config.mjs": `import { playwright } from "@vitest/browser-playwright";
export default {
  test: {
    browser: {
      enabled: true,
      headless: true,
      provider: playwright({ launchOptions: { executablePath: ${JSON.stringify(process.env.KITBAG_CHROMIUM ?? "/usr/bin/chromium")}, args: ["--no-sandbox"] } }),
      instances: [{ browser: "chromium" }],
    },
  },
};
`,
  });
  const said = await tool(folder, "vitest", ["run"]);
  ok(/1 passed/.test(said), said);
});

listed("a page whose policy forbids WebAssembly is told the directive", async () => {
  const folder = shop.project("csp", {
    "index.html": HTML.replace("./main.js", "./built/main.js"),
  });
  await tool(folder, "esbuild", ["main.js", "--bundle", "--format=esm", "--outdir=built"]);
  const strict = { "content-security-policy": "script-src 'self'" };
  const said = await inPage(folder, "/index.html", strict).catch((error) => String(error));
  ok(/'wasm-unsafe-eval'/.test(said), said);
  const allowed = { "content-security-policy": "script-src 'self' 'wasm-unsafe-eval'" };
  strictEqual((await inPage(folder, "/index.html", allowed)).text, IN_PAGE);
});

test("docs/stacks.md shows the configuration of each template as it was tested", () => {
  const docs = readFileSync(at("docs/stacks.md"), "utf8");
  ok(shop.configurations.size >= 6, [...shop.configurations.keys()].join(", "));
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  for (const [text, project] of shop.configurations) {
    ok(plain(docs).includes(plain(text)), `docs/stacks.md lacks what ${project} has: ${text}`);
  }
});
