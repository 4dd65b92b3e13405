// A directory of any backend as a transfer sees it: files by their path below the directory, complete
// contents, and failures as values. A missing optional method of a foreign backend is replaced here.

import {
  type AnyBackend,
  adaptBackendProtocol,
  Backend,
  type BackendProtocolV2,
  type CallOptions,
  type Capability,
  type FileInfo,
  type ReadRawResult,
} from "kitbag";
import type { FileParts } from "../../types.js";

/** Why one file was not read or stored. */
export interface Refusal {
  error: string;
  code: string;
}

/** A file of a listing. */
export interface Listed {
  /** Path below the directory, without a slash in front. */
  name: string;
  /** Size in bytes, if the backend lists it. */
  size: number | undefined;
  /** When it was changed, in milliseconds; NaN if the backend does not list it. */
  changed: number;
}

/** The methods that kitbag's own backends have beyond the protocol. */
export interface Own extends BackendProtocolV2 {
  readonly capability?: Capability;
  glob(
    pattern: string,
    path?: string,
    options?: CallOptions,
  ): ReturnType<BackendProtocolV2["glob"]>;
  ls(path: string, options?: CallOptions): ReturnType<BackendProtocolV2["ls"]>;
  readRaw(
    path: string,
    options?: CallOptions & { start?: number; end?: number },
  ): ReturnType<BackendProtocolV2["readRaw"]>;
  write(
    path: string,
    content: string | Uint8Array,
    options?: CallOptions & { ifAbsent?: boolean },
  ): ReturnType<BackendProtocolV2["write"]>;
  downloadFiles?(
    paths: string[],
    options?: CallOptions,
  ): ReturnType<NonNullable<BackendProtocolV2["downloadFiles"]>>;
  delete?(
    path: string,
    options?: CallOptions,
  ): ReturnType<NonNullable<BackendProtocolV2["delete"]>>;
  uploadFiles?(
    files: Array<[string, Uint8Array | FileParts]>,
    options?: CallOptions,
  ): ReturnType<NonNullable<BackendProtocolV2["uploadFiles"]>>;
}

/** A failed answer as a refusal. */
export function refusal(answer: { error?: unknown; code?: unknown; message?: unknown }): Refusal {
  const error = answer.message ?? answer.error ?? "The backend gave no reason";
  return { error: String(error), code: String(answer.code ?? answer.error ?? "unavailable") };
}

/** What kitbag's folders say beyond the protocol. */
interface Disk {
  looks(paths: readonly string[]): Promise<Array<{ mode: bigint } | undefined>>;
  permit(path: string, mode: number): Promise<void>;
  real(path: string): Promise<string>;
  links(path: string): Promise<{ links: Array<[name: string, text: string]>; others: number }>;
  link(
    path: string,
    text: string,
    replace: boolean,
  ): Promise<"made" | "equal" | "other" | "directory">;
}

const DISK = Symbol.for("kitbag.disk");

/** Why a link is not followed. */
export const LOOP: Refusal = {
  error: "It is a link to a directory above it, which is not followed",
  code: "unsupported",
};
export const UNKNOWN: Refusal = {
  error:
    "It is a link to a directory, which is followed only in a FilesystemBackend that is passed itself",
  code: "unsupported",
};

/** Most links to directories that are followed: links that lead across a tree multiply its files. */
const MAX_LINKS = 10_000;

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Byte order of paths, which is that of listings. */
const byName = (a: Listed, b: Listed) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** A directory of a backend. */
export class Tree {
  readonly #backend: Own;
  readonly #root: string;
  readonly #options: CallOptions;
  readonly #disk: Disk | undefined;
  /** Whether files are stored here while they are read. */
  readonly takesParts: boolean;
  /** Directories without a file in or below them; known after `list`. */
  readonly #empty: string[] = [];
  /** Links to directories above them, whose files are listed there; known after `list`. */
  readonly loops: string[] = [];
  /** Links to directories of which nobody can say where they lead; known after `list`. */
  readonly unknown: string[] = [];
  /** Links that are copied as links, with their texts; the files behind them are not listed. */
  readonly links = new Map<string, string>();
  /** How many links lead out of the tree, or to nothing, and so are not copied as links. */
  otherLinks = 0;
  #followed = 0;

  /** @param root The directory, with a slash at its end. */
  constructor(backend: AnyBackend, root: string, signal: AbortSignal | undefined) {
    this.#backend = adaptBackendProtocol(backend) as Own;
    this.#root = root;
    this.#options = signal ? { signal } : {};
    this.#disk = (backend as { [DISK]?: Disk })[DISK];
    this.takesParts = backend instanceof Backend;
  }

  /** The real path of the directory on the host's disk; undefined if it is not on it. */
  async real(): Promise<string | undefined> {
    return this.#disk?.real(this.#directory());
  }

  /** Whether links can be kept here. */
  get isOnDisk(): boolean {
    return this.#disk !== undefined;
  }

  /** From now on, links are links: to be called before `list`. */
  async keepLinks(): Promise<void> {
    const found = await this.#disk?.links(this.#directory());
    for (const [name, text] of found?.links ?? []) this.links.set(name, text);
    this.otherLinks = found?.others ?? 0;
  }

  /** Makes a link; see `Links.link` of the disk. */
  async link(name: string, text: string, replace: boolean) {
    try {
      return await (this.#disk as Disk).link(this.path(name), text, replace);
    } catch (error) {
      const { message = String(error), code = "unavailable" } = error as Partial<Refusal> & Error;
      return { error: message, code };
    }
  }

  /** Gives files the permissions that they have in another tree, if both are on disks. */
  async permit(names: readonly string[], like: Tree): Promise<void> {
    const [theirs, ours] = [like.#disk, this.#disk];
    if (!theirs || !ours || names.length === 0) return;
    const bits = (stats: { mode: bigint } | undefined) => stats && Number(stats.mode & 0o777n);
    const [wanted, now] = await Promise.all([
      theirs.looks(names.map((name) => like.path(name))),
      ours.looks(names.map((name) => this.path(name))),
    ]);
    for (const [at, name] of names.entries()) {
      const [mode, has] = [bits(wanted[at]), bits(now[at])];
      if (mode === undefined || has === undefined || mode === has) continue;
      await ours.permit(this.path(name), mode);
    }
  }

  /** Whether files can be created without the risk of replacing one. */
  get createsExclusively(): boolean {
    return this.#backend.capability !== undefined && this.#backend.capability.create !== "never";
  }

  /** Which spellings of a name are one file here. */
  get names(): Capability["names"] {
    return this.#backend.capability?.names;
  }

  /** A directory without the slash at its end, which other libraries may not take. */
  #directory(name = ""): string {
    return (this.#root + name).replace(/(?<=.)\/+$/, "");
  }

  path(name: string): string {
    return this.#root + name;
  }

  /** All files, sorted by name, with those behind links to directories. */
  async list(): Promise<Listed[] | Refusal> {
    const files = await this.#listed("");
    if (!Array.isArray(files) || this.#backend.capability?.directories !== "real") return files;
    const refused = await this.#explore("", files, files, []);
    if (refused && typeof refused === "object") return refused;
    return files.sort(byName);
  }

  /** The files that the backend lists below a directory of the tree. */
  async #listed(name: string): Promise<Listed[] | Refusal> {
    const answer = await this.#backend.glob("**", this.#directory(name), this.#options);
    if (answer.error !== undefined || answer.files === undefined) return refusal(answer);
    if ((answer as { truncated?: boolean }).truncated) {
      return { error: "The backend listed only a part of its files", code: "too_large" };
    }
    return answer.files
      .filter(({ path, is_dir }) => !is_dir && path.startsWith(this.#root + name))
      .map(({ path, size, modified_at }) => ({
        name: path.slice(this.#root.length),
        size,
        changed: Date.parse(modified_at ?? ""),
      }))
      .filter(({ name: file }) => !this.links.has(file))
      .sort(byName);
  }

  /**
   * Looks for directories that a listing of files does not show: empty ones, and links, whose files it
   * adds to `all`. Whether there are files.
   *
   * @param listed The files of the listing that shows this directory.
   * @param above The real paths of the directories above.
   */
  async #explore(
    directory: string,
    listed: readonly Listed[],
    all: Listed[],
    above: readonly string[],
    shown = directoriesOf(listed),
  ): Promise<boolean | Refusal> {
    const chain = this.#disk
      ? [...above, await this.#disk.real(this.#directory(directory))]
      : above;
    const without: string[] = [];
    let full = directory === "" || shown.has(directory);
    const names = await this.#directories(directory);
    if (!Array.isArray(names)) return names;
    for (const name of names) {
      let below: boolean | Refusal;
      if (shown.has(name)) below = await this.#explore(name, listed, all, chain, shown);
      else below = await this.#unlisted(name, all, chain);
      if (typeof below === "object") return below;
      if (below) full = true;
      else without.push(name);
    }
    // Of empty directories inside one another, the first is told.
    if (full) for (const name of without) this.#empty.push(name);
    return full;
  }

  /** A directory of which the listing shows no files. */
  async #unlisted(
    name: string,
    all: Listed[],
    above: readonly string[],
  ): Promise<boolean | Refusal> {
    const files = await this.#listed(name);
    if (!Array.isArray(files)) return files;
    const real = await this.#disk?.real(this.#directory(name));
    if (real !== undefined && above.includes(real)) {
      this.loops.push(name);
      return true;
    }
    if (files.length > 0) {
      this.#followed += 1;
      if (real === undefined) {
        this.unknown.push(name);
        return true;
      }
      if (this.#followed > MAX_LINKS) {
        const error = `The tree has more than ${MAX_LINKS} links to directories; they multiply its files`;
        return { error, code: "too_large" };
      }
      for (const file of files) all.push(file);
    } else if (real === undefined) return false;
    return this.#explore(name, files, all, above);
  }

  /**
   * Directories without a file in or below them, below this one; known after `list`. Only backends
   * whose directories exist by themselves can have any, and only kitbag's own say so.
   */
  get emptyDirectories(): readonly string[] {
    return this.#empty;
  }

  async #directories(directory: string): Promise<string[] | Refusal> {
    const answer = await this.#backend.ls(this.#directory(directory), this.#options);
    if (answer.error !== undefined) return refusal(answer);
    const { files = [] } = answer;
    const found = (files as FileInfo[]).filter(({ is_dir, path }) => is_dir && path !== this.#root);
    const names = found.map(({ path }) => path.slice(this.#root.length));
    return names.filter((name) => !this.links.has(name.replace(/\/$/, "")));
  }

  /** Complete contents, one for each name, in order. */
  async bytes(names: readonly string[]): Promise<Array<Uint8Array | Refusal>> {
    if (names.length === 0) return [];
    const paths = names.map((name) => this.path(name));
    if (!this.#backend.downloadFiles) {
      return Promise.all(paths.map((path) => this.#raw(path)));
    }
    const answers = await this.#backend.downloadFiles(paths, this.#options);
    return paths.map((_, at) => {
      const answer = answers[at];
      return answer?.content instanceof Uint8Array ? answer.content : refusal(answer ?? {});
    });
  }

  async #raw(path: string): Promise<Uint8Array | Refusal> {
    const { data, ...answer } = await this.#backend.readRaw(path, this.#options);
    if (data === undefined) return refusal(answer);
    if (data.content instanceof Uint8Array) return data.content;
    const text = Array.isArray(data.content) ? data.content.join("\n") : data.content;
    return new TextEncoder().encode(text);
  }

  /** A part of a file and its place, from a backend that reads parts. */
  async part(name: string, start: number, end: number): Promise<Partial<ReadRawResult>> {
    if (!this.#backend.capability) return {};
    const answer = await this.#backend.readRaw(this.path(name), { start, end, ...this.#options });
    return answer as Partial<ReadRawResult>;
  }

  /** Stores a file whose bytes come in parts. */
  async putParts(name: string, parts: FileParts): Promise<Refusal | undefined> {
    const answers = await this.#backend.uploadFiles?.([[this.path(name), parts]], this.#options);
    const answer = answers?.[0];
    return answer && answer.error === null ? undefined : refusal(answer ?? {});
  }

  /** Stores a file that must not exist yet. */
  async create(name: string, bytes: Uint8Array): Promise<Refusal | undefined> {
    const options = { ...this.#options, ifAbsent: true };
    const answer = await this.#backend.write(this.path(name), bytes, options);
    return answer.error === undefined ? undefined : refusal(answer);
  }

  /** Deletes a file. */
  async remove(name: string): Promise<Refusal | undefined> {
    if (!this.#backend.delete) {
      return { error: "This backend cannot delete files", code: "unsupported" };
    }
    const answer = await this.#backend.delete(this.path(name), this.#options);
    return answer.error === undefined || answer.error === null ? undefined : refusal(answer);
  }

  /** Stores files and replaces those that exist; one result for each, in order. */
  async put(files: ReadonlyArray<[string, Uint8Array]>): Promise<Array<Refusal | undefined>> {
    if (files.length === 0) return [];
    const batch = files.map(([name, bytes]): [string, Uint8Array] => [this.path(name), bytes]);
    if (!this.#backend.uploadFiles) return Promise.all(batch.map((file) => this.#text(...file)));
    const answers = await this.#backend.uploadFiles(batch, this.#options);
    return batch.map((_, at) => {
      const answer = answers[at];
      return answer && answer.error === null ? undefined : refusal(answer ?? {});
    });
  }

  /** Stores a text on a backend that takes no bytes. It replaces nothing unless the backend does. */
  async #text(path: string, bytes: Uint8Array): Promise<Refusal | undefined> {
    let text: string;
    try {
      text = strict.decode(bytes);
    } catch {
      return { error: `${path} is not text, and this backend takes no bytes`, code: "unsupported" };
    }
    const answer = await this.#backend.write(path, text, this.#options);
    return answer.error === undefined ? undefined : refusal(answer);
  }
}

/** The directories that files are in, each with a slash at its end. */
function directoriesOf(files: readonly Listed[]): Set<string> {
  const full = new Set<string>();
  for (const { name } of files) {
    for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1)) {
      if (full.has(name.slice(0, end + 1))) break;
      full.add(name.slice(0, end + 1));
    }
  }
  return full;
}

/** Whether two files have the same bytes. */
export function same(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
