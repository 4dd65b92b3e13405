// Each chunk of the WebAssembly by the backend that needs it, for any host. What a host does not
// have is refused there, and the primary's StateBackend is tested with the chunk loaded.

import { MapBucket, MapHub, MapStorage, MapStore } from "./doubles.mjs";

const METHODS = [
  ...["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"],
  ...["uploadFiles", "downloadFiles"],
];

/** An object with a backend's methods, and nothing else of it. */
const stranger = (backend) =>
  Object.fromEntries(METHODS.map((name) => [name, backend[name].bind(backend)]));

/** Calls what this host refuses; then the primary's own backend, with the chunk loaded. */
async function refusedHere({ StateBackend }, backend) {
  const { code } = await backend.ls("/");
  if (code !== "unavailable") throw new Error(`not refused here: ${code}`);
  return ({ writeMode }) => new StateBackend({ writeMode });
}

/** The file system of a host that has none. */
const noFiles = new Proxy(
  {},
  {
    get: () => async () => {
      throw Object.assign(new Error("EIO"), { code: "EIO" });
    },
  },
);

/**
 * For each chunk a function of the package and the host, that loads the chunk and resolves to a
 * factory of empty backends. A host has `query(sql, params)`, `execute(command)` and `folder()`,
 * which returns a new empty folder of the test's machine; some have `disk`, `indexedDb`, `opfs`,
 * and where `kitbag/regex` has to be imported, `importRegex()`.
 */
export const CHUNKS = {
  custom:
    async ({ CustomBackend }) =>
    ({ writeMode }) =>
      new CustomBackend(new MapStorage(), { writeMode }),
  disk: async (kitbag, host) => {
    const { FilesystemBackend } = kitbag;
    if (!host.disk) {
      return refusedHere(kitbag, new FilesystemBackend({ rootDir: "/", fs: noFiles }));
    }
    return async ({ writeMode }) =>
      new FilesystemBackend({ rootDir: await host.folder(), writeMode });
  },
  // A foreign object is always used by another class.
  foreign:
    async ({ CompositeBackend, StateBackend }) =>
    ({ writeMode }) =>
      new CompositeBackend(stranger(new StateBackend({ writeMode })), {}),
  history:
    async ({ withHistory, StateBackend }) =>
    ({ writeMode }) =>
      withHistory(new StateBackend({ files: {} }), {
        keepIn: { backend: new StateBackend() },
        writeMode,
      }),
  // The suite reach runs all cases over a server.
  http: async (kitbag) => {
    const { HttpBackend } = kitbag;
    const fetch = async () => new Response("no server of files");
    return refusedHere(kitbag, new HttpBackend({ url: "http://127.0.0.1:9", fetch }));
  },
  hub:
    async ({ ContextHubBackend }) =>
    ({ writeMode }) =>
      new ContextHubBackend("owner/repo", { client: new MapHub(), writeMode }),
  idb: async (kitbag, host) => {
    const { IndexedDbBackend } = kitbag;
    const database = `chunks-${Math.random()}`;
    if (!host.indexedDb) return refusedHere(kitbag, new IndexedDbBackend({ database }));
    // The other chunks keep the page busy.
    const openTimeoutMs = 60_000;
    let last = 0;
    return ({ writeMode }) =>
      new IndexedDbBackend({
        ...{ database, namespace: `case-${++last}` },
        ...{ durability: "relaxed", openTimeoutMs, writeMode },
      });
  },
  ignore:
    async ({ withIgnore, StateBackend }) =>
    ({ writeMode }) =>
      withIgnore(new StateBackend({ writeMode }), { patterns: ["/never/"] }),
  index:
    async ({ withIndex, StateBackend }) =>
    ({ writeMode }) =>
      withIndex(new StateBackend({ writeMode }), { keepIn: { path: "/.index/" } }),
  opfs: async (kitbag, host) => {
    const { OpfsBackend } = kitbag;
    if (!host.opfs) return refusedHere(kitbag, new OpfsBackend());
    const root = `chunks-${Math.random()}`;
    let last = 0;
    return ({ writeMode }) => new OpfsBackend({ root, namespace: `case-${++last}`, writeMode });
  },
  // It comes with the classes that store parts, of which this one is not used.
  parts: async ({ CustomBackend, HttpBackend }) => {
    new HttpBackend({ url: "http://127.0.0.1:9" }).dispose();
    const files = new CustomBackend(new MapStorage());
    const film = new Blob(["x".repeat(3 << 20)]);
    const [stored] = await files.uploadFiles([["/film.bin", film]]);
    const [{ content }] = await files.downloadFiles(["/film.bin"]);
    if (stored.error !== null || content?.length !== film.size) throw new Error(stored.message);
    return ({ writeMode }) => new CustomBackend(new MapStorage(), { writeMode });
  },
  policy:
    async ({ StateBackend, withPolicy }) =>
    ({ writeMode }) =>
      withPolicy(new StateBackend({ writeMode }), { readOnlyPrefixes: ["/never/"] }),
  provenance:
    async ({ StateBackend, withProvenance }) =>
    ({ writeMode }) =>
      withProvenance(new StateBackend({ writeMode }), {
        labels: [{ paths: ["/never/**"], as: "never" }],
      }),
  regex: async ({ StateBackend }, { importRegex }) => {
    await importRegex?.();
    const files = new StateBackend({ files: { "/a.txt": "one\nσοφία\n" } });
    const { matches, error } = files.grep("\\p{Greek}", "/", null, null, { regex: true });
    if (matches?.[0]?.line !== 2) throw new Error(`\\p{Greek}: ${error ?? "no match"}`);
    return ({ writeMode }) => new StateBackend({ writeMode });
  },
  router: async ({ CompositeBackend, StateBackend }) => {
    // A router lists its mounts even if they are empty, so these are where no case looks.
    const mounted = new StateBackend();
    const tree = new CompositeBackend(new StateBackend(), { "/m/": mounted });
    await tree.write("/m/a.md", "a");
    if (mounted.read("/a.md").content !== "a") throw new Error("the mount has no file");
    return ({ writeMode }) => new CompositeBackend(new StateBackend({ writeMode }), {});
  },
  s3: async ({ presignS3, R2Backend }) => {
    const place = { endpoint: "http://127.0.0.1:9", region: "us-east-1", bucket: "b" };
    const credentials = { accessKeyId: "k", secretAccessKey: "s" };
    const { url } = presignS3({ ...place, credentials }, { method: "GET", key: "a.txt" });
    if (!url.includes("X-Amz-Signature=")) throw new Error(`not signed: ${url}`);
    return ({ writeMode }) => new R2Backend({ bucket: new MapBucket(), writeMode });
  },
  sandbox: async ({ SandboxBackend }, { execute, folder }) => {
    return async ({ writeMode }) =>
      new SandboxBackend({ id: "s", execute, rootDir: await folder(), writeMode });
  },
  sql: async ({ SqlBackend }, { query }) => {
    let last = 0;
    const run = Math.random();
    const open = (writeMode) =>
      new SqlBackend({ query, dialect: "sqlite", namespace: `case-${run}-${++last}`, writeMode });
    await open().migrate();
    return ({ writeMode }) => open(writeMode);
  },
  store:
    async ({ StoreBackend }) =>
    ({ writeMode }) =>
      new StoreBackend({ store: new MapStore(), namespace: ["chunks"], writeMode }),
  // It is no backend: what it leaves in the second tree is one.
  sync:
    async ({ sync, StateBackend }) =>
    async ({ writeMode }) => {
      const tree = new StateBackend({ files: {}, writeMode });
      const first = new StateBackend({ files: {} });
      const { error } = await sync(first, tree, { keepIn: { backend: first } });
      if (error) throw new Error(error);
      return tree;
    },
  tools: async ({ createFileTools, StateBackend }) => {
    const { tools } = createFileTools(new StateBackend({ files: { "/a.txt": "one\ntwo\n" } }));
    const content = await tools
      .find(({ name }) => name === "read_file")
      .execute({ file_path: "/a.txt" });
    if (!JSON.stringify(content).includes("two")) throw new Error(`read_file: ${content}`);
    return ({ writeMode }) => new StateBackend({ writeMode });
  },
  turns:
    async ({ begin, StateBackend }) =>
    ({ writeMode }) =>
      begin(new StateBackend({ writeMode }), { writeMode }),
};

export const names = Object.keys(CHUNKS);
