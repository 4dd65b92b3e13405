// The recorded cases on any backend that answers at once: `make(options)` gives an empty one. A case is left
// out only where the protocol says otherwise, and is then named here with the sentence that says so.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const vectors = (name) =>
  JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), "utf8"));

/** null in the records is an argument left out. */
const given = (args) => args.map((arg) => arg ?? undefined);

const encoder = new TextEncoder();

/**
 * PROTOCOL: "`[abc]`, `[!a]`, `[^a]`" are classes and their opposites; the package of the records
 * took the `!` for one more character of the class, as its answers for `[^a]` beside it show.
 */
const OTHERWISE = new Set(["[!a].*"]);

/** What a record shows of a result, from a result of ours. */
const views = {
  ls: (seen) => ({ paths: seen.files.map((file) => file.path).sort() }),
  glob: (seen) => ({ paths: seen.files.map((file) => file.path).sort() }),
  grep: (seen, wanted) => ({
    matches: seen.matches.map((match) =>
      Object.fromEntries(Object.keys(wanted.matches[0] ?? match).map((key) => [key, match[key]])),
    ),
  }),
  read: (seen, wanted) => picked(seen, wanted),
  write: (seen, wanted) => picked(seen, wanted),
  edit: (seen, wanted) => picked(seen, wanted),
};

const picked = (seen, wanted) =>
  Object.fromEntries(Object.keys(wanted).map((key) => [key, seen[key] ?? null]));

function sameStep({ op, args, result }, backend) {
  const seen = backend[op](...given(args));
  if (op === "write" && result.error !== null) {
    // A write refusal's sentence is ours to word; its beginning is the protocol's.
    assert.match(seen.error, /^Cannot write to \S+ because it already exists\. /);
    return;
  }
  const view = views[op](seen, result);
  const sort = (value) =>
    Array.isArray(value?.paths) ? { paths: [...value.paths].sort() } : value;
  const orderless = (value) =>
    value?.matches
      ? { matches: value.matches.map((one) => JSON.stringify(one)).sort() }
      : sort(value);
  assert.deepEqual(orderless(view), orderless(result));
}

/** Registers a test for each file of cases. */
export function replayVectors(make) {
  const holding = (files) => {
    const backend = make({});
    const batch = Object.entries(files).map(([path, content]) => [path, encoder.encode(content)]);
    for (const answer of backend.uploadFiles(batch)) assert.equal(answer.error, null);
    return backend;
  };

  test("paging: as recorded", async (t) => {
    for (const [at, { content, offset, limit, result }] of vectors("paging").entries()) {
      await t.test(`page ${at}: offset ${offset}, limit ${limit}`, () => {
        const backend = holding({ "/f.txt": content });
        const seen = backend.read("/f.txt", ...given([offset, limit]));
        assert.deepEqual({ ...seen }, result);
      });
    }
  });

  test("edit: as recorded", async (t) => {
    for (const [at, one] of vectors("edit").entries()) {
      await t.test(`edit ${at}`, () => {
        const backend = holding({ "/x.txt": one.content });
        const seen = backend.edit("/x.txt", one.old, one.new, one.replaceAll);
        assert.equal(seen.error ?? null, one.error);
        assert.equal(seen.occurrences ?? null, one.occurrences);
        const after = new TextDecoder().decode(backend.downloadFiles(["/x.txt"])[0].content);
        assert.equal(after, one.after ?? one.content);
      });
    }
  });

  test("glob: as recorded", async (t) => {
    const { tree, cases } = vectors("glob");
    const backend = holding(Object.fromEntries(tree.map((path) => [path, "x"])));
    for (const { pattern, path, error, paths } of cases) {
      await t.test(`glob ${pattern} in ${path}`, () => {
        const seen = backend.glob(pattern, ...given([path]));
        assert.equal(seen.error ?? null, error);
        const found = seen.files.map((file) => file.path).sort();
        if (!OTHERWISE.has(pattern)) return assert.deepEqual(found, [...paths].sort());
        const opposite = backend.glob(pattern.replace("!", "^"), ...given([path]));
        assert.deepEqual(found, opposite.files.map((file) => file.path).sort());
      });
    }
  });

  test("grep: as recorded", async (t) => {
    const { files, cases } = vectors("grep");
    const texts = Object.entries(files).filter(([, file]) => typeof file === "string");
    const backend = holding(Object.fromEntries(texts));
    for (const [path, file] of Object.entries(files)) {
      if (typeof file === "string") continue;
      const bytes = typeof file.bytes === "string" ? Buffer.from(file.bytes, "base64") : file.bytes;
      backend.uploadFiles([[path, Uint8Array.from(bytes)]]);
    }
    for (const { pattern, path, glob, error, matches } of cases) {
      await t.test(`grep ${JSON.stringify(pattern)} in ${path}, ${glob}`, () => {
        const seen = backend.grep(pattern, ...given([path, glob]));
        assert.equal(seen.error ?? null, error);
        const plain = seen.matches.map(({ path, line, text }) => ({ path, line, text }));
        const order = (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line);
        assert.deepEqual(plain.sort(order), [...matches].sort(order));
      });
    }
  });

  test("ls: as recorded", async (t) => {
    const { files, cases } = vectors("ls");
    const sized = Object.entries(files).map(([path, size]) => [path, "x".repeat(size)]);
    const backend = holding(Object.fromEntries(sized));
    for (const { path, error, entries } of cases) {
      await t.test(`ls ${path}`, () => {
        const seen = backend.ls(path);
        assert.equal(seen.error ?? null, error);
        const plain = seen.files.map(({ path, is_dir, size }) => ({ path, is_dir, size }));
        const order = (a, b) => (a.path < b.path ? -1 : 1);
        assert.deepEqual(plain.sort(order), [...entries].sort(order));
      });
    }
  });

  test("mime: as recorded", async (t) => {
    for (const { path, mimeType, binary, error } of vectors("mime")) {
      await t.test(path, () => {
        const backend = holding({ [path]: "hi" });
        const seen = backend.read(path);
        assert.equal(seen.error ?? null, error);
        assert.equal(seen.mimeType, mimeType);
        assert.equal(seen.content instanceof Uint8Array, binary);
      });
    }
  });

  for (const [name, options] of [
    ["sequences_create_only", {}],
    ["sequences_overwrite", { writeMode: "overwrite" }],
  ]) {
    test(`${name}: as recorded`, async (t) => {
      for (const [at, sequence] of vectors(name).entries()) {
        await t.test(`sequence ${at}`, () => {
          const backend = make(options);
          for (const [step, one] of sequence.entries()) {
            try {
              sameStep(one, backend);
            } catch (error) {
              error.message = `step ${step}, ${one.op} ${JSON.stringify(one.args)}: ${error.message}`;
              throw error;
            }
          }
        });
      }
    });
  }
}
