// Permissions of files, and where directories really are: what a copy asks beyond the protocol.

import { type Entries, each } from "./entries.js";
import { codeOf } from "./host.js";
import type { Place } from "./place.js";
import type { BigStats } from "./shape.js";

export class Permissions {
  readonly #entries: Entries;
  readonly #place: Place;

  constructor(entries: Entries) {
    this.#entries = entries;
    this.#place = entries.place;
  }

  /** Metadata of the host about files, also behind links; undefined for what is no file. */
  async looks(paths: readonly string[]): Promise<Array<BigStats | undefined>> {
    const out: Array<BigStats | undefined> = paths.map(() => undefined);
    await each(
      paths.map((path, at) => ({ parts: this.#place.parts(path), at })),
      async ({ parts, at }) => {
        out[at] = await this.#look(parts, true);
      },
    );
    return out;
  }

  async #look(parts: string[], follow: boolean): Promise<BigStats | undefined> {
    return this.#entries.within(parts, false, async (dir, name) => {
      const stats = await this.#entries.lstat(dir, name);
      await dir.verify();
      if (!stats?.isSymbolicLink()) return stats?.isFile() ? stats : undefined;
      const target = follow ? await this.#place.target(dir, name) : undefined;
      return target && this.#look(target, false);
    });
  }

  /** Gives a file these permissions; nothing happens if it is no file of this process's user. */
  async permit(path: string, mode: number): Promise<void> {
    await this.#entries.within(this.#place.parts(path), false, async (dir, name) => {
      const handle = await this.#place.fs.open(`${dir.at}/${name}`, this.#place.flags.file);
      try {
        await this.#place.permit(handle, { mode: BigInt(mode) });
      } catch (error) {
        if (!/^(EPERM|EACCES|EROFS|ENOSYS|ENOTSUP|EOPNOTSUPP)$/.test(codeOf(error))) throw error;
      } finally {
        await handle.close();
      }
    });
  }

  /** The real path of a directory, or the one that it would have. */
  async real(path: string): Promise<string> {
    return this.#place.real(this.#place.parts(path));
  }
}
