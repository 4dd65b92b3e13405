// Pairs of trees for the benchmark of `kitbag/sync`. Their files were written an hour ago: what was written
// within the last minute is always read.

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { at } from "../../scripts/lib/paths.mjs";

const HOUR_MS = 3_600_000;
const LATENCY_MS = 20;
const LINES = 24;

/** Source code of about a kilobyte: each file is another one. */
function source(file) {
  const lines = Array.from({ length: LINES }, (_, line) => {
    const word = (file * 31 + line * 17) % 9973;
    return `  const value${word} = compute(${file}, ${line}, "${word.toString(36)}");\n`;
  });
  return lines.join("");
}
export const pathOf = (file) => `/d${Math.floor(file / 100)}/f${file}.ts`;

/** The files of a tree: path and text. */
export function* sources(count) {
  for (let file = 0; file < count; file++) yield [pathOf(file), source(file)];
}

/** A tree in memory. */
export function memory({ StateBackend }, count) {
  const time = new Date(Date.now() - HOUR_MS).toISOString();
  const files = {};
  for (const [path, content] of sources(count)) {
    files[path] = { content, mimeType: "text/plain", created_at: time, modified_at: time };
  }
  return new StateBackend({ files });
}

/** A new folder, with so many files. */
export function folder(count) {
  mkdirSync(at(".cache"), { recursive: true });
  const root = mkdtempSync(join(at(".cache"), "bench-sync-"));
  const time = new Date(Date.now() - HOUR_MS);
  for (const [path, text] of sources(count)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    utimesSync(join(root, path), time, time);
  }
  return root;
}

/** A server of a folder, with a latency: its address, and how to end it. */
async function served(root) {
  const server = fork(at("benches/lib/sync-server.mjs"), [root, LATENCY_MS]);
  const [url] = await once(server, "message");
  return { url, end: () => server.disconnect() };
}

/** `{ a, b, end }` by the name of the pair; `b` has so many of the files already. */
export const PAIRS = {
  "two trees in memory": async (kitbag, count, there) => ({
    a: memory(kitbag, count),
    b: memory(kitbag, there),
    end() {},
  }),
  "two folders": async ({ FilesystemBackend }, count, there) => {
    const roots = [folder(count), folder(there)];
    const [a, b] = roots.map((rootDir) => new FilesystemBackend({ rootDir }));
    const end = () => {
      for (const root of roots) rmSync(root, { recursive: true, force: true });
    };
    return { a, b, end };
  },
  [`a tree in memory, and a folder over HTTP behind ${LATENCY_MS} ms`]: async (
    kitbag,
    count,
    there,
  ) => {
    const root = folder(there);
    const server = await served(root);
    const end = () => {
      server.end();
      rmSync(root, { recursive: true, force: true });
    };
    return { a: memory(kitbag, count), b: new kitbag.HttpBackend({ url: server.url }), end };
  },
};
