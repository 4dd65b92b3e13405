// SqlBackend and its presets: files in a table of a database that the host already runs. All
// that is asked of it is one function that sends a statement with its values.

import chunk from "#chunk/sql";
import { Backend } from "./backend.js";
import { settled } from "./core/call.js";
import { Options } from "./core/checks.js";
import { handleOf, sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";

/** A value beside a statement. */
export type SqlValue = string | number | Uint8Array;

/** What a query answers: rows, or an object that has them. */
export type SqlAnswer =
  | ReadonlyArray<object>
  | { readonly rows: ReadonlyArray<object> }
  | { readonly results: ReadonlyArray<object> };

/** Sends one statement with its values and answers its rows. */
export type SqlQuery = (
  sql: string,
  // biome-ignore lint/suspicious/noExplicitAny: each driver has a type of its own for values
  params: any[],
) => SqlAnswer | PromiseLike<SqlAnswer>;

/** What every SQL backend takes. */
export interface SqlTableOptions {
  /** The table, or `schema.table`. `"files"` unless said otherwise. */
  table?: string;
  /**
   * Whose files: one tenant never sees another's. One text, or several parts; letters, digits and
   * `- _ . @ + : ~` only.
   */
  namespace?: string | readonly string[];
  /** Make or upgrade the table before the first operation. */
  migrate?: boolean;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

export interface SqlBackendOptions extends SqlTableOptions {
  /** Sends one statement; fits `pg`, PGlite, Neon, libsql, `node:sqlite` and others. */
  query: SqlQuery;
  dialect: "postgres" | "sqlite";
}

/** A client with a method `query(sql, params)`: a pool of `pg`, PGlite, Neon. */
export interface PostgresClient {
  // biome-ignore lint/suspicious/noExplicitAny: clients overload it in many ways
  query(sql: string, params?: any[]): PromiseLike<any>;
}

export interface PostgresBackendOptions extends SqlTableOptions {
  /** A pool, or a client with `query(sql, params)`. */
  client?: PostgresClient;
  /** In place of `client`: a function that sends one statement. */
  query?: SqlQuery;
}

/** As much of a D1 database as is needed. */
export interface D1Like {
  prepare(sql: string): {
    // biome-ignore lint/suspicious/noExplicitAny: any value of SQLite's
    bind(...values: any[]): { all(): PromiseLike<{ results: object[] }> };
  };
}

export interface D1BackendOptions extends SqlTableOptions {
  /** The binding, `env.DB` say. */
  database: D1Like;
}

/** What a row of D1 holds, with room for what else stands in it. */
const D1_FILE_BYTES = 2_000_000 - 8_192;

interface Kind {
  dialect: "postgres" | "sqlite";
  query: SqlQuery;
  maxFileBytes?: number;
}

function made(given: Options, kind: Kind): number {
  const table = given.text("table") ?? "files";
  const namespace = parts(given);
  const migrate = given.boolean("migrate", false);
  const writeMode = given.oneOf("writeMode", ["create", "overwrite"], "create");
  given.done();
  chunk.load();
  try {
    return enter(() =>
      glue.sql_new(
        kind.query,
        kind.dialect,
        table,
        namespace,
        migrate,
        writeMode === "overwrite",
        kind.maxFileBytes ?? -1,
      ),
    );
  } catch (refusal) {
    if (typeof refusal === "string") throw new TypeError(`${given.of}: ${refusal}`);
    throw refusal;
  }
}

function parts(given: Options): string[] {
  const value = given.raw("namespace");
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || !list.every((part) => typeof part === "string")) {
    return given.refuse("namespace", "a string or a non-empty array of strings", value);
  }
  return list as string[];
}

/** Files in a table of any SQL database; its presets differ only in how it is reached. */
abstract class Table extends Backend {
  /** Makes or upgrades the table. Safe to call again, and from several places at once. */
  async migrate(): Promise<void> {
    const answer = await settled(
      () => glue.sql_migrate(handleOf(this)),
      () => ({}) as { error?: string; cause?: unknown },
    );
    if (answer.error !== undefined) throw new Error(answer.error, { cause: answer.cause });
  }
}

/** Files in a table of a database that a function reaches. */
export class SqlBackend extends Table {
  constructor(options: SqlBackendOptions) {
    const given = new Options("SqlBackend", options);
    const query = (given.callback("query") ??
      given.refuse("query", "a function (sql, params) => rows", undefined)) as SqlQuery;
    const dialect = given.oneOf("dialect", ["postgres", "sqlite", ""], "");
    if (dialect === "") return given.refuse("dialect", '"postgres" or "sqlite"', undefined);
    super(made(given, { dialect, query }));
  }
}

/** Files in a table of PostgreSQL. */
export class PostgresBackend extends Table {
  constructor(options: PostgresBackendOptions) {
    const given = new Options("PostgresBackend", options);
    const client = given.object("client") as PostgresClient | undefined;
    if (client && typeof client.query !== "function") {
      given.refuse("client", "an object with query(sql, params)", client);
    }
    const own = given.callback("query") as SqlQuery | undefined;
    if ((client === undefined) === (own === undefined)) {
      given.refuse("client", "given, or query in its place, and not both", client);
    }
    const query = own ?? ((sql: string, params: unknown[]) => client?.query(sql, params));
    super(made(given, { dialect: "postgres", query: query as SqlQuery }));
  }
}

/** Files in a table of Cloudflare's D1. */
export class D1Backend extends Table {
  constructor(options: D1BackendOptions) {
    const given = new Options("D1Backend", options);
    const database = given.object("database") as D1Like | undefined;
    if (!database || typeof database.prepare !== "function") {
      return given.refuse("database", "a D1 binding, such as env.DB", database);
    }
    const query: SqlQuery = (sql, params) =>
      database
        .prepare(sql)
        .bind(...params)
        .all();
    super(made(given, { dialect: "sqlite", query, maxFileBytes: D1_FILE_BYTES }));
  }
}

for (const one of [SqlBackend, PostgresBackend, D1Backend]) sealClass(one);
