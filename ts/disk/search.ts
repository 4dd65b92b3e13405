// Searches a folder in bulk. Names are passed to the core in one text, because a call for each of
// twenty thousand files would cost more than the search. This works on any host; `fast.ts` is
// faster on hosts with synchronous calls. Links to files are shown, as in `ls`. Links to directories
// are not followed, so there are no cycles.

import { codeOf, passOver } from "./host.js";
import { MovingDisk } from "./moves.js";
import type { Dir, Place } from "./place.js";
import { each } from "./storage.js";
import { told, walked } from "./walk.js";

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

/** Names as one text, which the core splits. */
export function rows(names: string[]): string {
  return names.join("\n");
}

export class SearchableDisk extends MovingDisk {
  readonly #ripgrep: Ripgrep | undefined;

  /** Whether ripgrep selects the files. */
  protected get asksRipgrep(): boolean {
    return this.#ripgrep !== undefined;
  }

  constructor(place: Place, maxBytes: number, ripgrep?: Ripgrep) {
    super(place, maxBytes);
    this.#ripgrep = ripgrep;
  }

  /** The same folder, in which links are refused. */
  get withoutLinks(): SearchableDisk {
    return new SearchableDisk(this.place.withoutLinks(), this.maxBytes, this.#ripgrep);
  }

  /** Every file below a directory, as paths relative to it. */
  async names(path: string): Promise<string> {
    const out: string[] = [];
    const dir = await this.place.dir(this.place.parts(path));
    if (dir) await this.#walk(dir, path === "/" ? "/" : `${path}/`, "", out);
    return rows(out);
  }

  /** @param from The path where the walk began. */
  async #walk(dir: Dir, from: string, below: string, out: string[]): Promise<void> {
    try {
      const entries = await this.place.entries(dir).catch(unreadable);
      for (const entry of entries ?? []) {
        if (!told(entry.name)) continue;
        if (entry.isFile()) out.push(below + entry.name);
        else if (entry.isDirectory() && walked(`${dir.real}/${entry.name}`.replace("//", "/"))) {
          const child = await this.place.child(dir, entry.name).catch(unreadable);
          if (child) await this.#walk(child, from, `${below}${entry.name}/`, out);
        } else if (entry.isSymbolicLink() && this.place.links) {
          const path = `${from}${below}${entry.name}`;
          if (await this.stat(path).catch(passOver)) out.push(below + entry.name);
        }
      }
    } finally {
      await dir.close();
    }
  }

  /** The names whose directories are no links. */
  async #below(real: string, names: string[]): Promise<string[]> {
    const own = new Map<string, boolean>();
    for (const name of names) {
      const dir = name.slice(0, Math.max(0, name.lastIndexOf("/")));
      if (own.has(dir)) continue;
      const path = this.place.join(real, dir.split("/"));
      const found = await this.place.fs.realpath(path).catch(passOver);
      own.set(dir, found === path);
    }
    return names.filter((name) => own.get(name.slice(0, Math.max(0, name.lastIndexOf("/")))));
  }

  /** Size and modification time (in microseconds) of each path; NaN if there is no file. */
  async stats(paths: string): Promise<Float64Array> {
    const all = paths.split("\n");
    const out = new Float64Array(all.length * 2).fill(Number.NaN);
    await each(
      all.map((path, at) => ({ path, at })),
      async ({ path, at }) => {
        const meta = await this.stat(path).catch(passOver);
        if (!meta) return;
        out[at * 2] = meta.size as number;
        out[at * 2 + 1] = (meta.modified as number) * 1000;
      },
    );
    return out;
  }

  /**
   * The files in which ripgrep finds a literal, as paths relative to a directory; undefined if it
   * cannot be used. The core still decides what matches, so results are the same.
   */
  async candidates(path: string, literal: Uint8Array): Promise<string | undefined> {
    if (!this.#ripgrep) return undefined;
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(literal);
    } catch {
      return undefined;
    }
    const dir = await this.place.dir(this.place.parts(path));
    if (!dir) return "";
    const { real } = dir;
    await dir.close();
    const follow = this.place.links ? ["--follow"] : [];
    const args = [
      ...["--no-config", "--files-with-matches", "--null", "--text", "--encoding=none", ...follow],
      ...["--hidden", "--no-ignore", "--no-messages", "--fixed-strings", "--case-sensitive"],
      ...["--no-crlf", "--regexp", text, "--", "./"],
    ];
    try {
      const { stdout, exitCode } = await this.#ripgrep(args, { cwd: real });
      // 1: nothing found. 2: something could not be read, which a walk would ignore too, but also
      // a ripgrep that does not know an option.
      if (exitCode !== 0 && exitCode !== 1) return undefined;
      const names = stdout.split("\0").filter((name) => name !== "" && name !== "\n");
      const found = names.map((name) => name.replace(/^\.\//, ""));
      return rows(
        await this.#below(
          real,
          found.filter((name) => name.split("/").every(told)),
        ),
      );
    } catch {
      return undefined;
    }
  }
}

function unreadable(error: unknown): undefined {
  if (/^(EACCES|EPERM|ENOENT|ENOTDIR|ELOOP|permission_denied)$/.test(codeOf(error)))
    return undefined;
  throw error;
}
