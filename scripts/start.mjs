// `npm start`: installs what is missing, builds the package and the playground in `www/`, and serves
// it, on this machine only. `--watch` serves the sources instead, for work on the playground.

import { parseArgs } from "node:util";
import { at } from "./lib/paths.mjs";
import { buildWww, installPackage, viteOptions } from "./lib/www.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "5173" },
    dev: { type: "boolean", default: false },
    watch: { type: "boolean", default: false },
  },
});
if (values.dev) process.env.KITBAG_DEV_BUILD = "1";

console.log("Installing what is missing, and building; the first time this takes minutes.");
try {
  await ensureAll(["npm", "wasm-bindgen", "build", "www"]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

// If a port is in use, the next one is tried.
const place = { host: "127.0.0.1", port: Number(values.port) };
const { createServer, preview } = await import("vite");
let server;
if (values.watch) {
  installPackage();
  server = await createServer(await viteOptions({ server: place }));
  await server.listen();
} else {
  const outDir = at("www-dist");
  await buildWww(outDir);
  server = await preview(await viteOptions({ base: "/", preview: place, build: { outDir } }));
}
console.log(`\nThe playground is at ${server.resolvedUrls?.local[0] ?? "an unknown address"}`);
console.log("Ctrl-C ends it.");
