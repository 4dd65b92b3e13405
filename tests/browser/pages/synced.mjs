// Syncs the browser's own storages with trees behind HTTP: first until both are equal, whatever a kill of the
// browser has left; then edits both sides, and syncs again until the browser is killed.

import { sync } from "/pkg/dist/browser/sync.js";
import { HttpBackend, IndexedDbBackend, OpfsBackend } from "/pkg/dist/browser.js";

const PLACE = "synced";
const STORES = {
  indexeddb: (options) => new IndexedDbBackend({ database: PLACE, ...options }),
  opfs: (options) => new OpfsBackend({ root: PLACE, ...options }),
};

async function tell(path, data) {
  await fetch(path, { method: "POST", body: JSON.stringify(data) });
}

function good(answer) {
  const failed = Array.isArray(answer) ? answer.find(({ error }) => error) : answer;
  if (failed?.error) throw new Error(`${failed.path}: ${failed.message ?? failed.error}`);
  return answer;
}

/** What is in a tree, by path. */
async function contents(backend) {
  const { files } = good(await backend.glob("**", "/"));
  const paths = files.map(({ path }) => path).sort();
  const bodies = good(await backend.downloadFiles(paths));
  return Object.fromEntries(
    bodies.map(({ path, content }) => [path, new TextDecoder().decode(content)]),
  );
}

const put = async (backend, files) =>
  good(
    await backend.uploadFiles(
      Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]),
    ),
  );

/** The edits of a round at a side: new files, and one that both sides change. */
function edits(side, round, count) {
  const files = { "/both": `of ${side} ${round}` };
  for (let at = 0; at < count; at++) files[`/${side}${round}/${at}`] = `of ${side} ${round} ${at}`;
  return files;
}

/** Two trees, and how they are synced. */
function pair(kind, url) {
  const local = STORES[kind]({ crashProtection: true });
  const remote = new HttpBackend({ url });
  const run = () => sync(local, remote, { keepIn: { backend: local, path: "/kept" } });
  return { kind, local, remote, run };
}

/** The first run after a kill, and what is there then. */
async function recover({ kind, local, remote, run }) {
  const { error, refused } = await run();
  const found = [await contents(local), await contents(remote)];
  await tell("/found", { kind, error, refused, found });
}

async function edit({ local, remote }, round, count) {
  await put(local, edits("a", round, count));
  await put(remote, edits("b", round, count));
}

async function live({ kind, run }, round) {
  await tell("/begun", { kind, round });
  const began = performance.now();
  good(await run());
  await tell("/ended", { kind, round, ms: performance.now() - began });
}

async function main() {
  const asked = new URLSearchParams(location.search);
  const [round, count] = ["round", "count"].map((name) => Number(asked.get(name)));
  const pairs = Object.keys(STORES).map((kind) => pair(kind, asked.get(kind)));
  // A pair that was killed waits ten seconds, in which the other one would come to its end.
  await Promise.all(pairs.map(recover));
  // Whoever kills it must know that every edit was answered, so no run begins before.
  await Promise.all(pairs.map((one) => edit(one, round, count)));
  await Promise.all(pairs.map((one) => live(one, round)));
}

main().catch((error) => tell("/failed", { error: String(error?.stack ?? error) }));
