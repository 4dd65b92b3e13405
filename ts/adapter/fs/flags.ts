// How a file is opened, and the constants of `fs.constants`, with the values of Linux.

import { whole } from "./content.js";
import { wrongArgument } from "./errors.js";

/** The constants of Node's `fs.constants` that have a meaning here. */
export const constants = {
  F_OK: 0,
  X_OK: 1,
  W_OK: 2,
  R_OK: 4,
  COPYFILE_EXCL: 1,
  COPYFILE_FICLONE: 2,
  COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 64,
  O_EXCL: 128,
  O_TRUNC: 512,
  O_APPEND: 1024,
  O_DIRECTORY: 65536,
  O_SYNC: 1052672,
  S_IFMT: 61440,
  S_IFREG: 32768,
  S_IFDIR: 16384,
  S_IFLNK: 40960,
  UV_DIRENT_UNKNOWN: 0,
  UV_DIRENT_FILE: 1,
  UV_DIRENT_DIR: 2,
  UV_DIRENT_LINK: 3,
} as const;

/** How a file is opened. */
export interface Flags {
  read: boolean;
  write: boolean;
  create: boolean;
  exclusive: boolean;
  truncate: boolean;
  append: boolean;
  directory: boolean;
}

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY } = constants;

const WRITE = O_TRUNC | O_CREAT | O_WRONLY;
const WRITE_READ = O_TRUNC | O_CREAT | O_RDWR;
const APPEND = O_APPEND | O_CREAT | O_WRONLY;
const APPEND_READ = O_APPEND | O_CREAT | O_RDWR;

const WORDS: Record<string, number> = {
  r: 0,
  rs: 0,
  sr: 0,
  "r+": O_RDWR,
  "rs+": O_RDWR,
  "sr+": O_RDWR,
  w: WRITE,
  wx: WRITE | O_EXCL,
  xw: WRITE | O_EXCL,
  "w+": WRITE_READ,
  "wx+": WRITE_READ | O_EXCL,
  "xw+": WRITE_READ | O_EXCL,
  a: APPEND,
  as: APPEND,
  sa: APPEND,
  ax: APPEND | O_EXCL,
  xa: APPEND | O_EXCL,
  "a+": APPEND_READ,
  "as+": APPEND_READ,
  "sa+": APPEND_READ,
  "ax+": APPEND_READ | O_EXCL,
  "xa+": APPEND_READ | O_EXCL,
};

function numberOf(value: unknown): number {
  if (typeof value === "number") return whole("flags", value, -(2 ** 31), 2 ** 31 - 1);
  const number = typeof value === "string" && Object.hasOwn(WORDS, value) && WORDS[value];
  if (typeof number === "number") return number;
  const said = typeof value === "string" ? `'${value}'` : String(value);
  throw wrongArgument("ERR_INVALID_ARG_VALUE", `The argument 'flags' is invalid. Received ${said}`);
}

/** Reads flags that were given as a word or a number. */
export function flagsOf(given: unknown, otherwise: string): Flags {
  const number = numberOf(given ?? otherwise);
  const how = number & 3;
  const has = (flag: number) => (number & flag) !== 0;
  return {
    read: how !== O_WRONLY,
    write: how === O_WRONLY || how === O_RDWR,
    create: has(O_CREAT),
    exclusive: has(O_EXCL),
    truncate: has(O_TRUNC),
    append: has(O_APPEND),
    directory: has(O_DIRECTORY),
  };
}
