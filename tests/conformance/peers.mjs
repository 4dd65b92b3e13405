// Other libraries' backends and file systems, as backends of the protocol: those of deepagents, of
// both versions that kitbag is tested with, and file systems through `CustomBackend`.

import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import * as latest from "../deps/latest/deepagents.mjs";
import * as older from "../deps/older/deepagents.mjs";
import { CustomBackend } from "../lib/kitbag.mjs";

const METHODS = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
const BATCHES = ["uploadFiles", "downloadFiles"];

/** A backend's methods, with its changes put into a state as a graph's reducer would do it. */
function inState(make) {
  const runtime = { state: { files: {} } };
  const theirs = make(runtime);
  const applied = (answer) => {
    for (const [path, file] of Object.entries(answer?.filesUpdate ?? {})) {
      if (file === null) delete runtime.state.files[path];
      else runtime.state.files[path] = file;
    }
    return answer;
  };
  const backend = {};
  for (const name of [...METHODS, ...BATCHES]) {
    if (typeof theirs[name] !== "function") continue;
    backend[name] = async (...args) => applied(await theirs[name](...args));
  }
  return backend;
}

/** What is to be done after a backend's case. */
const ends = new WeakMap();

export async function dispose(backend) {
  await ends.get(backend)?.();
}

function inFolder(make) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-peer-"));
  const backend = make(folder);
  ends.set(backend, () => rmSync(folder, { recursive: true, force: true }));
  return backend;
}

function ofDeepagents(version, module) {
  const { CompositeBackend, FilesystemBackend, InMemoryStore, StateBackend, StoreBackend } = module;
  const state = () => inState((runtime) => new StateBackend(runtime));
  const store = () =>
    new StoreBackend({ state: {}, store: new InMemoryStore(), assistantId: crypto.randomUUID() });
  return {
    [`deepagents ${version}: StateBackend`]: state,
    [`deepagents ${version}: StoreBackend`]: store,
    [`deepagents ${version}: FilesystemBackend`]: () =>
      inFolder((rootDir) => new FilesystemBackend({ rootDir, virtualMode: true })),
    // Without mounts: a mount is shown as a directory, and then no backend is empty.
    [`deepagents ${version}: CompositeBackend`]: () => new CompositeBackend(store(), {}),
  };
}

/** The content of a file; a file that is missing is `null` for `CustomBackend`. */
async function missing(work) {
  try {
    return await work();
  } catch (error) {
    if (/ENOENT|not found|no such file|EISDIR|directory/i.test(String(error?.message))) return null;
    throw error;
  }
}

/**
 * A file system as a storage. `fs` has `readdir`, `stat`, `mkdir` and `rm` in the manner of Node;
 * `read` and `write` take bytes.
 */
function storage(fs, read, write) {
  const kind = (stats, name) =>
    typeof stats[name] === "function" ? stats[name]() : (stats[name] ?? stats.type === "directory");
  // Seconds, milliseconds or a Date.
  const timeOf = ({ mtime }) => Number(mtime) * (mtime < 1e11 ? 1000 : 1);
  const parent = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
  const isDirectory = (stats) => kind(stats, "isDirectory");
  async function walk(dir, out) {
    for (const name of (await missing(() => fs.readdir(dir))) ?? []) {
      const path = dir === "/" ? `/${name}` : `${dir}/${name}`;
      const stats = await missing(() => fs.stat(path));
      if (!stats) continue;
      if (isDirectory(stats)) await walk(path, out);
      else out.push({ path, size: Number(stats.size), modified: timeOf(stats) });
    }
    return out;
  }
  return {
    get: async (path) => {
      const stats = await missing(() => fs.stat(path));
      if (!stats || isDirectory(stats)) return null;
      const content = new Uint8Array(await read(path));
      return { content, modified: timeOf(stats) };
    },
    list: async (prefix) => {
      const dir = prefix === "/" ? "/" : prefix.slice(0, -1);
      return walk(dir, []);
    },
    put: async (path, { content }) => {
      await fs.mkdir(parent(path), { recursive: true }).catch((error) => {
        if (!/EEXIST|exists/i.test(String(error?.message))) throw error;
      });
      await write(path, content);
    },
    delete: async (path) => {
      if (!(await missing(() => fs.stat(path)))) return false;
      await fs.rm(path);
    },
  };
}

const require = createRequire(at("tests/deps/filesystems/package.json"));
const library = (name) => import(pathToFileURL(require.resolve(name)).href);

const filesystems = {
  "just-bash 3.4.2: InMemoryFs": async ({ writeMode }) => {
    const { InMemoryFs } = await library("just-bash");
    const fs = new InMemoryFs();
    const read = (path) => fs.readFileBuffer(path);
    const write = (path, content) => fs.writeFile(path, content);
    return new CustomBackend(storage(fs, read, write), { writeMode });
  },
  "@cloudflare/shell 0.4.3: InMemoryFs": async ({ writeMode }) => {
    const { InMemoryFs } = await library("@cloudflare/shell");
    const fs = new InMemoryFs();
    const read = (path) => fs.readFileBytes(path);
    const write = (path, content) => fs.writeFileBytes(path, content);
    return new CustomBackend(storage(fs, read, write), { writeMode });
  },
  "AgentFS 0.6.4": async ({ writeMode }) => {
    const { AgentFS } = await library("agentfs-sdk");
    const agent = await AgentFS.open({ path: ":memory:" });
    const { fs } = agent;
    const made = {
      readdir: (path) => fs.readdir(path),
      stat: (path) => fs.stat(path),
      rm: (path) => fs.rm(path),
      // It makes the parents of a file itself.
      mkdir: async () => {},
    };
    const write = (path, content) => fs.writeFile(path, Buffer.from(content));
    const backend = new CustomBackend(
      storage(made, (path) => fs.readFile(path), write),
      { writeMode },
    );
    ends.set(backend, () => agent.close());
    return backend;
  },
};

/** Each peer with a function that makes an empty backend, and the modes of `write` that it has. */
export const peers = {
  ...Object.fromEntries(
    Object.entries({
      ...ofDeepagents("1.10.7", older),
      ...ofDeepagents("1.14.1", latest),
    }).map(([name, make]) => [name, { make, writeModes: ["create"] }]),
  ),
  ...Object.fromEntries(
    Object.entries(filesystems).map(([name, make]) => [
      name,
      { make, writeModes: ["create", "overwrite"] },
    ]),
  ),
};
