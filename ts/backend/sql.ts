// SqlBackend and its presets: files in a table of a database that the host already runs. The host
// provides one function, which sends a statement with its values.

import chunk from "#chunk/sql";
import { Options } from "../core/checks.js";
import { MigrateGiven, SqlGiven } from "../core/descriptions.js";
import { askOnly, create, type Taken, take } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import { addWatch } from "../core/listeners.js";
import { Backend } from "./backend.js";
import {
  CHANNEL,
  listenBy,
  type PostgresListen,
  quoted,
  TableWatch,
  triggers,
} from "./table-watch.js";

export type { PostgresListen };

/** A value of a statement's parameter. */
export type SqlValue = string | number | Uint8Array;

/** Result of a query: rows, or an object that has them. */
export type SqlAnswer =
  | ReadonlyArray<object>
  | {
      /** The rows, as `pg` and PGlite return them. */
      readonly rows: ReadonlyArray<object>;
    }
  | {
      /** The rows, as D1 returns them. */
      readonly results: ReadonlyArray<object>;
    };

/** Sends one statement with its values and returns its rows. It must commit by itself. */
export type SqlQuery = (
  sql: string,
  // biome-ignore lint/suspicious/noExplicitAny: each driver has a different type for values
  params: any[],
) => SqlAnswer | PromiseLike<SqlAnswer>;

/** Options of every SQL backend. */
export interface SqlTableOptions {
  /** The table, or `schema.table`. Default `"files"`. */
  table?: string;
  /**
   * The tenant, as a string or several parts. Tenants never see each other's files. Letters, digits
   * and `- _ . @ + : ~` only. Default: none.
   */
  namespace?: string | readonly string[];
  /** Create or upgrade the table before the first operation. Default false; see `migrate()`. */
  migrate?: boolean;
  /**
   * Searches use an index in the database, which `migrate` creates and each write keeps up to date.
   * Without an index all rows are searched. Default false.
   */
  searchIndex?: boolean;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

/** Options of SqlBackend. */
export interface SqlBackendOptions extends SqlTableOptions {
  /** Adds `watch`, in PostgreSQL only: listens to a channel. Default: no `watch`. */
  listen?: PostgresListen;
  /** Sends one statement; fits `pg`, PGlite, Neon, libsql, `node:sqlite` and others. */
  query: SqlQuery;
  /** SQL dialect of the database. */
  dialect: "postgres" | "sqlite";
}

/** A client with a method `query(sql, params)`: a pool of `pg`, PGlite, Neon. */
export interface PostgresClient {
  /** Sends one statement with its values; the result has `rows`, or is the rows. */
  // biome-ignore lint/suspicious/noExplicitAny: clients have different overloads
  query(sql: string, params?: any[]): PromiseLike<any>;
}

/** Options of PostgresBackend: either `client` or `query`. */
export interface PostgresBackendOptions extends SqlTableOptions {
  /** A pool, or a client with `query(sql, params)`. */
  client?: PostgresClient;
  /** Instead of `client`: a function that sends one statement. */
  query?: SqlQuery;
  /**
   * Adds `watch`: a function that listens to a channel, or `true` for a connection of its own from
   * the pool `client` while somebody watches. Default: no `watch`.
   */
  listen?: true | PostgresListen;
}

/** The methods of a D1 database that D1Backend uses. */
export interface D1Like {
  /** Prepares a statement. */
  prepare(sql: string): {
    /** Binds its values. */
    // biome-ignore lint/suspicious/noExplicitAny: any value of SQLite's
    bind(...values: any[]): {
      /** Runs it. */
      all(): PromiseLike<{
        /** The rows. */
        results: object[];
      }>;
    };
  };
}

/** Options of D1Backend. */
export interface D1BackendOptions extends SqlTableOptions {
  /** The D1 binding, such as `env.DB`. */
  database: D1Like;
}

/** D1's limit of a row, less room for the other columns. */
const D1_FILE_BYTES = 2_000_000 - 8_192;

interface Kind {
  dialect: "postgres" | "sqlite";
  query: SqlQuery;
  maxFileBytes: number | undefined;
  listen?: PostgresListen | undefined;
}

/** The rows of a query's result. */
function rows(answer: SqlAnswer): ReadonlyArray<object> {
  if (Array.isArray(answer)) return answer;
  return "rows" in answer ? answer.rows : (answer as { results: ReadonlyArray<object> }).results;
}

function made(given: Options, kind: Kind, values: Taken<typeof SqlGiven>): number {
  given.done();
  chunk.load();
  const { query, dialect, maxFileBytes } = kind;
  const all = { ...values, query, dialect, maxFileBytes };
  return create(given.of, SqlGiven, all, glue.sql_new);
}

/** What `migrate` does with a table that it finds. */
export interface MigrateOptions {
  /**
   * `"outline"`: the table was made by somebody else, with the columns `path`, `content` (text or
   * bytes), `created_at` and `modified_at` (timestamps). Its rows are carried over to a new table, in
   * this backend's namespace, and the old table is kept as `TABLE_outline`. Without this option such
   * a table is refused and not changed.
   */
  from?: "outline";
  /**
   * `true` creates the search index and adds all files to it; `false` removes it. Default: it is
   * created if the backend has the option `searchIndex`, and otherwise left as it is.
   */
  searchIndex?: boolean;
  /**
   * `true` makes the triggers that tell `watch` of changes, in PostgreSQL; `false` removes them.
   * Default: they are made if the backend has the options `listen` and `migrate`, and otherwise left
   * as they are.
   */
  watch?: boolean;
}

/** Files in a table of any SQL database. Subclasses differ only in how they send statements. */
abstract class Table extends Backend {
  readonly #kind: Kind;
  readonly #table: string;
  readonly #watching: TableWatch | undefined;

  /** Called by the classes below only. */
  protected constructor(given: Options, kind: Kind) {
    const values = take(given, SqlGiven);
    super(made(given, kind, values));
    this.#kind = kind;
    this.#table = values.table;
    if (!kind.listen) return;
    const namespace = (values.namespace ?? []).join("/");
    const { migrate } = values;
    this.#watching = new TableWatch(async () => {
      if (migrate) await this.migrate({ watch: true });
      const answer = await kind.query(CHANNEL, [quoted(this.#table), namespace]);
      const [row] = rows(answer) as Array<{ channel: string }>;
      if (!row) throw new Error("There is no trigger; call migrate({ watch: true })");
      return row.channel;
    }, kind.listen);
    addWatch(this, this.#watching.listeners.add);
  }

  /** Frees what this object holds, and ends its watchers; see `Backend.dispose`. */
  override dispose(): void {
    this.#watching?.listeners.close();
    super.dispose();
  }

  /**
   * Creates the table, or adds missing columns to an older one. Safe to call again, and from
   * several places at once. Rejects if the database refuses, or if the table is not kitbag's; then
   * nothing was changed.
   */
  async migrate(options?: MigrateOptions): Promise<void> {
    const given = new Options("migrate", options ?? {});
    const values = take(given, MigrateGiven);
    const watch = given.checked("watch", "true or false", (one) => typeof one === "boolean");
    given.done();
    if (watch && this.#kind.dialect !== "postgres") {
      given.refuse("watch", "left out, because SQLite tells nobody of changes", watch);
    }
    const answer = await askOnly(
      MigrateGiven,
      () => values,
      (length) => glue.sql_migrate(handleOf(this), length),
      () => ({}) as { error?: string; cause?: unknown },
    );
    if (answer.error !== undefined) throw new Error(answer.error, { cause: answer.cause });
    if (watch !== undefined && this.#kind.dialect === "postgres") {
      await this.#kind.query(triggers(this.#table, watch), []);
    }
  }
}

/**
 * Files in a table of a database that is reached through a function.
 *
 * @example
 * const database = new DatabaseSync("files.db");
 * const backend = new SqlBackend({
 *   dialect: "sqlite",
 *   query: (sql, params) => database.prepare(sql).all(...params),
 *   migrate: true,
 * });
 */
export class SqlBackend extends Table {
  /** Throws a `TypeError` that names the wrong option. No statement is sent yet. */
  constructor(options: SqlBackendOptions) {
    const given = new Options("SqlBackend", options);
    const query = (given.callback("query") ??
      given.refuse("query", "a function (sql, params) => rows", undefined)) as SqlQuery;
    const dialect = given.oneOf("dialect", ["postgres", "sqlite", ""], "");
    if (dialect === "") return given.refuse("dialect", '"postgres" or "sqlite"', undefined);
    const listen = given.callback("listen") as PostgresListen | undefined;
    if (listen && dialect === "sqlite") {
      given.excess("listen", "because SQLite tells nobody of changes");
    }
    super(given, { dialect, query, listen, maxFileBytes: undefined });
  }
}

/**
 * Files in a table of PostgreSQL.
 *
 * @example
 * const backend = new PostgresBackend({ client: new Pool(), namespace: "user-17", migrate: true });
 */
export class PostgresBackend extends Table {
  /** Throws a `TypeError` that names the wrong option. No statement is sent yet. */
  constructor(options: PostgresBackendOptions) {
    const given = new Options("PostgresBackend", options);
    const client = given.object("client") as PostgresClient | undefined;
    if (client && typeof client.query !== "function") {
      throw new TypeError(
        'PostgresBackend: option "client" has no method query(sql, params); pass a Pool of pg, or a client of PGlite or Neon',
      );
    }
    const own = given.callback("query") as SqlQuery | undefined;
    if (client && own) given.excess("client", "where there is a query");
    if (!client && !own) {
      given.missing(
        ["client", "query"],
        "connect first, and pass what has the connection: { client: new Pool({ connectionString }) } with the Pool of pg, or { query: (sql, params) => client.query(sql, params) }",
      );
    }
    const query = own ?? ((sql: string, params: unknown[]) => client?.query(sql, params));
    const pool = client as Partial<Parameters<typeof listenBy>[0]> | undefined;
    const listen = given.checked(
      "listen",
      "a function, or true where `client` is a pool of pg",
      (value): value is true | PostgresListen =>
        typeof value === "function" || (value === true && typeof pool?.connect === "function"),
    );
    super(given, {
      dialect: "postgres",
      query: query as SqlQuery,
      maxFileBytes: undefined,
      listen: listen === true ? listenBy(pool as Parameters<typeof listenBy>[0]) : listen,
    });
  }
}

/**
 * Files in a table of Cloudflare's D1. A file has at most 1,991,808 bytes.
 *
 * @example
 * const backend = new D1Backend({ database: env.DB, migrate: true });
 */
export class D1Backend extends Table {
  /** Throws a `TypeError` that names the wrong option. No statement is sent yet. */
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
    super(given, { dialect: "sqlite", query, maxFileBytes: D1_FILE_BYTES });
  }
}

for (const one of [SqlBackend, PostgresBackend, D1Backend]) sealClass(one);
