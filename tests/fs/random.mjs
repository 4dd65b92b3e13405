// Random programs of calls of `node:fs`, and what is compared of their answers. One seed decides
// everything, so a program that failed can be run again.

/** Numbers from a seed (mulberry32). */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A path in the arguments of a call, which each of the two file systems has elsewhere. */
class At {
  constructor(path) {
    this.path = path;
  }
}

const NAMES = ["a", "b", "c.txt", "ü"];

/** A program: calls with their arguments, some of open files by the number of their slot. */
export function program(seed, length) {
  const random = numbers(seed);
  const below = (count) => Math.floor(random() * count);
  const one = (list) => list[below(list.length)];
  const chance = (part) => random() < part;
  const path = () => {
    const depth = 1 + below(3);
    const names = Array.from({ length: depth }, () => one(NAMES));
    const text = `/${names.join("/")}`;
    return new At(chance(0.03) ? `${text}/` : chance(0.03) ? text.replace("/", "//./") : text);
  };
  const data = () => {
    const text = one(["", "x", "hello", "grüße\n", "0123456789".repeat(1 + below(30))]);
    return chance(0.5) ? text : Buffer.from(text);
  };
  const flag = () => one(["r", "r+", "w", "w+", "wx", "wx+", "a", "a+", "ax", "ax+", "as", "rs+"]);
  const writing = () => one(["r+", "w", "w+", "wx", "wx+", "a", "a+", "ax", "ax+", "as", "rs+"]);
  const slot = () => below(3);
  const maybe = (value) => (chance(0.5) ? undefined : value);
  const place = () => (chance(0.5) ? null : below(20));
  const makers = {
    readFile: () => [path(), one([undefined, "utf8", { encoding: "hex" }, { flag: "r" }])],
    // With `r` the write fails, except of nothing and with a promise.
    writeFile: () => [path(), data(), one([undefined, "utf8", { flag: writing() }])],
    appendFile: () => [path(), data()],
    mkdir: () => [path(), one([undefined, undefined, { recursive: true }])],
    readdir: () => [path(), one([undefined, { withFileTypes: true }, { recursive: true }])],
    stat: () => [path()],
    lstat: () => [path()],
    rename: () => [path(), path()],
    copyFile: () => [path(), path(), maybe(1)],
    // Without `recursive` Node makes the directories above the target before it refuses a directory.
    cp: () => [
      path(),
      path(),
      {
        recursive: true,
        ...one([{}, { force: false }, { force: false, errorOnExist: true }]),
      },
    ],
    rm: () => [
      path(),
      one([undefined, { force: true }, { recursive: true }, { recursive: true, force: true }]),
    ],
    rmdir: () => [path()],
    unlink: () => [path()],
    truncate: () => [path(), maybe(below(12))],
    access: () => [path(), one([undefined, 0, 1, 2, 4, 6])],
    exists: () => [path()],
    realpath: () => [path()],
    readlink: () => [path()],
    chmod: () => [path(), one([0o600, 0o755])],
    mkdtemp: () => [path()],
    opendir: () => [path()],
    utimes: () => [path(), 1000, 1700000000 + below(1000)],
    open: () => [slot(), path(), flag()],
    close: () => [slot()],
    fread: () => [slot(), 1 + below(12), place()],
    // Of nothing, `write` of a handle succeeds whatever the file is.
    fwrite: () => [slot(), `${data()}!`, place()],
    ftruncate: () => [slot(), below(15)],
    fstat: () => [slot()],
    fReadFile: () => [slot()],
    fWriteFile: () => [slot(), `${data()}!`],
    readStream: () => [path(), one([undefined, { start: below(4), end: 3 + below(5) }])],
    writeStream: () => [path(), data(), one([undefined, { flags: "a" }, { start: below(6) }])],
  };
  const names = Object.keys(makers);
  const often = ["writeFile", "mkdir", "open", "fwrite", "fread"];
  return Array.from({ length }, () => {
    const name = chance(0.35) ? one(often) : one(names);
    return { name, args: makers[name]() };
  });
}

/**
 * Calls that are left out, because a sane library answers otherwise: `copyFile` of a directory deletes the
 * target in Node.
 */
export function isLeftOut({ name, args }, fs, root) {
  if (name !== "copyFile") return false;
  const path = root + args[0].path;
  return fs.existsSync(path) && fs.statSync(path).isDirectory();
}

/** What is compared of an answer. */
function shown(value, root) {
  const path = (text) => (root === "" ? text : text.replaceAll(root, ""));
  if (value === undefined || value === null || typeof value === "number") return value;
  if (typeof value === "boolean") return value;
  if (typeof value === "string") return path(value);
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("latin1")}`;
  if (Array.isArray(value)) {
    const all = value.map((one) => shown(one, root));
    return all.map((one) => JSON.stringify(one)).sort();
  }
  if (typeof value.isFile !== "function") return value;
  const kind = `${value.isFile()} ${value.isDirectory()} ${value.isSymbolicLink()}`;
  if (value.name !== undefined) return `${path(value.parentPath)} ${value.name} ${kind}`;
  const { mode, size } = value;
  return `${kind} ${mode.toString(8)}${value.isFile() ? ` ${size}` : ""}`;
}

/** Fields of errors that depend on chance or on the form of the call in Node. */
function loosened(call, fields) {
  // Both paths are looked at together, and the first answer counts.
  if (call === "cp" && fields.syscall === "lstat") return { syscall: "lstat" };
  // `rmSync` looks with `unlink`.
  if (call === "rm" && fields.code === "ENOTDIR") return { code: "ENOTDIR" };
  // `opendirSync` does not name the path.
  if (call === "opendir") return { code: fields.code, syscall: fields.syscall };
  return fields;
}

function failed(error, root, call) {
  const path = (text) => (typeof text === "string" ? text.replaceAll(root || "\0", "") : text);
  const { name, code, errno, syscall } = error;
  const dest = path(error.dest);
  // Node's own checks in `cp` have other numbers in `cpSync`.
  const number = String(code).startsWith("ERR_") ? undefined : errno;
  const message = path(error.message).replace(/(mkdtemp '.*-?)\w{6}'$/, "$1XXXXXX'");
  const at = syscall === "mkdtemp" ? undefined : path(error.path);
  return loosened(call, { name, code, number, syscall, path: at, dest, message });
}

const collected = (stream) =>
  new Promise((done, fail) => {
    const parts = [];
    stream.on("error", fail);
    stream.on("data", (part) => parts.push(part));
    stream.on("end", () => done(Buffer.concat(parts)));
  });
const finished = (stream, data) =>
  new Promise((done, fail) => {
    stream.on("error", fail);
    stream.on("finish", () => done(undefined));
    stream.end(data);
  });

async function listed(dir) {
  const found = [];
  for await (const entry of dir) found.push(entry);
  return found;
}

/** How calls are made: with promises, callbacks, or at once. */
export const FORMS = {
  promises: (fs) => {
    const files = [];
    const handle = (slot) => {
      if (!files[slot]) throw Object.assign(new Error("no file"), { code: "NONE" });
      return files[slot];
    };
    return {
      call: (name, args) => fs.promises[name](...args),
      async open(slot, path, flag) {
        await files[slot]?.close();
        files[slot] = undefined;
        files[slot] = await fs.promises.open(path, flag);
      },
      async close(slot) {
        await handle(slot).close();
        files[slot] = undefined;
      },
      async read(slot, length, position) {
        const buffer = Buffer.alloc(length);
        const { bytesRead } = await handle(slot).read(buffer, 0, length, position);
        return buffer.subarray(0, bytesRead);
      },
      write: async (slot, data, position) => {
        const args = typeof data === "string" ? [data, position] : [data, 0, null, position];
        return (await handle(slot).write(...args)).bytesWritten;
      },
      truncate: (slot, length) => handle(slot).truncate(length),
      stat: (slot) => handle(slot).stat(),
      readFile: (slot) => handle(slot).readFile(),
      writeFile: (slot, data) => handle(slot).writeFile(data),
      exists: (path) => new Promise((done) => fs.exists(path, done)),
      async end() {
        for (const file of files) await file?.close();
      },
    };
  },
  callbacks: (fs) =>
    byDescriptor(
      (name, ...args) =>
        new Promise((done, fail) => {
          const run = name === "realpath" ? fs.realpath.native : fs[name];
          const given = args.filter((arg, at) => arg !== undefined || at < args.length - 1);
          if (given.at(-1) === undefined) given.pop();
          run(...given, (error, value) => (error ? fail(error) : done(value)));
        }),
      (path) => new Promise((done) => fs.exists(path, done)),
    ),
  atOnce: (fs) =>
    byDescriptor(
      async (name, ...args) =>
        name === "realpath" ? fs.realpathSync.native(...args) : fs[`${name}Sync`](...args),
      async (path) => fs.existsSync(path),
    ),
};

function byDescriptor(call, exists) {
  const files = [];
  const fd = (slot) => {
    if (files[slot] === undefined) throw Object.assign(new Error("no file"), { code: "NONE" });
    return files[slot];
  };
  return {
    call: (name, args) => call(name, ...args),
    exists,
    async open(slot, path, flag) {
      if (files[slot] !== undefined) await call("close", files[slot]);
      files[slot] = undefined;
      files[slot] = await call("open", path, flag);
    },
    async close(slot) {
      await call("close", fd(slot));
      files[slot] = undefined;
    },
    async read(slot, length, position) {
      const buffer = Buffer.alloc(length);
      const count = await call("read", fd(slot), buffer, 0, length, position);
      return buffer.subarray(0, count);
    },
    write: async (slot, data, position) =>
      typeof data === "string"
        ? call("write", fd(slot), data, position)
        : call("write", fd(slot), data, 0, data.length, position),
    truncate: async (slot, length) => call("ftruncate", fd(slot), length),
    stat: async (slot) => call("fstat", fd(slot)),
    readFile: async (slot) => call("readFile", fd(slot)),
    writeFile: async (slot, data) => call("writeFile", fd(slot), data),
    async end() {
      for (const file of files) if (file !== undefined) await call("close", file);
    },
  };
}

/** One file system that runs a program: `step` returns what is compared of each call. */
export function runner(fs, root, form) {
  const how = FORMS[form](fs);
  const run = async (name, args) => {
    const [first, second, third] = args;
    if (name === "open") return how.open(first, second, third);
    if (name === "close") return how.close(first);
    if (name === "fread") return how.read(first, second, third);
    if (name === "fwrite") return how.write(first, second, third);
    if (name === "ftruncate") return how.truncate(first, second);
    if (name === "fstat") return how.stat(first);
    if (name === "fReadFile") return how.readFile(first);
    if (name === "fWriteFile") return how.writeFile(first, second);
    if (name === "exists") return how.exists(first);
    if (name === "opendir") return listed(await how.call(name, args));
    if (name === "mkdtemp") {
      const made = await how.call(name, args);
      await how.call("rmdir", [made]);
      return made.slice(0, -6);
    }
    if (name === "readStream") return collected(fs.createReadStream(first, second));
    if (name === "writeStream") return finished(fs.createWriteStream(first, third), second);
    return how.call(name, args);
  };
  return {
    async step({ name, args }) {
      const given = args.map((arg) => (arg instanceof At ? root + arg.path : arg));
      try {
        return { value: shown(await run(name, given), root) };
      } catch (error) {
        return { error: failed(error, root, name) };
      }
    },
    end: () => how.end(),
  };
}

/** A program as text, to be read. */
export const written = (calls) =>
  calls
    .map(({ name, args }) => {
      const shown = args.map((arg) =>
        arg instanceof At
          ? `'${arg.path}'`
          : Buffer.isBuffer(arg)
            ? `"${arg}"`
            : JSON.stringify(arg),
      );
      return `${name}(${shown.join(", ")})`;
    })
    .join("\n");

/** All files and directories, with the contents of the files. */
export async function contents(fs, root) {
  const found = {};
  const walk = async (dir) => {
    for (const name of (await fs.promises.readdir(dir === "" ? "/" : dir)).sort()) {
      const path = `${dir}/${name}`;
      const isDirectory = (await fs.promises.stat(path)).isDirectory();
      const at = path.slice(root.length);
      found[at] = isDirectory ? "directory" : (await fs.promises.readFile(path)).toString("latin1");
      if (isDirectory) await walk(path);
    }
  };
  await walk(root);
  return found;
}
