// Files over HTTP on loopback, beside what no server can be faster than: a plain server of Node with the
// same bytes, and the same search at the server with the transfer of its answer. Files of a folder are
// served by `kitbag serve`.

import { fork, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  openAsBlob,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { at } from "../scripts/lib/paths.mjs";

const GIGABYTE = 1 << 30;
const SMALL = "x".repeat(1000);
/** Searches, and how often each is made: as often as a server that is in use has made it before. */
const SEARCHES = [
  ["rare", "pnpm-workspace.yaml", 3000],
  ["some", "createHash(", 600],
  ["many", "function", 15],
];

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const text = async (url) => (await fetch(url)).text();
/** An answer of lines. */
async function linesOf(url) {
  const lines = (await text(url)).split("\n");
  return lines.flatMap((line) => (line ? [JSON.parse(line)] : []));
}
const mib = (bytes) => Math.round(bytes / (1 << 20));

/** Medians of what some calls take, or say that they took, in ms; called in turn. */
async function times(calls, rounds) {
  const taken = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  for (let round = -rounds; round < rounds; round++) {
    for (const [name, call] of Object.entries(calls)) {
      const began = performance.now();
      const said = await call();
      // The first half warms up.
      if (round >= 0) taken[name].push(said ?? performance.now() - began);
    }
  }
  return Object.fromEntries(Object.entries(taken).map(([name, list]) => [name, median(list)]));
}

/** `kitbag serve` of a folder: its address, its process, and how to end it. */
async function serving(folder) {
  const args = [at("pkg/dist/kitbag.js"), "serve", folder, "--http", "0", "--files"];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const look = (bytes) => {
      said += bytes;
      const found = /http:\/\/\S+/.exec(said);
      if (found) resolve(found[0].replace(/\/$/, ""));
    };
    server.stdout.on("data", look);
    server.stderr.on("data", look);
    server.on("exit", () => reject(new Error(`kitbag serve has ended: ${said}`)));
  });
  return { url, pid: server.pid, end: () => server.kill() };
}

/** Bytes that a process has in memory; Linux. */
const memoryOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;

/** Looks how much memory processes take more from now on; the returned function ends that, and tells. */
function watched(pids) {
  const before = pids.map(memoryOf);
  const most = pids.map(() => 0);
  const timer = setInterval(() => {
    for (const [at, pid] of pids.entries()) {
      most[at] = Math.max(most[at], memoryOf(pid) - before[at]);
    }
  }, 5);
  return () => {
    clearInterval(timer);
    return most;
  };
}

async function reading(print, { plain, disk, HttpBackend }) {
  const files = new HttpBackend({ url: disk.url });
  const taken = await times(
    {
      plain: async () => void (await text(`${plain}/small.txt`)),
      fetch: async () => void (await text(`${disk.url}/small.txt`)),
      read: async () => void (await files.read("/small.txt")),
    },
    2000,
  );
  print("| 1,000 bytes of a folder | ms | times |");
  print("|---|---:|---:|");
  for (const [name, ms] of Object.entries(taken)) {
    const what = {
      plain: "a plain server of Node, `fetch`",
      fetch: "`kitbag serve`, `fetch`",
      read: "`kitbag serve`, `HttpBackend.read`",
    }[name];
    print(`| ${what} | ${ms.toFixed(3)} | ${(ms / taken.plain).toFixed(2)} |`);
  }
  return { "http fetch": taken.plain / taken.fetch, "http read": taken.plain / taken.read };
}

async function searching(print, { plain, byHand, memory, ask, HttpBackend }) {
  const files = new HttpBackend({ url: memory });
  const ratios = {};
  print(
    "\n| grep over 10,000 files in memory | matches | there + transfer, ms | a server by hand | over HTTP, ms | times |",
  );
  print("|---|---:|---:|---:|---:|---:|");
  for (const [name, wanted, rounds] of SEARCHES) {
    let found = {};
    const taken = await times(
      {
        apart: async () => {
          found = await ask("grep", wanted);
          const began = performance.now();
          await linesOf(`${plain}/answer`);
          return found.ms + performance.now() - began;
        },
        byHand: async () => void (await linesOf(`${byHand}/${encodeURIComponent(wanted)}`)),
        http: async () => void (await files.grep(wanted)),
      },
      rounds,
    );
    ratios[`http grep, ${name}`] = taken.apart / taken.http;
    const shown = [
      taken.apart.toFixed(1),
      taken.byHand.toFixed(1),
      taken.http.toFixed(1),
      (taken.http / taken.apart).toFixed(2),
    ];
    print(`| ${name} | ${found.matches} | ${shown.join(" | ")} |`);
  }
  return ratios;
}

async function downloading(print, { disk }) {
  const before = memoryOf(disk.pid);
  const stop = watched([disk.pid]);
  const began = performance.now();
  let bytes = 0;
  for await (const piece of (await fetch(`${disk.url}/large.bin`)).body) bytes += piece.length;
  const seconds = (performance.now() - began) / 1000;
  const [most] = stop();
  if (bytes !== GIGABYTE) throw new Error(`${bytes} bytes arrived`);
  print(
    `\n1 GiB down: ${seconds.toFixed(1)} s; the server had ${mib(before)} MiB in memory, and at most ${mib(most)} MiB more.`,
  );
}

async function uploading(print, { disk, place, HttpBackend }) {
  const files = new HttpBackend({ url: disk.url });
  const film = await openAsBlob(join(place, "large.bin"));
  const stop = watched([process.pid, disk.pid]);
  const began = performance.now();
  const [{ error, message }] = await files.uploadFiles([["/up.bin", film]]);
  const seconds = (performance.now() - began) / 1000;
  const most = stop().map(mib);
  if (error) throw new Error(message);
  if (statSync(join(place, "up.bin")).size !== GIGABYTE) throw new Error("It is not all there");
  print(
    `\n1 GiB up: ${seconds.toFixed(1)} s; the client needed at most ${most[0]} MiB more, the server ${most[1]}.`,
  );
}

async function run({ print }) {
  const { HttpBackend } = await import("../pkg/dist/node.js");
  mkdirSync(at(".cache"), { recursive: true });
  const place = mkdtempSync(join(at(".cache"), "bench-http-"));
  writeFileSync(join(place, "small.txt"), SMALL);
  writeFileSync(join(place, "large.bin"), "");
  truncateSync(join(place, "large.bin"), GIGABYTE);
  const server = fork(at("benches/lib/http-server.mjs"), [place]);
  const next = () => new Promise((resolve) => server.once("message", resolve));
  const ask = (name, argument) => {
    const answer = next();
    server.send({ name, argument });
    return answer;
  };
  let disk;
  try {
    await next();
    disk = await serving(place);
    const all = { ...(await ask("addresses")), disk, ask, HttpBackend };
    const figures = { ...(await reading(print, all)), ...(await searching(print, all)) };
    await downloading(print, all);
    await uploading(print, { ...all, place });
    return figures;
  } finally {
    disk?.end();
    server.disconnect();
    rmSync(place, { recursive: true, force: true });
  }
}

export default { title: "Files over HTTP", needs: ["build"], run };
