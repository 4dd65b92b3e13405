// Bundles made with esbuild as a user would make them: no configuration of ours in them.

import { build } from "esbuild";

/** A Worker's modules, from its source; `directory` is where its imports are resolved. */
export async function workerModules(source, directory, extra = {}) {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: directory, sourcefile: "worker.mjs" },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["workerd", "worker"],
    target: "es2022",
    loader: { ".wasm": "copy" },
    outdir: "/worker",
    entryNames: "worker",
    logLevel: "error",
    ...extra,
  });
  const modules = outputFiles.map(({ path, contents, text }) =>
    path.endsWith(".wasm")
      ? { type: "CompiledWasm", path, contents }
      : { type: "ESModule", path, contents: text },
  );
  return modules.sort((a) => (a.type === "ESModule" ? -1 : 1));
}

/** A page's script, from its source. */
export async function pageScript(source, directory, extra = {}) {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: directory, sourcefile: "page.mjs" },
    bundle: true,
    write: false,
    format: "esm",
    logLevel: "error",
    ...extra,
  });
  return outputFiles[0].text;
}
