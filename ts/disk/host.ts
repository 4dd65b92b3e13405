// The host's file system: the methods that are used, where they are found by default, and whether
// the host can prevent that a path leads elsewhere between a check and its use.

/** Metadata of a file, as `stat` returns it with `bigint: true`. */
export interface BigStats {
  /** The device. */
  dev: bigint;
  /** Number of the file on its device. */
  ino: bigint;
  /** Size in bytes. */
  size: bigint;
  /** Kind and permissions. */
  mode: bigint;
  /** Time of the last change, in nanoseconds since 1970. */
  mtimeNs: bigint;
  /** Creation time, in nanoseconds since 1970. */
  birthtimeNs?: bigint;
  /** Whether it is a regular file. */
  isFile(): boolean;
  /** Whether it is a directory. */
  isDirectory(): boolean;
  /** Whether it is a symbolic link. */
  isSymbolicLink(): boolean;
}

/** An entry of a directory. */
export interface Dirent {
  /** Its name, without the directory. */
  name: string;
  /** Whether it is a regular file. */
  isFile(): boolean;
  /** Whether it is a directory. */
  isDirectory(): boolean;
  /** Whether it is a symbolic link. */
  isSymbolicLink(): boolean;
}

/** An open file or directory. */
export interface Handle {
  /** The file descriptor. */
  readonly fd?: number;
  /** Returns the metadata. */
  stat(options: {
    /** Numbers as `bigint`. */
    bigint: true;
  }): Promise<BigStats>;
  /** Reads up to `length` bytes into `buffer`, from byte `offset` of it on. */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{
    /** Number of bytes that were read; 0 at the end of the file. */
    bytesRead: number;
  }>;
  /** Writes all of `data`. */
  writeFile(data: Uint8Array): Promise<void>;
  /** Sets the permissions. */
  chmod?(mode: number): Promise<void>;
  /** Sets the times, in seconds since 1970. */
  utimes?(atime: number, mtime: number): Promise<void>;
  /** Closes it. */
  close(): Promise<void>;
}

/** The methods of `node:fs/promises` that FilesystemBackend uses. */
export interface FsLike {
  /** Opens a file or a directory. */
  open(path: string, flags: number | string, mode?: number): Promise<Handle>;
  /** Returns the metadata of a file, or of a link itself. */
  lstat(
    path: string,
    options: {
      /** Numbers as `bigint`. */
      bigint: true;
    },
  ): Promise<BigStats>;
  /** Lists a directory. */
  readdir(
    path: string,
    options: {
      /** Entries, not names. */
      withFileTypes: true;
    },
  ): Promise<Dirent[]>;
  /** Resolves all links of a path. */
  realpath(path: string): Promise<string>;
  /** Returns where a link leads. */
  readlink?(path: string): Promise<string>;
  /** Makes a link with this text. */
  symlink?(text: string, path: string): Promise<void>;
  /** Creates a directory. */
  mkdir(
    path: string,
    options?: {
      /** Create the directories above it as well. */
      recursive?: boolean;
    },
  ): Promise<unknown>;
  /** Renames a file or a directory; replaces a file of the new name. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name; fails if that name exists. */
  link(from: string, to: string): Promise<void>;
  /** Copies a file; fails with the flag 1 if the new name exists. */
  copyFile?(from: string, to: string, flags?: number): Promise<void>;
  /** Deletes a file or a link. */
  unlink(path: string): Promise<void>;
  /** Deletes an empty directory. */
  rmdir(path: string): Promise<void>;
  /** Flags of `open`, by name. */
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
