// The page's part of `npm run bench -- state`: the same rows and bounds.

import { bounds, whole } from "./bounds.mjs";
import { NOW, rows } from "./state-rows.mjs";

/** Runs the rows; what they print is in `said`. */
export async function measure({ machine, effort }) {
  const [{ StateBackend: Peer }, { StateBackend }] = await Promise.all([
    import("/made/deepagents.js"),
    import("/made/kitbag.js"),
  ]);
  const files = await (await fetch("/made/corpus.json")).json();
  const module = await WebAssembly.compileStreaming(fetch("/made/limits.wasm"));
  const said = [];
  const print = (line) => said.push(line);
  const contenders = { Peer, StateBackend, files };
  const { table, ...seen } = await rows({ ...contenders, machine, effort, print });
  const limits = await whole({ files, module, effort });
  const found = await bounds({ ...contenders, ...seen, module, rows: table.rows(), effort });
  return { said, rows: table.rows(), limits, bounds: found };
}

/** Milliseconds from the import of a backend to the end of its first search, in a new page. */
export async function start(which) {
  const files = {};
  for (let n = 0; n < 100; n++) {
    files[`/f${n}.txt`] = {
      content: `text ${n}`,
      mimeType: "text/plain",
      created_at: NOW,
      modified_at: NOW,
    };
  }
  const began = performance.now();
  const { StateBackend } = await import(`/made/${which}.js`);
  const backend = new StateBackend(which === "kitbag" ? { files } : { state: { files } });
  backend.grep("text");
  return performance.now() - began;
}
