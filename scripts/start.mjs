// `npm start`: installs what is missing, builds the package and the playground in `www/`, and serves
// it, on this machine only. `--watch` serves the sources instead, for work on the playground. The
// simulator is compiled while the page is served; `--simulator` waits for it.

import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { at, cache } from "./lib/paths.mjs";
import { addSimulator, simulatorIsBuilt } from "./lib/simulation.mjs";
import { buildWww, installPackage, viteOptions } from "./lib/www.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "5173" },
    dev: { type: "boolean", default: false },
    watch: { type: "boolean", default: false },
    simulator: { type: "boolean", default: false },
  },
});
if (values.dev) process.env.KITBAG_DEV_BUILD = "1";

console.log("Installing what is missing, and building; the first time this takes minutes.");
try {
  await ensureAll(["npm", "splitter", "build", "www"]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

// If a port is in use, the next one is tried.
const place = { host: "127.0.0.1", port: Number(values.port) };
const { createServer, preview } = await import("vite");
/** Where the simulator is put: a folder that is served as it is. */
let beside = at("www-dist");
let server;
if (values.watch) {
  installPackage();
  beside = cache("www-public");
  mkdirSync(beside, { recursive: true });
  server = await createServer(await viteOptions({ server: place, publicDir: beside }));
  await server.listen();
} else {
  await buildWww(beside);
  server = await preview(
    await viteOptions({ base: "/", preview: place, build: { outDir: beside } }),
  );
}
const address = server.resolvedUrls?.local[0] ?? "an unknown address";
if (!values.simulator) {
  console.log(`\nThe playground is at ${address}`);
  console.log("Ctrl-C ends it.");
}
const began = performance.now();
if (!simulatorIsBuilt())
  console.log("The simulator is compiled meanwhile; its view says when it is there.");
const trouble = await addSimulator(beside);
const seconds = Math.round((performance.now() - began) / 1000);
if (trouble) console.error(`The simulator could not be built: ${trouble.message}`);
else if (values.simulator)
  console.log(`\nThe simulator is at ${address}#/simulator\nCtrl-C ends it.`);
else if (seconds > 5)
  console.log(`The simulator is ready, after ${seconds} s: ${address}#/simulator`);
