// The same work with kitbag and with other libraries. Each contender stores a corpus, and then
// returns results of the same form: paths with sizes and times for `ls` and `glob`, matching lines
// with their numbers for `grep`, a page of lines for `read`. The first function loads the code of
// a contender and returns a second one, which opens the store.

import { createStore, entries, get, setMany } from "idb-keyval";
import { corpus } from "./corpus.mjs";

const decoder = new TextDecoder();

function checked(answer) {
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

function ofBackend(make) {
  return async () => {
    const kitbag = await import("/pkg/dist/browser.js");
    return () => opened(make(kitbag));
  };
}

function opened(files) {
  return {
    async fill() {
      let batch = [];
      const flush = async () => {
        for (const { error, message } of await files.uploadFiles(batch)) {
          if (error) throw new Error(message);
        }
        batch = [];
      };
      for (const file of corpus()) {
        batch.push(file);
        if (batch.length === 1000) await flush();
      }
      await flush();
    },
    ls: async (path) => checked(await files.ls(path)).files,
    globTs: async () => checked(await files.glob("**/*.ts")).files,
    grep: async (text) => checked(await files.grep(text)).matches,
    read: async (path) => checked(await files.read(path, 0, 500)).content,
  };
}

/** Careful code over idb-keyval: metadata is kept apart from bodies, and writes are batched. */
async function idbKeyval() {
  return openKeyval;
}

async function openKeyval() {
  const metas = createStore("bench-keyval-metas", "files");
  const bodies = createStore("bench-keyval-bodies", "files");
  const listed = async (accept) => {
    const found = [];
    for (const [path, meta] of await entries(metas))
      if (accept(path)) found.push({ path, ...meta });
    return found;
  };
  return {
    async fill() {
      let batch = [];
      const flush = async () => {
        const now = new Date().toISOString();
        await setMany(
          batch.map(([path, bytes]) => [path, { size: bytes.length, modified_at: now }]),
          metas,
        );
        await setMany(batch, bodies);
        batch = [];
      };
      for (const file of corpus()) {
        batch.push(file);
        if (batch.length === 1000) await flush();
      }
      await flush();
    },
    async ls(path) {
      const prefix = `${path}/`;
      const found = await listed((at) => at.startsWith(prefix) && !at.includes("/", prefix.length));
      return found.sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    async globTs() {
      const found = await listed((at) => at.endsWith(".ts"));
      return found.sort((a, b) => (a.modified_at > b.modified_at ? -1 : a.path < b.path ? -1 : 1));
    },
    async grep(text) {
      const matches = [];
      for (const [path, bytes] of await entries(bodies)) {
        const content = decoder.decode(bytes);
        if (!content.includes(text)) continue;
        content.split("\n").forEach((line, at) => {
          if (line.includes(text)) matches.push({ path, line: at + 1, text: line });
        });
      }
      return matches;
    },
    async read(path) {
      return decoder
        .decode(await get(path, bodies))
        .split("\n")
        .slice(0, 500)
        .join("\n");
    },
  };
}

/** A complete file system, over IndexedDB or over OPFS. */
function zenfs(configuration) {
  return async () => {
    const { configureSingle, fs } = await import("@zenfs/core");
    const backends = await import("@zenfs/dom");
    return async () => {
      // Preloading into memory is off: over OPFS it would load every file, and over IndexedDB it
      // finds nothing (1.1.7) and overwrites the stored root with an empty one.
      const disableAsyncCache = true;
      await configureSingle({ ...(await configuration(backends)), disableAsyncCache });
      return ofNodeLike(fs);
    };
  };
}

function ofNodeLike(fs) {
  const all = async (dir, visit) => {
    for (const name of await fs.promises.readdir(dir)) {
      const path = `${dir === "/" ? "" : dir}/${name}`;
      const stat = await fs.promises.stat(path);
      if (stat.isDirectory()) await all(path, visit);
      else await visit(path, stat);
    }
  };
  const shown = (path, stat) => ({ path, size: stat.size, modified_at: stat.mtime.toISOString() });
  return {
    async fill() {
      await fs.promises.mkdir("/src");
      let last;
      for (const [path, bytes] of corpus()) {
        const dir = path.slice(0, path.lastIndexOf("/"));
        if (dir !== last && dir.length > 4) await fs.promises.mkdir(dir);
        last = dir;
        await fs.promises.writeFile(path, bytes);
      }
    },
    async ls(path) {
      const names = await fs.promises.readdir(path);
      return Promise.all(
        names.map(async (name) =>
          shown(`${path}/${name}`, await fs.promises.stat(`${path}/${name}`)),
        ),
      );
    },
    async globTs() {
      const found = [];
      await all("/", (path, stat) => {
        if (path.endsWith(".ts")) found.push(shown(path, stat));
      });
      return found.sort((a, b) => (a.modified_at > b.modified_at ? -1 : a.path < b.path ? -1 : 1));
    },
    async grep(text) {
      const matches = [];
      await all("/", async (path) => {
        const content = await fs.promises.readFile(path, "utf8");
        if (!content.includes(text)) return;
        content.split("\n").forEach((line, at) => {
          if (line.includes(text)) matches.push({ path, line: at + 1, text: line });
        });
      });
      return matches;
    },
    async read(path) {
      const content = await fs.promises.readFile(path, "utf8");
      return content.split("\n").slice(0, 500).join("\n");
    },
  };
}

/** The browser's own API, in the fastest way found: the lower limit for anything over OPFS. */
function ofHandles(root) {
  const inside = (dir) => Array.fromAsync(dir.values());
  const look = async (path, handle) => ({ path, file: await handle.getFile() });
  const shown = ({ path, file }) => ({
    path,
    size: file.size,
    modified_at: new Date(file.lastModified).toISOString(),
  });
  const reached = async (path) => {
    let dir = root;
    for (const name of path.split("/").slice(1)) dir = await dir.getDirectoryHandle(name);
    return dir;
  };
  const all = async (dir, above) => {
    const found = await Promise.all(
      (await inside(dir)).map((handle) =>
        handle.kind === "file"
          ? [[`${above}/${handle.name}`, handle]]
          : all(handle, `${above}/${handle.name}`),
      ),
    );
    return found.flat();
  };
  return {
    async ls(path) {
      const found = await inside(await reached(path));
      return (await Promise.all(found.map((at) => look(`${path}/${at.name}`, at)))).map(shown);
    },
    async globTs() {
      const found = (await all(root, "")).filter(([path]) => path.endsWith(".ts"));
      const files = (await Promise.all(found.map(([path, at]) => look(path, at)))).map(shown);
      return files.sort((a, b) => (a.modified_at > b.modified_at ? -1 : a.path < b.path ? -1 : 1));
    },
    async grep(text) {
      const matches = [];
      const found = await all(root, "");
      for (let at = 0; at < found.length; at += 50) {
        const some = found.slice(at, at + 50);
        const files = await Promise.all(some.map(([path, handle]) => look(path, handle)));
        const bytes = await new Blob(files.map(({ file }) => file)).arrayBuffer();
        let end = 0;
        for (const { path, file } of files) {
          const begin = end;
          end += file.size;
          const content = decoder.decode(new Uint8Array(bytes, begin, file.size));
          if (!content.includes(text)) continue;
          content.split("\n").forEach((line, number) => {
            if (line.includes(text)) matches.push({ path, line: number + 1, text: line });
          });
        }
      }
      return matches;
    },
    async read(path) {
      const file = await (await root.getFileHandle(path.slice(1))).getFile();
      return decoder
        .decode(await file.arrayBuffer())
        .split("\n")
        .slice(0, 500)
        .join("\n");
    },
  };
}

async function directory() {
  const origin = await navigator.storage.getDirectory();
  return origin.getDirectoryHandle(OPFS_PLACE);
}

const OPFS_PLACE = "bench-kitbag";

export const CONTENDERS = {
  "kitbag IndexedDB": ofBackend(
    ({ IndexedDbBackend }) => new IndexedDbBackend({ database: "bench-kitbag" }),
  ),
  "idb-keyval": idbKeyval,
  "@zenfs/dom IndexedDB": zenfs(({ IndexedDB }) => ({
    backend: IndexedDB,
    storeName: "bench-zenfs",
  })),
  "kitbag OPFS": ofBackend(({ OpfsBackend }) => new OpfsBackend({ root: OPFS_PLACE })),
  // The next two use the files that "kitbag OPFS" has stored.
  "OPFS itself": async () => async () => ofHandles(await directory()),
  "@zenfs/dom OPFS": zenfs(async ({ WebAccess }) => ({
    backend: WebAccess,
    handle: await directory(),
  })),
};

async function timed(run) {
  const began = performance.now();
  const answer = await run();
  return [performance.now() - began, answer];
}

export async function fill(name) {
  const open = await CONTENDERS[name]();
  const store = await open();
  return (await timed(() => store.fill()))[0];
}

/** Times one operation on a store that this page has just opened, and then repeats it. */
export async function ask({ name, question, argument, again = 0 }) {
  const open = await CONTENDERS[name]();
  const store = await open();
  // The connection is open, as it is after an agent's first call.
  await store.ls("/src/dir99");
  const [first, answer] = await timed(() => store[question](argument));
  const later = [];
  for (let n = 0; n < again; n++) later.push((await timed(() => store[question](argument)))[0]);
  return { first, later, size: answer.length };
}

/** Times the first operation of a page, including opening the store, but not loading its code. */
export async function askAtOnce({ name, question, argument }) {
  const open = await CONTENDERS[name]();
  const [took, answer] = await timed(async () => (await open())[question](argument));
  return { took, size: answer.length };
}
