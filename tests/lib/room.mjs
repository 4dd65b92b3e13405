// The library's own files, for tests that look at them or damage them. No call reaches them; but an object
// of the library with a method of its own is given a pass with their paths, to hand on, and a pass is
// good for every backend of its process.

const METHODS = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
const BATCHES = ["uploadFiles", "downloadFiles"];

let pass;

function note(first) {
  const path = [first].flat(2)[0];
  if (typeof path === "string" && path.startsWith("\0")) pass ??= path.slice(0, path.indexOf("/"));
}

/**
 * Resolves to a function from a path of the library's own files to the same path with the pass. `use` is
 * called, the first time, with `backend` while its methods are replaced, and must make a layer over it
 * read its own files.
 */
export async function room(backend, use) {
  if (pass === undefined) {
    for (const name of [...METHODS, ...BATCHES]) {
      const method = backend[name];
      backend[name] = (first, ...rest) => {
        note(first);
        return method.call(backend, first, ...rest);
      };
    }
    try {
      await use(backend);
    } finally {
      for (const name of [...METHODS, ...BATCHES]) delete backend[name];
    }
  }
  if (pass === undefined) throw new Error("the backend was asked for none of the library's files");
  return (path) => pass + path;
}

/** The same, by the journal of a turn. */
export const roomOf = ({ begin, StateBackend }) =>
  room(new StateBackend({ files: {} }), (files) => begin(files).read("/a.txt"));

/** The paths of the library's own files below a directory. */
export async function ownFiles(own, backend, directory = "/.kitbag") {
  const { error, files } = await backend.glob("**", own(directory));
  if (error !== undefined) throw new Error(error);
  return files.map(({ path }) => path).sort();
}
