// Where an index is: in the backend itself, by default or in a directory, or in another backend. No
// call of the indexed backend shows it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withIndex } from "../../pkg/dist/indexed.js";
import { MapBucket } from "../chunks/doubles.mjs";
import { R2Backend, StateBackend } from "../lib/kitbag.mjs";

const FILES = Array.from({ length: 40 }, (_, at) => [
  `/${at}.txt`,
  new TextEncoder().encode(at === 7 ? "the needle\n" : `hay of stack number ${at}\n`),
]);

for (const [name, options, place] of [
  ["by default", () => undefined, (kept) => kept.startsWith("/.kitbag/index/")],
  ["in a directory", () => ({ keepIn: { path: "/my/" } }), (kept) => kept.startsWith("/my/")],
  ["in another backend", (other) => ({ keepIn: { backend: other } }), () => false],
]) {
  test(`an index ${name} takes part in searches, and is not shown`, async () => {
    const bucket = new MapBucket();
    const plain = new R2Backend({ bucket });
    const other = new R2Backend({ bucket: new MapBucket() });
    const files = withIndex(plain, options(other));
    await plain.uploadFiles(FILES);
    const { error, segments } = await files.updateIndex();
    assert.equal(error, undefined);
    assert.ok(segments > 0);
    const { matches, stats } = await files.grep("needle", "/", null, { stats: true });
    assert.deepEqual(
      matches.map(({ path }) => path),
      ["/7.txt"],
    );
    assert.ok(stats.indexed > 30, `${stats.indexed} files are excluded`);
    assert.equal((await files.glob("**")).files.length, FILES.length);
    const { objects } = await bucket.list({ limit: 1000 });
    const own = objects.map(({ key }) => `/${key}`).filter((key) => !/^\/\d+\.txt$/.test(key));
    assert.equal(own.length > 0, name !== "in another backend");
    assert.ok(own.every(place), own.join("\n"));
  });
}

test("a keepIn of another form is refused in words", () => {
  const files = new StateBackend();
  for (const [keepIn, says] of [
    ["/.index/", /keepIn must be an object such as .*, not a string; write \{ path: … \}/],
    [files, /not a backend; write \{ backend: … \}/],
    [{ folder: "/x" }, /there is no option "folder"/],
    [{ path: 7 }, /option "path" must be a string/],
    [{ backend: {} }, /keepIn.backend must be a backend/],
  ]) {
    assert.throws(() => withIndex(files, { keepIn }), { name: "TypeError", message: says });
  }
});
