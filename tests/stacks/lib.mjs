// A folder as a stranger has it: the packed package and the tools of all stacks installed, and a
// project for each stack. Runs what a stack has built: in Node, or in a page of Chromium.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { end, run, start } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { unpack } from "../lib/pack.mjs";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

/** A folder with the packages of a set of `tests/deps` and the packed package installed. */
export async function workshop(set = "stacks") {
  const root = mkdtempSync(join(tmpdir(), "kitbag-stacks-"));
  const deps = at("tests/deps", set);
  // Linked file by file where possible, since this is a gigabyte.
  const linked = await run("cp", ["-al", join(deps, "node_modules"), join(root, "node_modules")]);
  if (linked.code !== 0) {
    rmSync(join(root, "node_modules"), { recursive: true, force: true });
    cpSync(join(deps, "node_modules"), join(root, "node_modules"), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  // Some tools take the folder of the lock file for the root of the workspace.
  for (const name of ["package.json", "package-lock.json"])
    cpSync(join(deps, name), join(root, name));
  await unpack(join(root, "node_modules/kitbag"));
  const configurations = new Map();
  return {
    root,
    /** Every configuration of the projects, with the name of one that has it. */
    configurations,
    /** Makes a project of these files; the programs are beside them. None configures kitbag. */
    project(name, files = {}) {
      const folder = join(root, name);
      for (const [path, text] of Object.entries(files)) {
        if (!/config|\.toml$|package\.json$/.test(path)) continue;
        if (/kitbag/.test(text)) throw new Error(`${name}/${path} has a line for kitbag`);
        // Empty ones, names of projects and the path of a browser are nothing to show.
        if (!/executablePath|"private"|default \{\};/.test(text))
          configurations.set(text, `${name}/${path}`);
      }
      cpSync(at("tests/stacks/programs"), folder, { recursive: true });
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
      return folder;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Runs a tool of the folder, and gives what it printed; a warning or an error is a failure. */
export async function tool(folder, name, args, { quiet = noWarning, env = {} } = {}) {
  const bin = join(dirname(folder), "node_modules/.bin", name);
  const { code, output } = await run(bin, args, {
    cwd: folder,
    env: { NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false", CI: "true", ...env },
  });
  if (code !== 0) throw new Error(`${name} ${args.join(" ")} failed:\n${output}`);
  const bad = quiet(output);
  if (bad) throw new Error(`${name} ${args.join(" ")} warns: ${bad}`);
  return output;
}

/** What Vite says of large files, which a quick build of the package has. */
export const LARGE_FILES = /vite-reporter|chunkSizeWarningLimit|chunks are larger/;

/** The first line that speaks of a warning. */
export function noWarning(output, except) {
  const lines = output.split("\n");
  return lines.find((line) => /warn|⚠/i.test(line) && !except?.test(line));
}

/** Bytes of the files in a folder whose names end so, as they are and after gzip. */
export function weight(folder, ends = /\.(m?js|cjs|wasm)$/) {
  let raw = 0;
  let gzip = 0;
  const files = statSync(folder).isFile()
    ? [folder]
    : readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  for (const file of files) {
    if (!ends.test(file) || !statSync(file).isFile()) continue;
    const bytes = readFileSync(file);
    raw += bytes.length;
    gzip += gzipSync(bytes, { level: 9 }).length;
  }
  return { raw, gzip };
}

/** Prints what a stack has built weighs, and when its first operation was done. */
export function weighed(name, folder, { first }) {
  const [raw, gzip] = Object.values(weight(folder)).map((bytes) => (bytes / 1000).toFixed(0));
  console.log(`${name}: ${raw} KB, ${gzip} KB gzip, ${first.toFixed(0)} ms`);
}

/** Whether a page of the repository shows a text, in whatever lines. */
export function shownIn(page, text) {
  const plain = (words) => words.replace(/\s+/g, " ").trim();
  return plain(readFileSync(at(page), "utf8")).includes(plain(text));
}

/** What a built program for Node printed. */
export async function command(file, args = [file], program = process.execPath) {
  const { code, output } = await run(program, args, { cwd: dirname(file) });
  const said = /^SAID (.*)$/m.exec(output);
  if (code !== 0 || !said) throw new Error(`${file} said: ${output}`);
  return JSON.parse(said[1]);
}

/** Serves a folder on a free port of this machine. */
export async function served(folder, headers = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    try {
      const body = readFileSync(path);
      const type = TYPES[extname(path)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, ...headers }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Starts a server of a stack, waits until it answers, and stops it when `use` is done. */
export async function withServer({ cwd, args, port, env = {}, node = process.execPath }, use) {
  const child = start(node, args, {
    cwd,
    env: { NEXT_TELEMETRY_DISABLED: "1", CI: "true", ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      output += data;
    });
  }
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    const origin = `http://127.0.0.1:${port}`;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${args.join(" ")} ended: ${output}`);
      const answered = await fetch(origin, { signal: AbortSignal.timeout(60_000) }).catch(
        () => undefined,
      );
      if (answered) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return await use(origin);
  } catch (error) {
    throw new Error(`${error.message}\n${output.slice(-4_000)}`, { cause: error });
  } finally {
    end(child);
    await ended;
  }
}

/** A port that is free now. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Opens an address in Chromium and gives what its page said, or threw. */
export async function opened(context, url) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/favicon/.test(message.location().url))
      errors.push(message.text());
  });
  try {
    await page.goto(url);
    const said = await page
      .waitForFunction(() => globalThis.said, undefined, { timeout: 30_000 })
      .then((handle) => handle.jsonValue())
      .catch(() => undefined);
    if (errors.length > 0) throw new Error(errors.join("\n"));
    return said;
  } finally {
    await page.close();
  }
}
