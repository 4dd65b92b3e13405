// How other libraries that keep files are asked what a backend is asked, for `bench -- peers`.

/** What `use` makes of an answer; a promise only where the answer is one. */
const of = (answer, use) => (answer instanceof Promise ? answer.then(use) : use(answer));

/** A backend of the protocol, kitbag's or deepagents'. */
export function ofBackend(backend) {
  const rows = ({ matches }) => matches.map(({ path, line, text }) => [path, line, text]);
  const paths = ({ files }) => files.map(({ path }) => path).sort();
  const done = ({ error }) => {
    if (error) throw new Error(error);
  };
  return {
    grep: (text) => of(backend.grep(text), rows),
    glob: () => of(backend.glob("**/*.ts", "/"), paths),
    ls: (dir) =>
      of(backend.ls(dir), (answer) => paths(answer).map((path) => path.replace(/\/$/, ""))),
    page: (path, from, count) =>
      of(backend.read(path, from, count), ({ content }) => content.replace(/\n$/, "")),
    write: (path, text) => of(backend.write(path, text), done),
    edit: (path, from, to) => of(backend.edit(path, from, to), done),
    text: (path) =>
      of(backend.readRaw(path), ({ data: { content } }) =>
        Array.isArray(content) ? content.join("\n") : content,
      ),
  };
}

/** The lines with a text, in the manner of a user's own loop. */
async function searched(paths, readFile, text) {
  const found = [];
  for await (const path of await paths()) {
    const body = await readFile(path);
    if (!body.includes(text)) continue;
    const lines = body.split("\n");
    for (let at = 0; at < lines.length; at++) {
      if (!lines[at].includes(text)) continue;
      found.push([path, at + 1, lines[at]]);
    }
  }
  return found;
}

/**
 * A file system in the manner of Node: `readdir(dir)` gives names with their kind, `readFile` text,
 * `writeFile` takes text, and `mkdir` makes parents. All of them may return promises.
 */
export function ofFiles(fs) {
  const join = (dir, name) => (dir === "/" ? `/${name}` : `${dir}/${name}`);
  async function* walk(dir) {
    for (const { name, isDirectory } of await fs.readdir(dir)) {
      const path = join(dir, name);
      if (isDirectory) yield* walk(path);
      else yield path;
    }
  }
  return {
    grep: (text) => searched(() => walk("/"), fs.readFile, text),
    async glob() {
      const found = [];
      for await (const path of walk("/")) if (path.endsWith(".ts")) found.push(path);
      return found.sort();
    },
    ls: async (dir) => (await fs.readdir(dir)).map(({ name }) => join(dir, name)).sort(),
    page: async (path, from, count) =>
      (await fs.readFile(path))
        .split("\n")
        .slice(from, from + count)
        .join("\n"),
    async write(path, text) {
      await fs.mkdir(path.slice(0, path.lastIndexOf("/")) || "/");
      await fs.writeFile(path, text);
    },
    edit: async (path, from, to) =>
      fs.writeFile(
        path,
        (await fs.readFile(path)).replace(from, () => to),
      ),
    text: (path) => fs.readFile(path),
  };
}

/** `fs.promises` or the synchronous functions of Node's kind. */
export const nodeLike = (fs) =>
  ofFiles({
    readdir: (dir) =>
      fs
        .readdirSync(dir, { withFileTypes: true })
        .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() })),
    readFile: (path) => fs.readFileSync(path, "utf8"),
    writeFile: (path, text) => fs.writeFileSync(path, text),
    mkdir: (path) => fs.mkdirSync(path, { recursive: true }),
  });

export const bashLike = (fs) =>
  ofFiles({
    readdir: async (dir) =>
      (await fs.readdirWithFileTypes(dir)).map(({ name, type, isDirectory }) => ({
        name,
        isDirectory: isDirectory ?? type === "directory",
      })),
    readFile: (path) => fs.readFile(path),
    writeFile: (path, text) => fs.writeFile(path, text),
    mkdir: (path) => fs.mkdir(path, { recursive: true }),
  });

/** Keys and values, as unstorage has them: the parts of a key are divided by colons. */
export const keysLike = (storage) => {
  const names = async (dir) => {
    const base = dir.split("/").filter(Boolean).join(":");
    const below = (await storage.getKeys(base)).map((key) =>
      base ? key.slice(base.length + 1) : key,
    );
    const kinds = new Map();
    for (const key of below) {
      const [name, more] = key.split(":", 2);
      kinds.set(name, more !== undefined || kinds.get(name) === true);
    }
    return [...kinds].map(([name, isDirectory]) => ({ name, isDirectory }));
  };
  const keys = async () => (await storage.getKeys()).map((key) => `/${key.replaceAll(":", "/")}`);
  const own = ofFiles({
    readdir: names,
    readFile: (path) => storage.getItemRaw(path),
    writeFile: (path, text) => storage.setItemRaw(path, text),
    mkdir: () => undefined,
  });
  // A walk by directories would ask for the keys again and again.
  return {
    ...own,
    grep: (text) => searched(keys, (path) => storage.getItemRaw(path), text),
    glob: async () => (await keys()).filter((path) => path.endsWith(".ts")).sort(),
  };
};
