// StoreBackend over LangGraph's stores, over a store that keeps only JSON, and over FileData that
// other packages wrote.

import { dependency, kitbag, Tally } from "./lib.mjs";
import { Postgres } from "./postgres.mjs";

export async function run() {
  const tally = new Tally();
  await tally.part("stores", () => stores(tally));
  await tally.part("FileData", () => fileData(tally));
  await tally.part("namespaces", () => namespaces(tally));
  await tally.part("Postgres store", () => postgresStore(tally));
  return tally.result;
}

/** Keeps only JSON, returns at most ten items, and also returns items of siblings. */
class JsonStore {
  rows = new Map();
  async get(namespace, key) {
    const row = this.rows.get(JSON.stringify([namespace, key]));
    return row ? JSON.parse(row) : null;
  }
  async put(namespace, key, value) {
    this.rows.set(JSON.stringify([namespace, key]), JSON.stringify({ namespace, key, value }));
  }
  async delete(namespace, key) {
    this.rows.delete(JSON.stringify([namespace, key]));
  }
  async search(prefix, { limit, offset }) {
    const all = [...this.rows.values()].map((row) => JSON.parse(row));
    const text = prefix.join(".");
    const found = all.filter((item) => item.namespace.join(".").startsWith(text));
    return found.slice(offset, offset + Math.min(limit, 10));
  }
}

async function stores(tally) {
  const { StoreBackend } = await kitbag();
  const { InMemoryStore } = await dependency("@langchain/langgraph-checkpoint");
  const namespace = ["user-1", "files"];
  for (const fileFormat of ["v2", "v1"]) {
    await tally.conform(
      `StoreBackend on InMemoryStore, ${fileFormat}`,
      ({ writeMode }) =>
        new StoreBackend({ store: new InMemoryStore(), namespace, writeMode, fileFormat }),
      // The case expects one string; `v1` stores lines instead, which are tested below.
      fileFormat === "v1"
        ? { except: { "readRaw gives content, type and times": "v1 gives lines" } }
        : {},
    );
  }
  await tally.conform(
    "StoreBackend with raw bytes",
    ({ writeMode }) =>
      new StoreBackend({ store: new InMemoryStore(), namespace, writeMode, binary: "raw" }),
  );
  await tally.conform(
    "StoreBackend on a store of JSON",
    ({ writeMode }) => new StoreBackend({ store: new JsonStore(), namespace, writeMode }),
  );
  await tally.conform(
    "StoreBackend with a namespace by function",
    ({ writeMode }) =>
      new StoreBackend({ store: new InMemoryStore(), namespace: () => namespace, writeMode }),
  );
  const json = new StoreBackend({ store: new JsonStore(), namespace });
  const bytes = new Uint8Array(256).map((_, at) => at);
  await json.uploadFiles([
    ["/b.bin", bytes],
    ["/t.txt", new Uint8Array([0x68, 0xff])],
  ]);
  const [b, t] = await json.downloadFiles(["/b.bin", "/t.txt"]);
  tally.check(
    "bytes survive JSON",
    b.content?.length === 256 && b.content.every((x, at) => x === at),
    b,
  );
  tally.check("so do bytes under a name of text", t.content?.[1] === 0xff, t);
  for (let n = 0; n < 45; n++) await json.write(`/many/${n}.txt`, "needle");
  const listed = await json.ls("/many");
  tally.check("listings page to the end", listed.files?.length === 45, listed.files?.length);
}

async function fileData(tally) {
  const { StoreBackend } = await kitbag();
  const { InMemoryStore } = await dependency("@langchain/langgraph-checkpoint");
  const { createRequire } = await import("node:module");
  const { pathToFileURL } = await import("node:url");
  const { at } = await import("../../scripts/lib/paths.mjs");
  const require = createRequire(at("tests/deps/latest/package.json"));
  const published = await import(pathToFileURL(require.resolve("deepagents")).href);
  const store = new InMemoryStore();
  const namespace = ["shared"];
  const ours = new StoreBackend({ store, namespace });
  const bytes = new Uint8Array([0, 1, 250, 255]);
  for (const fileFormat of ["v1", "v2"]) {
    const theirs = new published.StoreBackend({ store, namespace, fileFormat });
    const path = `/published-${fileFormat}.txt`;
    await theirs.write(path, "one\ntwo\n");
    await theirs.uploadFiles([[`/published-${fileFormat}.png`, bytes]]);
    const image = `/written-${fileFormat}.png`;
    await theirs.write(image, Buffer.from(bytes).toString("base64"));
    const [seen] = await ours.downloadFiles([image]);
    tally.check(`${image} is read`, String(seen.content) === String(bytes), seen);
    const read = await ours.read(path);
    tally.check(`${path} is read`, read.content === "one\ntwo\n" && read.totalLines === 2, read);
    const raw = (await ours.readRaw(path)).data;
    tally.check(
      `${path} keeps its form`,
      Array.isArray(raw?.content) === (fileFormat === "v1"),
      raw,
    );
    const edited = await ours.edit(path, "two", "three");
    const back = await theirs.read(path);
    tally.check(`${path} is read back there`, back.content?.includes("three"), { edited, back });
  }
  const [picture] = await ours.downloadFiles(["/published-v2.png"]);
  tally.check("its bytes are read", String(picture.content) === String(bytes), picture);
  const times = {
    created_at: "2026-01-02T03:04:05.678901+00:00",
    modified_at: "2026-01-02T03:04:05.678901+00:00",
  };
  const written = {
    "/py.txt": { content: "a\nb", encoding: "utf-8", ...times },
    "/py.bin": { content: Buffer.from(bytes).toString("base64"), encoding: "base64", ...times },
    "/py-old.txt": { content: ["a", "b"], ...times },
    "/mangled.png": { content: { 0: 0, 1: 1, 2: 250, 3: 255 }, mimeType: "image/png", ...times },
    "/lines.png": { content: [Buffer.from(bytes).toString("base64")], ...times },
    "/typed": { content: Buffer.from(bytes).toString("base64"), mimeType: "image/png", ...times },
    "/buffer.png": { content: JSON.parse(JSON.stringify(Buffer.from(bytes))), ...times },
  };
  for (const [key, value] of Object.entries(written)) await store.put(namespace, key, value);
  for (const path of ["/py.txt", "/py-old.txt"]) {
    const read = await ours.read(path);
    tally.check(`${path} is read`, read.content === "a\nb", read);
  }
  const images = ["/mangled.png", "/buffer.png", "/lines.png", "/typed"];
  for (const path of ["/py.bin", ...images]) {
    const [one] = await ours.downloadFiles([path]);
    tally.check(`${path} is read`, String(one.content) === String(bytes), one);
  }
  await store.put(namespace, "/no-file", { hello: 1 });
  const broken = await ours.read("/no-file");
  tally.check("what is no FileData is an error", broken.code === "unavailable", broken);
  const listed = await ours.ls("/");
  tally.check("and does not show", !listed.files.some((file) => file.path === "/no-file"), listed);
}

async function namespaces(tally) {
  const { StoreBackend, CompositeBackend } = await kitbag();
  const { provideGraphContext } = await import("../../pkg/dist/graph.js");
  const { InMemoryStore } = await dependency("@langchain/langgraph-checkpoint");
  const store = new InMemoryStore();
  const heard = [];
  const warn = console.warn;
  console.warn = (text) => heard.push(text);
  try {
    let user = "ann";
    const graph = () => ({
      store,
      runtime: { context: { user } },
      config: { metadata: { assistant_id: "asst" } },
    });
    provideGraphContext(graph);
    const mine = new StoreBackend({ namespace: (runtime) => [runtime.context.user] });
    await mine.write("/a.txt", "of ann");
    user = "bob";
    const other = await mine.read("/a.txt");
    tally.check("each call has its own namespace", other.code === "not_found", other);
    user = "ann";
    tally.check("and finds its own again", (await mine.read("/a.txt")).content === "of ann");
    if (CompositeBackend) {
      const routed = new CompositeBackend(new StoreBackend({ store, namespace: ["x"] }), {
        "/m/": mine,
      });
      user = "bob";
      const through = await routed.read("/m/a.txt");
      tally.check("also behind a router", through.code === "not_found", through);
    }
    const older = new StoreBackend({
      namespace: ({ state, config, assistantId, runtime }) => [
        `${config.metadata.assistant_id}-${typeof runtime}`,
        String(assistantId ?? state),
      ],
    });
    const wrote = await older.write("/o.txt", "x");
    tally.check("older functions still work", wrote.error === undefined, wrote);
    tally.check(
      "with one warning",
      heard.filter((text) => /deprecated/.test(text)).length === 1,
      heard,
    );
    const plain = new StoreBackend();
    await plain.write("/p.txt", "x");
    const item = await store.get(["asst", "filesystem"], "/p.txt");
    tally.check("without a namespace the assistant's files", item?.value.content === "x", item);
    tally.check(
      "with a warning",
      heard.some((text) => /share/.test(text)),
      heard,
    );
    provideGraphContext(() => undefined);
    const lone = await new StoreBackend({ store }).write("/q.txt", "x");
    tally.check(
      "else those of all",
      lone.error === undefined && (await store.get(["filesystem"], "/q.txt")) !== null,
      lone,
    );
    const nowhere = await new StoreBackend({ namespace: ["a"] }).read("/a");
    tally.check("no store is an error", nowhere.code === "unavailable", nowhere);
    const injected = new StoreBackend({ state: {}, store, assistantId: "old" });
    await injected.write("/i.txt", "x");
    tally.check(
      "the older construction works",
      (await store.get(["old", "filesystem"], "/i.txt")) !== null,
    );
    const bad = await new StoreBackend({ store, namespace: () => ["*"] }).ls("/");
    tally.check("a function's bad answer is an error", bad.code === "invalid_argument", bad);
  } finally {
    console.warn = warn;
    provideGraphContext(() => undefined);
  }
  const one = new StoreBackend({ store, namespace: ["turns"] });
  const two = new StoreBackend({ store, namespace: ["turns"] });
  await one.write("/log.txt", "start\n");
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 ? one : two).edit("/log.txt", "start\n", `start\n${n}\n`),
    ),
  );
  const { content } = await one.read("/log.txt");
  tally.check(
    "two instances in one process lose nothing",
    content.trim().split("\n").length === 41,
    content,
  );
  tally.check("and say how far that reaches", one.capability.update === "instance", one.capability);
}

async function postgresStore(tally) {
  const { StoreBackend } = await kitbag();
  const { PostgresStore } = await dependency("@langchain/langgraph-checkpoint-postgres/store");
  const server = await Postgres.start();
  try {
    const store = PostgresStore.fromConnString(server.url);
    await store.setup();
    let last = 0;
    await tally.conform(
      "StoreBackend on LangGraph's Postgres store",
      ({ writeMode }) => new StoreBackend({ store, namespace: [`case${++last}`], writeMode }),
    );
    await store.stop();
  } finally {
    await server.stop();
  }
}
