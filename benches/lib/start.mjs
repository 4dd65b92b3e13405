// What a start takes: in a new process each, from its beginning or that of its script, import a
// backend, create it with 100 files, search it once.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { median } from "./compare.mjs";
import { NOW } from "./state-rows.mjs";

const require = createRequire(at("tests/deps/latest/package.json"));
const url = (file) => JSON.stringify(pathToFileURL(file).href);

const operation = (file, empty, options) => `
  const { StateBackend } = await import(${url(file)});
  step("import");
  ${empty};
  step("first backend");
  const files = {};
  for (let n = 0; n < 100; n++) files["/f" + n + ".txt"] =
    { content: "text " + n, mimeType: "text/plain", created_at: ${JSON.stringify(NOW)}, modified_at: ${JSON.stringify(NOW)} };
  const backend = new StateBackend(${options});
  step("100 files");
  backend.grep("text");
  step("search");`;

const BODIES = {
  peer: operation(require.resolve("deepagents"), "", "{ state: { files } }"),
  ours: operation(at("pkg/dist/node.js"), "new StateBackend()", "{ files }"),
  empty: "",
  /** What any module of this size needs: it is read, compiled and made an instance. */
  least: `
    const { readFileSync } = await import("node:fs");
    const module = new WebAssembly.Module(readFileSync(${JSON.stringify(at("pkg/dist/wasm/kitbag.wasm"))}));
    const imports = {};
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = { function: () => 0, memory: () => new WebAssembly.Memory({ initial: 64 }),
        table: () => new WebAssembly.Table({ initial: 4096, element: "anyfunc" }),
        global: () => new WebAssembly.Global({ value: "i32", mutable: true }, 0) }[kind]();
      if (kind === "function") imports[from][name] = () => 0;
    }
    new WebAssembly.Instance(module, imports);`,
};

/** Milliseconds within the script, and of the whole process beyond an empty one, of this Node or another. */
export function startTimes(rounds, { node = process.execPath, env = {} } = {}) {
  const names = Object.keys(BODIES);
  const times = Object.fromEntries(names.map((name) => [name, { script: [], process: [] }]));
  const parts = {};
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const script = `const steps = []; const began = performance.now();
        const step = (name) => steps.push([name, performance.now()]);${BODIES[name]}
        const took = performance.now() - began;
        console.log(JSON.stringify({ took, steps: steps.map(([name, end], at) => [name, end - (steps[at - 1]?.[1] ?? began)]) }));`;
      const began = performance.now();
      const said = execFileSync(node, ["--input-type=module", "-e", script], {
        encoding: "utf8",
        env: { ...globalThis.process.env, ...env },
      });
      times[name].process.push(performance.now() - began);
      const { took, steps } = JSON.parse(said);
      times[name].script.push(took);
      if (name !== "ours") continue;
      for (const [part, ms] of steps) parts[part] = [...(parts[part] ?? []), ms];
    }
  }
  const empty = median(times.empty.process);
  const seen = names.map((name) => {
    const { script, process } = times[name];
    return [name, { script: median(script), over: median(process) - empty }];
  });
  const shown = Object.entries(parts).map(([name, all]) => `${name} ${median(all).toFixed(1)}`);
  return { ...Object.fromEntries(seen), parts: shown.join(", ") };
}
