// Every class and adapter of the package that works in Node, over doubles in memory. Each call to a
// double passes `host`, where a test may let it fail, wait or answer something odd.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MapBucket, MapHub, MapStorage, MapStore } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { s3Fetch } from "../router/s3-fetch.mjs";

export const METHODS = [
  ...["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"],
  ...["uploadFiles", "downloadFiles"],
];

/** The object with each of its methods behind `host`. */
function behind(host, object, methods) {
  const made = {};
  for (const name of methods) {
    made[name] = (...given) => host(name, () => object[name](...given));
  }
  return made;
}

const S3 = { endpoint: "https://s3.example", region: "us-east-1", bucket: "bucket" };

/** What is configured and must not show. */
export const SECRETS = {
  secretAccessKey: "s3cret-access-KEY",
  sessionToken: "s3ssion-TOKEN",
  apiKey: "lsv2_hub-K3Y",
  hidden: "hidden-name-9",
  env: "env-s3cret-value",
};

/** A fetch for S3Backend and ContextHubBackend, installed while a subject lives. */
function fetching(host) {
  const real = globalThis.fetch;
  const bucket = s3Fetch(S3.endpoint, () => Promise.reject(new TypeError("fetch failed")));
  globalThis.fetch = (input, init) => host("fetch", () => bucket(input, init), { input, init });
  return () => {
    globalThis.fetch = real;
  };
}

function folder() {
  const path = mkdtempSync(join(tmpdir(), "kitbag-"));
  return [path, () => rmSync(path, { recursive: true, force: true })];
}

const plain = (name, call) => call();
const overwrite = { writeMode: "overwrite" };

/**
 * For each subject a function of `host(method, call, details)`, which makes a backend and what ends
 * it. `host` returns or throws what the double's caller gets.
 */
export const SUBJECTS = {
  StateBackend: () => ({ backend: new kitbag.StateBackend(overwrite) }),
  CustomBackend: (host = plain) => ({
    backend: new kitbag.CustomBackend(
      behind(host, new MapStorage(), ["get", "list", "put", "delete"]),
      overwrite,
    ),
  }),
  StoreBackend: (host = plain) => ({
    backend: new kitbag.StoreBackend({
      store: behind(host, new MapStore(), ["get", "put", "delete", "search"]),
      namespace: ["fuzz"],
      ...overwrite,
    }),
  }),
  R2Backend: (host = plain) => {
    const bucket = behind(host, new MapBucket(), ["head", "get", "put", "delete", "list"]);
    const put = bucket.put;
    // Nothing, from `put`, means that a condition did not hold: conflicts are retried for seconds.
    bucket.put = async (...given) => (await put(...given)) ?? {};
    return { backend: new kitbag.R2Backend({ bucket, ...overwrite }) };
  },
  S3Backend: (host = plain) => {
    const { secretAccessKey, sessionToken } = SECRETS;
    const close = fetching(host);
    const credentials = { accessKeyId: "AKID", secretAccessKey, sessionToken };
    const retry = { attempts: 1, timeoutMs: 500 };
    return { backend: new kitbag.S3Backend({ ...S3, credentials, retry, ...overwrite }), close };
  },
  "ContextHubBackend over a client": (host = plain) => ({
    backend: new kitbag.ContextHubBackend("owner/repo", {
      client: behind(host, new MapHub(), ["pullAgent", "pushAgent"]),
      ...overwrite,
    }),
  }),
  "ContextHubBackend over fetch": (host = plain) => {
    const close = fetching(host);
    const options = { apiKey: SECRETS.apiKey, baseUrl: "https://hub.example", ...overwrite };
    return { backend: new kitbag.ContextHubBackend("owner/repo", options), close };
  },
  SqlBackend: (host = plain) => ({
    backend: new kitbag.SqlBackend({
      query: (sql, params) => host("query", () => [], { sql, params }),
      dialect: "sqlite",
      ...overwrite,
    }),
  }),
  PostgresBackend: (host = plain) => ({
    backend: new kitbag.PostgresBackend({
      client: { query: (sql, params) => host("query", () => ({ rows: [] }), { sql, params }) },
      ...overwrite,
    }),
  }),
  D1Backend: (host = plain) => {
    const all = () => host("all", () => ({ results: [], success: true, meta: {} }));
    const database = { prepare: () => ({ bind: () => ({ all }) }) };
    return { backend: new kitbag.D1Backend({ database, ...overwrite }) };
  },
  FilesystemBackend: () => {
    const [rootDir, close] = folder();
    return { backend: new kitbag.FilesystemBackend({ rootDir, ...overwrite }), close };
  },
  LocalShellBackend: (host = plain) => {
    const [rootDir, close] = folder();
    const execute = (request) =>
      host("execute", () => ({ output: request.command, exitCode: 0 }), request);
    const env = { TOKEN: SECRETS.env };
    return { backend: new kitbag.LocalShellBackend({ rootDir, env, execute }), close };
  },
  SandboxBackend: (host = plain) => ({
    backend: new kitbag.SandboxBackend({
      id: "box",
      execute: (command) => host("execute", () => ({ output: "", exitCode: 1 }), { command }),
      ...overwrite,
    }),
  }),
  "a foreign backend": (host = plain) => ({
    backend: new kitbag.CompositeBackend(
      behind(host, new kitbag.StateBackend(overwrite), METHODS),
      {},
    ),
  }),
  "a foreign backend of version 1": (host = plain) => {
    const inner = kitbag.toV1(new kitbag.StateBackend(overwrite));
    const names = ["lsInfo", "read", "grepRaw", "globInfo", "write", "edit"];
    const has = names.filter((name) => typeof inner[name] === "function");
    const adapted = kitbag.adaptBackendProtocol(behind(host, inner, has));
    return { backend: new kitbag.CompositeBackend(adapted, {}) };
  },
  CompositeBackend: (host = plain) => ({
    backend: new kitbag.CompositeBackend(new kitbag.StateBackend(overwrite), {
      "/m/": SUBJECTS.CustomBackend(host).backend,
      "/m/deep/": new kitbag.StateBackend(overwrite),
    }),
  }),
  withPolicy: (host = plain) => ({
    backend: kitbag.withPolicy(SUBJECTS.CustomBackend(host).backend, {
      permissions: [
        { operations: ["read", "write"], paths: [`/**/${SECRETS.hidden}/**`], mode: "deny" },
      ],
      quota: { maxBytes: 1_000_000 },
      inspect: () => host("inspect", () => undefined),
    }),
  }),
};

/** Subjects that repeat failed calls of the host several times, with pauses. */
export const PATIENT = new Set(["R2Backend"]);

/** Ends a subject. */
export function closed({ close }) {
  close?.();
}

/** The operations of a backend, each with arguments made from two paths and a text. */
export const CALLS = {
  ls: (b, path) => b.ls(path),
  read: (b, path) => b.read(path),
  "read of a page": (b, path) => b.read(path, 1, 2),
  readRaw: (b, path) => b.readRaw(path),
  grep: (b, path, text) => b.grep(text, path),
  "grep by an expression": (b, _path, text) =>
    b.grep(text, null, "*.txt", 3, { regex: true, before: 1 }),
  glob: (b, path, text) => b.glob(text, path),
  write: (b, path, text) => b.write(path, text),
  edit: (b, path, text) => b.edit(path, text, `${text}!`, true),
  delete: (b, path) => b.delete(path),
  uploadFiles: (b, path, text) => b.uploadFiles([[path, new TextEncoder().encode(text)]]),
  downloadFiles: (b, path) => b.downloadFiles([path, "/none.txt"]),
};
