// A directory of any backend as a transfer sees it: files by their path below the directory, complete
// contents, and failures as values. A missing optional method of a foreign backend is replaced here.

import {
  type AnyBackend,
  adaptBackendProtocol,
  type BackendProtocolV2,
  type CallOptions,
  type Capability,
  type FileInfo,
} from "kitbag";

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
interface Own extends BackendProtocolV2 {
  readonly capability?: Capability;
  glob(
    pattern: string,
    path?: string,
    options?: CallOptions,
  ): ReturnType<BackendProtocolV2["glob"]>;
  ls(path: string, options?: CallOptions): ReturnType<BackendProtocolV2["ls"]>;
  readRaw(path: string, options?: CallOptions): ReturnType<BackendProtocolV2["readRaw"]>;
  write(
    path: string,
    content: string | Uint8Array,
    options?: CallOptions & { ifAbsent?: boolean },
  ): ReturnType<BackendProtocolV2["write"]>;
  downloadFiles?(
    paths: string[],
    options?: CallOptions,
  ): ReturnType<NonNullable<BackendProtocolV2["downloadFiles"]>>;
  uploadFiles?(
    files: Array<[string, Uint8Array]>,
    options?: CallOptions,
  ): ReturnType<NonNullable<BackendProtocolV2["uploadFiles"]>>;
}

/** A failed answer as a refusal. */
export function refusal(answer: { error?: unknown; code?: unknown; message?: unknown }): Refusal {
  const error = answer.message ?? answer.error ?? "The backend gave no reason";
  return { error: String(error), code: String(answer.code ?? answer.error ?? "unavailable") };
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Byte order of paths, which is that of listings. */
const byName = (a: Listed, b: Listed) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** A directory of a backend. */
export class Tree {
  readonly #backend: Own;
  readonly #root: string;
  readonly #options: CallOptions;

  /** @param root The directory, with a slash at its end. */
  constructor(backend: AnyBackend, root: string, signal: AbortSignal | undefined) {
    this.#backend = adaptBackendProtocol(backend) as Own;
    this.#root = root;
    this.#options = signal ? { signal } : {};
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

  /** All files, sorted by name. */
  async list(): Promise<Listed[] | Refusal> {
    const answer = await this.#backend.glob("**", this.#directory(), this.#options);
    if (answer.error !== undefined || answer.files === undefined) return refusal(answer);
    if ((answer as { truncated?: boolean }).truncated) {
      return { error: "The backend listed only a part of its files", code: "too_large" };
    }
    return answer.files
      .filter(({ path, is_dir }) => !is_dir && path.startsWith(this.#root))
      .map(({ path, size, modified_at }) => ({
        name: path.slice(this.#root.length),
        size,
        changed: Date.parse(modified_at ?? ""),
      }))
      .sort(byName);
  }

  /**
   * Directories without a file in or below them, below this one. Only backends whose directories
   * exist by themselves can have any, and only kitbag's own say so.
   */
  async emptyDirectories(files: readonly Listed[]): Promise<string[]> {
    if (this.#backend.capability?.directories !== "real") return [];
    const full = new Set<string>();
    for (const { name } of files) {
      for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1)) {
        if (full.has(name.slice(0, end + 1))) break;
        full.add(name.slice(0, end + 1));
      }
    }
    const empty: string[] = [];
    let level = [""];
    while (level.length > 0) {
      const next: string[] = [];
      for (const directory of level) {
        for (const name of await this.#directories(directory)) {
          if (full.has(name)) next.push(name);
          else empty.push(name);
        }
      }
      level = next;
    }
    return empty;
  }

  async #directories(directory: string): Promise<string[]> {
    const { files = [] } = await this.#backend.ls(this.#directory(directory), this.#options);
    const found = (files as FileInfo[]).filter(({ is_dir, path }) => is_dir && path !== this.#root);
    return found.map(({ path }) => path.slice(this.#root.length));
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

  /** Stores a file that must not exist yet. */
  async create(name: string, bytes: Uint8Array): Promise<Refusal | undefined> {
    const options = { ...this.#options, ifAbsent: true };
    const answer = await this.#backend.write(this.path(name), bytes, options);
    return answer.error === undefined ? undefined : refusal(answer);
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

/** Whether two files have the same bytes. */
export function same(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
