// The file system that the host lends: what is asked of it, where it is found when nobody passes
// one, and what it can do to keep a path from leading elsewhere between a check and its use.

/** What is known of a file, in whole numbers of any size. */
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

export interface Dirent {
  name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

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

/** What FilesystemBackend uses of `node:fs/promises`. */
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

/** A module of the host's own, without an import that a browser's bundler would see. */
export function builtin<T>(name: string): T | undefined {
  const host = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  try {
    return host?.getBuiltinModule?.(name) as T | undefined;
  } catch {
    return undefined;
  }
}

/** Names of ours beside a user's files: temporary files and claims. Hidden, and refused as paths. */
export const RESERVED = ".~kitbag-";

/** A refusal that keeps its kind on the way through the core. */
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

/** How files are opened. */
export interface Flags {
  /** A file to read: not through a link, and without waiting for a FIFO's other end. */
  file: number;
  /** A directory, links followed; what it turned out to be is looked at afterwards. */
  directory: number;
  /** A directory that is no link. */
  ownDirectory: number;
}

export function flagsOf(constants: Record<string, number> | undefined): Flags {
  const flag = (name: string) => constants?.[name] ?? 0;
  const read = flag("O_RDONLY");
  return {
    file: read | flag("O_NOFOLLOW") | flag("O_NONBLOCK") | flag("O_NOCTTY"),
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
  // A host that passes flags over would follow this link, or open this file as a directory.
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
