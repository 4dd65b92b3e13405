// Changes of a table in PostgreSQL. A trigger sends a notification with the path of each row that is
// written or removed, by whomever, in the transaction that does it. Each namespace has a channel of its
// own. Whenever listening begins, also after a broken connection, a rescan is told.

import { Listeners } from "../core/listeners.js";
import type { MaybePromise } from "../types.js";

/**
 * Listens to a channel of PostgreSQL until the function that it returns (or a method `unlisten`) is
 * called. `(...args) => sql.listen(...args)` of postgres.js fits.
 *
 * `heard` must be called with each notification's text, `ready` whenever listening has begun, also
 * again after a broken connection (without a call it is when the promise resolves), and `lost` if the
 * connection broke and is not opened again: then `listen` is called again.
 */
export type PostgresListen = (
  channel: string,
  heard: (payload: string) => void,
  ready: () => void,
  lost: () => void,
) => MaybePromise<unknown>;

/** The methods of a pool of `pg` that listening uses. */
interface Pool {
  connect(): Promise<{
    query(sql: string): PromiseLike<unknown>;
    on(event: string, listener: (message: { payload?: string }) => void): unknown;
    unref?(): void;
    release(destroy: boolean): void;
  }>;
}

/** Listens on a connection of its own from a pool. */
export const listenBy =
  (pool: Pool): PostgresListen =>
  async (channel, heard, _ready, lost) => {
    const client = await pool.connect();
    client.on("notification", (message) => heard(message.payload ?? ""));
    client.on("error", lost);
    client.on("end", lost);
    // It is never used for anything else, since it would go on listening.
    const end = () => client.release(true);
    try {
      await client.query(`LISTEN "${channel}"`);
    } catch (error) {
      end();
      throw error;
    }
    client.unref?.();
    return end;
  };

/** After a failure listening is tried again after so many milliseconds, doubled each time. */
const FIRST_MS = 250;
/** Longest pause between two attempts, in milliseconds. */
const PAUSE_MS = 5_000;

/** Name of the channel of a namespace, in the trigger and here; at most 63 bytes. */
const channelOf = (table: string, namespace: string) =>
  `'kitbag_' || ${table} || '_' || encode(substr(sha256(convert_to(${namespace}, 'UTF8')), 1, 16), 'hex')`;

/** A notification holds less than 8,000 bytes; a longer path is told as an empty text. */
const notify = (row: string) =>
  `PERFORM pg_notify(${channelOf("TG_RELID::text", `${row}.namespace`)}, CASE WHEN octet_length(${row}.path) < 8000 THEN ${row}.path ELSE '' END);`;

/** The trigger's function. The number at the end of its name is its version. */
const FUNCTION = "kitbag_changed_1";
const BODY = `DECLARE gone record; BEGIN
IF TG_OP = 'TRUNCATE' THEN
FOR gone IN EXECUTE format('SELECT DISTINCT namespace, '''' AS path FROM %s', TG_RELID::regclass) LOOP ${notify("gone")} END LOOP;
RETURN NULL; END IF;
IF TG_OP <> 'INSERT' THEN ${notify("OLD")} END IF;
IF TG_OP <> 'DELETE' THEN ${notify("NEW")} END IF;
RETURN NULL; END`;

/** The table's name in a statement. */
export const quoted = (table: string) =>
  table
    .split(".")
    .map((part) => `"${part}"`)
    .join(".");

/** Makes or removes the triggers of a table: one statement, which may run at several places at once. */
export function triggers(table: string, made: boolean): string {
  const name = quoted(table);
  const schema = table.includes(".") ? `${quoted(table.split(".")[0] as string)}.` : "";
  const run = `EXECUTE FUNCTION ${schema}${FUNCTION}();`;
  const remove = `DROP TRIGGER IF EXISTS kitbag_changed ON ${name}; DROP TRIGGER IF EXISTS kitbag_emptied ON ${name};`;
  // What another session has made while this one waited for the lock may not be seen yet.
  const make = `IF to_regprocedure('${schema}${FUNCTION}()') IS NULL THEN BEGIN
CREATE FUNCTION ${schema}${FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $body$ ${BODY} $body$;
EXCEPTION WHEN duplicate_function OR unique_violation THEN NULL; END; END IF;
IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = '${name}'::regclass AND tgname = 'kitbag_emptied') THEN
CREATE TRIGGER kitbag_changed AFTER INSERT OR UPDATE OR DELETE ON ${name} FOR EACH ROW ${run}
CREATE TRIGGER kitbag_emptied BEFORE TRUNCATE ON ${name} FOR EACH STATEMENT ${run} END IF;`;
  return `DO $kitbag$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('kitbag_changed')); ${made ? make : remove} END $kitbag$`;
}

/** The channel of a namespace, if the table has the trigger. */
export const CHANNEL = `SELECT ${channelOf("t.oid::text", "$2")} AS channel FROM (SELECT to_regclass($1)::oid AS oid) AS t
WHERE EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t.oid AND tgname = 'kitbag_changed' AND tgenabled <> 'D')`;

/** Watches one namespace of a table. */
export class TableWatch {
  /** Everybody who listens. */
  readonly listeners = new Listeners(
    () => void this.#follow(FIRST_MS),
    () => this.#leave(),
  );
  readonly #channel: () => Promise<string>;
  readonly #listen: PostgresListen;
  /** Counts the attempts to listen, so that those that are over change nothing. */
  #attempt = 0;
  #stop: unknown;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `channel` returns the channel, or rejects if the table has no trigger. */
  constructor(channel: () => Promise<string>, listen: PostgresListen) {
    this.#channel = channel;
    this.#listen = listen;
  }

  async #follow(pause: number): Promise<void> {
    this.#attempt += 1;
    const attempt = this.#attempt;
    /** A function that does nothing once this attempt is over. */
    const during =
      <T extends unknown[]>(run: (...args: T) => void) =>
      (...args: T) => {
        if (attempt === this.#attempt) run(...args);
      };
    const again = during((after: number) => {
      this.#leave();
      this.listeners.missed();
      this.#timer = setTimeout(() => this.#follow(Math.min(2 * after, PAUSE_MS)), after);
      (this.#timer as { unref?: () => void }).unref?.();
    });
    try {
      const channel = await this.#channel();
      if (attempt !== this.#attempt) return;
      const stop = await this.#listen(
        channel,
        during((path) => (path ? this.listeners.note(path) : this.listeners.missed())),
        during(() => this.listeners.missed()),
        () => again(FIRST_MS),
      );
      if (attempt !== this.#attempt) return ended(stop);
      this.#stop = stop;
      this.listeners.missed();
    } catch {
      again(pause);
    }
  }

  /** Ends the attempt to listen. */
  #leave(): void {
    this.#attempt += 1;
    clearTimeout(this.#timer);
    ended(this.#stop);
    this.#stop = undefined;
  }
}

/** Calls what ends a listener, whose connection may be broken already. */
function ended(stop: unknown): void {
  const unlisten = (stop as { unlisten?: unknown } | undefined)?.unlisten;
  const run = typeof stop === "function" ? stop : unlisten;
  if (typeof run !== "function") return;
  Promise.resolve()
    .then(() => run.call(stop))
    .catch(() => {});
}
