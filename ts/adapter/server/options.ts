// The options of a server, checked.

import type { KeepIn } from "kitbag";
import { onlyKnown } from "../../core/nearest.js";

/** Options of `serveFiles`. */
export interface FilesServerOptions {
  /** Where the files are in the server's addresses, such as `/files`. Default: at the root. */
  path?: string;
  /** Origins of other sites whose pages may use the files, such as `https://app.example`. Default: none. */
  origins?: readonly string[];
  /**
   * Hosts that the server answers for, such as `localhost:8080`. Give them where who asks is not checked,
   * as on a developer's machine: they keep out names that others point there. Default: any.
   */
  hosts?: readonly string[];
  /**
   * Names who asks, for the limits and for answers that are kept. Default: the header `authorization` or
   * `cookie`.
   */
  client?: (request: Request) => string;
  /** Largest body of a request, in bytes. Default 64 MiB. */
  maxBodyBytes?: number;
  /**
   * Largest file that a `PUT` may store, in bytes. One of more than 1 MiB is stored while it arrives, where
   * that can be done; elsewhere it has at most `maxBodyBytes`. Default 5 GiB.
   */
  maxUploadBytes?: number;
  /** Largest answer, in bytes; a search ends there. Default 64 MiB. */
  maxResultBytes?: number;
  /** Calls of one client at the same time, and as many watchers. Default 64. */
  maxParallel?: number;
  /**
   * Time limit of a body's arrival, and of a call, in milliseconds; of each MiB of a file that is stored
   * while it arrives. Default 60,000.
   */
  timeoutMs?: number;
  /**
   * Also WebDAV, of class 1 and 2. Locks, properties and empty directories are in the process, for each
   * client apart; with `keepIn` all clients and processes share them in a backend. `client` must name the
   * user then. Default false.
   */
  webdav?:
    | boolean
    | {
        /** Where they are kept for all clients. */
        keepIn: KeepIn;
      };
  /** Called with what was thrown, of which a client learns nothing. */
  onError?: (error: unknown, request: Request) => void;
}

const NAMES = [
  ...["path", "origins", "hosts", "client", "onError", "webdav"],
  ...["maxBodyBytes", "maxUploadBytes", "maxResultBytes", "maxParallel", "timeoutMs"],
];

/** The options with their defaults. A wrong one throws a `TypeError` that names it. */
export function checkServer(given: FilesServerOptions | undefined) {
  onlyKnown("serveFiles", given, NAMES);
  const options = given ?? {};
  const wrong = (name: string, wanted: string): never => {
    throw new TypeError(`serveFiles: option "${name}" must be ${wanted}`);
  };
  const amount = (
    name: "maxBodyBytes" | "maxUploadBytes" | "maxResultBytes" | "maxParallel" | "timeoutMs",
    usual: number,
  ) => {
    const value = options[name] ?? usual;
    const isAmount = Number.isSafeInteger(value) && value >= 1;
    return isAmount ? value : wrong(name, "a whole number, one or more");
  };
  const texts = (name: "origins" | "hosts", one: (text: string) => boolean, wanted: string) => {
    const value = options[name];
    if (value === undefined) return undefined;
    const isList =
      Array.isArray(value) && value.every((text) => typeof text === "string" && one(text));
    return isList ? [...value] : wrong(name, wanted);
  };
  const path = options.path ?? "";
  if (typeof path !== "string" || !/^(\/[\w.~-]+)*\/?$/.test(path)) {
    wrong("path", "a path of letters, digits and - _ . ~, such as /files");
  }
  for (const name of ["client", "onError"] as const) {
    const value = options[name];
    if (value !== undefined && typeof value !== "function") wrong(name, "a function");
  }
  return {
    path: path.replace(/\/$/, ""),
    origins: texts("origins", isOrigin, "an array of origins, such as https://app.example") ?? [],
    hosts: texts("hosts", isHost, "an array of hosts, such as localhost:8080"),
    client: options.client,
    onError: options.onError,
    maxBodyBytes: amount("maxBodyBytes", 64 << 20),
    maxUploadBytes: amount("maxUploadBytes", 5 * 2 ** 30),
    maxResultBytes: amount("maxResultBytes", 64 << 20),
    maxParallel: amount("maxParallel", 64),
    timeoutMs: amount("timeoutMs", 60_000),
  };
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}

function isHost(text: string): boolean {
  try {
    return new URL(`http://${text}/`).host === text;
  } catch {
    return false;
  }
}
