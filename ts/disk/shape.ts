// What a caller may lend a folder: methods of a file system, and a way to run ripgrep. Nothing of Node's own
// types is named here, because the declarations of this file are read in projects for pages, too.

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

/** Runs ripgrep with these arguments in the folder `cwd`. Exit code 1 means no match. */
export type Ripgrep = (
  args: string[],
  options: {
    /** The folder to run in. */
    cwd: string;
  },
) => Promise<{
  /** What it printed, complete. */
  stdout: string;
  /** Exit code: 0 with matches, 1 without; anything else is a failure. */
  exitCode: number | null;
}>;
