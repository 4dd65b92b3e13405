// Files over HTTP on loopback, beside what no server can be faster than: a plain server of Node with the
// same bytes, the same search at the server, and the transfer of its answer.

import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { at } from "../scripts/lib/paths.mjs";

const GIGABYTE = 1 << 30;
const SMALL = "x".repeat(1000);

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** Medians of what some calls take, in ms, called in turn. */
async function times(calls, rounds) {
  const taken = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  for (let round = -rounds; round < rounds; round++) {
    for (const [name, call] of Object.entries(calls)) {
      const began = performance.now();
      await call();
      // The first half warms up.
      if (round >= 0) taken[name].push(performance.now() - began);
    }
  }
  return Object.fromEntries(Object.entries(taken).map(([name, list]) => [name, median(list)]));
}

async function run({ print }) {
  const { HttpBackend } = await import("../pkg/dist/node.js");
  mkdirSync(at(".cache"), { recursive: true });
  const place = mkdtempSync(join(at(".cache"), "bench-http-"));
  writeFileSync(join(place, "small.txt"), SMALL);
  writeFileSync(join(place, "large.bin"), "");
  truncateSync(join(place, "large.bin"), GIGABYTE);
  const server = fork(at("benches/lib/http-server.mjs"), [place], {
    execArgv: ["--expose-gc"],
  });
  const next = () => new Promise((resolve) => server.once("message", resolve));
  const ask = (name, argument) => {
    const answer = next();
    server.send({ name, argument });
    return answer;
  };
  try {
    await next();
    const { disk, memory, plain } = await ask("addresses");
    const small = new HttpBackend({ url: disk });
    const text = async (url) => (await fetch(url)).text();
    const read = await times(
      {
        plain: () => text(`${plain}/small.txt`),
        get: () => text(`${disk}/small.txt`),
        backend: () => small.read("/small.txt"),
      },
      1000,
    );
    print("| 1,000 bytes of a folder | ms | of a plain `fetch` |");
    print("|---|---:|---:|");
    const times_ = (ms, of) => `${ms.toFixed(3)} | ${(ms / of).toFixed(2)} |`;
    print(`| plain server of Node, \`fetch\` | ${times_(read.plain, read.plain)}`);
    print(`| \`serveFiles\`, \`fetch\` | ${times_(read.get, read.plain)}`);
    print(`| \`serveFiles\`, \`HttpBackend.read\` | ${times_(read.backend, read.plain)}`);

    const files = new HttpBackend({ url: memory });
    const ratios = {};
    print(
      "\n| grep over 10,000 files in memory | matches | server + transfer, ms | over HTTP, ms | times |",
    );
    print("|---|---:|---:|---:|---:|");
    for (const [name, wanted] of [
      ["rare", "pnpm-workspace.yaml"],
      ["some", "createHash("],
      ["many", "function"],
    ]) {
      let found = {};
      const at_ = [];
      const grep = await times(
        {
          apart: async () => {
            found = await ask("grep", wanted);
            const began = performance.now();
            for (const line of (await text(`${plain}/answer`)).split("\n"))
              if (line) JSON.parse(line);
            at_.push(found.ms + performance.now() - began);
          },
          http: () => files.grep(wanted),
        },
        15,
      );
      const apart = median(at_.slice(at_.length >> 1));
      ratios[name] = grep.http / apart;
      print(
        `| ${name} | ${found.matches} | ${apart.toFixed(1)} | ${grep.http.toFixed(1)} | ${ratios[name].toFixed(2)} |`,
      );
    }

    const memoryBefore = await ask("watchMemory");
    const began = performance.now();
    let bytes = 0;
    for await (const piece of (await fetch(`${disk}/large.bin`)).body) bytes += piece.length;
    const seconds = (performance.now() - began) / 1000;
    const grown = await ask("memory");
    const mib = (of) => Math.round(of / (1 << 20));
    if (bytes !== GIGABYTE) throw new Error(`${bytes} bytes arrived`);
    print(
      `\n1 GiB down: ${seconds.toFixed(1)} s; the server's memory was ${mib(memoryBefore)} MiB and grew by ${mib(grown)} MiB.`,
    );
    return { "http read": read.plain / read.backend, "http grep, some": 1 / ratios.some };
  } finally {
    server.disconnect();
    rmSync(place, { recursive: true, force: true });
  }
}

export default { title: "Files over HTTP", needs: ["build"], run };
