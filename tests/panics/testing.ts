// The entry that only the testing variant of the package has: panics on demand, through the very
// doors that every other call takes; and signatures of the published S3 examples.

import { settled } from "../../pkg-template/src/core/call.js";
import { enter, glue } from "../../pkg-template/src/core/instance.js";

const testing = glue as unknown as {
  panic_now(): void;
  panic_later(): number;
  fail_allocation(number: number): number;
  s3_signing_examples(): string;
};

export function panicNow(): void {
  enter(() => testing.panic_now());
}

export function panicLater(): Promise<unknown> {
  return settled(
    () => testing.panic_later(),
    () => undefined,
  );
}

/** Lets the allocation with that number fail, counted from 1; tells how many were left of before. */
export function failAllocation(number: number): number {
  return testing.fail_allocation(number);
}

/** The published signing examples: what was made of them here, and what was published. */
export function signingExamples(): Array<{ name: string; made: string; published: string }> {
  const lines = enter(() => testing.s3_signing_examples()).split("\n");
  return lines.map((line) => {
    const [name = "", made = "", published = ""] = line.split("\t");
    return { name, made, published };
  });
}
