// Edits of two sides in one text, merged by lines: by the turns of kitbag, over a memory of one file.

import { begin, StateBackend } from "kitbag";

const PATH = "/text";
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The longest text that is kept for a merge, and how much is kept of all. */
const MOST_TEXT = 1 << 20;
const MOST_TEXTS = 16 << 20;

/** Texts that were sent, within a budget. */
export class Texts {
  readonly #texts = new Map<string, Uint8Array>();
  #bytes = 0;

  /** Keeps the text of a file, if it is one and there is room; otherwise none. */
  keep(name: string, bytes: Uint8Array): void {
    this.forget(name);
    if (bytes.length > MOST_TEXT || this.#bytes + bytes.length > MOST_TEXTS) return;
    if (bytes.includes(0)) return;
    this.#texts.set(name, bytes);
    this.#bytes += bytes.length;
  }

  of(name: string): Uint8Array | undefined {
    return this.#texts.get(name);
  }

  forget(name: string): void {
    this.#bytes -= this.#texts.get(name)?.length ?? 0;
    this.#texts.delete(name);
  }
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !bytes.includes(0) && decoder.decode(bytes) !== undefined;
  } catch {
    return false;
  }
}

/** Both edits of a text, or nothing if they touch or are no texts. */
export async function merged(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (![base, ours, theirs].every(isText)) return undefined;
  const memory = new StateBackend({ scope: "instance" });
  await memory.uploadFiles([[PATH, base]]);
  const turn = begin(memory);
  await turn.uploadFiles([[PATH, theirs]]);
  await memory.uploadFiles([[PATH, ours]]);
  const rebased = await turn.rebase();
  if (rebased.error !== undefined || rebased.conflicts.length > 0) return undefined;
  const [answer] = await turn.downloadFiles([PATH]);
  return answer?.content ?? undefined;
}
