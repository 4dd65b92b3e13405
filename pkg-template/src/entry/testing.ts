// What only tests call, in the testing variant of the package. Import it beside the entry that
// loads the wasm.

import { enter, glue } from "../core/instance.js";

const testing = glue as unknown as { s3_signing_examples(): string };

/** The published signing examples: what was made of them here, and what was published. */
export function signingExamples(): Array<{ name: string; made: string; published: string }> {
  const lines = enter(() => testing.s3_signing_examples()).split("\n");
  return lines.map((line) => {
    const [name = "", made = "", published = ""] = line.split("\t");
    return { name, made, published };
  });
}
