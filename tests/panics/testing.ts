// The entry that only the testing variant of the package has: panics on demand, through the very
// doors that every other call takes; and signatures of the published S3 examples.

import custom from "#chunk/custom";
import disk from "#chunk/disk";
import foreign from "#chunk/foreign";
import hub from "#chunk/hub";
import idb from "#chunk/idb";
import opfs from "#chunk/opfs";
import policy from "#chunk/policy";
import regex from "#chunk/regex";
import router from "#chunk/router";
import s3 from "#chunk/s3";
import sandbox from "#chunk/sandbox";
import sql from "#chunk/sql";
import store from "#chunk/store";
import tools from "#chunk/tools";
import { settled } from "../../ts/core/call.js";
import { enter, glue } from "../../ts/core/instance.js";

const testing = glue as unknown as {
  panic_now(): void;
  panic_later(): number;
  panic_in_chunk(name: string): void;
  fail_allocation(number: number): number;
  s3_signing_examples(): string;
};

const chunks: Record<string, { load(): void }> = {
  custom,
  disk,
  foreign,
  hub,
  idb,
  opfs,
  policy,
  regex,
  router,
  s3,
  sandbox,
  sql,
  store,
  tools,
};

/** The names of all chunks. */
export const chunkNames = Object.keys(chunks);

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
  enter(() => testing.panic_in_chunk(name));
}

/** Calls into a chunk that may not be loaded. */
export function callChunk(name: string): void {
  enter(() => testing.panic_in_chunk(name));
}

/** Lets the allocation with that number fail, counted from 1; tells how many were left of before. */
export function failAllocation(number: number): number {
  return testing.fail_allocation(number);
}

/** The published signing examples: what was made of them here, and what was published. */
export function signingExamples(): Array<{ name: string; made: string; published: string }> {
  s3.load();
  const lines = enter(() => testing.s3_signing_examples()).split("\n");
  return lines.map((line) => {
    const [name = "", made = "", published = ""] = line.split("\t");
    return { name, made, published };
  });
}
