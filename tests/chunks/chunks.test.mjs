// Chunks of the WebAssembly, each loaded alone, in pairs and all together: what a class answers
// must not depend on what else is loaded. Each case has an instance of its own, since a chunk
// stays loaded. Whole conformance runs over each backend stand in the suites of the backends.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";

const require = createRequire(import.meta.url);
const core = at("pkg/dist/core.cjs");
const { Database } = createRequire(at("tests/deps/durable/package.json"))("node-sqlite3-wasm");

/** The package with a new instance, in which no chunk is loaded. */
function fresh() {
  delete require.cache[core];
  return require(core);
}

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder() {
  const made = mkdtempSync(join(tmpdir(), "kitbag-chunks-"));
  folders.push(made);
  return made;
}

/** Files by path: what a storage written in JavaScript needs. */
class MapStorage {
  files = new Map();
  get(path) {
    return this.files.get(path) ?? null;
  }
  list(prefix) {
    return [...this.files.keys()].filter((path) => path.startsWith(prefix));
  }
  put(path, file) {
    this.files.set(path, file);
  }
  delete(path) {
    return this.files.delete(path);
  }
}

/** A LangGraph store. */
class MapStore {
  items = new Map();
  get(namespace, key) {
    return this.items.get(JSON.stringify([namespace, key])) ?? null;
  }
  put(namespace, key, value) {
    const now = new Date();
    const item = { namespace, key, value, createdAt: now, updatedAt: now };
    this.items.set(JSON.stringify([namespace, key]), item);
  }
  delete(namespace, key) {
    this.items.delete(JSON.stringify([namespace, key]));
  }
  search(namespace, { limit = 10, offset = 0 } = {}) {
    const mine = [...this.items.values()].filter(
      (item) => JSON.stringify(item.namespace) === JSON.stringify(namespace),
    );
    return mine.slice(offset, offset + limit);
  }
}

/** A repo of the Context Hub. */
class MapHub {
  files = {};
  commits = 0;
  async pullAgent() {
    return { commit_hash: `c${this.commits}`, files: { ...this.files } };
  }
  async pushAgent(_name, { files }) {
    for (const [path, entry] of Object.entries(files)) {
      if (entry === null) delete this.files[path];
      else this.files[path] = entry;
    }
    this.commits += 1;
    return `https://hub.test/context/repo/c${this.commits}`;
  }
}

/** Runs a command of a sandbox. */
function execute(command) {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.once("close", (exitCode) => resolve({ output, exitCode, truncated: false }));
  });
}

/** A backend's answers to a short program. */
async function short(backend) {
  const { error } = await backend.write("/d/one.txt", "alpha\nbeta\n");
  const again = await backend.edit("/d/one.txt", "beta", "gamma");
  const read = await backend.read("/d/one.txt");
  const { matches } = await backend.grep("gamma");
  const found = await backend.glob("**/*.txt");
  const gone = await backend.delete("/d/one.txt");
  const missing = await backend.read("/d/one.txt");
  return {
    error,
    occurrences: again.occurrences,
    content: read.content,
    matches,
    found: found.files?.map(({ path }) => path),
    gone: gone.error,
    missing: missing.code,
  };
}

const ANSWERS = {
  error: undefined,
  occurrences: 1,
  content: "alpha\ngamma\n",
  matches: [{ path: "/d/one.txt", line: 2, text: "gamma" }],
  found: ["/d/one.txt"],
  gone: undefined,
  missing: "not_found",
};

const whole = (make) => ({ run: async (kitbag) => short(await make(kitbag)), wanted: ANSWERS });

/** How each chunk is used, and what it must answer. */
const CHUNKS = {
  custom: whole(({ CustomBackend }) => new CustomBackend(new MapStorage())),
  disk: whole(({ FilesystemBackend }) => new FilesystemBackend({ rootDir: folder() })),
  // No foreign object stands alone: something of ours holds it.
  foreign: whole(({ CompositeBackend, CustomBackend }) => {
    const methods = new CustomBackend(new MapStorage());
    const names = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
    const foreign = Object.fromEntries(names.map((name) => [name, methods[name].bind(methods)]));
    return new CompositeBackend(foreign, {});
  }),
  hub: whole(
    ({ ContextHubBackend }) => new ContextHubBackend("owner/repo", { client: new MapHub() }),
  ),
  idb: {
    run: async ({ IndexedDbBackend }) =>
      (await new IndexedDbBackend({ database: "chunks" }).ls("/")).code,
    wanted: "unavailable",
  },
  opfs: {
    run: async ({ OpfsBackend }) => (await new OpfsBackend().ls("/")).code,
    wanted: "unavailable",
  },
  policy: {
    run: async ({ StateBackend, withPolicy }) => {
      const guarded = withPolicy(new StateBackend(), { denyPrefixes: ["/no/"] });
      return [await short(guarded), (await guarded.write("/no/a.txt", "")).code];
    },
    wanted: [ANSWERS, "permission_denied"],
  },
  regex: {
    run: ({ StateBackend }) => {
      const backend = new StateBackend({ files: { "/a.txt": "one\nσοφία\n" } });
      return backend.grep("\\p{Greek}", "/", null, null, { regex: true }).matches;
    },
    wanted: [{ path: "/a.txt", line: 2, text: "σοφία" }],
  },
  router: {
    run: async ({ CompositeBackend, StateBackend }) => {
      const inner = new StateBackend();
      const tree = new CompositeBackend(new StateBackend(), { "/m/": inner });
      await tree.write("/m/a.md", "a");
      return [await short(tree), inner.read("/a.md").content];
    },
    wanted: [ANSWERS, "a"],
  },
  s3: {
    run: async ({ presignS3, S3Backend }) => {
      const place = {
        endpoint: "http://127.0.0.1:9",
        region: "us-east-1",
        bucket: "b",
        credentials: { accessKeyId: "k", secretAccessKey: "s" },
      };
      const { url } = presignS3(place, { method: "GET", key: "a.txt" });
      const bucket = new S3Backend({ ...place, retry: { attempts: 1 } });
      return [new URL(url).searchParams.has("X-Amz-Signature"), (await bucket.read("/a")).code];
    },
    wanted: [true, "unavailable"],
  },
  sandbox: whole(
    ({ SandboxBackend }) => new SandboxBackend({ id: "s", execute, rootDir: folder() }),
  ),
  sql: whole(({ SqlBackend }) => {
    const database = new Database(":memory:");
    const query = (sql, params) => database.all(sql, params);
    return new SqlBackend({ query, dialect: "sqlite", migrate: true });
  }),
  store: whole(
    ({ StoreBackend }) => new StoreBackend({ store: new MapStore(), namespace: ["chunks"] }),
  ),
  tools: {
    run: async ({ createFileTools, StateBackend }) => {
      const { tools } = createFileTools(new StateBackend({ files: { "/a.txt": "one\ntwo\n" } }));
      const called = tools.find(({ name }) => name === "read_file");
      const content = await called.execute({ file_path: "/a.txt" });
      return JSON.stringify(content).includes("two");
    },
    wanted: true,
  },
};

async function holds(kitbag, name) {
  const { run, wanted } = CHUNKS[name];
  assert.deepEqual(await run(kitbag), wanted, name);
}

const names = Object.keys(CHUNKS);

test("every chunk of the crate is here", () => {
  const { chunkNames } = require(at(".cache/pkg-testing/dist/core.cjs"));
  assert.deepEqual(names, [...chunkNames].sort());
});

describe("alone", () => {
  for (const name of names) test(name, () => holds(fresh(), name));
});

describe("in pairs", () => {
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      test(`${one} and ${other}`, async () => {
        const kitbag = fresh();
        await holds(kitbag, one);
        await holds(kitbag, other);
        await holds(kitbag, one);
      });
    }
  }
});

describe("all together", () => {
  test("one after the other, in both orders", async () => {
    for (const order of [names, [...names].reverse()]) {
      const kitbag = fresh();
      for (const name of order) await holds(kitbag, name);
      for (const name of order) await holds(kitbag, name);
    }
  });

  test("at the same time", async () => {
    const kitbag = fresh();
    await Promise.all([...names, ...names].map((name) => holds(kitbag, name)));
  });
});
