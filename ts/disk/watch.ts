// Changes in a folder, by the host's watcher. Where that watches whole trees (macOS, Windows) one is
// enough; elsewhere each directory has its own, which is opened before the directory is listed, so
// that nothing falls between. What may have been missed is told as `rescan`.

import { Listeners } from "../core/listeners.js";
import { builtin, platform, RESERVED } from "./host.js";

type Native = typeof import("node:fs");
type Watcher = ReturnType<Native["watch"]>;

/** Most directories that are watched one by one: each takes memory of the system's. */
const DIRECTORIES = 8_192;
/** How often to ask for a rescan where a directory cannot be watched, in milliseconds. */
const BLIND_MS = 5_000;

/** Whether the host can watch folders. */
export function nativeWatch(): Native | undefined {
  const fs = builtin<Native>("node:fs");
  return typeof fs?.watch === "function" ? fs : undefined;
}

/** Watches a folder for all callbacks of a backend, while there are any. */
export class DiskWatch {
  readonly #fs: Native;
  readonly #root: string;
  readonly #above: string;
  readonly #whole: boolean;
  readonly #listeners = new Listeners(
    () => {
      this.#fs.mkdirSync(this.#root || "/", { recursive: true });
      this.#follow("", false);
    },
    () => this.#end(),
  );
  /** By the path of the directory below the root, which itself is the empty text. */
  readonly #watchers = new Map<string, Watcher>();
  #blind: ReturnType<typeof setInterval> | undefined;

  /** `above` is what the paths of files begin with. */
  constructor(fs: Native, root: string, above: string) {
    this.#fs = fs;
    this.#root = root.replace(/[/\\]+$/, "");
    this.#above = above;
    this.#whole = ["darwin", "win32"].includes(platform());
  }

  /** Calls back after changes. */
  get add() {
    return this.#listeners.add;
  }

  /** Ends all watching. */
  close(): void {
    this.#listeners.close();
  }

  #end(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    clearInterval(this.#blind);
    this.#blind = undefined;
  }

  /** Watches a directory and those below it; `tells` of the files that are there already. */
  #follow(dir: string, tells: boolean): void {
    if (this.#watchers.has(dir)) return;
    if (this.#watchers.size >= DIRECTORIES) {
      this.#cannot();
      return;
    }
    try {
      const options = { persistent: false, recursive: this.#whole };
      const watcher = this.#fs.watch(this.#root + dir || "/", options, (_, name) =>
        this.#heard(dir, name),
      );
      watcher.on("error", () => this.#forget(dir));
      this.#watchers.set(dir, watcher);
      if (this.#whole && !tells) return;
      for (const entry of this.#fs.readdirSync(this.#root + dir || "/", { withFileTypes: true })) {
        const path = `${dir}/${entry.name}`;
        if (entry.name.startsWith(RESERVED)) continue;
        if (!entry.isDirectory()) {
          if (tells) this.#listeners.note(this.#above + path);
        } else if (!this.#whole) this.#follow(path, tells);
      }
    } catch (error) {
      // A directory that is gone again is told by the one above it.
      if (dir !== "" && (error as { code?: unknown }).code === "ENOENT") this.#forget(dir);
      else this.#cannot();
    }
  }

  #heard(dir: string, name: string | null): void {
    if (name === null) {
      this.#listeners.missed();
      return;
    }
    const path = `${dir}/${name.replaceAll("\\", "/")}`;
    if (path.includes(`/${RESERVED}`)) return;
    const found = this.#kind(path);
    if (found === "directory") {
      if (!this.#whole) this.#follow(path, true);
    } else if (!this.#kind("")) {
      this.#forget("");
    } else if (this.#watchers.has(path)) {
      this.#forget(path);
    } else {
      this.#listeners.note(this.#above + path);
    }
  }

  #kind(path: string): "directory" | "other" | undefined {
    const stats = this.#fs.lstatSync(this.#root + path || "/", { throwIfNoEntry: false });
    if (!stats) return undefined;
    return stats.isDirectory() ? "directory" : "other";
  }

  /** A directory went away, with files that nobody can name any more. */
  #forget(dir: string): void {
    for (const [path, watcher] of this.#watchers) {
      if (path !== dir && !path.startsWith(`${dir}/`)) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    this.#listeners.missed(dir === "" ? undefined : this.#above + dir);
    if (!this.#watchers.has("")) this.#cannot();
  }

  /** Something is not watched: listeners look for themselves from time to time. */
  #cannot(): void {
    this.#listeners.missed();
    this.#blind ??= setInterval(() => this.#listeners.missed(), BLIND_MS);
    (this.#blind as { unref?: () => void }).unref?.();
  }
}
