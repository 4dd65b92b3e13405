// One attempt to carry the planted text into a protected file, and its control.

import assert from "node:assert/strict";
import { test } from "node:test";
import { opened, stolen } from "./lib.mjs";

/**
 * Runs an attempt with the text labelled, and the control, in which nothing is labelled and the text
 * must arrive. `open` makes `{ inner, files }`; `inner` is what is looked at in the end.
 */
export function attempt(name, carry, open = (labelled) => opened(labelled)) {
  test(name, async (t) => {
    for (const labelled of [true, false]) {
      const made = await open(labelled, t);
      let refusal;
      try {
        await carry(made.files, made);
      } catch (error) {
        refusal = error;
      }
      const found = await stolen(made.inner);
      if (labelled) {
        assert.deepEqual(found, [], "the planted text is in a protected file");
        // Else it may have failed for another reason, before the text was reached.
        if (!made.files.reads?.length) {
          assert.match(String(refusal), /may carry content labelled 'untrusted'/);
        }
      } else {
        assert.notEqual(found.length, 0, `the control failed: ${refusal?.stack}`);
      }
    }
  });
}
