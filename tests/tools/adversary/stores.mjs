// Where the files of a world are, read past kitbag: its own memory, a folder, and an object of another
// library that tells of changes.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const encode = (text) => new TextEncoder().encode(text);
const isOwn = (path) => /\/(\.kit\W?bag|\.\u212aitbag|kitbag~1)/iu.test(path);

/** Plain files, and those of the library. */
function parted(all) {
  const files = new Map();
  const own = new Map();
  for (const [path, text] of all) (isOwn(path) ? own : files).set(path, text);
  return { files, own };
}

/** The memory of kitbag. */
async function memory(api, files, own) {
  const backend = new api.kitbag.StateBackend({ files });
  const planted = Object.entries(own).map(([path, text]) => [api.own(path), encode(text)]);
  const answers = await backend.uploadFiles(planted);
  for (const { error } of answers) if (error) throw new Error(`not planted: ${error}`);
  const read = () => {
    const all = Object.entries(backend.snapshot()).map(([path, { content }]) => [path, content]);
    for (const directory of ["/.kitbag", "/open/.kitbag"]) {
      const { files: found = [] } = backend.glob("**", api.own(directory));
      const paths = found.map(({ path }) => path);
      const answers = backend.downloadFiles(paths.map(api.own));
      for (const [at, { content }] of answers.entries()) all.push([paths[at], content ?? ""]);
    }
    return parted(all.map(([path, content]) => [path, textOf(content)]));
  };
  return { backend, read, close() {} };
}

const textOf = (content) =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** A folder of the disk. */
function folder(api, files, own) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-adversary-files-"));
  for (const [path, text] of Object.entries({ ...files, ...own })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const read = () => {
    const all = [];
    const walk = (directory) => {
      for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
        const path = `${directory}/${entry.name}`;
        if (entry.isDirectory()) walk(path);
        else all.push([path, readFileSync(join(root, path), "utf8")]);
      }
    };
    walk("");
    return parted(all);
  };
  const backend = new api.kitbag.FilesystemBackend({ rootDir: root });
  const close = () => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  return { backend, read, close };
}

const under = (path, directory) =>
  directory === "/" || path === directory || path.startsWith(`${directory.replace(/\/$/, "")}/`);

/** An object of another library over a Map; it knows nothing of names that kitbag keeps for itself. */
function stranger(_api, files, own) {
  const map = new Map(Object.entries({ ...files, ...own }));
  const heard = new Set();
  const told = (path) => {
    for (const hear of heard) hear({ paths: [path] });
  };
  const put = (path, text) => {
    map.set(path, text);
    told(path);
  };
  const below = (directory = "/") =>
    [...map.keys()].filter((path) => under(path, directory ?? "/")).sort();
  // Its errors name no path, since they are not the library's.
  const none = () => ({ error: "File not found" });
  const backend = {
    ls: async (path) => {
      const prefix = `${path.replace(/\/$/, "")}/`;
      const rows = new Map();
      for (const one of below(path)) {
        const [name, ...rest] = one.slice(prefix.length).split("/");
        const isDirectory = rest.length > 0;
        if (!name) continue;
        rows.set(name, isDirectory ? { path: `${prefix}${name}/`, is_dir: true } : { path: one });
      }
      return { files: [...rows.values()] };
    },
    read: async (path) => (map.has(path) ? { content: map.get(path) } : none()),
    readRaw: async (path) =>
      map.has(path) ? { data: { content: map.get(path), mimeType: "text/plain" } } : none(),
    grep: async (pattern, path) => ({
      matches: below(path).flatMap((one) =>
        map
          .get(one)
          .split("\n")
          .map((text, at) => ({ path: one, line: at + 1, text }))
          .filter(({ text }) => text.includes(pattern)),
      ),
    }),
    glob: async (_, path) => ({ files: below(path).map((one) => ({ path: one })) }),
    write: async (path, content) => {
      if (map.has(path)) return { error: "File already exists" };
      put(path, content);
      return { path };
    },
    edit: async (path, old, fresh, all) => {
      const text = map.get(path);
      if (text === undefined) return none();
      const count = text.split(old).length - 1;
      if (count === 0 || (count > 1 && !all)) return { error: `${count} occurrences` };
      put(path, text.split(old).join(fresh));
      return { path, occurrences: count };
    },
    delete: async (path) => {
      const gone = below(path);
      if (gone.length === 0) return none();
      for (const one of gone) {
        map.delete(one);
        told(one);
      }
      return { path };
    },
    uploadFiles: async (batch) =>
      batch.map(([path, body]) => {
        put(path, textOf(body));
        return { path, error: null };
      }),
    downloadFiles: async (paths) =>
      paths.map((path) =>
        map.has(path)
          ? { path, content: encode(map.get(path)), error: null }
          : { path, content: null, error: "file_not_found" },
      ),
    watch: (first, second) => {
      const hear = second ?? first;
      heard.add(hear);
      return () => heard.delete(hear);
    },
  };
  return { backend, read: () => parted(map), close() {} };
}

export const STORES = { memory, folder, stranger };
