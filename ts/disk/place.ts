// From a path to the directory that really contains it. Where the host allows it (Linux), a
// directory is opened first, its real path is checked, and it is then used only through the open
// directory, so a link that is swapped in later has no effect. Elsewhere real paths are compared
// before and after each use. This leaves a short window, which only permissions of the host close.

import { isOwn } from "../core/own.js";
import {
  canPin,
  codeOf,
  descriptor,
  type Flags,
  flagsOf,
  platform,
  RESERVED,
  Refusal,
} from "./host.js";
import { type FoldedNames, foldedNames, isRefusedByWindows, usualNames } from "./names.js";
import type { BigStats, Dirent, FsLike, Handle } from "./shape.js";

type NodeFs = typeof import("node:fs");

/** A directory inside the root. */
export interface Dir {
  /** Append `/name` to reach an entry. */
  readonly at: string;
  /** Its real path. */
  readonly real: string;
  /** Throws if it is no longer the directory that was checked. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

export class Place {
  readonly fs: FsLike;
  readonly flags: Flags;
  /** Whether directories are held open while they are used. */
  readonly pinned: boolean;
  readonly #rootDir: string;
  readonly #contained: boolean;
  /** Whether links inside the root are followed. */
  readonly links: boolean;
  readonly #windows: boolean;
  readonly #native: NodeFs | undefined;
  #root: string | undefined;
  #names: FoldedNames | undefined;

  /** Whether files have permission bits. */
  get keepsModes(): boolean {
    return !this.#windows;
  }

  /** Whether the host's own file system is used. */
  get native(): boolean {
    return this.#native !== undefined;
  }

  constructor(
    fs: FsLike,
    rootDir: string,
    contained: boolean,
    native: NodeFs | undefined,
    like?: Place,
  ) {
    this.links = like === undefined;
    this.fs = fs;
    this.#native = native;
    this.flags = like?.flags ?? flagsOf(fs.constants ?? native?.constants);
    this.pinned = like?.pinned ?? (native !== undefined && canPin(native, this.flags));
    this.#rootDir = rootDir;
    this.#contained = contained;
    this.#windows = platform() === "win32";
  }

  /** The root's real path; undefined if there is none yet. */
  async root(): Promise<string | undefined> {
    if (this.#root !== undefined) return this.#root;
    try {
      // The synchronous call, where it exists, saves a search from starting the host's threads.
      const real =
        this.#native?.realpathSync.native(this.#rootDir) ?? (await this.fs.realpath(this.#rootDir));
      this.#root = real.length > 1 ? real.replace(/[/\\]+$/, "") : real;
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    return this.#root;
  }

  /** Which spellings of a name are one file here. */
  get names(): FoldedNames {
    if (this.#names !== undefined) return this.#names;
    if (!this.#native) return usualNames();
    const { names, final } = foldedNames(this.#native, this.#root ?? this.#rootDir);
    if (final) this.#names = names;
    return names;
  }

  /** A path of the host with slashes only, so that two can be compared. Elsewhere `\` is part of a name. */
  #even(path: string): string {
    return this.#windows ? path.replaceAll("\\", "/") : path;
  }

  /** Whether two paths of the host are the same. */
  #alike(one: string, other: string): boolean {
    return one === other || this.#even(one) === this.#even(other);
  }

  /**
   * The real path of a directory, with slashes only; of one that does not exist, below the first one that
   * does.
   */
  async real(parts: string[]): Promise<string> {
    const path = this.join(this.#rootDir.replace(/(?<=.)[/\\]+$/, ""), parts);
    for (let end = path.length; ; ) {
      try {
        const real = await this.fs.realpath(path.slice(0, end) || "/");
        return this.#even((real === "/" ? "" : real) + path.slice(end));
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
        const slash = path.slice(0, end).search(/[/\\][^/\\]*$/);
        if (slash <= 0) return path;
        end = slash;
      }
    }
  }

  /** Whether a real path is the root or below it. */
  inside(real: string): boolean {
    if (!this.#contained) return true;
    const root = this.#root as string;
    if (real === root) return true;
    if (root === "/") return real.startsWith("/");
    return this.#even(real).startsWith(`${this.#even(root)}/`);
  }

  /** Whether a path at or below the root is in the library's own directory. */
  #isOwn(path: string): boolean {
    const root = this.#root ?? "";
    return isOwn(path.startsWith(root) ? path.slice(root.length) : path);
  }

  /** Whether a link may lead here: inside the root, and not to what the library keeps for itself. */
  #isOpen(real: string): boolean {
    return this.inside(real) && !this.#isOwn(real);
  }

  /** Whether searches show a linked file with this real path. */
  shows(real: string): boolean {
    return (
      this.#isOpen(real) &&
      !/^\/(proc|sys|dev)\//.test(real) &&
      !this.#even(real).includes(`/${RESERVED}`)
    );
  }

  /** The same place, in which links are refused. */
  withoutLinks(): Place {
    return new Place(this.fs, this.#rootDir, this.#contained, this.#native, this);
  }

  /** Whether a directory that was reached by this path may be used. */
  allows(path: string, real: string): boolean {
    if (!this.inside(real)) return false;
    // The library's own calls name its directory; no link leads there for anybody.
    return this.#alike(path, real) || (this.links && (!this.#isOwn(real) || this.#isOwn(path)));
  }

  /** The error for a directory that may not be used. */
  refusal(real: string): Refusal {
    if (!this.inside(real)) return this.outside();
    return this.links ? closed() : new Linked();
  }

  outside(): Refusal {
    return new Refusal(
      "permission_denied",
      "This path leads out of the root through a symbolic link, which is not allowed",
    );
  }

  /** The segments of a canonical path. */
  parts(path: string): string[] {
    const parts = path.split("/").filter((part) => part !== "");
    for (const part of parts) {
      if (part.startsWith(RESERVED)) {
        throw new Refusal("invalid_path", `Names that begin with '${RESERVED}' are kitbag's own`);
      }
      if (this.#windows && isRefusedByWindows(part)) {
        throw new Refusal("invalid_path", "This system has no such file names");
      }
    }
    return parts;
  }

  join(root: string, parts: string[]): string {
    const rest = parts.join("/");
    if (rest === "") return root;
    return root.endsWith("/") ? root + rest : `${root}/${rest}`;
  }

  /** The path of `parts` on the host, where directories are held open and the root is known. */
  rooted(parts: string[]): string | undefined {
    return this.pinned && this.#root !== undefined ? this.join(this.#root, parts) : undefined;
  }

  /** The directory at `parts`; `undefined` if there is none. */
  async dir(parts: string[]): Promise<Dir | undefined> {
    const root = await this.root();
    if (root === undefined) return undefined;
    try {
      const dir = await this.#open(this.join(root, parts), this.flags.directory);
      if (!dir && !this.links) await this.#refuseLinked(root, parts);
      return dir;
    } catch (error) {
      throw await this.led(error, parts);
    }
  }

  /** Throws if a link leads to where nothing is: the answer must not tell what is there. */
  async #refuseLinked(root: string, parts: string[]): Promise<void> {
    for (let end = 1; end <= parts.length; end++) {
      const path = this.join(root, parts.slice(0, end));
      const stats = await this.fs.lstat(path, { bigint: true }).catch(() => undefined);
      if (stats?.isSymbolicLink()) throw new Linked();
      if (!stats) return;
    }
  }

  /** An error about a path; one about a link knows where that leads, unless to nothing or out of the root. */
  async led(error: unknown, parts: string[]): Promise<unknown> {
    if (error instanceof Linked) {
      const real = await this.real(parts).catch(() => "");
      const leadsTo = this.#below(real).join("/");
      if (real && this.shows(real) && leadsTo !== parts.join("/")) error.leadsTo = `/${leadsTo}`;
    }
    return error;
  }

  /** A real path as segments below the root. */
  #below(real: string): string[] {
    const rest = this.#even(real).slice(this.#root?.length);
    return rest.split("/").filter((part) => part !== "");
  }

  /** An entry that is a directory and not a link; `undefined` if there is none. */
  async child(dir: Dir, name: string): Promise<Dir | undefined> {
    const asked = this.join(dir.real, [name]);
    return this.#open(`${dir.at}/${name}`, this.flags.ownDirectory, asked);
  }

  async #open(path: string, flags: number, asked = path): Promise<Dir | undefined> {
    try {
      return this.pinned ? await this.#pin(path, flags, asked) : await this.#check(path);
    } catch (error) {
      if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) return undefined;
      throw error;
    }
  }

  /** `asked` is the path by the names of its directories; `path` may begin with an open one. */
  async #pin(path: string, flags: number, asked: string): Promise<Dir> {
    const handle = await this.fs.open(path, flags);
    const at = descriptor(handle.fd);
    const close = () => this.leave(handle);
    try {
      // What the host knows of an open file costs less than a promise.
      const real = (this.#native as NodeFs).readlinkSync(at);
      if (!this.allows(asked, real)) throw this.refusal(real);
      return { at, real, close, verify: async () => {} };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Closes what was only read, which takes less than to wait for it. */
  leave(handle: Handle): Promise<void> {
    const now = this.#now(handle);
    return now ? Promise.resolve(now.fs.closeSync(now.fd)) : handle.close();
  }

  /** An open file for synchronous calls: what the host knows of it needs no other thread. */
  #now(handle: Handle): { fs: NodeFs; fd: number } | undefined {
    const [fs, fd] = [this.#native, handle.fd];
    return this.pinned && fs && fd !== undefined ? { fs, fd } : undefined;
  }

  /** Metadata of an open file. */
  seen(handle: Handle): BigStats | Promise<BigStats> {
    const now = this.#now(handle);
    return now ? now.fs.fstatSync(now.fd, { bigint: true }) : handle.stat({ bigint: true });
  }

  /** The permission bits of a file, where they mean something. */
  modeOf(stats: BigStats): { mode?: number } {
    return this.keepsModes ? { mode: Number(stats.mode & 0o777n) } : {};
  }

  /** Gives an open file the permissions of another one. */
  async permit(handle: Handle, { mode }: Pick<BigStats, "mode">): Promise<void> {
    const now = this.#now(handle);
    const bits = Number(mode & 0o777n);
    if (now) now.fs.fchmodSync(now.fd, bits);
    else await handle.chmod?.(bits);
  }

  /** Sets a modification time later than the old version's, so that no version comes back. */
  async advance(handle: Handle, before: bigint): Promise<void> {
    const micros = before / 1000n + 2n;
    const clock = BigInt(Math.floor(Date.now() * 1000 + Math.random() * 999));
    const next = Number(clock > micros ? clock : micros) / 1e6;
    const now = this.#now(handle);
    if (now) now.fs.futimesSync(now.fd, next, next);
    else await handle.utimes?.(next, next);
  }

  async #check(path: string): Promise<Dir> {
    const real = await this.fs.realpath(path);
    if (!this.allows(path, real)) throw this.refusal(real);
    const before = await this.fs.lstat(real, { bigint: true });
    if (!before.isDirectory()) throw new Refusal("ENOTDIR", "not a directory");
    const verify = async () => {
      const now = await this.fs.lstat(real, { bigint: true });
      const same = now.ino === before.ino && now.dev === before.dev;
      if (!same || (await this.fs.realpath(real)) !== real) throw this.outside();
    };
    return { at: real, real, verify, close: async () => {} };
  }

  /** Creates a folder of the host, such as the root, and what is missing above it. */
  makeFolder(path: string): Promise<void> {
    return this.#makeBelow(path.replace(this.#windows ? /(?<=.)[/\\]+$/ : /(?<=.)\/+$/, ""));
  }

  /** One directory at a time: with `recursive`, Node never ends where none can be made, as under /proc. */
  async #makeBelow(path: string): Promise<void> {
    try {
      return await this.#make(path);
    } catch (error) {
      const above = path.replace(
        this.#windows ? /(?:[/\\]+\.)*[/\\]+[^/\\]*$/ : /(?:\/+\.)*\/+[^/]*$/,
        "",
      );
      if (codeOf(error) !== "ENOENT" || above === "" || above === path) throw error;
      await this.#makeBelow(above);
    }
    await this.#make(path);
  }

  /** Creates a directory, unless something is there: another call may have been faster. */
  async #make(path: string): Promise<void> {
    await this.fs.mkdir(path).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  }

  /** The directory at `parts`; missing directories are created, one segment at a time. */
  async madeDir(parts: string[]): Promise<Dir> {
    const there = await this.dir(parts);
    if (there) return there;
    const name = parts.at(-1);
    if (name === undefined) {
      await this.makeFolder(this.#rootDir);
      const root = await this.dir(parts);
      if (root) return root;
      throw new Refusal("unavailable", "The root is not a directory");
    }
    const parent = await this.madeDir(parts.slice(0, -1));
    try {
      await this.#make(`${parent.at}/${name}`);
      await parent.verify();
    } finally {
      await parent.close();
    }
    const made = await this.dir(parts);
    if (made) return made;
    throw new Refusal(
      "invalid_path",
      "A file, or a link to nothing, stands where a directory is needed",
    );
  }

  /**
   * Where links are refused: throws if the host knows an entry by another name, as it does where
   * names that differ in case are one file. An open directory cannot tell; a real path can.
   */
  async exact(dir: Dir, name: string): Promise<void> {
    if (this.links || this.pinned) return;
    const path = this.join(dir.real, [name]);
    const real = await this.fs.realpath(path).catch((error: unknown) => {
      if (!/^(ENOENT|ENOTDIR|ELOOP)$/.test(codeOf(error))) throw error;
    });
    if (real !== undefined && !this.#alike(real, path)) throw new Linked();
  }

  /** The target of an entry that is a link, as segments below the root. */
  async target(dir: Dir, name: string): Promise<string[] | undefined> {
    if (!this.links) throw new Linked();
    let real: string;
    try {
      real = await this.fs.realpath(`${dir.at}/${name}`);
    } catch (error) {
      if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) return undefined;
      throw error;
    }
    if (!this.#isOpen(real)) throw this.inside(real) ? closed() : this.outside();
    return this.#below(real);
  }

  /** The entries of a directory, without kitbag's own files. */
  async entries(dir: Dir): Promise<Dirent[]> {
    const all = await this.fs.readdir(dir.at, { withFileTypes: true });
    await dir.verify();
    return all.filter((entry) => !entry.name.startsWith(RESERVED));
  }
}

function closed(): Refusal {
  return new Refusal(
    "permission_denied",
    "This path leads through a symbolic link to what kitbag keeps for itself, which no call reaches",
  );
}

/** Rules judge paths, so no link is followed under them. */
class Linked extends Refusal {
  constructor() {
    super(
      "permission_denied",
      "This path leads through a symbolic link, and under rules about paths no link is followed; use the path where the file is",
    );
  }
}
