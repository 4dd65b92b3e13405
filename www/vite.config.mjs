// How Vite builds the playground: under any base path, one chunk a view, and a service worker that
// knows the names of all files of this build.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { serviceWorker } from "./build/service-worker.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const empty = here("./build/empty.mjs");

/** deepagents and just-bash import these; what they do with them is not used in a page. */
const alias = Object.fromEntries(
  ["node:zlib", "node:fs/promises", "fs/promises", "node:path", "path", "util", "node:util"].map(
    (name) => [name, empty],
  ),
);

export default defineConfig({
  root: here("."),
  base: "./",
  configFile: false,
  cacheDir: here("../.cache/vite"),
  logLevel: "warn",
  resolve: { alias, dedupe: ["preact"] },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // deepagents' matcher of patterns asks what the host is.
  define: { "process.platform": '"browser"', "process.version": '""' },
  worker: { format: "es" },
  build: {
    outDir: here("../www-dist"),
    // The documentation is beside it, in `docs/`.
    emptyOutDir: false,
    target: "es2023",
    chunkSizeWarningLimit: 4000,
    modulePreload: { polyfill: false },
  },
  plugins: [serviceWorker()],
});
