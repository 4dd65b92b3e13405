// The host's file system: the methods that are used, where they are found by default, and whether
// the host can prevent that a path leads elsewhere between a check and its use.

/** Metadata of a file, as `stat` returns it with `bigint: true`. */
export interface BigStats {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mode: bigint;
  mtimeNs: bigint;
  birthtimeNs?: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** An entry of a directory. */
export interface Dirent {
  name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** An open file or directory. */
export interface Handle {
  readonly fd?: number;
  stat(options: { bigint: true }): Promise<BigStats>;
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{ bytesRead: number }>;
  writeFile(data: Uint8Array): Promise<void>;
  chmod?(mode: number): Promise<void>;
  utimes?(atime: number, mtime: number): Promise<void>;
  close(): Promise<void>;
}

/** The methods of `node:fs/promises` that FilesystemBackend uses. */
export interface FsLike {
  open(path: string, flags: number | string, mode?: number): Promise<Handle>;
  lstat(path: string, options: { bigint: true }): Promise<BigStats>;
  readdir(path: string, options: { withFileTypes: true }): Promise<Dirent[]>;
  realpath(path: string): Promise<string>;
  readlink?(path: string): Promise<string>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<unknown>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  readonly constants?: Record<string, number>;
}

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

/** Prefix of kitbag's temporary files and claims. They are hidden, and refused as paths. */
export const RESERVED = ".~kitbag-";

/** An error with a code that the core keeps. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
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

/** Whether this host can hold a directory open and reach its entries through it. */
export function canPin(fs: NodeFs, flags: Flags): boolean {
  const { O_NOFOLLOW, O_DIRECTORY } = fs.constants;
  if (!O_NOFOLLOW || !O_DIRECTORY) return false;
  let fd: number | undefined;
  try {
    fd = fs.openSync("/proc", flags.directory);
    if (fs.readlinkSync(`/proc/self/fd/${fd}`) !== "/proc") return false;
    if (fs.statSync(`/proc/self/fd/${fd}/self/fd`).isDirectory() !== true) return false;
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
