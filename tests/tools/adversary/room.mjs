// A copy of the built package in a folder of its own, in which one place can be changed, beside the packages
// of `tests/deps/agents`.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "../../../scripts/lib/paths.mjs";

/** What a world is made of. */
const MODULES = {
  ...{ kitbag: "kitbag", history: "kitbag/history", provenance: "kitbag/provenance" },
  ...{ ignore: "kitbag/ignore", indexed: "kitbag/indexed", transfer: "kitbag/transfer" },
  ...{ tar: "kitbag/tar", fs: "kitbag/fs", mcp: "kitbag/mcp" },
  ...{ anthropic: "kitbag/anthropic", openai: "kitbag/openai", bash: "kitbag/just-bash" },
  ...{ client: "@modelcontextprotocol/sdk/client/index.js" },
  ...{ server: "@modelcontextprotocol/sdk/server/mcp.js" },
  ...{ transport: "@modelcontextprotocol/sdk/inMemory.js" },
  ...{ types: "@modelcontextprotocol/sdk/types.js" },
};

const folders = [];
// Some of it is loaded at the first use only.
process.once("exit", () => {
  for (const one of folders) rmSync(one, { recursive: true, force: true, maxRetries: 3 });
});

/** Changes the one place of the files with this beginning that matches. */
function changed(dist, { file, from, to }) {
  const found = readdirSync(dist).filter((name) => name.startsWith(file));
  const places = found.flatMap((name) =>
    Array.from(readFileSync(join(dist, name), "utf8").matchAll(new RegExp(from, "g")), () => name),
  );
  if (places.length !== 1) {
    throw new Error(
      `${file} has ${places.length} places, instead of one, that match ${from}. The source was changed: write this bug anew`,
    );
  }
  const path = join(dist, places[0]);
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
}

/** Imports a copy of `pkg/`, with a mutation or without. */
export async function load(mutation) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-adversary-"));
  folders.push(folder);
  const modules = join(folder, "node_modules");
  const dist = join(modules, "kitbag/dist");
  mkdirSync(dist, { recursive: true });
  cpSync(at("pkg/package.json"), join(modules, "kitbag/package.json"));
  for (const entry of readdirSync(at("pkg/dist"), { withFileTypes: true })) {
    if (entry.isFile()) cpSync(at("pkg/dist", entry.name), join(dist, entry.name));
  }
  for (const name of ["wasm", "server"]) {
    cpSync(at("pkg/dist", name), join(dist, name), { recursive: true });
  }
  const installed = at("tests/deps/agents/node_modules");
  for (const name of readdirSync(installed)) {
    if (name !== "kitbag" && !name.startsWith(".")) {
      symlinkSync(join(installed, name), join(modules, name));
    }
  }
  if (mutation) changed(dist, mutation);
  const lines = Object.entries(MODULES).map(([as, from]) => `export * as ${as} from "${from}";`);
  writeFileSync(join(folder, "all.mjs"), lines.join("\n"));
  const api = await import(pathToFileURL(join(folder, "all.mjs")).href);
  // A copy has a pass of its own for the files of the library.
  const { roomOf } = await import(`../../lib/room.mjs?${folders.length}`);
  return { ...api, own: await roomOf(api.kitbag) };
}
