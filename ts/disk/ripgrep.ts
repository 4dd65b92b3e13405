// Lets ripgrep select the files in which a literal is. The core still decides what matches, so results are
// the same.

import { passOver } from "./host.js";
import type { Place } from "./place.js";
import type { Ripgrep } from "./shape.js";
import { rows, told } from "./walk.js";

/** A folder that ripgrep looks through. */
export class Candidates {
  readonly #place: Place;
  readonly #run: Ripgrep;

  constructor(place: Place, run: Ripgrep) {
    this.#place = place;
    this.#run = run;
  }

  /** The names whose directories are no links. */
  async #below(real: string, names: string[]): Promise<string[]> {
    const own = new Map<string, boolean>();
    for (const name of names) {
      const dir = name.slice(0, Math.max(0, name.lastIndexOf("/")));
      if (own.has(dir)) continue;
      const path = this.#place.join(real, dir.split("/"));
      const found = await this.#place.fs.realpath(path).catch(passOver);
      own.set(dir, found === path);
    }
    return names.filter((name) => own.get(name.slice(0, Math.max(0, name.lastIndexOf("/")))));
  }

  /**
   * The files in which it finds a literal, as paths relative to a directory; undefined if it cannot be
   * used.
   */
  async of(path: string, literal: Uint8Array): Promise<string | undefined> {
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(literal);
    } catch {
      return undefined;
    }
    const dir = await this.#place.dir(this.#place.parts(path));
    if (!dir) return "";
    const { real } = dir;
    await dir.close();
    const follow = this.#place.links ? ["--follow"] : [];
    const args = [
      ...["--no-config", "--files-with-matches", "--null", "--text", "--encoding=none", ...follow],
      ...["--hidden", "--no-ignore", "--no-messages", "--fixed-strings", "--case-sensitive"],
      ...["--no-crlf", "--regexp", text, "--", "./"],
    ];
    try {
      const { stdout, exitCode } = await this.#run(args, { cwd: real });
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
