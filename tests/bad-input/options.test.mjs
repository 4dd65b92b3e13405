// Every option of every class and function, by table: a value of a wrong type and a misspelled name
// are refused by a TypeError that names the option. What the declarations have and the table has
// not is a failure, so a new option gets its row.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { memoryTool } from "../../pkg/dist/anthropic.js";
import { createFs } from "../../pkg/dist/fs.js";
import { provideGraphContext, shareState } from "../../pkg/dist/graph.js";
import { beginKept, changeTools, withHistory } from "../../pkg/dist/history.js";
import { withIndex } from "../../pkg/dist/indexed.js";
import { nodeShell } from "../../pkg/dist/node_shell.js";
import { fileTools as openaiTools } from "../../pkg/dist/openai.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { serveFiles } from "../../pkg/dist/serve_files.js";
import { compareTrees, copyTree, mirror } from "../../pkg/dist/transfer.js";
import { at } from "../../scripts/lib/paths.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { packedProject } from "../lib/packed.mjs";
import { publicMembers } from "../types/members.mjs";

/** The entries that import packages of others, from a project that has these. */
const project = await packedProject({ set: ["optional", "agents"] });
const seats = await packedProject({ set: ["newest"] });
after(() => [project, seats].map((one) => one.remove()));
const entry = (name) => import(pathToFileURL(`${project.home}/dist/${name}.js`).href);
const outside = Object.assign(
  {},
  ...(await Promise.all(["tar", "zip", "opentelemetry", "mcp", "langchain"].map(entry))),
);

const inSeats = (name) => import(pathToFileURL(`${seats.home}/dist/${name}.js`).href);
const { workspaceFilesystem } = await inSeats("mastra");
const { sandboxSession } = await inSeats("ai");

const require = createRequire(`${project.root}/any.js`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");

/** Values that are wrong for an option of this kind. */
const WRONG = {
  text: [1, true, {}, ["a"]],
  amount: ["5", -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, {}, true],
  count: ["5", 0, -1, 1.5, Number.NaN, {}, true],
  seconds: ["5", -1, Number.NaN, {}, true],
  boolean: ["true", 1, 0, {}],
  choice: ["other", 1, true, {}],
  function: ["x", 1, {}, []],
  object: ["x", 1, true, [], () => {}],
  record: ["x", 1, true, ["/a.txt"], new Map()],
  list: ["x", 1, true, {}, [1]],
  switch: ["x", 1, []],
  parts: [1, true, {}, [], [1]],
  place: ["x", 1, true, [], () => {}, { backend: 1 }, { path: 1 }],
  key: ["x", 1, true, {}, [], new Uint8Array(15)],
  other: [Symbol("wrong")],
};
const MODES = { writeMode: "choice" };
const TABLE = {
  ...MODES,
  table: "text",
  namespace: "parts",
  migrate: "boolean",
  searchIndex: "boolean",
};
const DISK = {
  ...MODES,
  rootDir: "text",
  virtualMode: "boolean",
  fs: "object",
  maxFileBytes: "amount",
  ripgrep: "switch",
  searchCache: "boolean",
};
const S3 = {
  ...MODES,
  prefix: "text",
  concurrency: "amount",
  cache: "switch",
  retry: "switch",
  watchEveryMs: "count",
};
const PLACE = { endpoint: "text", region: "text", bucket: "text", forcePathStyle: "boolean" };

const TREE = {
  from: "text",
  to: "text",
  batchBytes: "count",
  onProgress: "function",
  signal: "other",
};
const COPY = { ...TREE, compare: "choice", onConflict: "choice" };
const PACK = { from: "text", batchBytes: "count", onProgress: "function", signal: "other" };
const UNPACK = {
  to: "text",
  onConflict: "choice",
  maxFiles: "amount",
  maxBytes: "amount",
  maxFileBytes: "amount",
  batchBytes: "count",
  onProgress: "function",
  signal: "other",
};

const state = () => new kitbag.StateBackend();
const pinned = () => withHistory(state(), { keepIn: { backend: state() } });
const storage = (capability) => ({ get() {}, list: () => [], capability });
const keys = { accessKeyId: "a", secretAccessKey: "s" };
const place = { region: "r", bucket: "b", credentials: keys };
const r2 = { head() {}, get() {}, put() {}, delete() {}, list() {} };
const rule = { operations: ["write"], paths: ["/a"] };
const policy = (given) => kitbag.withPolicy(state(), given);
const web = { paths: ["/web/**"], as: "web" };
const refused = { from: "web", to: ["/a"], then: "refuse" };
const provenance = (given) => withProvenance(state(), given);
const labelled = (given) => provenance({ labels: [web], ...given });

/** Name in the declarations, what takes the options, options that are right, and their kinds. */
const TABLES = [
  [
    "StateBackendOptions",
    (given) => new kitbag.StateBackend(given),
    {},
    {
      ...MODES,
      files: "record",
      fileFormat: "choice",
      maxBytes: "amount",
      channel: "object",
      scope: "choice",
    },
  ],
  ["FilesystemBackendOptions", (given) => new kitbag.FilesystemBackend(given), {}, DISK],
  [
    "LocalShellBackendOptions",
    (given) => new kitbag.LocalShellBackend(given),
    {},
    {
      workingDirectory: "text",
      execute: "function",
      timeout: "seconds",
      maxOutputBytes: "amount",
      env: "object",
      inheritEnv: "boolean",
      initialFiles: "record",
    },
  ],
  [
    "SandboxBackendOptions",
    (given) => new kitbag.SandboxBackend(given),
    { id: "s", execute: () => ({}) },
    {
      ...MODES,
      id: "text",
      execute: "function",
      uploadFiles: "function",
      downloadFiles: "function",
      rootDir: "text",
      timeout: "seconds",
      maxOutputBytes: "amount",
      maxFileBytes: "amount",
    },
  ],
  [
    "TurnOptions",
    (given) => kitbag.begin(new kitbag.StateBackend(), given),
    {},
    { ...MODES, by: "text" },
  ],
  [
    "KeptTurnOptions",
    (given) => beginKept(new kitbag.StateBackend(), given),
    { keepIn: { backend: state() } },
    { ...MODES, by: "text", keepIn: "place", name: "text" },
  ],
  [
    "HistoryOptions",
    (given) => withHistory(new kitbag.StateBackend(), given),
    { keepIn: { backend: state() } },
    {
      ...MODES,
      ...{ keepIn: "place", by: "text", who: "function", keep: "record" },
    },
  ],
  [
    "HistoryKeep",
    (keep) => withHistory(new kitbag.StateBackend(), { keepIn: { backend: state() }, keep }),
    {},
    { count: "amount", ageMs: "amount", bytes: "amount" },
  ],
  [
    "IndexOptions",
    (given) => withIndex(new kitbag.StateBackend(), given),
    {},
    { keepIn: "place", freshness: "choice" },
  ],
  ["ChangeToolsOptions", (given) => changeTools(given), {}, { commit: "other" }],
  [
    "CustomBackendOptions",
    (given) => new kitbag.CustomBackend(storage(), given),
    {},
    { ...MODES, fileFormat: "choice", maxFileBytes: "amount" },
  ],
  [
    "Capability",
    (given) => new kitbag.CustomBackend(storage(given)),
    {},
    {
      create: "choice",
      update: "choice",
      directories: "choice",
      names: "choice",
      keepsCreated: "boolean",
      keepsMime: "boolean",
      keepsFormat: "boolean",
      keepsModes: "boolean",
      keepsBinary: "boolean",
      writable: "boolean",
      overwrites: "boolean",
      maxFileBytes: "amount",
      perCaller: "boolean",
      listsVersions: "boolean",
      indexed: "boolean",
      watch: "boolean",
      notes: "list",
    },
  ],
  [
    "ContextHubBackendOptions",
    (given) => new kitbag.ContextHubBackend("name", given),
    { apiKey: "k" },
    { ...MODES, client: "object", apiKey: "text", baseUrl: "text" },
  ],
  [
    "IndexedDbBackendOptions",
    (given) => new kitbag.IndexedDbBackend(given),
    { database: "d" },
    {
      ...MODES,
      database: "text",
      namespace: "text",
      durability: "choice",
      openTimeoutMs: "amount",
      crashProtection: "boolean",
    },
  ],
  [
    "OpfsBackendOptions",
    (given) => new kitbag.OpfsBackend(given),
    {},
    {
      ...MODES,
      root: "text",
      namespace: "text",
      directory: "object",
      crashProtection: "boolean",
    },
  ],
  [
    "S3BackendOptions",
    (given) => new kitbag.S3Backend(given),
    place,
    { credentials: "other", sign: "function", conditions: "choice", onWarning: "function" },
  ],
  ["S3CommonOptions", (given) => new kitbag.S3Backend(given), place, S3],
  ["S3Location", (given) => new kitbag.S3Backend(given), place, PLACE],
  [
    "presignS3",
    (given) => kitbag.presignS3(given, { method: "GET", key: "k" }),
    place,
    { ...PLACE, credentials: "object" },
  ],
  [
    "PresignRequest",
    (given) => kitbag.presignS3(place, given),
    { method: "GET", key: "k" },
    { method: "choice", key: "text", query: "object", headers: "object" },
  ],
  [
    "S3Credentials",
    (credentials) => new kitbag.S3Backend({ ...place, credentials }),
    keys,
    { accessKeyId: "text", secretAccessKey: "text", sessionToken: "text", expiration: "other" },
  ],
  [
    "S3Retry",
    (retry) => new kitbag.S3Backend({ ...place, retry }),
    {},
    { attempts: "amount", baseMs: "amount", maxMs: "amount", timeoutMs: "amount" },
  ],
  [
    "S3CommonOptions.cache",
    (cache) => new kitbag.S3Backend({ ...place, cache }),
    {},
    { maxBytes: "amount" },
  ],
  [
    "R2BackendOptions",
    (given) => new kitbag.R2Backend(given),
    { bucket: r2 },
    { ...S3, bucket: "object" },
  ],
  [
    "SqlTableOptions",
    (given) => new kitbag.D1Backend(given),
    { database: { prepare() {} } },
    TABLE,
  ],
  [
    "SqlBackendOptions",
    (given) => new kitbag.SqlBackend(given),
    { query() {}, dialect: "postgres" },
    { ...TABLE, query: "function", dialect: "choice", listen: "function" },
  ],
  [
    "PostgresBackendOptions",
    (given) => new kitbag.PostgresBackend(given),
    { client: { query() {} } },
    { ...TABLE, client: "object", query: "function", listen: "switch" },
  ],
  [
    "D1BackendOptions",
    (given) => new kitbag.D1Backend(given),
    { database: { prepare() {} } },
    { ...TABLE, database: "object" },
  ],
  [
    "StoreBackendOptions",
    (given) => new kitbag.StoreBackend(given),
    { namespace: ["u"] },
    { ...MODES, store: "object", namespace: "parts", fileFormat: "choice", binary: "choice" },
  ],
  [
    "Policy",
    policy,
    {},
    {
      readOnly: "boolean",
      readOnlyPrefixes: "list",
      permissions: "list",
      defaultMode: "choice",
      onAsk: "function",
      askTimeoutMs: "amount",
      rateLimit: "object",
      quota: "object",
      inspect: "function",
      audit: "function",
      hooks: "object",
      allowExecute: "boolean",
      hiddenCharacters: "choice",
    },
  ],
  ["Policy.hooks", (hooks) => policy({ hooks }), {}, { before: "function", after: "function" }],
  [
    "FilesystemPermission",
    (given) => policy({ permissions: [given] }),
    rule,
    { name: "text", operations: "list", paths: "list", mode: "choice" },
  ],
  [
    "Rate",
    (rateLimit) => policy({ rateLimit }),
    { operations: 1, perMs: 1 },
    { operations: "amount", perMs: "amount" },
  ],
  [
    "Quota",
    (quota) => policy({ quota }),
    {},
    { maxBytes: "amount", maxFiles: "amount", maxFileBytes: "amount" },
  ],
  [
    "ProvenanceOptions",
    provenance,
    { labels: [web] },
    {
      labels: "list",
      flows: "list",
      onAsk: "function",
      askTimeoutMs: "amount",
      keepIn: "place",
    },
  ],
  ["PathLabel", (given) => provenance({ labels: [given] }), web, { paths: "list", as: "text" }],
  [
    "FlowRule",
    (given) => labelled({ flows: [given] }),
    refused,
    { from: "text", to: "list", then: "choice" },
  ],
  [
    "KeepIn",
    (keepIn) => labelled({ keepIn }),
    { backend: state() },
    { backend: "object", path: "text", key: "key" },
  ],
  [
    "LabelledRead",
    (given) => labelled({}).conversation([given]),
    { label: "web", path: "/web/a", operation: "read" },
    { label: "text", path: "text", operation: "choice" },
  ],
  [
    "MiddlewareOptions",
    (given) => outside.kitbagMiddleware(pinned(), given),
    {},
    { checkpoint: "choice" },
  ],
  [
    "FileToolsOptions",
    (given) => kitbag.createFileTools(state(), given),
    {},
    {
      tools: "list",
      customToolDescriptions: "record",
      systemPrompt: "text",
      prompts: "choice",
      permissions: "list",
      policy: "object",
      unchanged: "object",
      ignore: "object",
      changes: "object",
      requireReadBeforeEdit: "boolean",
      toolTokenLimitBeforeEvict: "amount",
      humanMessageTokenLimitBeforeEvict: "amount",
      maxExecuteTimeout: "amount",
    },
  ],
  ["OpenaiToolsOptions", (given) => openaiTools(state(), given), {}, { api: "choice" }],
  [
    "CopyTreeOptions",
    (given) => copyTree(state(), state(), given),
    {},
    { ...COPY, links: "choice" },
  ],
  [
    "CompareTreesOptions",
    (given) => compareTrees(state(), state(), given),
    {},
    { ...TREE, compare: "choice" },
  ],
  [
    "MirrorOptions",
    (given) => mirror(state(), state(), given),
    {},
    {
      from: "text",
      to: "text",
      paths: "list",
      ignore: "object",
      maxFiles: "count",
      maxBytes: "count",
      onConflict: "choice",
      by: "text",
    },
  ],
  ["PackOptions", (given) => outside.toTar(state(), given), {}, PACK],
  ["UnpackOptions", (given) => outside.fromTar(new Uint8Array(1024), state(), given), {}, UNPACK],
  [
    "FromZipOptions",
    (given) => outside.fromZip(new Uint8Array(1024), state(), given),
    {},
    { ...UNPACK, maxArchiveBytes: "amount" },
  ],
  [
    "OpenTelemetryOptions",
    (given) => outside.openTelemetry(given),
    {},
    { backend: "text", paths: "choice", tracer: "other", meter: "other" },
  ],
  [
    "McpToolsOptions",
    (given) =>
      outside.registerFileTools(new McpServer({ name: "n", version: "1" }), state(), given),
    {},
    { structured: "boolean", roots: "function" },
  ],
  [
    "elicitReview",
    (given) => outside.elicitReview(new McpServer({ name: "n", version: "1" }), given),
    {},
    { key: "key" },
  ],
  ["NodeShellOptions", nodeShell, {}, { shell: "text" }],
  [
    "SandboxSessionOptions",
    (given) => sandboxSession(new kitbag.LocalShellBackend({ execute() {} }), given),
    {},
    { cwd: "text", description: "text" },
  ],
  [
    "WorkspaceFilesystemOptions",
    (given) => workspaceFilesystem(state(), given),
    {},
    { id: "text", readOnly: "boolean", instructions: "text" },
  ],
  ["FsOptions", (given) => createFs(state(), given), {}, { cwd: "text", stream: "object" }],
  [
    "FilesServerOptions",
    (given) => serveFiles(() => state(), given),
    {},
    {
      ...{ path: "text", origins: "list", hosts: "list", client: "function", onError: "function" },
      ...{ maxBodyBytes: "count", maxResultBytes: "count", maxParallel: "count" },
      ...{ timeoutMs: "count", maxUploadBytes: "count" },
      webdav: "other",
    },
  ],
  [
    "HttpBackendOptions",
    (given) => new kitbag.HttpBackend(given),
    { url: "http://127.0.0.1:9" },
    { url: "text", headers: "record", fetch: "function", timeoutMs: "count", watch: "boolean" },
  ],
  ["MemoryToolOptions", (given) => memoryTool(state(), given), {}, { directory: "text" }],
];

const SECRET = "hunter2/Wz+0s3cret=";
/** Secrets that somebody gave for the wrong option. */
const SECRETS = [
  SECRET,
  `postgres://user:${SECRET}@host/db`,
  `https://${SECRET}@host.example/?token=${SECRET}`,
  `//user:${SECRET}@host/..`,
  { token: SECRET },
  [SECRET],
  [[SECRET]],
  new Map([["token", SECRET]]),
  () => SECRET,
  Object.assign(() => {}, { token: SECRET }),
];

/** Options whose wrong values are told by another name, that of what is wrong in them. */
const NAMED = {
  tools: /tools/,
  permissions: /permission/,
  namespace: /namespace/,
  query: /client|query/,
};

const words = (value) => (typeof value === "symbol" ? String(value) : JSON.stringify(value));

for (const [of, make, right, options] of TABLES) {
  describe(of, () => {
    test("takes what is right", () => {
      make(right);
    });

    test("takes no array and no text", () => {
      if (of === "Capability" || of === "MemoryToolOptions" || of === "NodeShellOptions") return;
      for (const wrong of [["/a"], "x", 5]) {
        if (of === "S3Retry" || of === "S3CommonOptions.cache") continue;
        assert.throws(() => make(wrong), TypeError, words(wrong));
      }
    });

    for (const [name, kind] of Object.entries(options)) {
      test(`${name} must be right`, () => {
        for (const wrong of WRONG[kind]) {
          const label = NAMED[name] ?? new RegExp(name);
          assert.throws(
            () => make({ ...right, [name]: wrong }),
            (error) => error instanceof TypeError && label.test(error.message),
            `${name}: ${words(wrong)}`,
          );
        }
      });

      test(`what is given as ${name} is in no error`, () => {
        // The path of a file is in every answer about it.
        if (name === "path") return;
        for (const wrong of SECRETS) {
          for (const given of [
            { ...right, [name]: wrong },
            { ...right, [`${name}${wrong}`]: 1 },
          ]) {
            try {
              make(given);
            } catch (error) {
              assert.doesNotMatch(`${error.message} ${error.stack}`, /hunter2/, name);
            }
          }
        }
      });

      test(`a misspelled ${name} is refused, and the name is suggested`, () => {
        const misspelled = name.slice(0, -1) + name.at(-1).toUpperCase() + name.at(-1);
        const given = { ...right, [misspelled]: right[name] ?? true };
        delete given[name];
        assert.throws(
          () => make(given),
          (error) =>
            error instanceof TypeError &&
            error.message.includes(`"${misspelled}"`) &&
            error.message.includes(`is "${name}" meant?`),
          misspelled,
        );
      });
    }
  });
}

test("an option that narrows is not taken for its default if it has no value", () => {
  const narrows = [
    ...["rootDir", "workingDirectory", "root", "directory", "path", "prefix", "bucket", "table"],
    ...["database", "namespace", "keepIn", "paths", "operations", "mode", "defaultMode", "policy"],
    ...["permissions", "readOnly", "readOnlyPrefixes", "quota", "rateLimit"],
    ...["inspect", "labels", "flows", "tools", "ignore", "roots", "from", "to", "key"],
    ...["hooks", "before", "allowExecute", "hosts"],
  ];
  const seen = new Set();
  for (const [of, make, right, options] of TABLES) {
    for (const name of Object.keys(options)) {
      const limits = of === "Quota";
      if (!limits && !narrows.includes(name)) continue;
      // There it names an object.
      if (name === "key" && of === "PresignRequest") continue;
      seen.add(name);
      for (const value of [undefined, null]) {
        assert.throws(
          () => make({ ...right, [name]: value }),
          (error) => error instanceof TypeError && error.message.includes(`"${name}"`),
          `${of}: ${name}: ${value}`,
        );
      }
    }
  }
  assert.deepEqual(
    narrows.filter((name) => !seen.has(name)),
    [],
  );
  // As of a variable of the environment that is not set.
  const rootDir = process.env.KITBAG_NO_SUCH_VARIABLE;
  const unset = /option "rootDir" has no value; give it one, or leave the option out/;
  for (const make of [
    () => new kitbag.FilesystemBackend({ rootDir }),
    () => new kitbag.LocalShellBackend({ rootDir }),
    () => new kitbag.SandboxBackend({ id: "s", execute: () => ({}), rootDir }),
  ])
    assert.throws(make, unset);
  assert.throws(() => new kitbag.ContextHubBackend(undefined, { apiKey: "k" }), /repo must be/);
});

test("the table has every option of the declarations", () => {
  const types = at("pkg/types");
  const entries = readdirSync(`${types}/adapter`).filter((file) => file.endsWith(".d.ts"));
  const files = [`${types}/index.d.ts`, ...entries.map((file) => `${types}/adapter/${file}`)];
  const known = new Map(TABLES.map(([of, , , options]) => [of, options]));
  // What a call takes is below; what a framework takes is its own.
  const others = [
    ...["CallOptions", "GrepOptions", "WriteOptions", "DeleteOptions"],
    ...["MigrateOptions", "RebaseOptions", "UndoOptions", "HistoryLogOptions", "TransferOptions"],
    "BackendRuntime",
  ];
  const missing = publicMembers(types, files).filter(({ name }) => {
    const [of, option, more] = name.split(".");
    const has = known.has(of) || (/Options$/.test(of) && !others.includes(of));
    return has && option && !more && option !== "constructor" && !(option in (known.get(of) ?? {}));
  });
  assert.deepEqual(
    missing.filter(({ name }) => !/^presignS3\./.test(name)),
    [],
  );
});

describe("options of calls", () => {
  const call = {
    ls: (b, o) => b.ls("/", o),
    read: (b, o) => b.read("/a.txt", 0, 1, o),
    readRaw: (b, o) => b.readRaw("/a.txt", o),
    grep: (b, o) => b.grep("a", "/", null, null, o),
    glob: (b, o) => b.glob("*", "/", o),
    write: (b, o) => b.write("/b.txt", "b", o),
    edit: (b, o) => b.edit("/a.txt", "a", "b", false, o),
    delete: (b, o) => b.delete("/a.txt", o),
    move: (b, o) => b.move("/a.txt", "/b.txt", o),
    copy: (b, o) => b.copy("/a.txt", "/b.txt", o),
    append: (b, o) => b.append("/a.txt", "a", o),
  };
  const misspelled = {
    grep: ["regexp", "ignorecase", "befor", "maxperfile"],
    write: ["ifabsent", "if_absent"],
    delete: ["unchange"],
    move: ["overwrit", "over_write"],
    copy: ["overWrite"],
  };
  const make = () => new kitbag.StateBackend({ files: { "/a.txt": "a" } });

  for (const [name, run] of Object.entries(call)) {
    test(`${name}: a misspelled option is refused, and nothing happens`, async () => {
      for (const option of ["timeout", "timeoutms", "signals", ...(misspelled[name] ?? [])]) {
        const files = make();
        const answer = await run(kitbag.withPolicy(files, {}), { [option]: true });
        assert.equal(answer.code, "invalid_argument", option);
        assert.match(answer.error, new RegExp(`"${option}".* is "\\w+" meant\\?`), option);
        assert.deepEqual(Object.keys(files.snapshot()), ["/a.txt"]);
      }
    });

    test(`${name}: options are an object`, async () => {
      for (const wrong of [["signal"], "signal", 5, true]) {
        const answer = await run(kitbag.withPolicy(make(), {}), wrong);
        assert.equal(answer.code, "invalid_argument", answer.error);
        assert.match(answer.error, /options must be an object/);
      }
    });
  }

  for (const name of ["grep", "write", "delete", "move", "copy"]) {
    test(`StateBackend's ${name} refuses them too`, () => {
      for (const option of misspelled[name]) {
        const answer = call[name](make(), { [option]: true });
        assert.equal(answer.code, "invalid_argument", option);
      }
    });
  }

  describe("grep takes its options in the place of maxCount", () => {
    const files = () => new kitbag.StateBackend({ files: { "/a.txt": "A\na\n", "/b.md": "a" } });
    const subjects = {
      StateBackend: files,
      withPolicy: () => kitbag.withPolicy(files(), {}),
      CompositeBackend: () => new kitbag.CompositeBackend(files(), { "/m/": files() }),
      "a subclass behind a policy": () =>
        kitbag.withPolicy(
          new (class extends kitbag.StateBackend {})({ files: { "/a.txt": "A\na" } }),
          {},
        ),
    };
    const lines = ({ matches }) => matches.map(({ path, line }) => `${path}:${line}`);
    for (const [name, make] of Object.entries(subjects)) {
      test(name, async () => {
        const backend = make();
        const all = await backend.grep("a", "/", "a.*", { ignoreCase: true });
        assert.deepEqual(lines(all).slice(0, 2), ["/a.txt:1", "/a.txt:2"]);
        const one = await backend.grep("a", "/", "a.*", { ignoreCase: true, maxCount: 1 });
        assert.deepEqual([lines(one), one.truncated], [["/a.txt:1"], true]);
        const last = await backend.grep("a", "/", "a.*", null, { maxCount: 1 });
        assert.deepEqual(lines(last), ["/a.txt:2"]);
        // The argument counts where both are given.
        const two = await backend.grep("a", "/", "a.*", 2, { ignoreCase: true, maxCount: 1 });
        assert.equal(two.matches.length, 2);
      });

      test(`${name}: wrong ones are refused`, async () => {
        const backend = make();
        for (const [wrong, words] of [
          [{ stat: true }, /"stat".* is "stats" meant/],
          [{ maxCount: "1" }, /maxCount must be a number, not a string/],
          [{ timeoutMs: "1" }, /timeoutMs/],
          [["stats"], /options must be an object, not an array/],
        ]) {
          const answer = await backend.grep("a", "/", null, wrong);
          assert.equal(answer.code, "invalid_argument");
          assert.match(answer.error, words);
        }
        const twice = await backend.grep("a", "/", null, { stats: true }, { stats: true });
        assert.match(twice.error, /maxCount must be a number, not an object/);
      });
    }
  });

  for (const name of ["uploadFiles", "downloadFiles"]) {
    test(`${name}: each file has the refusal`, async () => {
      const files = kitbag.withPolicy(make(), {});
      const batch = name === "uploadFiles" ? [["/b.txt", new Uint8Array(1)]] : ["/a.txt"];
      const [answer] = await files[name](batch, { timeout: 5 });
      assert.equal(answer.code, "invalid_argument");
      assert.match(answer.message, /is "timeoutMs" meant/);
    });
  }

  test("migrate refuses them too, and asks nothing", async () => {
    const query = () => assert.fail("a statement was sent");
    const table = new kitbag.SqlBackend({ query, dialect: "sqlite" });
    await assert.rejects(table.migrate({ form: "outline" }), /"form"/);
    await assert.rejects(table.migrate({ from: "other" }), /"from" must be "outline"/);
    await assert.rejects(table.migrate({ searchIndex: "yes" }), /"searchIndex" must be/);
  });

  test("execute refuses them too", async () => {
    const sandbox = new kitbag.SandboxBackend({ id: "s", execute: () => ({ output: "ran" }) });
    const { error, code } = await sandbox.execute("ls", { timeout: 5 });
    assert.equal(code, "invalid_argument");
    assert.match(error, /is "timeoutMs" meant/);
  });
});

describe("options in the wrong place", () => {
  for (const [name, make, message] of [
    [
      "a second argument without a runtime",
      () => new kitbag.StateBackend({}, { writeMode: "overwrite" }),
      /options are the first argument/,
    ],
    [
      "an option beside the state",
      () => new kitbag.StateBackend({ state: {}, writeMode: "overwrite" }),
      /"writeMode" belongs into the second argument/,
    ],
    [
      "a namespace beside the state",
      () => new kitbag.StoreBackend({ state: {}, namespace: ["u"] }),
      /"namespace" belongs into the second argument/,
    ],
    [
      "two names of one folder",
      () => new kitbag.LocalShellBackend({ rootDir: ".", workingDirectory: ".." }),
      /"workingDirectory" must be left out/,
    ],
    [
      "an address for a client that has its own",
      () =>
        new kitbag.ContextHubBackend("x", {
          client: { pullAgent() {}, pushAgent() {} },
          baseUrl: "https://hub.example",
        }),
      /"baseUrl" must be left out/,
    ],
    [
      "permissions twice",
      () => kitbag.createFileTools(state(), { permissions: [], policy: { permissions: [] } }),
      /"permissions" must be left out/,
    ],
    ["no label at all", () => provenance({ labels: [] }), /"labels" must be at least one/],
    [
      "a flow of a label that nothing has",
      () => labelled({ flows: [{ ...refused, from: "wbe" }] }),
      /flows\[0\]: no rule of labels gives the label "wbe"/,
    ],
    [
      "a flow that asks nobody",
      () => labelled({ flows: [{ ...refused, then: "ask" }] }),
      /flows\[0\] has then: "ask", but there is no onAsk/,
    ],
    [
      "a flow to nowhere",
      () => labelled({ flows: [{ from: "web", then: "refuse" }] }),
      /flows\[0\]: option "to" is missing/,
    ],
    [
      "a rule about no paths",
      () => policy({ permissions: [{ operations: ["write"] }] }),
      /permissions\[0\]: option "paths" is missing/,
    ],
    [
      "a list with a wrong element",
      () => policy({ readOnlyPrefixes: ["/a", 1] }),
      /"readOnlyPrefixes\[1\]" must be a string, not 1/,
    ],
    [
      "labels that the agent could change",
      () => {
        const backend = state();
        withProvenance(backend, { labels: [web], keepIn: { backend } });
      },
      /keepIn.backend must be another backend/,
    ],
    ...["web/**", "/web/", "/a/../b", "/~/a", "/a//b", "/+(a|b)", "/[[:alpha:]]", "/{1..3}"].map(
      (pattern) => [
        `the pattern ${pattern}`,
        () => provenance({ labels: [{ ...web, paths: ["/ok", pattern] }] }),
        /labels\[0\]: paths: the pattern/,
      ],
    ),
    ["a label with a comma", () => provenance({ labels: [{ ...web, as: "a,b" }] }), /"as" must be/],
    ["no rate at all", () => policy({ rateLimit: {} }), /rateLimit must be/],
    [
      "a rate of an unknown operation",
      () => policy({ rateLimit: { writes: { operations: 1, perMs: 1 } } }),
      /"writes"; is "write" meant/,
    ],
    [
      "a sandbox without execute",
      () => kitbag.adaptSandboxProtocol(state()),
      /adaptSandboxProtocol: the backend has no execute/,
    ],
    ["no backend for the older protocol", () => kitbag.toV1({}), /^toV1: /],
    ["a state that is none", () => shareState(1, {}), /shareState: the state/],
    ["a provider that is none", () => provideGraphContext({}), /must be a function/],
    ["a size that is none", () => kitbag.ringAudit("5"), /ringAudit/],
  ]) {
    test(`${name} is refused`, () => {
      assert.throws(make, (error) => error instanceof TypeError && message.test(error.message));
    });
  }
});
