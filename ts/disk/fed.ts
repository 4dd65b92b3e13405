// The bytes of a file that the core hands over part by part, as `Files.putParts` reads them: the next part is
// taken from the core while the one before is written.

import { Refusal } from "./host.js";

export class Fed {
  readonly isNew: boolean;
  readonly version: string | undefined;
  readonly mode: number | undefined;
  /** The part that was not read yet; null at the end. */
  #part: Uint8Array | null | undefined;
  #failed = false;
  /** Who waits: the reader for a part, or the core until its part is read. */
  #wake: (() => void) | undefined;

  /**
   * @param isNew Whether nothing may be in the place of the file.
   * @param version The version of the file that must be there, if one must.
   * @param mode The permission bits of a file that is created.
   */
  constructor(isNew: boolean, version: string | undefined, mode: number | undefined) {
    this.isNew = isNew;
    this.version = version;
    this.mode = mode;
  }

  /** Hands over the next part, or the end; resolves when it is read. */
  async add(part: Uint8Array | null): Promise<void> {
    this.#part = part;
    this.#wakes();
    while (this.#part !== undefined && part !== null && !this.#failed) await this.#woken();
  }

  /** No more parts come, and nothing is stored. */
  fail(): void {
    this.#failed = true;
    this.#wakes();
  }

  async next(): Promise<Uint8Array | undefined> {
    while (this.#part === undefined && !this.#failed) await this.#woken();
    if (this.#failed) throw new Refusal("unavailable", "The bytes of the file could not be read");
    const part = this.#part;
    if (!part) return undefined;
    this.#part = undefined;
    this.#wakes();
    return part;
  }

  #wakes(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
