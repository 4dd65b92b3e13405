// A chunk: a part of the WebAssembly that arrives with the class that needs it. The class's module
// imports its chunk (`#chunk/name`), and the chunk holds or names its bytes; so a bundler that
// drops the class drops them too. Loading is synchronous, happens once, and comes before any call
// that runs code of the chunk.

import type { Source } from "#source";
import { link } from "./instance.js";

export class Chunk {
  #loaded = false;

  constructor(
    private readonly name: string,
    /** Absent in a build that is not cut: everything is in the primary. */
    private readonly source: Source | undefined,
    private readonly needs: readonly Chunk[],
  ) {}

  /** Makes its functions callable. */
  load(): void {
    if (this.#loaded) return;
    for (const chunk of this.needs) chunk.load();
    if (this.source !== undefined) link(this.name, this.source);
    this.#loaded = true;
  }
}
