// What rules and routes cost: one rule, one mount and both, over memory, a storage of one's own, a
// disk and IndexedDB in Chromium, against the storage alone; then many rules and mounts over many
// files in memory. All take turns: see lib/layers.mjs.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { at } from "../scripts/lib/paths.mjs";
import { launch } from "../tests/browser/lib/browsers.mjs";
import { serve } from "../tests/browser/lib/server.mjs";
import { corpus } from "./lib/corpus.mjs";
import { fill, inTurn, measure } from "./lib/layers.mjs";

/** Every read is timed and compared with its neighbours: a machine that slows down slows all. */
const EFFORT = { rounds: { read: 15_000, few: 50, many: 50 } };

/** A storage in a Map, which answers with promises, as one with a database behind it does. */
class MapStorage {
  #files = new Map();
  capability = { create: "storage", update: "storage" };
  async get(path) {
    return this.#files.get(path) ?? null;
  }
  async list(prefix) {
    return [...this.#files.values()].filter(({ path }) => path.startsWith(prefix));
  }
  async put(path, file) {
    this.#files.set(path, { ...file, path });
    return {};
  }
  async delete(path) {
    return this.#files.delete(path);
  }
}

async function overDisk(kitbag) {
  const rootDir = await mkdtemp(join(tmpdir(), "kitbag-bench-"));
  try {
    const disk = new kitbag.FilesystemBackend({ rootDir });
    await fill(disk);
    return await measure(kitbag, disk, EFFORT);
  } finally {
    await rm(rootDir, { recursive: true });
  }
}

async function overIndexedDb() {
  const server = await serve({ mounts: { "/bench/": at("benches/lib") }, isolated: true });
  const browser = await launch("chromium");
  try {
    const page = await browser.page(`${server.origin}/pages/blank.html`);
    return await page.call("/bench/layers-page.mjs", "indexedDb", EFFORT);
  } finally {
    await browser.close();
    await server.close();
  }
}

async function overMemory(kitbag, backend) {
  await fill(backend);
  return measure(kitbag, backend, EFFORT);
}

const signed = (value, digits) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;

async function overStorages(kitbag, print) {
  const { CompositeBackend, CustomBackend, StateBackend } = kitbag;
  const storages = {
    // A router without mounts, which answers with promises too.
    StateBackend: () => overMemory(kitbag, new CompositeBackend(new StateBackend(), {})),
    "CustomBackend over a Map": () => overMemory(kitbag, new CustomBackend(new MapStorage())),
    FilesystemBackend: () => overDisk(kitbag),
    "IndexedDbBackend, Chromium": overIndexedDb,
  };
  print("1,000 files of 100 lines; a grep with 20 and one with 100,000 matching lines.\n");
  print(
    "| | read, µs | added (≤ 2 µs) | 20 matches, ms | added (≤ 10 %) | 100,000, ms | added (≤ 10 %) |",
  );
  print("|---|---:|---:|---:|---:|---:|---:|");
  for (const [name, run] of Object.entries(storages)) {
    const [bare, ...layered] = await run();
    const micros = ({ time }) => (time * 1000).toFixed(1);
    print(
      `| **${name}** | ${micros(bare.read)} | | ${bare.few.time.toFixed(2)} | | ${bare.many.time.toFixed(1)} | |`,
    );
    for (const { way, read, few, many } of layered) {
      const share = ({ added }, { time }) => `${signed((added / time) * 100, 1)} %`;
      print(
        `| ${way} | ${micros(read)} | ${signed(read.added * 1000, 2)} ± ${(read.noise * 1000).toFixed(2)} | ${few.time.toFixed(2)} | ${share(few, bare.few)} | ${many.time.toFixed(1)} | ${share(many, bare.many)} |`,
      );
    }
  }
}

/** Ten rules and five mounts over ten thousand files in memory. */
async function many(kitbag, print) {
  const { StateBackend, CompositeBackend, withPolicy } = kitbag;
  const { files, count } = corpus(10_000, 92_000_000);
  const state = new StateBackend({ files });
  const permissions = Array.from({ length: 10 }, (_, n) => ({
    operations: ["read", "write"],
    paths: [n % 2 ? `/never${n}/**` : `/**/*.never${n}`],
    mode: "deny",
  }));
  const routes = Object.fromEntries(
    [1, 2, 3, 4, 5].map((n) => [`/mount${n}/`, new StateBackend()]),
  );
  const bare = new CompositeBackend(state, {});
  const named = {
    "a policy with ten rules": withPolicy(state, { permissions }),
    "a composite with five mounts": new CompositeBackend(state, routes),
    "both, one over the other": withPolicy(new CompositeBackend(state, routes), { permissions }),
  };
  const path = Object.keys(files).find((one) => files[one].length < 4_000);
  const [READS, ROUNDS] = [2_000, 60];
  const reading = (backend) => async () => {
    for (let n = 0; n < READS; n++) await backend.read(path);
  };
  const all = [bare, ...Object.values(named)];
  const reads = await inTurn(all.map(reading), ROUNDS, { per: READS });
  const greps = await inTurn(
    all.map((backend) => () => backend.grep("createDeepAgent")),
    ROUNDS,
  );
  print(`\nOver ${count} files in memory.\n`);
  print("| | read, µs | added, µs (≤ 2) | grep, ms | added (≤ 10 %) |");
  print("|---|---:|---:|---:|---:|");
  const micros = (ms) => ms * 1000;
  print(`| bare | ${micros(reads[0].time).toFixed(2)} | | ${greps[0].time.toFixed(2)} | |`);
  for (const [which, name] of Object.keys(named).entries()) {
    const [read, grep] = [reads[which + 1], greps[which + 1]];
    print(
      `| ${name} | ${micros(read.time).toFixed(2)} | ${signed(micros(read.added), 2)} | ${grep.time.toFixed(2)} | ${signed((grep.added / greps[0].time) * 100, 1)} % |`,
    );
  }
}

async function run({ print }) {
  setFlagsFromString("--expose-gc");
  globalThis.gc = runInNewContext("gc");
  const kitbag = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  await overStorages(kitbag, print);
  await many(kitbag, print);
}

export default { title: "Routes and rules", needs: ["build", "chromium"], run };
