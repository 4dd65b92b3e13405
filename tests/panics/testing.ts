// The entry that only the testing variant of the package has: panics on demand, through the very
// doors that every other call takes; and signatures of the published S3 examples.

import chunks from "#chunks";
import { settled } from "../../ts/core/call.js";
import { enter, glue, instance } from "../../ts/core/instance.js";
import { fields } from "../../ts/core/message.js";
import { Reply } from "../../ts/core/reply.js";

const testing = glue as unknown as {
  panic_now(): void;
  panic_later(): number;
  held(): Uint32Array;
  fail_allocation(number: number): number;
  s3_signing_examples(): string[];
  message_fields(): string;
  reply_fields(): string;
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
  const texts = enter(() => testing.s3_signing_examples());
  return Array.from({ length: texts.length / 3 }, (_, at) => {
    const [name = "", made = "", published = ""] = texts.slice(at * 3, at * 3 + 3);
    return { name, made, published };
  });
}

/** The methods of a reply that read one field, by the name that `tests/wasm/fields.json` has for it. */
const READERS = {
  ...{ u8: "u8", bool: "bool", u32: "u32", f64: "f64", text: "text", path: "path" },
  ...{ bodyText: "body", bodyBytes: "body", texts: "texts", u32s: "u32s", f64s: "f64s" },
};

/** The fields of a message and of its reply, as the one side packed and the other side read them. */
export interface Messages {
  packed: string[];
  read: string[];
  replied: string[];
  unpacked: string[];
}

/** Makes a call and tells the fields of its two messages, on both sides. */
export async function messagesOf(call: () => unknown): Promise<Messages> {
  const unpacked: string[] = [];
  const proto = Reply.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const before = Object.entries(READERS).map(([name, kind]) => {
    const reader = proto[name] as (...args: unknown[]) => unknown;
    proto[name] = function (this: Reply, ...args) {
      const length = unpacked.push(kind);
      const value = reader.apply(this, args);
      // A reader may use others.
      unpacked.length = length;
      return value;
    };
    return [name, reader] as const;
  });
  try {
    await call();
  } finally {
    for (const [name, reader] of before) proto[name] = reader;
  }
  const words = (line: string) => line.split(" ").filter((word) => word !== "");
  const read = words(testing.message_fields());
  return { packed: [...fields], read, replied: words(testing.reply_fields()), unpacked };
}
