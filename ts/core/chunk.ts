// A chunk: a part of the WebAssembly that is loaded with the class that needs it. The module of the
// class imports its chunk (`#chunk/name`), and the chunk contains its bytes or their file name, so
// a bundler that drops the class drops them too. Loading is synchronous, happens once, and must
// come before any call that runs code of the chunk.

import type { Source } from "#source";
import { link } from "./instance.js";

export class Chunk {
  #loaded = false;

  constructor(
    private readonly name: string,
    /** Undefined in a build without chunks, where the primary module contains everything. */
    private readonly source: Source | undefined,
    private readonly needs: readonly Chunk[],
  ) {}

  /**
   * Instantiates the chunk, and the chunks it needs, if that has not happened yet. Who has to load them is told all
   * `names` at once.
   */
  load(names: readonly string[] = [...this.needs.map(({ name }) => name), this.name]): void {
    if (this.#loaded) return;
    for (const chunk of this.needs) chunk.load(names);
    if (this.source !== undefined) link(this.name, this.source, names);
    this.#loaded = true;
  }
}
