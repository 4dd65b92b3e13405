// One row of `npm run bench -- memory`: fills a StateBackend and prints its bytes and the WebAssembly
// memory that it takes beyond that of an empty one.

import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { corpus } from "./corpus.mjs";

const memories = new Set();
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    for (const one of Object.values(this.exports)) {
      if (one instanceof WebAssembly.Memory) memories.add(one);
    }
  }
};
const { StateBackend } = await import(pathToFileURL(at("pkg/dist/node.js")).href);
const taken = () => [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
const encoder = new TextEncoder();
const backend = () => new StateBackend({ scope: "instance", writeMode: "overwrite" });

const large = () =>
  Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`/l${n}.txt`, `a line of text ${n}\n`.repeat(22_000)]),
  );

function fill(files, record) {
  let bytes = 0;
  for (const [path, text] of Object.entries(record)) {
    const body = encoder.encode(text);
    bytes += body.length;
    const [{ error }] = files.uploadFiles([[path, body]]);
    if (error) throw new Error(error);
  }
  return bytes;
}

/** Bytes of a file that fills memory. */
const FILLER = 16 << 10;

const fillers = backend();
let fillersCount = 0;

/**
 * Memory grows by a large step at a time. Fills it up to the next one: what was filled was room that
 * nothing used.
 */
function toNextStep() {
  const before = taken();
  let filled = -FILLER;
  while (taken() === before) {
    fillersCount += 1;
    filled += FILLER;
    fill(fillers, { [`/${fillersCount}.txt`]: "x".repeat(FILLER) });
  }
  return { step: taken() - before, filled };
}

const KINDS = {
  source() {
    return kept(corpus(10_000, 60_000_000).files);
  },
  large() {
    return kept(large());
  },
  /** The memory after 20 rounds, in times of that after the second. */
  rounds() {
    const record = corpus(2_000, 12_000_000).files;
    const files = backend();
    const after = [];
    let bytes = 0;
    for (let round = 0; round < 20; round++) {
      bytes = fill(files, record);
      for (const path of Object.keys(record)) files.delete(path);
      after.push(taken());
    }
    return { bytes, memory: after.at(-1), value: after.at(-1) / after[1] };
  },
  /** What searches keep for each byte of the files. */
  index() {
    const record = corpus(10_000, 60_000_000).files;
    const files = backend();
    const bytes = fill(files, record);
    const { step: room } = toNextStep();
    for (let n = 0; n < 40; n++) files.grep("zqxjkv wyvern");
    const memory = room - toNextStep().filled;
    return { bytes, memory, value: memory / bytes };
  },
  /** Mebibytes of all of the memory. */
  forty() {
    const files = backend();
    const bytes = fill(files, corpus(10_000, 40_000_000).files);
    for (const text of ["zqxjkv wyvern", "createDeepAgent"]) files.grep(text);
    files.grep("function \\w+", "/", null, 1_000, { regex: true });
    return { bytes, memory: taken(), value: taken() / 2 ** 20 };
  },
};

function kept(record) {
  const files = backend();
  const empty = taken();
  const bytes = fill(files, record);
  const memory = taken() - empty;
  const used = memory - toNextStep().filled;
  return { bytes, memory, value: memory / bytes, used: used / bytes };
}

console.log(JSON.stringify(KINDS[process.argv[2]]()));
