// Programs that work on an fs object: TypeScript compiles from it, esbuild and Vite build from it, and a
// store of unstorage keeps its values in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { build as esbuild } from "esbuild";
import ts from "typescript";
import { at } from "../../scripts/lib/paths.mjs";
import { BACKENDS, createFs, dependency, StateBackend } from "./lib.mjs";

const PROJECT = {
  "/project/tsconfig.json": JSON.stringify({
    compilerOptions: { strict: true, target: "ES2022", module: "ESNext", outDir: "out", types: [] },
    include: ["src"],
  }),
  "/project/src/main.ts":
    'import { greet } from "./greet.js";\nimport data from "./deep/data.js";\nconsole.log(greet(data.name));\n',
  "/project/src/greet.ts": "export const greet = (name: string): string => `hello ${name}`;\n",
  "/project/src/deep/data.ts": 'export default { name: "kitbag" };\n',
};

/** The host that TypeScript asks for files, as `ts.sys` is. */
function systemOf(fs, root) {
  const isKind = (path, kind) => fs.statSync(path, { throwIfNoEntry: false })?.[kind]() ?? false;
  const library = (path) => (path.startsWith(root) ? undefined : ts.sys);
  return {
    ...ts.sys,
    args: [],
    newLine: "\n",
    useCaseSensitiveFileNames: true,
    getCurrentDirectory: () => root,
    fileExists: (path) => library(path)?.fileExists(path) ?? isKind(path, "isFile"),
    directoryExists: (path) => library(path)?.directoryExists(path) ?? isKind(path, "isDirectory"),
    readFile: (path) =>
      library(path)?.readFile(path) ??
      (isKind(path, "isFile") ? fs.readFileSync(path, "utf8") : undefined),
    writeFile(path, text) {
      fs.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      fs.writeFileSync(path, text);
    },
    getDirectories: (path) =>
      fs
        .readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name),
    readDirectory: (path, extensions) =>
      fs
        .readdirSync(path, { recursive: true })
        .map((name) => `${path}/${name}`)
        .filter((name) => extensions.some((ending) => name.endsWith(ending))),
    realpath: (path) => (library(path) ? path : fs.realpathSync(path)),
  };
}

test("TypeScript compiles a project, and finds its error", async () => {
  const fs = createFs(new StateBackend({ files: PROJECT }));
  const system = systemOf(fs, "/project");
  const compile = () => {
    const { config } = ts.readConfigFile("/project/tsconfig.json", system.readFile);
    const parsed = ts.parseJsonConfigFileContent(config, system, "/project");
    const host = ts.createCompilerHost(parsed.options);
    Object.assign(host, {
      fileExists: system.fileExists,
      readFile: system.readFile,
      directoryExists: system.directoryExists,
      getDirectories: system.getDirectories,
      realpath: system.realpath,
      getCurrentDirectory: system.getCurrentDirectory,
      writeFile: system.writeFile,
      getSourceFile: (path, target) => {
        const text = system.readFile(path);
        return text === undefined ? undefined : ts.createSourceFile(path, text, target, true);
      },
    });
    const program = ts.createProgram(parsed.fileNames, parsed.options, host);
    const { diagnostics } = program.emit();
    return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(({ code }) => code);
  };
  assert.deepEqual(compile(), []);
  assert.deepEqual(fs.readdirSync("/project/out", { recursive: true }), [
    "deep",
    "greet.js",
    "main.js",
    "deep/data.js",
  ]);
  assert.match(fs.readFileSync("/project/out/main.js", "utf8"), /console\.log\(greet/);
  fs.writeFileSync("/project/src/greet.ts", "export const greet = (name: number) => name;\n");
  assert.deepEqual(compile(), [2345]);
});

const resolved = (fs, path) =>
  fs.promises.access(path.replace(/\.js$/, ".ts")).then(
    () => path.replace(/\.js$/, ".ts"),
    () => path,
  );

test("esbuild builds from a backend", async (t) => {
  for (const make of Object.values(BACKENDS)) {
    const fs = createFs(await make(t));
    await fill(fs);
    const plugin = {
      name: "backend",
      setup(build) {
        build.onResolve({ filter: /.*/ }, async ({ path, importer }) => {
          const from = new URL(path, `file://${importer || "/"}`);
          return { path: await resolved(fs, from.pathname), namespace: "backend" };
        });
        build.onLoad({ filter: /.*/, namespace: "backend" }, async ({ path }) => ({
          contents: await fs.promises.readFile(path),
          loader: "ts",
        }));
      },
    };
    const { outputFiles } = await esbuild({
      entryPoints: ["/project/src/main.ts"],
      bundle: true,
      write: false,
      plugins: [plugin],
    });
    assert.match(outputFiles[0].text, /hello \$\{name\}/);
    assert.match(outputFiles[0].text, /name: "kitbag"/);
  }
});

async function fill(fs) {
  for (const [path, text] of Object.entries(PROJECT)) {
    await fs.promises.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await fs.promises.writeFile(path, text);
  }
}

test("Vite builds from a backend, and writes into it", async () => {
  const { build } = await import("vite");
  const fs = createFs(new StateBackend({ files: PROJECT }));
  const { output } = await build({
    root: at("tests/fs"),
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      lib: { entry: "/project/src/main.ts", formats: ["es"], fileName: "main" },
    },
    plugins: [
      {
        name: "backend",
        enforce: "pre",
        resolveId: (path, importer) => {
          const from = new URL(path, `file://${importer?.replace("\0backend:", "") ?? "/"}`);
          return resolved(fs, from.pathname);
        },
        load: async (path) => {
          const text = await fs.promises.readFile(path, "utf8");
          return (await esbuild({ stdin: { contents: text, loader: "ts" }, write: false }))
            .outputFiles[0].text;
        },
      },
    ],
  }).then((result) => [result].flat()[0]);
  await fs.promises.mkdir("/dist");
  for (const { fileName, code } of output) await fs.promises.writeFile(`/dist/${fileName}`, code);
  assert.match(fs.readFileSync(`/dist/${output[0].fileName}`, "utf8"), /hello \$\{name\}/);
});

/** A driver of unstorage on an fs object: a key is a file, its parts are directories. */
const driverOf = (fs, base) => {
  const file = (key) => `${base}/${key.replaceAll(":", "/")}`;
  const found = (promise) =>
    promise.catch((error) => (error.code === "ENOENT" ? null : fail(error)));
  const fail = (error) => {
    throw error;
  };
  const store = async (key, value) => {
    const path = file(key);
    await fs.promises.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await fs.promises.writeFile(path, value);
  };
  return {
    name: "kitbag-fs",
    hasItem: (key) => new Promise((done) => fs.exists(file(key), done)),
    getItem: (key) => found(fs.promises.readFile(file(key), "utf8")),
    getItemRaw: (key) => found(fs.promises.readFile(file(key))),
    setItem: store,
    setItemRaw: store,
    removeItem: (key) => fs.promises.rm(file(key), { force: true }),
    getMeta: (key) =>
      found(fs.promises.stat(file(key)).then(({ mtime, size }) => ({ mtime, size }))),
    async getKeys() {
      const all = await fs.promises
        .readdir(base, { recursive: true, withFileTypes: true })
        .catch(() => []);
      return all
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) =>
          `${parentPath}/${name}`.slice(base.length + 1).replaceAll("/", ":"),
        );
    },
    clear: () => fs.promises.rm(base, { recursive: true, force: true }),
    watch(callback) {
      const watcher = fs.watch("/", { recursive: true }, (type, name) =>
        callback(
          type === "rename" ? "remove" : "update",
          name.slice(base.length).replaceAll("/", ":"),
        ),
      );
      return () => watcher.close();
    },
  };
};

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`a store of unstorage keeps its values in ${name}`, async (t) => {
    const { createStorage, restoreSnapshot, snapshot } = await dependency("unstorage");
    const fs = createFs(await make(t));
    const storage = createStorage({ driver: driverOf(fs, "/store") });
    await storage.setItem("s1:a", "test_data");
    await storage.setItem("s2:a", { json: [1, 2] });
    await storage.setItem("s3:a?x", "query");
    assert.equal(await storage.hasItem("s1:a"), true);
    assert.equal(await storage.hasItem("s1:b"), false);
    assert.equal(await storage.getItem("s1:a"), "test_data");
    assert.deepEqual(await storage.getItem("s2:a"), { json: [1, 2] });
    assert.equal(await storage.getItem("none"), null);
    assert.deepEqual((await storage.getKeys()).sort(), ["s1:a", "s2:a", "s3:a"]);
    assert.deepEqual(await storage.getKeys("s1"), ["s1:a"]);
    const bytes = Uint8Array.of(1, 2, 0, 255);
    await storage.setItemRaw("raw.bin", bytes);
    assert.deepEqual(Uint8Array.from(await storage.getItemRaw("raw.bin")), bytes);
    assert.ok((await storage.getMeta("s1:a")).mtime instanceof Date);
    await storage.setItems([
      { key: "t:1", value: "one" },
      { key: "t:2", value: "two" },
    ]);
    assert.deepEqual(
      (await storage.getItems(["t:1", "t:2"])).map(({ value }) => value),
      ["one", "two"],
    );
    const taken = await snapshot(storage, "t");
    await storage.removeItem("t:1");
    assert.equal(await storage.hasItem("t:1"), false);
    await restoreSnapshot(storage, taken, "t");
    assert.equal(await storage.getItem("t:1"), "one");
    await storage.clear();
    assert.deepEqual(await storage.getKeys(), []);
  });
}

test("a store of unstorage is told of changes through another fs object", async () => {
  const { createStorage } = await dependency("unstorage");
  const backend = new StateBackend({ files: {} });
  const storage = createStorage({ driver: driverOf(createFs(backend), "/store") });
  await storage.setItem("a", "1");
  const told = new Promise((done) => storage.watch((event, key) => done([event, key])));
  await new Promise((done) => setImmediate(done));
  await createFs(backend).promises.writeFile("/store/a", "2");
  assert.deepEqual(await told, ["update", "a"]);
  await storage.unwatch();
});
