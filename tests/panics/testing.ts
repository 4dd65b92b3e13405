// The entry that only the testing variant of the package has: panics on demand, through the very
// doors that every other call takes; and signatures of the published S3 examples.

import chunks from "#chunks";
import { settled } from "../../ts/core/call.js";
import { enter, glue, instance } from "../../ts/core/instance.js";

const testing = glue as unknown as {
  panic_now(): void;
  panic_later(): number;
  held(): Uint32Array;
  fail_allocation(number: number): number;
  s3_signing_examples(): string;
};

/** The names of all chunks. */
export const chunkNames = Object.keys(chunks);

/** The function of a chunk that panics; the primary exports one for each. */
function panicking(name: string): () => void {
  const found = (instance() as unknown as Record<string, () => void>)[`panic_in_chunk_${name}`];
  if (!found) throw new Error(`there is no chunk ${name}`);
  return found;
}

export function panicNow(): void {
  enter(() => testing.panic_now());
}

export function panicLater(): Promise<unknown> {
  return settled(
    () => testing.panic_later(),
    () => undefined,
  );
}

/** Panics in the code of a chunk, which is loaded first. */
export function panicInChunk(name: string): void {
  chunks[name]?.load();
  enter(panicking(name));
}

/** Calls into a chunk that may not be loaded. */
export function callChunk(name: string): void {
  enter(panicking(name));
}

/**
 * What is in use: bytes of memory, backends, buffers, tasks, permits of locks, and calls that wait
 * for one.
 */
export function inUse(): Record<string, number> {
  const [backends, buffers, tasks, permits, waiting] = enter(() => testing.held());
  const memory = instance().memory.buffer.byteLength;
  return { memory, backends, buffers, tasks, permits, waiting } as Record<string, number>;
}

/** Lets the allocation with that number fail, counted from 1; tells how many were left of before. */
export function failAllocation(number: number): number {
  return testing.fail_allocation(number);
}

/** The published signing examples: what was made of them here, and what was published. */
export function signingExamples(): Array<{ name: string; made: string; published: string }> {
  chunks.s3?.load();
  const lines = enter(() => testing.s3_signing_examples()).split("\n");
  return lines.map((line) => {
    const [name = "", made = "", published = ""] = line.split("\t");
    return { name, made, published };
  });
}
