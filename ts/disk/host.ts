// The host: its modules, errors and flags, and whether it can prevent that a path leads elsewhere between
// a check and its use.

type NodeFs = typeof import("node:fs");

export interface Builtins {
  fs: NodeFs;
  os: typeof import("node:os");
}

/** Returns a module of the host, without an import that a browser's bundler would see. */
export function builtin<T>(name: string): T | undefined {
  const host = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  try {
    return host?.getBuiltinModule?.(name) as T | undefined;
  } catch {
    return undefined;
  }
}

/** The kind of system. */
export const platform = () =>
  (globalThis as { process?: { platform?: string } }).process?.platform ?? "linux";

/** Prefix of kitbag's temporary files and claims. They are hidden, and refused as paths. */
export const RESERVED = ".~kitbag-";

/** An error with a code that the core keeps. */
export class Refusal extends Error {
  readonly code: string;
  /** Where its path leads, if links are not followed: the core tells it where no rule hides that place. */
  leadsTo?: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const IS_DIRECTORY =
  "This path is a directory, not a file. List it with ls, or name a file below it";
export const TAKEN_BY_DIRECTORY =
  "This path is a directory, so no file can be stored there. Choose another path, or one below it";

export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}

/** Errors of the whole system, which say nothing about the entry that was asked for. */
const SYSTEM = /^(EMFILE|ENFILE|ENOMEM|ENOBUFS|EAGAIN|EIO|ESTALE|ETIMEDOUT|EINTR|EHOSTDOWN)$/;

/** Passes over an entry that a search cannot use; rethrows an error that is not about this entry. */
export function passOver(error: unknown): undefined {
  if (SYSTEM.test(codeOf(error))) throw error;
  return undefined;
}

/** Flags for opening files. */
export interface Flags {
  /** A file to read: does not follow a link, and does not wait for the other end of a FIFO. */
  file: number;
  /** The same, through a link; its real path is checked. */
  linkedFile: number;
  /** A directory; links are followed, and its real path is checked afterwards. */
  directory: number;
  /** A directory that is not a link. */
  ownDirectory: number;
}

export function flagsOf(constants: Record<string, number> | undefined): Flags {
  const flag = (name: string) => constants?.[name] ?? 0;
  const read = flag("O_RDONLY");
  const linkedFile = read | flag("O_NONBLOCK") | flag("O_NOCTTY");
  return {
    file: linkedFile | flag("O_NOFOLLOW"),
    linkedFile,
    directory: read | flag("O_DIRECTORY"),
    ownDirectory: read | flag("O_DIRECTORY") | flag("O_NOFOLLOW"),
  };
}

/**
 * The path of an open file. It is no template: tools that copy a server's files (`@vercel/nft`) would
 * take it for a file of the server, and fail.
 */
export function descriptor(fd: number | undefined): string {
  return ["/proc/self/fd", String(fd)].join("/");
}

/** Whether this host can hold a directory open and reach its entries through it. */
export function canPin(fs: NodeFs, flags: Flags): boolean {
  const { O_NOFOLLOW, O_DIRECTORY } = fs.constants;
  if (!O_NOFOLLOW || !O_DIRECTORY) return false;
  let fd: number | undefined;
  try {
    fd = fs.openSync("/proc", flags.directory);
    if (fs.readlinkSync(descriptor(fd)) !== "/proc") return false;
    if (fs.statSync(`${descriptor(fd)}/self/fd`).isDirectory() !== true) return false;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
  // A host that ignores flags would follow this link, or open this file as a directory.
  return refuses(fs, "/proc/self/exe", flags.file) && refuses(fs, "/proc/version", flags.directory);
}

function refuses(fs: NodeFs, path: string, flags: number): boolean {
  let fd: number;
  try {
    fd = fs.openSync(path, flags);
  } catch (error) {
    return /ELOOP|ENOTDIR/.test(codeOf(error));
  }
  fs.closeSync(fd);
  return false;
}
