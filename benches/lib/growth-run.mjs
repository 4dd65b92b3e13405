// One column of `npm run bench -- growth`: prints what each operation takes with so many files.

import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { median } from "./compare.mjs";

const count = Number(process.argv[2]);
const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    for (const one of Object.values(this.exports)) {
      if (one instanceof WebAssembly.Memory && !memories.includes(one)) memories.push(one);
    }
  }
};
const { StateBackend } = await import(pathToFileURL(at("pkg/dist/node.js")).href);

const text = (n) => `${`const value${n} = call(${n});\n`.repeat(8)}`.slice(0, 199).concat("\n");
const path = (n) => `/d${Math.floor(n / 1000)}/s${Math.floor(n / 50) % 20}/file${n}.ts`;
const encoder = new TextEncoder();
const files = new StateBackend({ scope: "instance" });
files.uploadFiles(
  Array.from({ length: 20 }, (_, n) => [`/fixed/${n}.ts`, encoder.encode(text(n))]),
);
for (let n = 0; n < count; n += 10_000) {
  const length = Math.min(10_000, count - n);
  files.uploadFiles(Array.from({ length }, (_, k) => [path(n + k), encoder.encode(text(n + k))]));
}

/** Microseconds of one call: the median of nine series. */
function micros(calls, call) {
  const times = [];
  for (let series = 0; series < 9; series++) {
    const start = performance.now();
    for (let n = 0; n < calls; n++) {
      const answer = call(series * calls + n);
      if (answer.error) throw new Error(answer.error);
    }
    times.push(((performance.now() - start) / calls) * 1000);
  }
  return median(times);
}

const bytes = memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
const some = Math.floor(count / 2);
const searches = count > 100_000 ? 1 : Math.min(200, 100_000 / count);
const seen = {
  "read, µs": micros(200, () => files.read(path(some))),
  "edit, µs": micros(200, (n) =>
    files.edit("/fixed/3.ts", n === 0 ? "const" : `v${n - 1}=`, `v${n}=`, true),
  ),
  "write, µs": micros(200, (n) => files.write(`/new/${n}.ts`, text(n))),
  "ls of 20 files, µs": micros(200, () => files.ls("/fixed")),
  "grep, no match, µs": micros(searches, () => files.grep("zqxjkv wyvern")),
  "glob **/*.md, µs": micros(searches, () => files.glob("**/*.md")),
  "memory, bytes a byte kept": bytes / (count * 200),
};
console.log(JSON.stringify(seen));
