// An object of another library, for tests of what wraps one.

const encode = (text) => new TextEncoder().encode(text);

/** An object of another library over a Map, which knows nothing of kitbag. */
export function stranger(map = new Map()) {
  const all = () => [...map].map(([path, text]) => ({ path, size: text.length }));
  const inside = (path) => (one) => path === "/" || one.path.startsWith(`${path}/`);
  return {
    map,
    ls: (path) => {
      const depth = path === "/" ? 2 : path.split("/").length + 1;
      const names = all()
        .filter(inside(path))
        .map((one) => {
          const parts = one.path.split("/");
          if (parts.length <= depth) return one;
          return { path: `${parts.slice(0, depth).join("/")}/`, is_dir: true };
        });
      return { files: names };
    },
    read: (path) => (map.has(path) ? { content: map.get(path) } : { error: "file not found" }),
    readRaw: (path) =>
      map.has(path)
        ? { data: { content: map.get(path), mimeType: "text/plain" } }
        : { error: "file not found" },
    grep: (pattern, path) => ({
      matches: all()
        .filter(inside(path ?? "/"))
        .filter((one) => map.get(one.path).includes(pattern))
        .map((one) => ({ path: one.path, line: 1, text: map.get(one.path) })),
    }),
    glob: (_, path) => ({ files: all().filter(inside(path ?? "/")) }),
    write: (path, content) => {
      map.set(path, content);
      return { path };
    },
    edit: (path, _from, to) => {
      map.set(path, to);
      return { path, occurrences: 1 };
    },
    delete: (path) => {
      map.delete(path);
      return { path };
    },
    uploadFiles: (files) =>
      files.map(([path, body]) => {
        map.set(path, new TextDecoder().decode(body));
        return { path, error: null };
      }),
    downloadFiles: (paths) =>
      paths.map((path) =>
        map.has(path)
          ? { path, content: encode(map.get(path)), error: null }
          : { path, content: null, error: "file_not_found" },
      ),
  };
}
