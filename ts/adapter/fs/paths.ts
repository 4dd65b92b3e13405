// Paths as `node:fs` takes them, and the canonical ones of a backend. `..` is resolved by the text of the
// path, which is the same in a tree without links.

import { canonical, namesIn } from "../../core/paths.js";
import { Problem, wrongArgument, wrongType } from "./errors.js";

/** A path of a call. */
export interface Target {
  /** As the caller wrote it, for errors and listings. */
  given: string;
  /** As the backend has it. */
  path: string;
  /** Whether it ends in a way that only a directory can: `a/`, `a/.`. */
  directory: boolean;
}

const KIND = "of type string or an instance of Buffer or URL";

function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  const { protocol, hostname, pathname } = (value ?? {}) as Partial<URL>;
  if (typeof protocol !== "string" || typeof pathname !== "string") {
    throw wrongType(name, KIND, value);
  }
  if (protocol !== "file:") {
    throw wrongArgument("ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  }
  if (hostname) {
    throw wrongArgument(
      "ERR_INVALID_FILE_URL_HOST",
      `File URL host must be "localhost" or empty on linux`,
    );
  }
  if (/%2f/i.test(pathname)) {
    throw wrongArgument(
      "ERR_INVALID_FILE_URL_PATH",
      "File URL path must not include encoded / characters",
    );
  }
  return decodeURIComponent(pathname);
}

const shown = (text: string) =>
  `'${text.replace(/[\x00-\x1f]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`)}'`;

/** The path of a call; a relative one begins at `cwd`. */
export function targetOf(value: unknown, cwd: string, name = "path"): Target {
  const given = textOf(value, name);
  if (given.includes("\0")) {
    throw wrongArgument(
      "ERR_INVALID_ARG_VALUE",
      `The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${shown(given)}`,
    );
  }
  const names: string[] = [];
  for (const one of namesIn(given.startsWith("/") ? given : `${cwd}/${given}`)) {
    if (one === "..") names.pop();
    else names.push(one);
  }
  return { given, path: canonical(names.join("/")), directory: /\/\.?$|\/\.\.$/.test(given) };
}

/** An empty path names nothing. */
export function notEmpty(target: Target): Target {
  if (target.given === "") throw new Problem("ENOENT");
  return target;
}

/** The directory of a path. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

/** The last name of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A path below a directory, as the directory was written. */
export const below = (dir: string, name: string): string =>
  dir === "" || dir.endsWith("/") ? dir + name : `${dir}/${name}`;
