// Addresses of the command line: which backend a text names, and what is needed to open it. Drivers
// of databases are the user's and are imported only when an address asks for one.

import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AnyBackend,
  FilesystemBackend,
  HttpBackend,
  PostgresBackend,
  S3Backend,
  type S3BackendOptions,
  SqlBackend,
  type SqlBackendOptions,
} from "kitbag";
import { instead } from "../../core/nearest.js";
import { namesIn, prefixOf } from "../../core/paths.js";
import { CommandError, keepSecret, tell, withoutPassword } from "./output.js";

/** A backend that is open. */
export interface Opened {
  backend: AnyBackend;
  /** The directory that the address names, with a slash at its end. */
  directory: string;
  /** The address without secrets, for messages. */
  name: string;
  /** The folder on disk, if it is one. */
  folder?: string;
  /** The path of the one file that the address names, below the directory. */
  file?: string;
  /** Whether nothing has to be there: the address names a part of a bucket or a database. */
  part?: boolean;
  /** Of other kinds, what the files are in, with a slash at its end: no two addresses share one. */
  place?: string;
  close(): Promise<void>;
}

/** What the flags of the command line say about addresses. */
export interface AddressFlags {
  endpoint?: string;
  region?: string;
  /** Whether the command may change the tree, so that a folder or table may be made. */
  writes?: boolean;
  /** Whether an address may name one file of a folder. */
  files?: boolean;
  /** The exit code if there is no such folder. Default 2. */
  absent?: number;
}

const SCHEMES = ["file", "http", "https", "postgres", "postgresql", "s3", "sqlite"];

/** What `kitbag help addresses` says. */
export const ADDRESSES = `An ADDRESS is one of

  ./folder, file:folder    a folder; to look at one file, the file
  s3://bucket/prefix       a bucket; keys from AWS_ACCESS_KEY_ID,
                           AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the
                           region from AWS_REGION or --region, another server
                           by AWS_ENDPOINT_URL or --endpoint
  https://host/files       the files of a server (kitbag/server); its bearer
                           token from KITBAG_TOKEN
  postgres://user@host/db  a table of PostgreSQL; needs the package pg
  sqlite:file.db           a table of SQLite; needs Node 22.5 or the package
                           better-sqlite3 or node-sqlite3-wasm

?table=NAME and ?namespace=NAME say where files are in a database, and a
directory in it follows behind #, as in sqlite:file.db#/notes or
https://host/files#/notes. ?endpoint=URL and ?region=NAME are for one bucket.`;

/** Files of a folder may be this large here; the limit of the class is meant for agents. */
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024 - 1;

/** Opens what an address names. */
export async function open(address: string, flags: AddressFlags): Promise<Opened> {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined || scheme === "file") return folder(address, scheme, flags);
  if (scheme === "http" || scheme === "https") return server(urlOf(address));
  if (scheme === "s3") return bucket(urlOf(address), flags);
  if (scheme === "postgres" || scheme === "postgresql") return postgres(urlOf(address), flags);
  if (scheme === "sqlite") return sqlite(address, flags);
  throw new CommandError(
    `There is no kind of address "${scheme}:"; ${instead(scheme, SCHEMES, "kinds")}. A folder whose name has a colon is written ./${scheme}:…`,
  );
}

/** Whether a text can only be an address. */
export const isAddress = (text: string) =>
  /^(s3|https?|postgres|postgresql|sqlite|file):/i.test(text);

/** What is at a path on disk; nothing also where a file stands in the way. */
function onDisk(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOTDIR") throw error;
  }
}

/** Whether a text names no folder and no other kind of address, so that it can only be a file on disk. */
export function isFileOnDisk(text: string): boolean {
  return text !== "" && !isAddress(text) && onDisk(text)?.isDirectory() !== true;
}

/** The address of the directory that a file is in, and the file's name. */
export function apart(address: string): [directory: string, name: string] {
  const scheme = /^(s3|https?|postgres|postgresql|sqlite):/i.exec(address);
  if (!scheme) return [address, ""];
  const isBucket = scheme[1]?.toLowerCase() === "s3";
  const [, head = "", name = "", tail = ""] =
    (isBucket
      ? /^(s3:\/\/[^/?#]+\/(?:[^?#]*\/)?)([^/?#]+)(\?.*)?$/i
      : /^([^#]*#(?:.*\/)?)([^/]+)()$/s
    ).exec(address) ?? [];
  if (name === "") {
    throw new CommandError(`${withoutPassword(address)} names no file; a file follows behind it`);
  }
  return [head + tail, decoded(name)];
}

function urlOf(address: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    // The text may have a password in it.
    throw new CommandError(
      "An address is not a valid URL; characters such as @ / : # in a user name or password must be written as %40 %2F %3A %23",
    );
  }
  keepSecret(decoded(url.password));
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function folder(
  address: string,
  scheme: string | undefined,
  { writes = false, files = false, absent = 2 }: AddressFlags,
): Promise<Opened> {
  const path = scheme === undefined ? address : filePath(address);
  if (path === "") throw new CommandError("An address is empty; name a folder, such as .");
  const found = onDisk(path);
  const file = found?.isFile() && files ? basename(path) : undefined;
  if (found && !found.isDirectory() && file === undefined) {
    throw new CommandError(
      `${withoutPassword(path)} is ${found.isFile() ? "a file; name its folder" : "no folder"}`,
    );
  }
  if (!found && !writes) {
    const what = files ? "folder or file" : "folder";
    throw new CommandError(`There is no ${what} ${withoutPassword(path)}`, absent);
  }
  const rootDir = file === undefined ? resolve(path) : dirname(resolve(path));
  const backend = new FilesystemBackend({ rootDir, maxFileBytes: MAX_FILE_BYTES });
  const opened = { backend, directory: "/", name: path, folder: rootDir, close: async () => {} };
  return file === undefined ? opened : { ...opened, file };
}

function filePath(address: string): string {
  if (!address.startsWith("file://")) return address.slice("file:".length);
  const bare = /[?#]/.exec(address)?.[0];
  if (bare) {
    const written = bare === "?" ? "%3F" : "%23";
    throw new CommandError(
      `A ${bare} in the name of a folder is written ${written} behind file://`,
    );
  }
  try {
    return fileURLToPath(address);
  } catch (error) {
    throw new CommandError(
      `${withoutPassword(address)}: ${withoutPassword((error as Error).message)}`,
    );
  }
}

async function bucket(url: URL, flags: AddressFlags): Promise<Opened> {
  const { env } = process;
  keepSecret(env.AWS_SECRET_ACCESS_KEY);
  keepSecret(env.AWS_SESSION_TOKEN);
  const name = `s3://${url.hostname}${url.pathname}`;
  if (url.hostname === "") {
    throw new CommandError("An address of a bucket is s3://BUCKET or s3://BUCKET/PREFIX");
  }
  if (url.username !== "" || url.password !== "") {
    throw new CommandError(
      "Keys do not belong into an address; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  }
  if (url.port !== "" || url.hash !== "") {
    throw new CommandError(
      url.port === ""
        ? "An address of a bucket takes nothing behind #; a prefix is s3://BUCKET/PREFIX, and a # in it %23"
        : "An address of a bucket takes no port; another server is --endpoint or ?endpoint=URL",
    );
  }
  const missing = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].filter((key) => !env[key]);
  if (missing.length > 0) throw new CommandError(`${name} needs ${missing.join(" and ")}`);
  const options: S3BackendOptions = {
    bucket: url.hostname,
    prefix: decoded(url.pathname).replace(/^\/+|\/+$/g, ""),
    region:
      parameter(url, "region") ??
      flags.region ??
      env.AWS_REGION ??
      env.AWS_DEFAULT_REGION ??
      "us-east-1",
    credentials: {
      accessKeyId: env.AWS_ACCESS_KEY_ID as string,
      secretAccessKey: env.AWS_SECRET_ACCESS_KEY as string,
      ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
    },
    onWarning: (message) => tell(`kitbag: ${message}`),
  };
  const endpoint =
    parameter(url, "endpoint") ?? flags.endpoint ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  if (endpoint) options.endpoint = endpoint;
  onlyParameters(url, ["endpoint", "region"]);
  const backend = new S3Backend(options);
  const prefix = options.prefix ? `${options.prefix}/` : "";
  const place = `s3 ${options.endpoint ?? ""} ${options.bucket}/${prefix}`;
  const close = async () => backend.dispose();
  return { backend, directory: "/", name, place, part: prefix !== "", close };
}

async function server(url: URL): Promise<Opened> {
  const token = process.env.KITBAG_TOKEN;
  keepSecret(token);
  if (url.username !== "" || url.password !== "") {
    throw new CommandError(
      "A password does not belong into an address; set KITBAG_TOKEN to what the server wants as a bearer token",
    );
  }
  onlyParameters(url, []);
  const directory = prefixOf(namesIn(decoded(url.hash.slice(1))));
  const base = `${url.origin}${url.pathname}`;
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const backend = new HttpBackend({ url: base, headers });
  const close = async () => backend.dispose();
  const place = `${base.replace(/\/+$/, "")} ${directory}`;
  return { backend, directory, name: base + url.hash, place, part: directory !== "/", close };
}

const parameter = (url: URL, name: string) => url.searchParams.get(name) || undefined;

function onlyParameters(url: URL, known: readonly string[]): void {
  for (const name of url.searchParams.keys()) {
    if (known.includes(name)) continue;
    throw new CommandError(
      `An address has no parameter "${name}"; ${instead(name, known, "parameters")}`,
    );
  }
}

/** Imports a driver that the user has installed. */
async function driver(name: string): Promise<Record<string, unknown> | undefined> {
  try {
    return await import(name);
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const absent = code === "ERR_MODULE_NOT_FOUND" || code === "ERR_UNKNOWN_BUILTIN_MODULE";
    if (absent && message?.includes(name)) return undefined;
    throw error;
  }
}

/** Where files are in a database: table, tenant, and a directory. */
function placeIn(url: URL, flags: AddressFlags) {
  const table = parameter(url, "table");
  const namespace = parameter(url, "namespace");
  return {
    directory: prefixOf(namesIn(decoded(url.hash.slice(1)))),
    options: {
      migrate: flags.writes ?? false,
      ...(table && { table }),
      ...(namespace && { namespace }),
    },
  };
}

/** The table and tenant of a database, as one text. */
function placeOf({ table, namespace }: { table?: string; namespace?: string }): string {
  return `${table ?? "files"} ${namespace ?? ""} `;
}

async function postgres(url: URL, flags: AddressFlags): Promise<Opened> {
  const pg = (await driver("pg")) as
    | { default?: { Pool?: PoolClass }; Pool?: PoolClass }
    | undefined;
  const Pool = pg?.default?.Pool ?? pg?.Pool;
  if (!Pool) {
    throw new CommandError(
      "An address of PostgreSQL needs the package pg, which is not installed. Run\n\n  npx -p kitbag -p pg kitbag …",
    );
  }
  const { directory, options } = placeIn(url, flags);
  const plain = new URL(url);
  plain.hash = "";
  for (const name of ["table", "namespace"]) plain.searchParams.delete(name);
  const pool = new Pool({ connectionString: plain.href });
  const name = `postgres://${url.host}${url.pathname}${url.hash}`;
  const backend = new PostgresBackend({ client: pool, ...options });
  const place = `postgres ${url.host}${url.pathname} ${placeOf(options)}${directory}`;
  return { backend, directory, name, place, part: directory !== "/", close: () => pool.end() };
}

type PoolClass = new (options: {
  connectionString: string;
}) => { query(sql: string, params?: unknown[]): Promise<object>; end(): Promise<void> };

async function sqlite(address: string, flags: AddressFlags): Promise<Opened> {
  // The name of the file is no URL: it may be relative.
  const [, file = "", search = "", hash = ""] =
    /^sqlite:(?:\/\/(?=\/))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(address) ?? [];
  if (file === "") throw new CommandError("An address of SQLite is sqlite:FILE");
  if (!flags.writes && file !== ":memory:" && !onDisk(file)) {
    throw new CommandError(`There is no file ${withoutPassword(file)}`);
  }
  const url = new URL(`sqlite:x${search}${hash}`);
  onlyParameters(url, ["table", "namespace"]);
  const { directory, options } = placeIn(url, flags);
  const { query, close } = await database(file);
  const backend = new SqlBackend({ dialect: "sqlite", query, ...options });
  const name = `sqlite:${file}${hash}`;
  const opened = { backend, directory, name, part: directory !== "/", close: async () => close() };
  if (file === ":memory:") return opened;
  // Some drivers make the file only when something is stored.
  const real = onDisk(file) ? realpathSync(file) : resolve(file);
  return { ...opened, place: `sqlite ${real} ${placeOf(options)}${directory}` };
}

interface Database {
  query: SqlBackendOptions["query"];
  close: () => void;
}

/** Opens a file of SQLite with the first driver that there is. */
async function database(file: string): Promise<Database> {
  const own = (await ownSqlite()) as { DatabaseSync: Sqlite } | undefined;
  if (own) return prepared(new own.DatabaseSync(file));
  const better = (await driver("better-sqlite3")) as { default: Sqlite } | undefined;
  if (better) return prepared(new better.default(file));
  const wasm = (await driver("node-sqlite3-wasm")) as { default: { Database: Wasm } } | undefined;
  if (wasm) {
    const opened = new wasm.default.Database(file);
    return { query: (sql, params) => opened.all(sql, params), close: () => opened.close() };
  }
  throw new CommandError(
    "An address of SQLite needs Node 22.5 or a driver, and there is none. Run\n\n  npx -p kitbag -p better-sqlite3 kitbag …",
  );
}

/** SQLite of Node. Versions that call it experimental warn when it is loaded; no command says that. */
async function ownSqlite() {
  const { emitWarning } = process;
  const others = (warning: string | Error, ...rest: never[]) => {
    if (!/\bSQLite\b/.test(String(warning))) emitWarning.call(process, warning, ...rest);
  };
  process.emitWarning = others as typeof emitWarning;
  try {
    return await driver("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

type Sqlite = new (
  file: string,
) => {
  prepare(sql: string): {
    reader?: boolean;
    all(...values: unknown[]): object[];
    run(...values: unknown[]): unknown;
  };
  close(): void;
};

type Wasm = new (file: string) => { all(sql: string, params: unknown[]): object[]; close(): void };

function prepared(opened: InstanceType<Sqlite>): Database {
  return {
    query: (sql, params) => {
      const statement = opened.prepare(sql);
      if (statement.reader !== false) return statement.all(...params);
      statement.run(...params);
      return [];
    },
    close: () => opened.close(),
  };
}
