// watch through rules: what they may hide is not named.

import assert from "node:assert/strict";
import test from "node:test";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { listening } from "../lib/listening.mjs";

/** Files in memory that tell of what is written. */
class Watched extends StateBackend {
  heard = new Set();
  watch(hear) {
    this.heard.add(hear);
    return () => this.heard.delete(hear);
  }
  write(path, content) {
    const answer = super.write(path, content);
    for (const hear of this.heard) hear({ paths: [path] });
    return answer;
  }
}

test("rules tell of changes, and name a path only if they cannot hide it", async () => {
  const files = new Watched({ files: {} });
  const deny = { operations: ["read"], paths: ["/secret/**"], mode: "deny" };
  const hiding = [
    { permissions: [deny] },
    { denyPrefixes: ["/secret"] },
    { defaultMode: "deny" },
  ].map((policy) => listening(withPolicy(files, policy)));
  const counting = withPolicy(files, { quota: { maxFiles: 9 } });
  const open = listening(counting, "/secret");
  assert.equal(counting.capability.watch, true);
  files.write("/secret/key.txt", "x");
  await open.has("/secret/key.txt");
  for (const { begun, seen } of hiding) {
    await begun();
    assert.deepEqual([...seen.paths], []);
  }
  const blind = withPolicy(new StateBackend(), { readOnly: true });
  assert.deepEqual([blind.watch, blind.capability.watch], [undefined, undefined]);
});
