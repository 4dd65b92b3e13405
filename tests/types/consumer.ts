// Compiled, never run: a program that imports every entry of the package and uses it, as strict
// projects do. It must compile as an ES module and as a CommonJS module.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { ToolSet } from "ai";
import {
  type BackendWatch,
  begin,
  CompositeBackend,
  ContextHubBackend,
  CustomBackend,
  createFileTools,
  D1Backend,
  type FileChanges,
  FilesystemBackend,
  HttpBackend,
  IndexedDbBackend,
  KitbagPanic,
  LocalShellBackend,
  OpfsBackend,
  PostgresBackend,
  presignS3,
  R2Backend,
  ringAudit,
  S3Backend,
  SandboxBackend,
  SqlBackend,
  StateBackend,
  type StorageLike,
  StoreBackend,
  toV1,
  type UnchangedReads,
  withPolicy,
} from "kitbag";
import { type AiTools, fileTools as aiTools } from "kitbag/ai";
import { fileTools as anthropicTools, memoryTool, textEditorTool } from "kitbag/anthropic";
import { conformanceCases, runConformance } from "kitbag/conformance";
import { createFs, type FsEmitter, type FsFileHandle, vfsProvider } from "kitbag/fs";
import { provideGraphContext, shareState } from "kitbag/graph";
import { guidedPrompts } from "kitbag/guided";
import {
  type Branch,
  beginKept,
  changeTools,
  fork,
  type HistoryEntry,
  keptTurns,
  type MergeOptions,
  type MergeResult,
  merge,
  openPin,
  type PinLoss,
  type PinnedBackend,
  type ReviewDecision,
  reviewOf,
  settleReview,
  withHistory,
} from "kitbag/history";
import { ignoreFiles, withIgnore } from "kitbag/ignore";
import { type IndexUpdate, withIndex } from "kitbag/indexed";
import { bashExecute, bashFileSystem, withBash } from "kitbag/just-bash";
import {
  graphChanges,
  kitbagMiddleware,
  fileTools as langchainTools,
  reviewMiddleware,
  stateBackend,
  storeBackend,
} from "kitbag/langchain";
import { borrowFiles, lendFiles } from "kitbag/lend";
import { workspaceFilesystem } from "kitbag/mastra";
import { elicitReview, registerFileTools } from "kitbag/mcp";
import { nodeShell } from "kitbag/node";
import { fileTools as openaiTools } from "kitbag/openai";
import { openTelemetry, traceTools } from "kitbag/opentelemetry";
import { type ProvenanceBackend, withProvenance } from "kitbag/provenance";
import "kitbag/regex";
import { serveFiles } from "kitbag/server";
import { init, initSync, StateBackend as Slim } from "kitbag/slim";
import { type SyncResult, sync } from "kitbag/sync";
import { fromTar, toTar } from "kitbag/tar";
import { compareTrees, copyTree, type TransferResult } from "kitbag/transfer";
import { unchangedReads } from "kitbag/unchanged";
import { fileSystemProvider } from "kitbag/vscode";
import { fromZip, toZip } from "kitbag/zip";

const files = new StateBackend({ files: { "/a.txt": "text", "/b": new Uint8Array(1) } });

export async function main(): Promise<string> {
  const read = files.read("/a.txt", 0, 10);
  if (read.error) return read.code;
  const page: string | Uint8Array = read.content;
  const { files: listed, error } = await new FilesystemBackend({ rootDir: "." }).ls("/");
  if (error !== undefined) return error;
  const first: string | undefined = listed[0]?.path;
  const found = files.grep("x", "/", null, 3, { regex: true, timeoutMs: 10 });
  const lines = found.error ? [] : found.matches.map((match) => match.line);
  const counted = await withIndex(files, { keepIn: { path: "/.index/" } }).grep("x", "/", "*.ts", {
    stats: true,
  });
  const requests: number | undefined = counted.error ? 0 : counted.stats?.requests;
  const written = files.write("/c.txt", "c");
  if (!written.error) written.path.length;
  const moved = files.move("/c.txt", "/d.txt", { overwrite: true });
  if (!moved.error) files.append(moved.path, new Uint8Array(1)).path?.length;
  const copied = await new FilesystemBackend().copy("/a", "/b", { timeoutMs: 10 });
  if (copied.error) return copied.error;
  createFileTools(files, { tools: "all" });
  return `${page.length} ${first} ${lines[0]} ${requests}`;
}

export const unchanged: UnchangedReads = unchangedReads();
export const described: string = guidedPrompts.describe("grep", ["grep"]) ?? "";
export const turned = begin(files, { by: "a" }).commit();
export const keptOn: string = beginKept(files, {
  keepIn: { backend: files, path: "/turns" },
  name: "t",
}).name;
export const keptNames = keptTurns({ backend: files, path: "/turns" }).then(
  ({ names }) => names?.[0],
);
export const mergeOptions: MergeOptions = {
  into: files,
  onConflict: ({ ours }) => ({ content: ours }),
};
export const mergedBranch: Promise<MergeResult | undefined> = fork(files, {
  keepIn: { backend: files },
  name: "b",
}).then(async ({ branch }) => {
  const one: Branch | undefined = branch;
  return one && merge([one], mergeOptions);
});
export const branchBase: Promise<"pin" | "live" | undefined> = fork(files, {
  keepIn: { backend: files },
}).then(({ branch }) => branch?.capability.base);
export const mergedFiles = mergedBranch.then((done) =>
  (done?.receipt ?? done?.made)?.files.map(({ path }) => path),
);
export const conflictLines = mergedBranch.then((done) =>
  done?.conflicts?.flatMap(({ hunks, took }) => hunks.map(({ lines }) => `${took} ${lines[0]}`)),
);
export const labelled: ProvenanceBackend = withProvenance(files, {
  labels: [{ paths: ["/web/**"], as: "untrusted" }],
  flows: [{ from: "untrusted", to: ["/memories/**"], then: "ask" }],
  onAsk: ({ reads }) => reads.every(({ operation }) => operation === "read"),
  keepIn: { backend: new StateBackend() },
}).conversation();
export const synced: Promise<SyncResult> = sync(files, new StateBackend(), {
  keepIn: { backend: files },
  onConflict: ({ path }) => (path.endsWith(".md") ? "both" : "b"),
});
export const ignored = withIgnore(files, { patterns: ["*.log"] }).glob("**");
export const searched: Promise<Partial<IndexUpdate>> = withIndex(files, {
  keepIn: { path: "/.index/" },
  freshness: "writers",
}).updateIndex({ timeoutMs: 1000 });

const storage: StorageLike = { get: () => null, list: () => [], put: () => false };
export const backends = [
  new CustomBackend(storage, { maxFileBytes: 10 }),
  new CompositeBackend(files, { "/memories/": new StoreBackend({ namespace: ["u"] }) }),
  new ContextHubBackend("name", { apiKey: "k" }),
  new D1Backend({
    database: { prepare: () => ({ bind: () => ({ all: async () => ({ results: [] }) }) }) },
  }),
  new IndexedDbBackend({ database: "d", durability: "relaxed" }),
  new LocalShellBackend({ rootDir: ".", execute: nodeShell({ shell: "/bin/sh" }), timeout: 1 }),
  new OpfsBackend({ root: "r" }),
  new PostgresBackend({ client: { query: async () => ({ rows: [] }) }, migrate: true }),
  new PostgresBackend({
    client: { query: async () => [] },
    listen: async (channel, heard, ready, lost) => {
      heard(channel);
      ready();
      return { unlisten: async () => lost() };
    },
  }),
  new R2Backend({
    bucket: {
      head: async () => null,
      get: async () => null,
      put: async () => null,
      delete: async () => {},
      list: async () => null,
    },
  }),
  new S3Backend({
    region: "r",
    bucket: "b",
    credentials: { accessKeyId: "a", secretAccessKey: "s" },
  }),
  new SandboxBackend({ id: "s", execute: async (command) => ({ output: command, exitCode: 0 }) }),
  new SqlBackend({ dialect: "sqlite", query: () => [], searchIndex: true }),
  withPolicy(files, {
    permissions: [{ operations: ["write"], paths: ["/policies/**"], mode: "ask" }],
    onAsk: ({ preview }) => preview === "",
    audit: ringAudit(10),
    rateLimit: { write: { operations: 1, perMs: 1000 } },
    quota: { maxFiles: 3 },
    inspect: ({ content }) => (content.length > 3 ? { deny: "too long" } : undefined),
  }),
];

export const url: string = presignS3(
  { region: "r", bucket: "b", credentials: { accessKeyId: "a", secretAccessKey: "s" } },
  { method: "GET", key: "k" },
).url;
export const old: Promise<string> = Promise.resolve(toV1(files).read("/a.txt"));
export const panicked = (error: unknown): boolean =>
  error instanceof KitbagPanic && error.code === "internal";

export const plain = createFileTools(files, { tools: ["ls", "read_file"] });
export const sdk: AiTools = aiTools(files);
export const set: ToolSet = sdk.tools;
export const chat: string | undefined = openaiTools(files, { api: "chat" }).definitions[0]?.function
  .name;
export const definition: string | undefined = anthropicTools(files).definitions[0]?.name;
export const editor: "str_replace_based_edit_tool" = textEditorTool(files).definition.name;
export const memory: Promise<boolean> = memoryTool(files, { directory: "/m" })
  .run({})
  .then(({ isError }) => isError);
export const graph = [
  langchainTools(stateBackend()).tools.length,
  kitbagMiddleware(storeBackend()).name,
];
export const registered: string = registerFileTools(
  new McpServer({ name: "n", version: "1" }),
  files,
).systemPrompt;
export const shell: Promise<number | null> = bashExecute(files)("ls").then((ran) => ran.exitCode);
export const bash: string = withBash(files).id;
export const refreshed: Promise<void> = bashFileSystem(files).refresh();
export const cases: number = conformanceCases().length;
export const report: Promise<number> = runConformance(() => new StateBackend(), {
  writeModes: ["create"],
  report: (name, failure) => console.log(name, failure),
}).then(({ failed }) => failed);
export const copied: Promise<TransferResult> = copyTree(files, new Slim(), {
  to: "/backup",
  onConflict: ({ path }) => (path.endsWith(".md") ? "skip" : "overwrite"),
  onProgress: ({ copied, totalFiles }) => console.log(copied, totalFiles),
});
export const compared: Promise<string[]> = compareTrees(files, files).then((one) => one.different);
export const packed: ReadableStream<Uint8Array> = toTar(files).pipeThrough(
  new CompressionStream("gzip"),
);
export const unpacked: Array<Promise<TransferResult>> = [
  fromTar(new Uint8Array(), files, { maxBytes: 10 }),
  fromZip(toZip(files, { from: "/a" }), files, { maxArchiveBytes: 10 }),
];
export const traced = withPolicy(files, { readOnly: true, ...openTelemetry({ paths: "hash" }) });
export const tracedTools: string = traceTools(createFileTools(traced)).systemPrompt;
export const ready: Promise<void> = init("kitbag", new Uint8Array());
export const now: void = initSync(new Uint8Array());
export const same: StateBackend = new Slim();

// @ts-expect-error a listing is no number
export const wrong: number = files.ls("/");
// @ts-expect-error a misspelled tool
createFileTools(files, { tools: ["readfile"] });
// @ts-expect-error a misspelled option
new FilesystemBackend({ rootdir: "." });

export const noted = withHistory(files, {
  ...{ keepIn: { backend: files, path: "/h" }, by: "a", writeMode: "overwrite" },
  ...{ who: () => ({ by: "b", call: "c" }), keep: { count: 1, ageMs: 2, bytes: 3 } },
});
export const entries: Promise<HistoryEntry[] | undefined> = noted
  .log("/a", { limit: 3 })
  .then((log) => log.entries);
export const back = noted.restore("/a", new Date()).then(({ paths }) => paths?.[0]);
export const range = noted.diff("2026-01-01T00:00:00Z").then(({ changes }) => changes?.[0]?.hunks);
export const known = noted.why("/a").then((why) => why.known);
export const then: Promise<PinnedBackend | undefined> = openPin(noted, "0".repeat(64), {
  timeoutMs: 1000,
}).then(({ backend }) => backend);
export const whole: Promise<string> = noted
  .readText("/a")
  .then((text) => (text.error ? text.code : text.content));
export const pinnedAt: Promise<string | undefined> = noted.pin().then(({ at }) => at);
export const kept = noted.pins().then(({ pins }) => pins?.map(({ pin }) => noted.unpin(pin)));
export const release = noted.label("1.0", "0".repeat(64)).then(() => noted.labelled("1.0"));
export const lost: Promise<PinLoss | undefined> = noted.verify().then((found) => found.lost?.[0]);
export const pruned = noted.prune().then(({ bytes }) => bytes);

const listener: BackendWatch | undefined = new FilesystemBackend().watch;
export const unlisten: Array<(() => void) | undefined> = [
  listener?.("/notes", ({ paths, rescan }: FileChanges) => console.log(paths.length, rescan)),
  listener?.((changes) => console.log(changes.paths)),
];
export const streamed: readonly string[] | undefined = graphChanges({})?.paths;
export const searching = anthropicTools(files, {
  ignore: ignoreFiles({ patterns: ["*.log"] }),
}).run({ content: [] }, { messages: [{ role: "user", content: "go" }] });

export const reviewed = beginKept(files, { keepIn: { backend: files } });
export const asking = [
  reviewMiddleware(reviewed),
  reviewMiddleware(async (_runtime: unknown) => reviewed),
];
export const undoing = aiTools(noted.as({ by: "agent-7", call: "toolu_01" }), {
  changes: changeTools(),
});
export const committing = changeTools({
  commit: async ({ patch, files: changed }): Promise<ReviewDecision | undefined> =>
    patch === ""
      ? undefined
      : { type: "edit", hunks: changed.flatMap(({ hunks }) => hunks).map(({ id }) => id) },
});
export const eliciting = (server: McpServer) => changeTools({ commit: elicitReview(server) });
export const decided = reviewOf(reviewed).then(({ files: changed }) =>
  changed?.length === 0 ? undefined : settleReview(reviewed, { type: "accept" }),
);

export const told: void = provideGraphContext(() => ({ runtime: { context: { user: "u" } } }));
export const sharing = (state: object): void =>
  shareState(state, { files: () => ({}), note: (update) => console.log(Object.keys(update)) });

export const served: (request: Request) => Promise<Response> = serveFiles(
  async (request) => (request.headers.has("authorization") ? files : null),
  { path: "/files", origins: ["https://app.example"], onError: (error) => console.error(error) },
);
export const lent: () => void = lendFiles(new WebSocket("wss://host.example"), files, {
  timeoutMs: 300_000,
});
export const borrowed: HttpBackend = borrowFiles(new WebSocket("wss://host.example"), {
  maxResultBytes: 1_000_000,
  watch: true,
});
// @ts-expect-error no socket
lendFiles("wss://host.example", files);
// @ts-expect-error an option that the borrower does not have
borrowFiles(new WebSocket("wss://host.example"), { url: "https://host.example" });
export const remote = new HttpBackend({
  url: "https://host.example/files",
  headers: async () => ({ authorization: "Bearer token" }),
});
// @ts-expect-error a misspelled option
new HttpBackend({ adress: "https://host.example/files" });

export const fs = createFs(files, { cwd: "/project" });
export const workspaceId: string = workspaceFilesystem(files, { readOnly: true }).id;
interface Address {
  readonly path: string;
  with(change: { path: string }): Address;
}
declare const vscodeModule: Parameters<typeof fileSystemProvider<Address>>[1];
declare const address: Address;
export const provider = fileSystemProvider(files, vscodeModule);
export const listing: Promise<[string, number][]> = provider.readDirectory(address);
// @ts-expect-error without the module of the editor
fileSystemProvider(files);
export const handle = fs.promises.open("/a", "r+");
export const someBytes: Promise<Uint8Array> = handle.then(async (file) => {
  const { buffer, bytesRead } = await file.read(new Uint8Array(8), 0, 8, 0);
  return buffer.subarray(0, bytesRead);
});
export const text: Promise<string> = fs.promises.readFile("/a", "utf8");
export const atOnce: string = fs.readFileSync("/a", { encoding: "utf8" });
export const size: Promise<number> = fs.promises.stat("/a").then((stats) => stats.size);
export const firstMade: string | undefined = fs.mkdirSync("/a/b", { recursive: true });
export const copying: void = fs.copyFile("/a", "/b", (error) => console.log(error?.code));
export const exclusively: void = fs.copyFile("/a", "/b", 1, (error) => console.log(error?.code));
export const stating = fs.stat("/a", (_error, stats) => console.log(stats.isFile()));
export const entries2 = fs.promises.readdir("/", { withFileTypes: true });
export const reading = fs.createReadStream("/a", { start: 1 });
export const promises = fs.promises;
export const stats = fs.statSync("/a");
export const directory = fs.promises.opendir("/");
export const opened: Promise<FsFileHandle> = handle;
export const writing: FsEmitter = fs
  .createWriteStream("/a")
  .on("finish", () => {})
  .once("x", () => {});
export const watching = fs.watch("/", { recursive: true }, (type, name) => console.log(type, name));
// @ts-expect-error a misspelled option
createFs(files, { cdw: "/" });
class VirtualProvider {
  readonly readonly: boolean = false;
}
export const mountable: VirtualProvider = vfsProvider(files, { VirtualProvider });
// @ts-expect-error without the module of Node
vfsProvider(files);
