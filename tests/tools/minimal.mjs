// Three backends that have what the documents ask of one and nothing more: JavaScript's first
// version, whose `read` is numbered text; JavaScript's second version, whose `read` answers content
// and type; and the second version as Python's package shapes it. Each is written out by itself.

const sorted = (files) => [...files.keys()].sort();
const under = (dir) => (dir === "/" ? "/" : `${dir.replace(/\/$/, "")}/`);

/** One level of a directory, with paths alone. */
function level(files, dir) {
  const prefix = under(dir);
  const rows = new Map();
  for (const path of sorted(files)) {
    if (!path.startsWith(prefix)) continue;
    const [name, ...rest] = path.slice(prefix.length).split("/");
    rows.set(name, rest.length > 0 ? { path: `${prefix}${name}/`, is_dir: true } : { path });
  }
  return [...rows.values()];
}

function globbed(files, pattern, dir) {
  const prefix = under(dir ?? "/");
  const source = pattern
    .replace(/[.+^$()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/|\*\*|\*|\?/g, (wild) => {
      if (wild === "**/") return "(?:.*/)?";
      if (wild === "**") return ".*";
      return wild === "*" ? "[^/]*" : "[^/]";
    });
  const wanted = new RegExp(`^${source}$`);
  return sorted(files)
    .filter((path) => path.startsWith(prefix) && wanted.test(path.slice(prefix.length)))
    .map((path) => ({ path }));
}

function found(files, test, dir, glob) {
  const out = [];
  for (const path of sorted(files)) {
    if (!path.startsWith(under(dir ?? "/")) && path !== dir) continue;
    if (glob && globbed(new Map([[`/${path.split("/").pop()}`, ""]]), glob, "/").length === 0)
      continue;
    for (const [at, text] of files.get(path).split("\n").entries()) {
      if (test(text)) out.push({ path, line: at + 1, text });
    }
  }
  return out;
}

function replaced(files, path, old, fresh, all) {
  const text = files.get(path);
  if (text === undefined) return { error: `Error: File '${path}' not found` };
  const count = text.split(old).length - 1;
  if (count === 0) return { error: `Error: String not found in file: '${old}'` };
  if (count > 1 && !all) {
    return { error: `Error: String '${old}' appears ${count} times in file. Use replace_all=True` };
  }
  files.set(path, text.split(old).join(fresh));
  return { occurrences: count };
}

const missing = (path) => `File '${path}' not found`;
const taken = (path) => `Cannot write to ${path} because it already exists.`;

export function versionOne(seeds) {
  const files = new Map(Object.entries(seeds));
  const lines = (text) => {
    const all = text.split("\n");
    return all.at(-1) === "" ? all.slice(0, -1) : all;
  };
  const backend = {
    lsInfo: (path) => level(files, path),
    read(path, offset = 0, limit = 500) {
      const text = files.get(path);
      if (text === undefined) return `Error: ${missing(path)}`;
      if (text === "") return "System reminder: File exists but has empty contents";
      const all = lines(text);
      if (offset >= all.length) {
        return `Error: Line offset ${offset} exceeds file length (${all.length} lines)`;
      }
      const rows = [];
      for (const [at, line] of all.slice(offset, offset + limit).entries()) {
        for (let piece = 0; piece === 0 || piece * 5_000 < line.length; piece++) {
          const number = offset + at + 1;
          const label = piece === 0 ? `${number}` : `${number}.${piece}`;
          rows.push(`${label.padStart(6)}\t${line.slice(piece * 5_000, (piece + 1) * 5_000)}`);
        }
      }
      return rows.slice(0, limit).join("\n");
    },
    grepRaw(pattern, path, glob) {
      try {
        const expression = new RegExp(pattern);
        return found(files, (line) => expression.test(line), path, glob);
      } catch (error) {
        return `Invalid regex pattern: ${error.message}`;
      }
    },
    globInfo: (pattern, path) => globbed(files, pattern, path),
    write(path, content) {
      if (files.has(path)) return { error: taken(path) };
      files.set(path, content);
      return { path };
    },
    edit(path, old, fresh, all) {
      return { path, ...replaced(files, path, old, fresh, all) };
    },
  };
  return { backend, files };
}

export function versionTwo(seeds) {
  const files = new Map(Object.entries(seeds));
  const backend = {
    ls: async (path) => ({ files: level(files, path) }),
    async read(path, offset = 0, limit = 500) {
      const text = files.get(path);
      if (text === undefined) return { error: missing(path) };
      const content = text
        .split("\n")
        .slice(offset, offset + limit)
        .join("\n");
      return { content, mimeType: "text/plain" };
    },
    async readRaw(path) {
      const content = files.get(path);
      if (content === undefined) return { error: missing(path) };
      const at = "2026-01-01T00:00:00.000Z";
      return { data: { content, mimeType: "text/plain", created_at: at, modified_at: at } };
    },
    grep: async (pattern, path, glob) => ({
      matches: found(files, (line) => line.includes(pattern), path, glob),
    }),
    glob: async (pattern, path) => ({ files: globbed(files, pattern, path) }),
    async write(path, content) {
      if (files.has(path)) return { error: taken(path) };
      files.set(path, content);
      return { path, filesUpdate: null };
    },
    edit: async (path, old, fresh, all) => ({
      path,
      filesUpdate: null,
      ...replaced(files, path, old, fresh, all),
    }),
  };
  return { backend, files };
}

export function pythonShaped(seeds) {
  const files = new Map(Object.entries(seeds));
  const at = "2026-01-01T00:00:00+00:00";
  const backend = {
    ls: async (path) => ({ error: null, entries: level(files, path) }),
    async read(path, offset = 0, limit = 2000) {
      const text = files.get(path);
      if (text === undefined) return { error: `Error: ${missing(path)}`, file_data: null };
      const all = text.split("\n");
      if (all.at(-1) === "") all.pop();
      const content = all.slice(offset, offset + limit).join("\n");
      return {
        error: null,
        file_data: { content, encoding: "utf-8", created_at: at, modified_at: at },
      };
    },
    grep: async (pattern, path, glob) => ({
      error: null,
      matches: found(files, (line) => line.includes(pattern), path, glob),
    }),
    glob: async (pattern, path) => ({ error: null, matches: globbed(files, pattern, path) }),
    async write(path, content) {
      if (files.has(path)) return { error: taken(path), path: null, files_update: null };
      files.set(path, content);
      return { error: null, path, files_update: null };
    },
    async edit(path, old, fresh, all) {
      const answer = replaced(files, path, old, fresh, all);
      return { error: null, path, files_update: null, occurrences: null, ...answer };
    },
  };
  return { backend, files };
}
