// A backend as a file system of just-bash. Directories that a command makes or empties are kept here,
// because a backend may not have any, and so are modes and times that a command sets: both last as long
// as the shell. Devices are not files of the backend, and links are refused.

import type { FileContent, FsStat, IFileSystem } from "just-bash";
import {
  adaptBackendProtocol,
  Backend,
  type BackendProtocolV2,
  type FileInfo,
  type FileUploadResponse,
  type MaybePromise,
  StateBackend,
} from "kitbag";
import { exactly } from "../../core/paths.js";
import {
  appended,
  bodyOf,
  create,
  kindOf,
  moveBelow,
  moveFile,
  readBody,
  swap,
  TRIES,
  Trouble,
  transferred,
} from "../changes.js";
import { type Caller, callers, outside } from "./calls.js";
import { decode, type Encoding, encode } from "./encoding.js";
import { answered, DEVICES, FsError, gone, resolved } from "./paths.js";

export class BackendFs implements IFileSystem {
  readonly #files: BackendProtocolV2;
  /** The capability, if the backend is kitbag's own. */
  readonly #own: object | undefined;
  /** The caller of the last command, for hosts that do not know which command is running. */
  caller: Caller | undefined;
  /** Directories that were made here, or that a command emptied, with those above them. */
  readonly #empty = new Set<string>();
  /** Modes and times that commands have set. */
  readonly #modes = new Map<string, number>();
  readonly #times = new Map<string, Date>();
  /** Shown as the time of directories that have none. */
  readonly #made = new Date();
  /** All paths, as of the last `refresh`. */
  #known: string[] = [];

  constructor(files: BackendProtocolV2) {
    if (!files?.uploadFiles || !files.downloadFiles || !files.delete) {
      throw new TypeError(
        "bashFileSystem: the backend must have uploadFiles, downloadFiles and delete",
      );
    }
    // A backend of kitbag keeps the library's own files from commands; for other objects the adapter does,
    // whatever they say that they can do.
    const isOurs = files instanceof Backend || files instanceof StateBackend;
    this.#files = outside(isOurs ? files : adaptBackendProtocol(files));
    this.#own = (this.#files as { capability?: object }).capability;
  }

  /** The call that is running now, if it came through `bashExecute`. */
  #caller(): Caller | undefined {
    return callers?.getStore() ?? this.caller;
  }

  /** Loads all paths for `getAllPaths`, which is synchronous. Only `ls` with a quoted pattern asks. */
  async refresh(): Promise<void> {
    const found = await this.#files.glob("**", "/");
    answered("/", found);
    const paths = new Set<string>(this.#empty);
    for (const { path } of found.files ?? []) {
      for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1))
        paths.add(path.slice(0, at));
      paths.add(path);
    }
    this.#known = [...paths].sort();
  }

  async #find(path: string): Promise<FileInfo | undefined> {
    if (path === "/" || path === "/dev") return { path, is_dir: true };
    if (DEVICES.has(path)) return { path, size: 0 };
    const cut = path.lastIndexOf("/");
    const parent = path.slice(0, cut) || "/";
    // kitbag's own backends find one name without reading the directory.
    if (this.#own) {
      const found = await this.#files.glob(exactly(path.slice(cut + 1)), parent);
      if (found.error !== undefined) throw new FsError("EACCES", path, found.error);
      const file = found.files?.find((one) => one.path === path);
      if (file) return file;
      if ((await this.#isDir(path)) || (await this.#isEmptyDir(path)))
        return { path, is_dir: true };
      return undefined;
    }
    const { files, error } = await this.#files.ls(parent);
    if (error !== undefined) throw new FsError("EACCES", path, error);
    const rows = files ?? [];
    const found =
      rows.find((one) => one.path === path) ?? rows.find((one) => one.path === `${path}/`);
    return found ?? (this.#empty.has(path) ? { path, is_dir: true } : undefined);
  }

  /** Whether a directory was made here, or contains files. */
  async #isDir(path: string): Promise<boolean> {
    if (this.#empty.has(path)) return true;
    const answer = await this.#files.ls(path);
    answered(path, answer);
    return (answer.files ?? []).length > 0;
  }

  /** Whether a directory without files exists in the backend itself, such as an empty mount. */
  async #isEmptyDir(path: string): Promise<boolean> {
    const [answer] = (await this.#files.downloadFiles?.([path])) ?? [];
    answered(path, answer as { code?: string } | undefined);
    return (answer as { code?: string } | undefined)?.code === "is_directory";
  }

  /** Remembers a directory and those above it. */
  #keep(dir: string): void {
    for (let end = dir.length; end > 0; end = dir.lastIndexOf("/", end - 1)) {
      if (this.#empty.has(dir.slice(0, end))) return;
      this.#empty.add(dir.slice(0, end));
    }
  }

  async #bytes(path: string): Promise<Uint8Array> {
    if (DEVICES.has(path)) return new Uint8Array();
    const [answer] = (await this.#files.downloadFiles?.([path])) ?? [];
    if (answer?.content) return answer.content;
    if ((await this.#find(path))?.is_dir)
      throw new FsError("EISDIR", path, "illegal operation on a directory");
    if (answer?.error === "permission_denied")
      throw new FsError("EACCES", path, answer.message ?? "permission denied");
    throw gone(path);
  }

  /** The signal that ends the current command. */
  get #signal(): AbortSignal | undefined {
    return this.#caller()?.signal;
  }

  /** A command that was cancelled may still run on to its next statement, but changes nothing. */
  #begin(path: string): void {
    if (this.#signal?.aborted) throw new FsError("ECANCELED", path, "the command was cancelled");
  }

  async #put(path: string, bytes: Uint8Array): Promise<void> {
    if (DEVICES.has(path)) return;
    this.#begin(path);
    this.#times.delete(path);
    const isDirectory = () => new FsError("EISDIR", path, "illegal operation on a directory");
    if (this.#own ? this.#empty.has(path) : (await this.#find(path))?.is_dir) throw isDirectory();
    this.#begin(path);
    const answer = await this.#stored(path, bytes);
    if (answer?.error === "is_directory") throw isDirectory();
    if (answer?.error) throw new FsError("EACCES", path, answer.message ?? answer.error);
  }

  /** Stores a file. Backends of kitbag look by the same call whether it would replace a directory. */
  async #stored(path: string, bytes: Uint8Array) {
    const files = this.#files as {
      uploadFiles?(
        files: Array<[string, Uint8Array]>,
        options?: object,
      ): MaybePromise<FileUploadResponse[]>;
    };
    const options = this.#own ? [{ onlyFiles: true }] : [];
    return ((await files.uploadFiles?.([[path, bytes]], ...options)) ?? [])[0];
  }

  /** Why redirects of the running call could not be written, once. */
  refused(): string[] {
    const caller = this.#caller();
    if (caller) caller.lost = false;
    return caller?.refused.splice(0) ?? [];
  }

  async readFile(path: string, encoding?: Encoding): Promise<string> {
    return decode(await this.#bytes(resolved("/", path)), encoding);
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#bytes(resolved("/", path));
  }

  async writeFile(path: string, content: FileContent, encoding?: Encoding): Promise<void> {
    const at = resolved("/", path);
    await this.#redirected(at, content, encoding, () => this.#put(at, encode(content, encoding)));
  }

  async appendFile(path: string, content: FileContent, encoding?: Encoding): Promise<void> {
    const at = resolved("/", path);
    if (DEVICES.has(at)) return;
    const added = encode(content, encoding);
    await this.#redirected(at, content, encoding, () => this.#append(at, path, added));
  }

  /**
   * Runs a write. If it fails and belongs to a redirect, the reason is kept for the report. To open
   * a file, just-bash writes an empty text to it: this may fail, as just-bash expects it to. Later
   * text for that file may not.
   */
  async #redirected(at: string, content: FileContent, how: Encoding, write: () => Promise<void>) {
    const caller = this.#caller();
    if (!caller) return write();
    const opens = content === "" && how === "binary";
    if (opens) caller.opened.add(at);
    try {
      await write();
    } catch (error) {
      if (!caller.opened.has(at)) throw error;
      caller.refused.push(`bash: ${at}: ${error instanceof Error ? error.message : String(error)}`);
      if (opens) throw error;
      caller.lost = true;
    }
  }

  async #append(at: string, path: string, added: Uint8Array): Promise<void> {
    this.#times.delete(at);
    await this.#told(path, async () => {
      this.#begin(path);
      if (added.length > 0 && (await appended(this.#files, at, added, this.#signal))) return;
      for (let tried = 0; tried < TRIES; tried++) {
        const before = await readBody(this.#files, at);
        this.#begin(path);
        if (before === undefined) {
          if ((await this.#find(at))?.is_dir)
            throw new FsError("EISDIR", path, "illegal operation on a directory");
          this.#begin(path);
          if (await create(this.#files, at, bodyOf(added))) return;
          continue;
        }
        const whole = new Uint8Array(before.bytes.length + added.length);
        whole.set(before.bytes);
        whole.set(added, before.bytes.length);
        if (await swap(this.#files, at, before, bodyOf(whole))) return;
      }
      throw new FsError("EBUSY", path, "other writers keep changing it, and nothing was appended");
    });
  }

  /** Runs a change; a failure is thrown with an error code of file systems. */
  async #told(path: string, change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      if (error.code === "not_found") throw gone(path);
      const code = { conflict: "EBUSY", timeout: "ECANCELED" }[error.code ?? ""] ?? "EACCES";
      throw new FsError(code, path, error.message);
    }
  }

  /** A file went away: the directory that it was in stays, as in every file system. */
  #left(path: string): void {
    const parent = path.slice(0, path.lastIndexOf("/"));
    this.#keep(parent);
    for (const kept of [this.#modes, this.#times]) kept.delete(path);
  }

  /** What commands have set for a path goes with it to its new name. */
  #renamed(from: string, to: string): void {
    for (const kept of [this.#modes, this.#times] as Array<Map<string, unknown>>) {
      const value = kept.get(from);
      kept.delete(to);
      if (value !== undefined) kept.set(to, value);
    }
    this.#left(from);
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#find(resolved("/", path))) !== undefined;
  }

  async stat(path: string): Promise<FsStat> {
    const at = resolved("/", path);
    const info = await this.#find(at);
    if (!info) throw gone(path);
    const isDirectory = info.is_dir === true;
    return {
      isFile: !isDirectory,
      isDirectory,
      isSymbolicLink: false,
      mode: this.#modes.get(at) ?? (isDirectory ? 0o755 : 0o644),
      size: info.size ?? 0,
      mtime: this.#times.get(at) ?? (info.modified_at ? new Date(info.modified_at) : this.#made),
      // Tells one file from another, so that `cp` and `mv` onto an existing file work.
      identity: at,
    };
  }

  lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }

  async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    this.#begin(path);
    const at = resolved("/", path);
    const there = await this.#find(at);
    if (there && !(options?.recursive && there.is_dir))
      throw new FsError("EEXIST", path, "file already exists");
    if (there) return;
    const parent = at.slice(0, at.lastIndexOf("/")) || "/";
    if (!options?.recursive && !(await this.#find(parent))?.is_dir) throw gone(path);
    this.#keep(at);
  }

  /**
   * The entries of a directory. `find` lists several at once, and after a failure of one nobody handles what
   * the others throw, which ends the process. So what cannot be listed is empty, and a failure of the backend
   * is told at the end. Where it matters, commands look by `stat` first.
   */
  async readdirWithFileTypes(path: string) {
    try {
      return await this.#rows(path);
    } catch (error) {
      if (error instanceof FsError && /^(ENOENT|ENOTDIR)$/.test(error.code)) return [];
      const caller = this.#caller();
      if (!caller) throw error;
      caller.refused.push(`bash: ${error instanceof Error ? error.message : String(error)}`);
      caller.lost = true;
      return [];
    }
  }

  async #rows(path: string) {
    const at = resolved("/", path);
    const here = await this.#find(at);
    if (!here) throw gone(path);
    if (!here.is_dir) throw new FsError("ENOTDIR", path, "not a directory");
    const prefix = at === "/" ? "/" : `${at}/`;
    const names = new Map<string, boolean>();
    const answer = await this.#files.ls(at);
    answered(path, answer);
    for (const info of answer.files ?? []) {
      names.set(info.path.slice(prefix.length).replace(/\/$/, ""), info.is_dir === true);
    }
    for (const dir of this.#empty) {
      const name = dir.startsWith(prefix) ? dir.slice(prefix.length).split("/")[0] : undefined;
      if (name) names.set(name, true);
    }
    const rows = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
    return rows.map(([name, isDirectory]) => ({
      name,
      isFile: !isDirectory,
      isDirectory,
      isSymbolicLink: false,
    }));
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.#rows(path)).map((one) => one.name);
  }

  async rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void> {
    const at = resolved("/", path);
    const info = await this.#find(at);
    if (!info) {
      if (options?.force) return;
      throw gone(path);
    }
    if (info.is_dir && !options?.recursive && (await this.readdir(at)).length > 0) {
      throw new FsError("ENOTEMPTY", path, "directory not empty");
    }
    const hollow = info.is_dir && (await this.#files.ls(at)).files?.length === 0;
    if (DEVICES.has(at)) throw new FsError("EACCES", path, "permission denied");
    this.#begin(path);
    const answer = await this.#files.delete?.(at);
    if (answer?.error !== undefined && !hollow) throw new FsError("EACCES", path, answer.error);
    for (const dir of this.#empty)
      if (dir === at || dir.startsWith(`${at}/`)) this.#empty.delete(dir);
    this.#left(at);
  }

  async cp(src: string, dest: string, options?: { recursive?: boolean }): Promise<void> {
    const [from, to] = [resolved("/", src), resolved("/", dest)];
    const info = await this.#find(from);
    if (!info) throw gone(src);
    if (!info.is_dir) {
      if (await this.#copied(from, to, dest)) return;
      return this.#put(to, await this.#bytes(from));
    }
    if (!options?.recursive) throw new FsError("EISDIR", src, "is a directory");
    if (to === from || to.startsWith(`${from}/`))
      throw new FsError("EINVAL", dest, "cannot copy into itself");
    await this.mkdir(to, { recursive: true });
    for (const name of await this.readdir(from))
      await this.cp(`${from}/${name}`, `${to}/${name}`, options);
  }

  /** Copies a file in the backend, if both are files there. */
  async #copied(from: string, to: string, dest: string): Promise<boolean> {
    if (from === to || !this.#own || DEVICES.has(from) || DEVICES.has(to)) return false;
    if ((await this.#find(to))?.is_dir)
      throw new FsError("EISDIR", dest, "illegal operation on a directory");
    const how = { replace: true, name: (path: string) => path, signal: this.#signal };
    let copied = false;
    await this.#told(dest, async () => {
      copied = await transferred(this.#files, "copy", from, to, how);
    });
    if (copied) this.#times.delete(to);
    return copied;
  }

  async mv(src: string, dest: string): Promise<void> {
    const [from, to] = [resolved("/", src), resolved("/", dest)];
    if (from === to) return;
    const info = await this.#find(from);
    if (!info) throw gone(src);
    if (from === "/" || to.startsWith(`${from}/`))
      throw new FsError("EINVAL", dest, "cannot move into itself");
    const target = await this.#find(to);
    const how = { replace: true, name: (path: string) => path, signal: this.#signal };
    if (!info.is_dir) {
      if (target?.is_dir) throw new FsError("EISDIR", dest, "is a directory");
      if (DEVICES.has(to)) return this.rm(from);
      await this.#told(src, () => moveFile(this.#files, from, to, how));
      return this.#renamed(from, to);
    }
    if (target && !target.is_dir) throw new FsError("ENOTDIR", dest, "not a directory");
    if (target && (await this.readdir(to)).length > 0)
      throw new FsError("ENOTEMPTY", dest, "directory not empty");
    const hollow = [...this.#empty].filter((dir) => dir === from || dir.startsWith(`${from}/`));
    await this.#told(src, async () => {
      const moved = await moveBelow(this.#files, from, to, how);
      this.#keep(to);
      if (moved > 0) return;
      // An empty directory that exists in the backend itself.
      if (!(await kindOf(this.#files, from)).dir) return;
      this.#begin(src);
      await this.#files.delete?.(from);
    });
    for (const dir of hollow) {
      this.#empty.delete(dir);
      this.#keep(to + dir.slice(from.length));
    }
    this.#renamed(from, to);
  }

  resolvePath(base: string, path: string): string {
    return resolved(base, path);
  }

  getAllPaths(): string[] {
    return this.#known;
  }

  async chmod(path: string, mode: number): Promise<void> {
    if (!(await this.exists(path))) throw gone(path);
    this.#modes.set(resolved("/", path), mode);
  }

  async utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    if (!(await this.exists(path))) throw gone(path);
    this.#times.set(resolved("/", path), mtime);
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw new FsError("ENOTSUP", path, "these files have no links");
  }

  async link(_existing: string, path: string): Promise<void> {
    throw new FsError("ENOTSUP", path, "these files have no links");
  }

  async readlink(path: string): Promise<string> {
    throw new FsError("EINVAL", path, "not a link");
  }

  async realpath(path: string): Promise<string> {
    const at = resolved("/", path);
    if (!(await this.#find(at))) throw gone(path);
    return at;
  }
}
