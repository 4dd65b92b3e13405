// Copies and archives with names that have characters which show nothing or reorder others: such files are
// left out, each with its reason, unless a policy of the target allows them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { contents, copyTree, fromTar, fromZip, memory, toTar, toZip, withPolicy } from "./lib.mjs";

const BAD = [
  0x7f, 0x9b, 0xad, 0x61c, 0x200b, 0x200c, 0x200d, 0x200f, 0x202e, 0x2060, 0x2068, 0xfeff, 0xe0041,
  0x34f, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x2028, 0x2063, 0x206a, 0x2800, 0x3164, 0xfe00,
  0xfe0f, 0xffa0, 0xfff9, 0xfffc, 0x1bca0, 0x1d173, 0xe0100, 0xe01ef,
].map((code) => [
  `/d/pla${String.fromCodePoint(code)}n.md`,
  `U+${code.toString(16).toUpperCase().padStart(4, "0")}`,
]);

/** Names that need what they have. */
const GOOD = Object.fromEntries(
  [
    "/👩\u200d🔬.md",
    "/❤\ufe0f.md",
    "/1\ufe0f\u20e3",
    "/می\u200cخواهم",
    "/क्\u200dष",
    "/Screenshot 9.41\u202fAM.txt",
    "/日本\u3000語",
  ].map((path) => [path, "x"]),
);

const WAYS = {
  "a copy": (source, target) => copyTree(source, target),
  "a tar": (source, target) => fromTar(toTar(source), target),
  "a zip": (source, target) => fromZip(toZip(source), target),
};

for (const [way, run] of Object.entries(WAYS)) {
  test(`${way} creates no file with such a name`, async () => {
    const files = Object.fromEntries(BAD.map(([path]) => [path, "x"]));
    const source = memory({ ...files, "/d/plan.md": "plan", ...GOOD });
    const target = memory();
    const { failed, failures } = await run(source, target);
    assert.deepEqual(
      Object.keys(contents(target)).sort(),
      ["/d/plan.md", ...Object.keys(GOOD)].sort(),
    );
    assert.deepEqual([failed, failures.length], [BAD.length, BAD.length]);
    for (const [path, code] of BAD) {
      const one = failures.find((failure) => failure.path === path);
      assert.equal(one.code, "invalid_path");
      assert.ok(one.error.includes(code), one.error);
    }
  });

  test(`${way} creates them where a policy allows it`, async () => {
    const source = memory(Object.fromEntries(BAD.map(([path]) => [path, "x"])));
    const target = memory();
    const { failed } = await run(source, withPolicy(target, { hiddenCharacters: "allow" }));
    assert.equal(failed, 0);
    assert.deepEqual(contents(target), contents(source));
  });
}
