// What only a browser does to its storages: APIs that are missing, other tabs that take a
// database away, room that ends. Each function tells what a caller saw.

import { backend } from "/pages/races.mjs";
import { beginKept, keptTurns } from "/pkg/dist/browser/history.js";
import { IndexedDbBackend, OpfsBackend, StateBackend } from "/pkg/dist/browser.js";

const ORIGIN = location.origin;

function opened(name, version) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onupgradeneeded = () => {};
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
}

/**
 * What a page that reads or changes appends to the logs of the browser: databases that it opens
 * besides its own, names of directories that no path can have, and what is left of both. `grown` is
 * by how much the databases of this origin grew, where the browser says it.
 */
export async function appended({ change, ...where }) {
  const databases = [];
  let longNames = 0;
  const { open } = IDBFactory.prototype;
  const handles = globalThis.FileSystemDirectoryHandle?.prototype;
  const getDirectoryHandle = handles?.getDirectoryHandle;
  const used = async () => {
    const { usageDetails } = (await navigator.storage?.estimate()) ?? {};
    return usageDetails?.indexedDB ?? 0;
  };
  const before = await used();
  IDBFactory.prototype.open = function (name, ...rest) {
    if (name !== where.place) databases.push(name);
    return open.call(this, name, ...rest);
  };
  if (handles) {
    handles.getDirectoryHandle = function (name, ...rest) {
      if (name.length > 255) longNames++;
      return getDirectoryHandle.call(this, name, ...rest);
    };
  }
  try {
    const files = backend(where);
    const { error } = change ? await files.write("/change.txt", "made") : await files.ls("/");
    if (error) throw new Error(error);
  } finally {
    IDBFactory.prototype.open = open;
    if (handles) handles.getDirectoryHandle = getDirectoryHandle;
  }
  const grown = (await used()) - before;
  return { databases, longNames, left: await leftOfLogs(databases), grown };
}

/** What stands in the database that renews a log, and long names in OPFS. */
async function leftOfLogs(databases) {
  let left = 0;
  if (databases.includes("kitbag-log")) {
    const log = await opened("kitbag-log");
    const all = log.transaction("bodies").objectStore("bodies").getAllKeys();
    await settled(all);
    left += all.result.length;
    log.close();
  }
  if (navigator.storage?.getDirectory) {
    const top = await navigator.storage.getDirectory();
    const names = await Array.fromAsync(top.keys());
    left += names.filter((name) => name.length > 255).length;
  }
  return left;
}

/** Every string of one character, odd names, every byte: what came back otherwise than it went. */
export async function roundTrips(where) {
  const files = backend(where);
  const bad = [];
  const characters = [];
  for (let code = 0; code <= 0x10ffff; code += code < 0xffff ? 1 : 257) {
    if (code < 0xd800 || code > 0xdfff) characters.push(String.fromCodePoint(code));
  }
  const all = characters.join("");
  const bytes = Uint8Array.from({ length: 256 * 3 }, (_, at) => at % 256);
  const names = [
    "__proto__",
    "constructor",
    "toString",
    "🙂.txt",
    "a".repeat(255),
    "é".repeat(127),
    "🙂".repeat(63),
    "\u{ffff}\u{10000}",
    "trailing.",
    " spaces ",
    "con",
    'a"b<c>|:*?',
  ];
  for (const name of names) {
    const path = `/names/${name}`;
    const { error } = await files.write(path, name.endsWith("png") ? "" : `I am ${name}`);
    if (error) bad.push(`${name}: ${error}`);
  }
  const { files: listed = [], error } = await files.ls("/names");
  if (error) bad.push(error);
  for (const name of names) {
    if (!listed.some(({ path }) => path === `/names/${name}`)) bad.push(`not listed: ${name}`);
    const { content } = await files.read(`/names/${name}`);
    if (content !== `I am ${name}`) bad.push(`content of ${name}: ${content}`);
  }
  await files.write("/all.txt", all);
  const raw = await files.readRaw("/all.txt");
  if (raw.data?.content !== all) bad.push("the text of every character");
  await files.uploadFiles([["/all.bin", bytes]]);
  const [{ content }] = await files.downloadFiles(["/all.bin"]);
  if (String(content) !== String(bytes)) bad.push("every byte");
  return bad;
}

/** Without the API, and with one whose getter throws. */
export async function missing({ kind }) {
  const files = backend({ kind, place: "missing" });
  const seen = [];
  if (kind === "opfs") {
    Object.defineProperty(navigator, "storage", { value: undefined, configurable: true });
    seen.push(await files.ls("/"));
  } else {
    Object.defineProperty(globalThis, "indexedDB", { value: undefined, configurable: true });
    seen.push(await files.ls("/"));
    const get = () => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    };
    Object.defineProperty(globalThis, "indexedDB", { get, configurable: true });
    seen.push(await files.ls("/"));
  }
  seen.push(await files.write("/a.txt", "a"), await files.grep("a"));
  return seen;
}

/** In a frame of an opaque origin, where browsers refuse storage. */
export async function opaque({ kind }) {
  const frame = document.createElement("iframe");
  frame.sandbox.add("allow-scripts");
  const make =
    kind === "opfs" ? "new kitbag.OpfsBackend()" : 'new kitbag.IndexedDbBackend({ database: "x" })';
  frame.srcdoc = `<script type="module">
    import * as kitbag from "${ORIGIN}/pkg/dist/browser.js";
    parent.postMessage(await ${make}.write("/a.txt", "a"), "*");
  </script>`;
  const answer = new Promise((resolve) =>
    addEventListener("message", ({ data }) => resolve(data), { once: true }),
  );
  document.body.append(frame);
  try {
    return await answer;
  } finally {
    frame.remove();
  }
}

/** An open that another connection holds up, and one after it has let go. */
export async function blocked() {
  const place = `blocked-${crypto.randomUUID()}`;
  const holder = await opened(place, 1);
  holder.onversionchange = () => {};
  const deletion = settled(indexedDB.deleteDatabase(place));
  const files = backend({ place, openTimeoutMs: 300 });
  const began = performance.now();
  const held = await files.write("/a.txt", "a");
  const ms = performance.now() - began;
  holder.close();
  await deletion;
  // A busy machine can need longer than 300 ms: as the error says, one tries again.
  let free;
  for (let tries = 0; tries < 20; tries++) {
    free = await files.write("/a.txt", "a");
    if (free.code !== "unavailable") break;
  }
  return { held, ms, free };
}

/** Another tab brings the database to a newer version, then takes it away. */
export async function takenAway() {
  const place = `taken-${crypto.randomUUID()}`;
  const files = backend({ place });
  const first = await files.write("/a.txt", "a");
  const newer = await opened(place, 99);
  const upgraded = await files.read("/a.txt");
  newer.close();
  await settled(indexedDB.deleteDatabase(place));
  const again = [await files.write("/b.txt", "b")];
  await settled(indexedDB.deleteDatabase(place));
  again.push(await files.read("/b.txt"), await files.write("/b.txt", "b"));
  again.push(await files.ls("/"));
  return { first, upgraded, again };
}

/** A database of the same name that somebody else made. */
export async function strange() {
  const place = `strange-${crypto.randomUUID()}`;
  (await opened(place, 1)).close();
  return backend({ place }).ls("/");
}

/** A database as the first layout had it: a record of text and a body for each file. */
async function layoutOfOld(place, files) {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open(place, 1);
    request.onupgradeneeded = () => {
      for (const store of ["files", "bodies"]) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const transaction = database.transaction(["files", "bodies"], "readwrite");
  for (const [namespace, path, bytes, record] of files) {
    const letters = Array.from(new TextEncoder().encode(path), (byte) => String.fromCharCode(byte));
    const key = `${namespace}\0${letters.join("")}`;
    transaction.objectStore("files").put(record ?? recordOfOld(path, bytes.length), key);
    transaction.objectStore("bodies").put(bytes, key);
  }
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  database.close();
}

function recordOfOld(path, size) {
  const time = `${Date.UTC(2024, 0, 2, 3, 4, 5)}000`;
  return [size, time, time, "12345678901234567890", "2", "a", "text/plain", path].join("\u001f");
}

function storesOf(database) {
  const stores = { version: database.version, stores: [...database.objectStoreNames] };
  database.close();
  return stores;
}

/** Opens a database that the first version of the layout has left. */
export async function firstLayout() {
  const place = `old-${crypto.randomUUID()}`;
  const names = ["é", "🙂", "__proto__", "a-b", "a"];
  const paths = Array.from({ length: 6_000 }, (_, at) => `/${names[at % 5]}/${at}/file ${at}.txt`);
  const text = (at) => new TextEncoder().encode(`line ${at}\n`);
  await layoutOfOld(place, [
    ...paths.map((path, at) => ["", path, text(at)]),
    ["other", "/mine.txt", text(1)],
  ]);
  const files = backend({ place });
  const { files: found = [], error } = await files.glob("**/*.txt");
  const bad = error ? [error] : [];
  const downloads = await files.downloadFiles(paths);
  for (const [at, { path, content }] of downloads.entries()) {
    if (path !== paths[at] || String(content) !== String(text(at))) bad.push(paths[at]);
  }
  const { data } = await files.readRaw(paths[3]);
  const { created_at, modified_at } = data ?? {};
  await files.edit(paths[7], "line", "edited");
  const namespaces = {};
  for (const namespace of ["other", "empty"]) {
    const listing = await backend({ place, namespace }).glob("**");
    namespaces[namespace] = listing.files.map(({ path }) => path);
  }
  const { content: edited } = await backend({ place }).read(paths[7]);
  const { stores } = storesOf(await opened(place));
  return {
    stores,
    bad,
    listed: found.length,
    namespaces,
    edited,
    times: { created_at, modified_at },
  };
}

/** One whose records are none of ours: nothing of it may change. */
export async function damagedLayout() {
  const place = `damaged-${crypto.randomUUID()}`;
  await layoutOfOld(place, [["", "/a.txt", new Uint8Array(3), "what is this"]]);
  const refused = await backend({ place }).read("/a.txt");
  return { refused, ...storesOf(await opened(place)) };
}

/** Text that no browser can press together. */
function noise(size) {
  const parts = [];
  for (let at = 0; at < size; at += 12)
    parts.push(Math.random().toString(36).slice(2, 14).padEnd(12, "x"));
  return parts.join("").slice(0, size);
}

export async function write({ path, size, text, ...where }) {
  return backend({ writeMode: "overwrite", ...where }).write(path, text ?? noise(size));
}

/** As `write`, where the browser says no more of a failed step than that a pipe broke. */
export async function writeByBrokenPipe({ step, ...argument }) {
  const { prototype } = FileSystemWritableFileStream;
  const whole = prototype[step];
  prototype[step] = () => Promise.reject(new DOMException("the pipe broke", "AbortError"));
  try {
    return await write(argument);
  } finally {
    prototype[step] = whole;
  }
}

export async function read({ path, ...where }) {
  return backend(where).read(path);
}

/** Keeps a backend in this page, from one call to the next. */
export async function keep({ path, ...where }) {
  globalThis.kept = backend(where);
  return globalThis.kept.write(path, "kept");
}

export async function readKept({ path }) {
  return [await globalThis.kept.read(path), await globalThis.kept.ls("/")];
}

export async function health(where) {
  const files = backend(where);
  return { health: await files.health(), persist: await files.persist() };
}

export async function watch(where) {
  globalThis.heard = [];
  globalThis.unwatch = backend(where).watch(({ paths }) => globalThis.heard.push(...paths));
}

export async function heard({ until, stop }) {
  while (until && !globalThis.heard.includes(until))
    await new Promise((next) => setTimeout(next, 5));
  if (stop) globalThis.unwatch();
  return globalThis.heard;
}

/** What each operation takes: transactions, and requests for what the store of bodies holds. */
export async function transactions() {
  const files = backend({ place: `count-${crypto.randomUUID()}` });
  const taken = {};
  const begin = IDBDatabase.prototype.transaction;
  const store = IDBObjectStore.prototype;
  const asking = ["get", "getAll", "getAllKeys", "openCursor"].map((name) => [name, store[name]]);
  let now;
  IDBDatabase.prototype.transaction = function (...given) {
    now.transactions++;
    return begin.apply(this, given);
  };
  for (const [name, ask] of asking) {
    store[name] = function (...given) {
      if (this.name === "bodies") now.bodies++;
      return ask.apply(this, given);
    };
  }
  const count = async (name, run) => {
    now = { transactions: 0, bodies: 0 };
    const answer = await run();
    if (answer.error) throw new Error(answer.error);
    taken[name] = now;
  };
  try {
    const batch = Array.from({ length: 1000 }, (_, at) => [
      `/d${at % 10}/f${at}.txt`,
      new TextEncoder().encode(`line ${at}\n`),
    ]);
    await count("upload", () => files.uploadFiles(batch));
    await count("ls", () => files.ls("/d1"));
    await count("glob", () => files.glob("**/*.txt"));
    await count("grep", () => files.grep("line 77"));
    await count("edit", () => files.edit("/d1/f1.txt", "line", "row"));
    await count("delete", () => files.delete("/d1"));
  } finally {
    IDBDatabase.prototype.transaction = begin;
    for (const [name, ask] of asking) store[name] = ask;
  }
  return taken;
}

/** What a dead tab left aside is hidden, and gone after the next write; other files are seen. */
export async function leftovers() {
  const place = `leftovers-${crypto.randomUUID()}`;
  const origin = await navigator.storage.getDirectory();
  const root = await origin.getDirectoryHandle(place, { create: true });
  const aside = await root.getDirectoryHandle(".kitbag-temp", { create: true });
  await aside.getFileHandle("00dead0000beef00-1", { create: true });
  await root.getDirectoryHandle("empty", { create: true });
  const outside = await (
    await root.getFileHandle("outside.txt", { create: true })
  ).createWritable();
  await outside.write("from elsewhere");
  await outside.close();
  const files = backend({ kind: "opfs", place });
  const out = { before: (await files.glob("**")).files.map(({ path }) => path) };
  out.reserved = await files.write("/.kitbag-temp/mine", "x");
  out.hidden = await files.read("/.kitbag-temp/00dead0000beef00-1");
  out.outside = (await files.read("/outside.txt")).content;
  out.emptyDeleted = await files.delete("/empty");
  out.emptyAgain = await files.delete("/empty");
  out.given = await new OpfsBackend({ directory: root }).write("/given.txt", "given");
  out.same = (await files.read("/given.txt")).content;
  out.listed = (await files.ls("/")).files.map(({ path }) => path);
  out.aside = [];
  for await (const name of aside.keys()) out.aside.push(name);
  return out;
}

/** A directory whose permission the user took back. */
export async function revoked() {
  const refuse = () =>
    Promise.reject(new DOMException("permission was revoked", "NotAllowedError"));
  const directory = {
    kind: "directory",
    name: "picked",
    getDirectoryHandle: refuse,
    getFileHandle: refuse,
    values: refuse,
  };
  const files = new OpfsBackend({ directory });
  return [await files.read("/a.txt"), await files.write("/a.txt", "a"), await files.ls("/")];
}

/** What constructors refuse. */
export async function options() {
  const seen = [];
  for (const make of [
    () => new IndexedDbBackend(),
    () => new IndexedDbBackend({ database: "" }),
    () => new IndexedDbBackend({ database: "x", durability: "maybe" }),
    () => new IndexedDbBackend({ database: "x", namespace: "a\0b" }),
    () => new IndexedDbBackend({ database: "x", databse: "x" }),
    () => new IndexedDbBackend({ database: "x", crashProtection: 1 }),
    () => new OpfsBackend({ root: "../up" }),
    () => new OpfsBackend({ directory: "/tmp" }),
    () => new OpfsBackend({ crashProtection: "yes" }),
  ]) {
    try {
      make();
      seen.push("nothing");
    } catch (error) {
      seen.push(`${error.name}: ${error.message}`);
    }
  }
  return seen;
}

/**
 * A turn that is kept: it goes on with what is there, edits, and tells what it would change, and with
 * `commits` what its commit left in the storage.
 */
export async function keptTurn({ from, to, commits, ...where }) {
  const keepIn = backend(where);
  const files = new StateBackend({ files: { "/a.txt": "one\n" } });
  const turn = beginKept(files, { keepIn: { backend: keepIn }, name: "task" });
  const { error } = await turn.edit("/a.txt", from, to);
  if (error) throw new Error(error);
  const { names } = await keptTurns({ backend: keepIn });
  const { changes } = await turn.diff();
  const shown = changes.map(({ path, hunks }) => [path, ...hunks.flatMap(({ lines }) => lines)]);
  if (!commits) return { names, shown };
  const done = await turn.commit();
  if (done.error) throw new Error(done.error);
  const left = (await keepIn.glob("**")).files.map(({ path }) => path);
  return { names, shown, left, now: files.read("/a.txt").content };
}
