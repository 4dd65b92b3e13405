// The ways in which the documents of this protocol use backends, each written once in TypeScript with
// kitbag in the place of the package that they import. A key names the document and the example;
// each function does what the example does, and checks what comes of it. `examples.test.mjs` compiles
// this file under `strict` and runs it beside the packed package.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseStore, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import {
  type AnyBackendProtocol,
  adaptBackendProtocol,
  adaptSandboxProtocol,
  type BackendFactory,
  type BackendProtocol,
  type BackendProtocolV1,
  type BackendProtocolV2,
  CompositeBackend,
  ContextHubBackend,
  type EditResult,
  type FileData,
  FilesystemBackend,
  type FilesystemPermission,
  type GlobResult,
  type GrepResult,
  LocalShellBackend,
  type LsResult,
  type ReadRawResult,
  type ReadResult,
  type SandboxBackendProtocolV2,
  StateBackend,
  StoreBackend,
  PolicyWrapper as TheWrapper,
  toV1,
  type WriteResult,
  withPolicy,
} from "kitbag";
import { kitbagMiddleware, storeBackend } from "kitbag/langchain";
import { createAgent } from "langchain";
import { z } from "zod";
import { ask, type Call, contents, model, said, textsOf } from "./model.js";

/** A folder of its own, with a file in it. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "kitbag-examples-"));
  writeFileSync(join(path, "there.txt"), "there\n");
  return path;
}

const write = (path: string, content = "hello\n"): Call => [
  "write_file",
  { file_path: path, content },
];
const read = (path: string): Call => ["read_file", { file_path: path }];

/** Runs `work` with another current directory. */
async function within(path: string, work: () => Promise<void>): Promise<void> {
  const before = process.cwd();
  process.chdir(path);
  try {
    await work();
  } finally {
    process.chdir(before);
  }
}

/** A factory as `createDeepAgent` takes one. */
type Factory = (config: { state: unknown; store?: BaseStore }) => AnyBackendProtocol;

type Runs = { invoke(input: never, config?: never): Promise<unknown> };

/** A user asks an agent to write a file and to read it again; returns the state. */
async function used(agent: Runs, config: object = {}): Promise<{ files: Record<string, unknown> }> {
  return (await agent.invoke(ask("go") as never, config as never)) as never;
}

const notes = () => model([[write("/notes.txt")], [read("/notes.txt")]]);

/** An agent over a backend keeps its files in the state of its thread. */
async function keepsInState(backend?: AnyBackendProtocol | Factory): Promise<void> {
  const agent = createDeepAgent({
    model: notes(),
    checkpointer: new MemorySaver(),
    ...(backend === undefined ? {} : { backend }),
  });
  const state = await used(agent, { configurable: { thread_id: "ann" } });
  assert.deepEqual(contents(state.files), { "/notes.txt": "hello\n" });
  assert.match(textsOf(state).at(-1) ?? "", /hello/);
}

/** An agent over a backend of a folder writes real files below it. */
async function keepsOnDisk(backend: AnyBackendProtocol, root: string): Promise<void> {
  const agent = createDeepAgent({ model: notes(), backend });
  const state = await used(agent);
  assert.match(textsOf(state).at(-1) ?? "", /hello/);
  assert.equal(readFileSync(join(root, "notes.txt"), "utf8"), "hello\n");
}

/** An agent over a store keeps files there, under a namespace. */
async function keepsInStore(
  backend: AnyBackendProtocol | Factory,
  store: InMemoryStore,
  namespace: string[],
  config: object = {},
): Promise<void> {
  const agent = createDeepAgent({ model: notes(), backend, store });
  await used(agent, config);
  const found = await store.search(namespace);
  assert.deepEqual(
    found.map(({ key }) => key),
    ["/notes.txt"],
  );
}

/** `/memories/` outlives a thread, everything else does not. */
async function memoriesStay(
  backend: AnyBackendProtocol | Factory,
  store: InMemoryStore,
  config: object = {},
): Promise<void> {
  const agent = createDeepAgent({
    model: model((text) =>
      text === "first"
        ? [[write("/draft.md"), write("/memories/agent.md")]]
        : [[["ls", { path: "/" }], read("/memories/agent.md"), ["glob", { pattern: "**/*.md" }]]],
    ),
    backend,
    store,
    checkpointer: new MemorySaver(),
  });
  const of = (thread_id: string) =>
    ({
      ...config,
      configurable: { ...(config as { configurable?: object }).configurable, thread_id },
    }) as never;
  await agent.invoke(ask("first") as never, of("one"));
  const state = await agent.invoke(ask("second") as never, of("two"));
  const [listed, memory, found] = textsOf(state);
  assert.ok(listed?.includes("/memories/") && !listed.includes("draft"), listed);
  assert.match(memory ?? "", /hello/);
  assert.ok(found?.includes("/memories/agent.md"), found);
}

/** A folder is mounted at a prefix: the rest is in the state. */
async function mounted(
  make: (root: string) => AnyBackendProtocol | Factory,
  prefix: string,
): Promise<void> {
  const root = folder();
  const agent = createDeepAgent({
    model: model([
      [write(`${prefix}agent.md`), write("/workspace-of-its-own/plan.md")],
      [
        ["ls", { path: "/" }],
        ["glob", { pattern: "**/*", path: "/" }],
        ["grep", { pattern: "there", path: "/" }],
      ],
    ]),
    backend: make(root),
  });
  const state = await used(agent);
  assert.equal(readFileSync(join(root, "agent.md"), "utf8"), "hello\n");
  assert.deepEqual(Object.keys(contents(state.files)), ["/workspace-of-its-own/plan.md"]);
  const [, , listed, globbed, found] = textsOf(state);
  assert.ok(listed?.includes(prefix), listed);
  assert.ok(globbed?.includes(`${prefix}agent.md`), globbed);
  assert.ok(found?.includes(`${prefix}there.txt`), found);
}

const USER = { configurable: { langgraph_auth_user: { identity: "ann" } } };

/** Namespaces by what the server and the run know. */
async function namespaces(): Promise<void> {
  const config = {
    configurable: {
      ...USER.configurable,
      assistant_id: "asst",
      graph_id: "graph",
      thread_id: "thread-1",
    },
  };
  const byUser = new StoreBackend({ namespace: (rt) => [rt.serverInfo.user.identity] });
  const byAssistant = new StoreBackend({ namespace: (rt) => [rt.serverInfo.assistantId] });
  const byThread = new StoreBackend({ namespace: (rt) => [rt.executionInfo.threadId] });
  const byBoth = new StoreBackend({
    namespace: (rt) => [rt.serverInfo.user.identity, rt.executionInfo.threadId, "filesystem"],
  });
  await keepsInStore(byUser, new InMemoryStore(), ["ann"], config);
  await keepsInStore(byAssistant, new InMemoryStore(), ["asst"], config);
  await keepsInStore(byThread, new InMemoryStore(), ["thread-1"], config);
  await keepsInStore(byBoth, new InMemoryStore(), ["ann", "thread-1", "filesystem"], config);
}

/** The user's own context, as its older accessor names it. */
async function byContext(
  // biome-ignore lint/suspicious/noExplicitAny: as an example that names no type has it
  namespace: (ctx: any) => string[],
): Promise<void> {
  const store = new InMemoryStore();
  const agent = createAgent({
    model: notes(),
    tools: [],
    middleware: [kitbagMiddleware(new StoreBackend({ namespace }))],
    contextSchema: z.object({ userId: z.string() }),
    store,
  });
  await used(agent, { context: { userId: "ann" } });
  assert.equal((await store.search(["ann"])).length, 1);
  // In the tools of deepagents a function gets what an instance cannot.
  const other = new InMemoryStore();
  const deep = createDeepAgent({
    model: notes(),
    backend: storeBackend({ namespace }) as never,
    contextSchema: z.object({ userId: z.string() }),
    store: other,
  });
  await used(deep, { context: { userId: "ann" } });
  assert.equal((await other.search(["ann"])).length, 1);
}

/** A class of one's own over a bucket, in the protocol's second version. */
class S3Backend implements BackendProtocolV2 {
  private objects = new Map<string, string | Uint8Array>();

  constructor(
    private bucket: string,
    private prefix: string = "",
  ) {
    this.prefix = prefix.replace(/\/$/, "");
  }

  private key(path: string): string {
    return `${this.bucket}${this.prefix}${path}`;
  }

  private paths(below = "/"): string[] {
    const start = this.key(below);
    return [...this.objects.keys()]
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(this.key("").length))
      .sort();
  }

  async ls(path: string): Promise<LsResult> {
    return { files: this.paths(path).map((one) => ({ path: one, is_dir: false })) };
  }

  async read(filePath: string, offset = 0, limit = 500): Promise<ReadResult> {
    const content = this.objects.get(this.key(filePath));
    if (content === undefined) {
      return { error: `File '${filePath}' not found`, code: "not_found" };
    }
    if (content instanceof Uint8Array) return { content, mimeType: "image/png" };
    const lines = content.split("\n").slice(offset, offset + limit);
    return { content: lines.join("\n"), mimeType: "text/plain" };
  }

  async readRaw(filePath: string): Promise<ReadRawResult> {
    const content = this.objects.get(this.key(filePath));
    if (content === undefined) {
      return { error: `File '${filePath}' not found`, code: "not_found" };
    }
    const at = "2026-01-01T00:00:00.000Z";
    return { data: { content, mimeType: "text/plain", created_at: at, modified_at: at } };
  }

  async grep(pattern: string, path?: string | null, _glob?: string | null): Promise<GrepResult> {
    const matches = this.paths(path ?? "/").flatMap((one) => {
      const text = this.objects.get(this.key(one));
      if (typeof text !== "string") return [];
      return text
        .split("\n")
        .map((line, at) => ({ path: one, line: at + 1, text: line }))
        .filter((match) => match.text.includes(pattern));
    });
    return { matches };
  }

  async glob(pattern: string, path = "/"): Promise<GlobResult> {
    const ending = pattern.replace(/^.*\*/, "");
    const found = this.paths(path).filter((one) => one.endsWith(ending));
    return { files: found.map((one) => ({ path: one })) };
  }

  async write(filePath: string, content: string): Promise<WriteResult> {
    if (this.objects.has(this.key(filePath))) return { error: `${filePath} already exists` };
    this.objects.set(this.key(filePath), content);
    return { path: filePath, filesUpdate: null };
  }

  async edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): Promise<EditResult> {
    const text = this.objects.get(this.key(filePath));
    if (typeof text !== "string") return { error: `File '${filePath}' not found` };
    const parts = text.split(oldString);
    const occurrences = parts.length - 1;
    if (occurrences === 0) return { error: `String not found in ${filePath}` };
    if (occurrences > 1 && !replaceAll) return { error: `The text appears ${occurrences} times` };
    this.objects.set(this.key(filePath), parts.join(newString));
    return { path: filePath, occurrences };
  }
}

const EVERY_TOOL: Call[][] = [
  [write("/src/a.py", "import os\nprint(1)\n")],
  [read("/src/a.py")],
  [["edit_file", { file_path: "/src/a.py", old_string: "print(1)", new_string: "print(2)" }]],
  [
    ["ls", { path: "/src" }],
    ["glob", { pattern: "**/*.py", path: "/" }],
    ["grep", { pattern: "print(2)", path: "/" }],
    write("/src/a.py", "again"),
  ],
];

/** Every tool of an agent, over a backend that a user wrote. */
async function everyTool(backend: AnyBackendProtocol): Promise<void> {
  const check = (answers: string[]) => {
    const [wrote, page, edited, listed, globbed, found, again] = answers;
    assert.match(wrote ?? "", /\/src\/a\.py/);
    assert.match(page ?? "", /import os[\s\S]*print\(1\)/);
    assert.match(edited ?? "", /1 occurrence/);
    for (const answer of [listed, globbed, found]) assert.match(answer ?? "", /\/src\/a\.py/);
    assert.match(again ?? "", /exists/);
  };
  const deep = createDeepAgent({ model: model(EVERY_TOOL), backend });
  check(textsOf(await used(deep)));
}

/** The same with kitbag's tools. */
async function everyToolOfOurs(backend: AnyBackendProtocol): Promise<void> {
  const agent = createAgent({
    model: model(EVERY_TOOL),
    tools: [],
    middleware: [kitbagMiddleware(backend)],
  });
  const [wrote, page, edited, listed, globbed, found, again] = textsOf(await used(agent));
  assert.match(wrote ?? "", /Wrote \/src\/a\.py/);
  assert.match(page ?? "", /1\timport os/);
  assert.match(edited ?? "", /1 occurrence/);
  for (const answer of [listed, globbed, found]) assert.match(answer ?? "", /\/src\/a\.py/);
  assert.match(again ?? "", /exists/);
}

/** The same storage in the protocol's first version. */
class FirstS3Backend implements BackendProtocol {
  private inner: BackendProtocolV1;

  constructor(bucket: string, prefix = "") {
    this.inner = toV1(new S3Backend(bucket, prefix));
  }

  async lsInfo(path: string) {
    return this.inner.lsInfo(path);
  }
  async read(filePath: string, offset = 0, limit = 2000): Promise<string> {
    return this.inner.read(filePath, offset, limit);
  }
  async readRaw(filePath: string): Promise<FileData> {
    return this.inner.readRaw(filePath);
  }
  async grepRaw(pattern: string, path?: string | null, glob?: string | null) {
    return this.inner.grepRaw(pattern, path, glob);
  }
  async globInfo(pattern: string, path = "/") {
    return this.inner.globInfo(pattern, path);
  }
  async write(filePath: string, content: string) {
    return this.inner.write(filePath, content);
  }
  async edit(filePath: string, oldString: string, newString: string, replaceAll = false) {
    return this.inner.edit(filePath, oldString, newString, replaceAll);
  }
}

/** A subclass that refuses changes below some directories. */
class GuardedBackend extends FilesystemBackend {
  private denyPrefixes: string[];

  constructor({
    denyPrefixes,
    ...options
  }: {
    denyPrefixes: string[];
    rootDir?: string;
    virtualMode?: boolean;
  }) {
    super(options);
    this.denyPrefixes = denyPrefixes.map((p) => (p.endsWith("/") ? p : `${p}/`));
  }

  override async write(filePath: string, content: string): Promise<WriteResult> {
    if (this.denyPrefixes.some((p) => filePath.startsWith(p))) {
      return { error: `Writes are not allowed under ${filePath}` };
    }
    return super.write(filePath, content);
  }

  override async edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll = false,
  ): Promise<EditResult> {
    if (this.denyPrefixes.some((p) => filePath.startsWith(p))) {
      return { error: `Edits are not allowed under ${filePath}` };
    }
    return super.edit(filePath, oldString, newString, replaceAll);
  }
}

async function guarded(): Promise<void> {
  const root = folder();
  mkdirSync(join(root, "policies"));
  writeFileSync(join(root, "policies/a.txt"), "kept\n");
  const backend = new GuardedBackend({ rootDir: root, denyPrefixes: ["/policies"] });
  await refusesBelowPolicies(backend);
  assert.equal(readFileSync(join(root, "policies/a.txt"), "utf8"), "kept\n");
  assert.equal(existsSync(join(root, "policies/new.txt")), false);
}

/** Directly, in a composite and through an agent's tools. */
async function refusesBelowPolicies(backend: BackendProtocolV2): Promise<void> {
  const refused = await backend.write("/policies/new.txt", "x");
  assert.equal(refused.error, "Writes are not allowed under /policies/new.txt");
  const edited = await backend.edit("/policies/a.txt", "kept", "lost");
  assert.equal(edited.error, "Edits are not allowed under /policies/a.txt");
  const routed = new CompositeBackend(new StateBackend({ files: {} }), { "/m/": backend });
  assert.match((await routed.write("/m/policies/new.txt", "x")).error ?? "", /not allowed under/);
  const agent = createDeepAgent({
    model: model([
      [write("/policies/new.txt"), write("/other.txt"), read("/policies/a.txt")],
      [["edit_file", { file_path: "/policies/a.txt", old_string: "kept", new_string: "x" }]],
    ]),
    backend,
  });
  const [wrote, other, page, edit] = textsOf(await used(agent));
  assert.match(wrote ?? "", /Writes are not allowed under/);
  assert.match(other ?? "", /\/other\.txt/);
  assert.match(page ?? "", /kept/);
  assert.match(edit ?? "", /Edits are not allowed under/);
}

/** A wrapper around any backend. */
class PolicyWrapper implements BackendProtocolV2 {
  private denyPrefixes: string[];

  constructor(
    private inner: BackendProtocolV2,
    denyPrefixes: string[] = [],
  ) {
    this.denyPrefixes = denyPrefixes.map((p) => (p.endsWith("/") ? p : `${p}/`));
  }

  private isDenied(path: string): boolean {
    return this.denyPrefixes.some((p) => path.startsWith(p));
  }

  // Without return types: what another backend answers is looser than kitbag's `LsResult`.
  ls(path: string) {
    return this.inner.ls(path);
  }
  read(filePath: string, offset?: number, limit?: number) {
    return this.inner.read(filePath, offset, limit);
  }
  readRaw(filePath: string) {
    return this.inner.readRaw(filePath);
  }
  grep(pattern: string, path?: string | null, glob?: string | null) {
    return this.inner.grep(pattern, path, glob);
  }
  glob(pattern: string, path?: string) {
    return this.inner.glob(pattern, path);
  }

  async write(filePath: string, content: string) {
    if (this.isDenied(filePath)) return { error: `Writes are not allowed under ${filePath}` };
    return this.inner.write(filePath, content);
  }

  async edit(filePath: string, oldString: string, newString: string, replaceAll = false) {
    if (this.isDenied(filePath)) return { error: `Edits are not allowed under ${filePath}` };
    return this.inner.edit(filePath, oldString, newString, replaceAll);
  }
}

async function wrapped(): Promise<void> {
  const files = () => new StateBackend({ files: { "/policies/a.txt": "kept\n" } });
  await refusesBelowPolicies(new PolicyWrapper(files(), ["/policies"]));
  // kitbag's own class of that name, made in the same way.
  await refusesBelowPolicies(new TheWrapper(files(), ["/policies"]));
}

const V1_ONLY = ["lsInfo", "grepRaw", "globInfo"] as const;

/** A state, in both of the ways to say it. */
const state = async () => {
  await keepsInState();
  await keepsInState(new StateBackend());
};
const stateByFactory = async () => {
  await keepsInState();
  await keepsInState((rt) => new StateBackend(rt));
};
const diskHere = async () => {
  const root = folder();
  await within(root, () =>
    keepsOnDisk(new FilesystemBackend({ rootDir: ".", virtualMode: true }), root),
  );
};
const diskThere = async () => {
  const root = folder();
  await keepsOnDisk(new FilesystemBackend({ rootDir: root }), root);
};
const storeByFactory = async () => {
  const store = new InMemoryStore();
  await keepsInStore((rt) => new StoreBackend(rt), store, ["filesystem"]);
};
const storeOfUser = async () => {
  const store = new InMemoryStore();
  const backend = new StoreBackend({ namespace: (rt) => [rt.serverInfo.user.identity] });
  await keepsInStore(backend, store, ["ann"], USER);
};
const bareStore = () => keepsInStore(new StoreBackend(), new InMemoryStore(), ["filesystem"]);
const compositeByFactory = () =>
  memoriesStay(
    (rt) => new CompositeBackend(new StateBackend(rt), { "/memories/": new StoreBackend(rt) }),
    new InMemoryStore(),
  );
const routeByFactory = () =>
  mounted(
    (root) => (rt) =>
      new CompositeBackend(new StateBackend(rt), {
        "/memories/": new FilesystemBackend({ rootDir: root, virtualMode: true }),
      }),
    "/memories/",
  );
const route = () =>
  mounted(
    (root) =>
      new CompositeBackend(new StateBackend(), {
        "/memories/": new FilesystemBackend({ rootDir: root, virtualMode: true }),
      }),
    "/memories/",
  );
const sandbox = async () => {
  const root = folder();
  const shell = new LocalShellBackend({ rootDir: root, env: { PATH: "/usr/bin:/bin" } });
  const machine: SandboxBackendProtocolV2 = shell;
  await runsCommands(machine, root);
};
const localShell = async () => {
  const root = folder();
  await within(root, () =>
    runsCommands(new LocalShellBackend({ rootDir: ".", env: { PATH: "/usr/bin:/bin" } }), root),
  );
};

async function runsCommands(backend: SandboxBackendProtocolV2, root: string): Promise<void> {
  const agent = createDeepAgent({
    model: model([[["execute", { command: "echo from the shell > made.txt; cat there.txt" }]]]),
    backend,
  });
  const [output] = textsOf(await used(agent));
  assert.match(output ?? "", /there/);
  assert.equal(readFileSync(join(root, "made.txt"), "utf8"), "from the shell\n");
}

/** Every example that is code, by document and name. */
export const examples: Record<string, () => Promise<void>> = {
  "000 quickstart: default": () => keepsInState(),
  "000 quickstart: local folder": diskThere,
  "000 quickstart: store": storeByFactory,
  "000 StateBackend": stateByFactory,
  "000 FilesystemBackend": diskHere,
  "000 StoreBackend": storeByFactory,
  "000 CompositeBackend": compositeByFactory,
  "000 specify: an instance, or a factory": async () => {
    const factory: BackendFactory = (rt) => new StateBackend(rt);
    const agent = createAgent({
      model: notes(),
      tools: [],
      middleware: [kitbagMiddleware(factory)],
    });
    assert.deepEqual(contents((await used(agent)).files), { "/notes.txt": "hello\n" });
    await keepsInState((rt) => new StateBackend(rt));
    const instance: AnyBackendProtocol = new StateBackend();
    await keepsInState(instance);
  },
  "000 route to different backends": routeByFactory,
  "000 virtual filesystem: S3, first version": () => everyTool(new FirstS3Backend("b", "/p/")),
  "000 policy: subclass": guarded,
  "000 policy: wrapper": wrapped,

  "001 quickstart: default": () => keepsInState(),
  "001 quickstart: local folder": diskThere,
  "001 quickstart: store": bareStore,
  "001 quickstart: sandbox": sandbox,
  "001 quickstart: local shell": localShell,
  "001 StateBackend": state,
  "001 FilesystemBackend": diskHere,
  "001 LocalShellBackend": async () => {
    const root = folder();
    await within(root, async () => {
      const backend = new LocalShellBackend({ workingDirectory: "." });
      await runsCommands(backend, root);
    });
  },
  "001 StoreBackend": () => byContext((ctx) => [ctx.runtime.context.userId]),
  "001 namespace factory": async () => {
    type NamespaceFactory = (rt: { context?: unknown; serverInfo?: unknown }) => string[];
    const namespace: NamespaceFactory = () => ["fixed"];
    await keepsInStore(new StoreBackend({ namespace }), new InMemoryStore(), ["fixed"]);
  },
  "001 namespace patterns": namespaces,
  "001 CompositeBackend": () =>
    memoriesStay(
      new CompositeBackend(new StateBackend(), { "/memories/": new StoreBackend() }),
      new InMemoryStore(),
    ),
  "001 route to different backends": route,
  "001 virtual filesystem: S3": async () => {
    await everyTool(new S3Backend("bucket", "/prefix/"));
    await everyToolOfOurs(new S3Backend("bucket"));
  },
  "001 policy: subclass": guarded,
  "001 policy: wrapper": wrapped,
  "001 read a binary file": async () => {
    const backend = new StateBackend({
      files: { "/workspace/screenshot.png": new Uint8Array([1]), "/workspace/a.txt": "text" },
    });
    const seen: string[] = [];
    for (const path of ["/workspace/screenshot.png", "/workspace/a.txt", "/workspace/none"]) {
      const result = await backend.read(path);
      if (result.error) seen.push(result.error.slice(0, 4));
      else if (result.content instanceof Uint8Array) seen.push(`binary ${result.mimeType}`);
      else seen.push(`text ${result.mimeType}`);
    }
    assert.deepEqual(seen, ["binary image/png", "text text/plain", "File"]);
  },
  "001 FileData": async () => {
    const at = "2026-01-01T00:00:00.000Z";
    const second: FileData = {
      content: "one\ntwo",
      mimeType: "text/plain",
      created_at: at,
      modified_at: at,
    };
    const first: FileData = { content: ["one", "two"], created_at: at, modified_at: at };
    const backend = new StateBackend({ files: { "/second": second, "/first": first } });
    assert.equal(backend.read("/second").content, backend.read("/first").content);
    assert.equal(backend.readRaw("/second").data?.modified_at, at);
  },
  "001 FileData: older readers": async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ fileFormat: "v1" });
    await keepsInStore(backend, store, ["filesystem"]);
    const [item] = await store.search(["filesystem"]);
    assert.deepEqual(item?.value.content, ["hello", ""]);
  },
  "001 from factories: before and after": async () => {
    const namespace = (rt: { serverInfo?: { user: { identity: string } } }) => [
      String(rt.serverInfo?.user.identity),
    ];
    await memoriesStay(
      (config) =>
        new CompositeBackend(new StateBackend(config), {
          "/memories/": new StoreBackend(config, { namespace }),
        }),
      new InMemoryStore(),
      USER,
    );
    await memoriesStay(
      new CompositeBackend(new StateBackend(), { "/memories/": new StoreBackend({ namespace }) }),
      new InMemoryStore(),
      USER,
    );
  },
  "001 from BackendContext: before": () => byContext((ctx) => [ctx.runtime.context.userId]),
  "001 from BackendContext: after": storeOfUser,
  "001 adapt the first version": async () => {
    const v1Backend = new FirstS3Backend("b");
    const v2Backend = adaptBackendProtocol(v1Backend);
    await v2Backend.write("/a.py", "import os\n");
    assert.equal((await v2Backend.read("/a.py")).content, "import os\n");
    assert.equal((await v2Backend.ls("/")).files?.length, 1);
    assert.equal((await v2Backend.grep("import")).matches?.length, 1);
    assert.equal((await v2Backend.glob("**/*.py")).files?.length, 1);
    for (const name of V1_ONLY) assert.equal(name in v2Backend, false);
    const v1Sandbox = Object.assign(new FirstS3Backend("s"), {
      id: "machine",
      execute: async (command: string) => ({ output: command, exitCode: 0, truncated: false }),
    });
    const v2Sandbox = adaptSandboxProtocol(v1Sandbox);
    assert.equal(v2Sandbox.id, "machine");
    assert.equal((await v2Sandbox.execute("ls")).output, "ls");
  },

  "002 quickstart: default": () => keepsInState(),
  "002 quickstart: local folder": diskThere,
  "002 quickstart: store": bareStore,
  "002 quickstart: Context Hub": hub,
  "002 quickstart: sandbox": sandbox,
  "002 quickstart: local shell": localShell,
  "002 StateBackend": state,
  "002 FilesystemBackend": diskHere,
  "002 FilesystemBackend in a composite": () =>
    mounted(
      (root) =>
        new CompositeBackend(new StateBackend(), {
          "/workspace/": new FilesystemBackend({ rootDir: root, virtualMode: true }),
        }),
      "/workspace/",
    ),
  "002 LocalShellBackend": async () => {
    const root = folder();
    await within(root, () =>
      runsCommands(
        new LocalShellBackend({ rootDir: ".", virtualMode: true, env: { PATH: "/usr/bin:/bin" } }),
        root,
      ),
    );
  },
  "002 StoreBackend": storeOfUser,
  "002 namespace factory": () =>
    keepsInStore(new StoreBackend({ namespace: () => ["fixed"] }), new InMemoryStore(), ["fixed"]),
  "002 namespace patterns": namespaces,
  "002 ContextHubBackend": hub,
  "002 CompositeBackend": () =>
    memoriesStay(
      new CompositeBackend(new StateBackend(), {
        "/memories/": new StoreBackend({ namespace: (_rt) => ["memories"] }),
      }),
      new InMemoryStore(),
    ),
  "002 route to different backends": route,
  "002 virtual filesystem: S3": () => everyTool(new S3Backend("bucket", "/prefix/")),
  "002 permissions": async () => {
    const permissions: FilesystemPermission[] = [
      { operations: ["write"], paths: ["/policies/**"], mode: "deny" },
    ];
    const store = new InMemoryStore();
    await store.put(["org"], "/rule.md", {
      content: "be kind\n",
      mimeType: "text/plain",
      created_at: "2026-01-01T00:00:00.000Z",
      modified_at: "2026-01-01T00:00:00.000Z",
    });
    const backend = new CompositeBackend(new StateBackend(), {
      "/memories/": new StoreBackend({ namespace: (rt) => [rt.serverInfo.user.identity] }),
      "/policies/": new StoreBackend({ namespace: (rt) => [rt.context.orgId] }),
    });
    const calls = () =>
      model([[write("/memories/a.md"), write("/policies/b.md"), read("/policies/rule.md")]]);
    const config = { ...USER, context: { orgId: "org" } };
    const contextSchema = z.object({ orgId: z.string() });
    const agent = createAgent({
      model: calls(),
      tools: [],
      middleware: [kitbagMiddleware(backend, { permissions })],
      contextSchema,
      store,
    });
    const [memory, policy, rule] = textsOf(await used(agent, config));
    assert.match(memory ?? "", /Wrote/);
    assert.match(policy ?? "", /permission denied/i);
    assert.match(rule ?? "", /be kind/);
    // As a policy around the backend, with deepagents' own tools.
    const files = withPolicy(new StateBackend(), { permissions });
    const deep = createDeepAgent({ model: calls(), backend: files });
    const [own, refused] = textsOf(await used(deep));
    assert.match(own ?? "", /memories\/a\.md/);
    assert.match(refused ?? "", /permission denied/i);
  },
  "002 policy: subclass": guarded,
  "002 policy: wrapper": wrapped,
  "002 from factories: before and after": async () => {
    await compositeByFactory();
    await memoriesStay(
      new CompositeBackend(new StateBackend(), {
        "/memories/": new StoreBackend({ namespace: (rt) => [rt.serverInfo.user.identity] }),
      }),
      new InMemoryStore(),
      USER,
    );
  },
  "002 from BackendContext: before and after": async () => {
    await byContext((ctx) => [ctx.runtime.context.userId]);
    await storeOfUser();
  },

  "003 quickstart: default": () => keepsInState(),
  "003 quickstart: local folder": diskThere,
  "003 quickstart: store": storeByFactory,
  "003 quickstart: sandbox": sandbox,
  "003 quickstart: local shell": localShell,
  "003 StateBackend": stateByFactory,
  "003 FilesystemBackend": diskHere,
  "003 LocalShellBackend": localShell,
  "003 StoreBackend": storeByFactory,
  "003 CompositeBackend": compositeByFactory,
  "003 specify: an instance, or a factory": stateByFactory,
  "003 route to different backends": routeByFactory,

  "004 the middleware and its options": async () => {
    const middleware = kitbagMiddleware(new StateBackend(), {
      systemPrompt: "Files are here.",
      customToolDescriptions: { ls: "Shows a directory." },
      toolTokenLimitBeforeEvict: 20_000,
      maxExecuteTimeout: 3600,
    });
    const seen: string[] = [];
    const agent = createAgent({
      model: model([[write("/a.txt")]], (messages) => seen.push(said(messages[0]))),
      tools: [],
      middleware: [middleware],
    });
    const after = await used(agent);
    assert.ok(seen[0]?.includes("Files are here."), seen[0]);
    assert.deepEqual(contents(after.files), { "/a.txt": "hello\n" });
    const [ls] = (middleware as { tools?: Array<{ description: string }> }).tools ?? [];
    assert.equal(ls?.description, "Shows a directory.");
    // A backend may be left out: the files are then in the state.
    const bare = createAgent({ model: notes(), tools: [], middleware: [kitbagMiddleware()] });
    assert.deepEqual(contents((await used(bare)).files), { "/notes.txt": "hello\n" });
  },
  "004 the demonstration": async () => {
    const root = folder();
    await within(root, async () => {
      const agent = createAgent({
        model: model([
          [["execute", { command: "rm -rf test_dir && mkdir test_dir" }]],
          [
            write("/test_dir/hello.py", 'print("Hello, World!")'),
            write("/test_dir/file1.txt", "content 1"),
            write("/test_dir/file2.txt", "content 2"),
            write("/test_dir/file3.txt", "content 3"),
          ],
          [["ls", { path: "/test_dir" }]],
          [read("/test_dir/hello.py")],
        ]),
        tools: [],
        middleware: [kitbagMiddleware(new LocalShellBackend({ virtualMode: true }))],
      });
      const answers = textsOf(await used(agent));
      const listed = answers[5] ?? "";
      for (const name of ["file1.txt", "file2.txt", "file3.txt", "hello.py"]) {
        assert.ok(listed.includes(`/test_dir/${name}`), listed);
        assert.ok(existsSync(join(root, "test_dir", name)));
      }
      assert.match(answers[6] ?? "", /print\("Hello, World!"\)/);
    });
  },
};

/** A repository of the Hub, as its client answers. */
async function hub(): Promise<void> {
  const commits: Array<Record<string, unknown>> = [];
  const client = {
    async pullAgent() {
      throw Object.assign(new Error("not found"), { status: 404 });
    },
    async pushAgent(_identifier: string, options: Record<string, unknown>) {
      commits.push(options);
      return `https://hub/my-agent:${"0123456789abcdef".slice(0, 8)}${commits.length}`;
    },
  };
  const backend = new ContextHubBackend("my-agent", { client: client as never });
  const agent = createDeepAgent({ model: notes(), backend });
  const answers = textsOf(await used(agent));
  assert.match(answers.at(-1) ?? "", /hello/);
  assert.equal(commits.length, 1);
  // With the key of the environment no client is needed.
  const before = process.env.LANGSMITH_API_KEY;
  process.env.LANGSMITH_API_KEY = "key-of-a-test";
  try {
    assert.equal(typeof new ContextHubBackend("my-agent").read, "function");
  } finally {
    if (before === undefined) delete process.env.LANGSMITH_API_KEY;
    else process.env.LANGSMITH_API_KEY = before;
  }
}
