// Tells what a kill of the browser has left of commits of a hundred files, and then commits again and
// again until the next one. Each commit gives all files its number.

import { ownFiles, roomOf } from "/lib/room.mjs";
import { begin, IndexedDbBackend, OpfsBackend, StateBackend } from "/pkg/dist/browser.js";

const FILES = Array.from({ length: 100 }, (_, at) => `/f/${at}`);
/** There after each second commit. */
const OFTEN = "/often";
const PLACE = "killed";
const WITNESS = "witness";

const STORES = {
  indexeddb: (options) => new IndexedDbBackend({ database: PLACE, ...options }),
  opfs: (options) => new OpfsBackend({ root: PLACE, ...options }),
};

/**
 * What the page keeps in the same storages without kitbag, once: if it is gone as well, the browser has
 * lost it. Returns whether it was there, and writes it.
 */
const WITNESSES = {
  async indexeddb() {
    const database = await new Promise((resolve, reject) => {
      const opened = indexedDB.open(WITNESS, 1);
      opened.onupgradeneeded = () => opened.result.createObjectStore(WITNESS);
      opened.onsuccess = () => resolve(opened.result);
      opened.onerror = () => reject(opened.error);
    });
    const changed = database.transaction(WITNESS, "readwrite", { durability: "strict" });
    const store = changed.objectStore(WITNESS);
    const asked = store.get(WITNESS);
    store.put(true, WITNESS);
    await new Promise((resolve, reject) => {
      changed.oncomplete = resolve;
      changed.onabort = () => reject(changed.error);
    });
    database.close();
    return asked.result === true;
  },
  async opfs() {
    const root = await navigator.storage.getDirectory();
    const there = await root.getFileHandle(WITNESS).then(
      () => true,
      (error) => {
        if (error.name === "NotFoundError") return false;
        throw error;
      },
    );
    if (!there) await root.getFileHandle(WITNESS, { create: true });
    return there;
  },
};

async function tell(path, data) {
  await fetch(path, { method: "POST", body: JSON.stringify(data) });
}

/** What each file holds; null for none. */
async function texts(files, paths) {
  const answers = await files.downloadFiles(paths);
  return answers.map(({ content, error, code }) => {
    if (content) return new TextDecoder().decode(content);
    return code === "not_found" || error === "file_not_found" ? null : `unreadable: ${code}`;
  });
}

async function look(kind, files) {
  const witness = await WITNESSES[kind]();
  const left = new Set(await texts(files, [...FILES]));
  const own = await roomOf({ begin, StateBackend });
  const journals = await ownFiles(own, files);
  // Whoever begins a turn finishes what a commit has left, or takes it back.
  const { error, code } = await begin(files).read("/f/0");
  const found = [...new Set(await texts(files, FILES))];
  const [often] = await texts(files, [OFTEN]);
  return {
    ...{ kind, witness, found, often },
    isPart: left.size > 1,
    hadJournal: journals.length > 0,
    journals: await ownFiles(own, files),
    failed: error && code !== "not_found" ? error : undefined,
  };
}

async function commit(kind, files, number) {
  const turn = begin(files);
  const body = new TextEncoder().encode(String(number));
  // A read, so that other commits are kept away meanwhile.
  await turn.read("/f/0");
  await turn.uploadFiles(FILES.map((path) => [path, body]));
  if (number % 2 === 0) await turn.delete(OFTEN);
  else await turn.uploadFiles([[OFTEN, body]]);
  await tell("/begun", { kind, number });
  const began = performance.now();
  const { error } = await turn.commit();
  if (error !== undefined) throw new Error(error);
  await tell("/kept", { kind, number, ms: performance.now() - began });
}

async function run(kinds, options) {
  const all = kinds.map((kind) => ({ kind, files: STORES[kind](options) }));
  await Promise.all(
    all.map(async (one) => {
      const found = await look(one.kind, one.files);
      one.number = Number(found.found[0] ?? 0) || 0;
      await tell("/found", found);
    }),
  );
  // A journal that was left takes ten seconds, in which the other storage does not have to work.
  const lives = all.map(async ({ kind, files, number }) => {
    for (let next = number + 1; ; next++) await commit(kind, files, next);
  });
  await Promise.all(lives);
}

const asked = new URLSearchParams(location.search);
run(asked.get("kinds").split(","), { crashProtection: asked.has("protected") }).catch((error) =>
  tell("/failed", { error: String(error?.stack ?? error) }),
);
