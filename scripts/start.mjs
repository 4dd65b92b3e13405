// `npm start`: installs what is missing, builds the package, and serves the playground in `www/`,
// on this machine only. The playground imports the built package by name, like any user.

import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { parseArgs } from "node:util";
import { at } from "./lib/paths.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: { port: { type: "string", default: "5173" }, dev: { type: "boolean", default: false } },
});
if (values.dev) process.env.KITBAG_DEV_BUILD = "1";

console.log("Installing what is missing, and building; the first time this takes minutes.");
try {
  await ensureAll(["npm", "wasm-bindgen", "build"]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

mkdirSync(at("www/node_modules"), { recursive: true });
rmSync(at("www/node_modules/kitbag"), { recursive: true, force: true });
symlinkSync(at("pkg"), at("www/node_modules/kitbag"), "junction");

const { createServer } = await import("vite");
const server = await createServer({
  root: at("www"),
  configFile: false,
  cacheDir: at(".cache/vite"),
  logLevel: "warn",
  // If a port is in use, the next one is tried.
  server: { host: "127.0.0.1", port: Number(values.port), fs: { allow: [at()] } },
});
await server.listen();
console.log(`\nThe playground is at ${server.resolvedUrls?.local[0] ?? "an unknown address"}`);
console.log("Ctrl-C ends it.");
