// What only tests call, in the testing variant of the package. Import it beside the entry that
// loads the wasm.

import { settled } from "../core/call.js";
import { handleOf } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import type { Reply } from "../core/reply.js";

const testing = glue as unknown as {
  conformance_start(make: () => Promise<number>): number;
  s3_signing_examples(): string;
};

/** What the shared suite came to. */
export interface Report {
  passed: number;
  failures: string[];
  leftOut: string[];
}

/** Runs the shared suite; `make` gives an empty backend, for each case a new one. */
export async function conformance(make: () => object | Promise<object>): Promise<Report> {
  const texts = (reply: Reply) => Array.from({ length: reply.u32() }, () => reply.text());
  const answer = await settled(
    () => testing.conformance_start(async () => handleOf(await make())),
    (reply): Report => ({ passed: reply.u32(), failures: texts(reply), leftOut: texts(reply) }),
  );
  if ("error" in answer && answer.error !== undefined) throw new Error(answer.error);
  return answer as Report;
}

/** The published signing examples: what was made of them here, and what was published. */
export function signingExamples(): Array<{ name: string; made: string; published: string }> {
  const lines = enter(() => testing.s3_signing_examples()).split("\n");
  return lines.map((line) => {
    const [name = "", made = "", published = ""] = line.split("\t");
    return { name, made, published };
  });
}
