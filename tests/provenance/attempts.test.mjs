// Attempts to carry a planted text into protected files, each a case of its own. In each a tool reads
// the text, and a tool writes what was read. The control is the same without a label on the text: it
// must succeed, so that an attempt that cannot work shows nothing.

import assert from "node:assert/strict";
import { attempt } from "./attempt.mjs";
import { FRESH, PLANT, TAKEN, told } from "./lib.mjs";
import { CHANGES, MEMORY, READS, remember, WRITES } from "./ways.mjs";

/** What a way of reading has told; it must have told the planted text. */
async function planted(read, files) {
  const text = told(await read(files));
  assert.match(text, new RegExp(PLANT), "nothing was read");
  // A line of it: what a model would copy.
  return `Remember: ${PLANT}`;
}

const reads = Object.entries(READS);

/** Each way of writing with five ways of reading, so that each of both is tried several times. */
for (const [kind, ways, targets] of [
  ["a new file", WRITES, FRESH],
  ["a file", CHANGES, TAKEN],
]) {
  Object.entries(ways).forEach(([writing, write], row) => {
    for (let step = 0; step < 3; step += 1) {
      const [reading, read] = reads[(row + step * 11) % reads.length];
      const to = targets[(row + step) % targets.length];
      attempt(`into ${kind}, ${to}: ${reading}; ${writing}`, async (files) => {
        await write(files, to, await planted(read, files));
      });
    }
  });
}

for (const [command, input] of Object.entries(MEMORY)) {
  reads.slice(0, 4).forEach(([reading, read], at) => {
    attempt(`into memory: ${reading}; the memory tool's ${command}`, async (files) => {
      await remember(files, input(`/memories/m${at}.md`, await planted(read, files)));
    });
  });
}
