// watch through wrappers: what they may hide is not named, and what they change themselves is.

import assert from "node:assert/strict";
import test from "node:test";
import { beginKept, withHistory } from "../../pkg/dist/history.js";
import { withIgnore } from "../../pkg/dist/ignore.js";
import { withIndex } from "../../pkg/dist/indexed.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { CompositeBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { listening } from "../lib/listening.mjs";

/** Files in memory that tell of what is written. */
class Watched extends StateBackend {
  heard = new Set();
  watch(hear) {
    this.heard.add(hear);
    return () => this.heard.delete(hear);
  }
  tell(...paths) {
    for (const hear of this.heard) hear({ paths });
  }
  write(path, content) {
    const answer = super.write(path, content);
    this.tell(path);
    return answer;
  }
  uploadFiles(files) {
    const answer = super.uploadFiles(files);
    this.tell(...files.map(([path]) => path));
    return answer;
  }
}

const watched = (files = {}) => new Watched({ scope: "instance", writeMode: "overwrite", files });
const memory = () => new StateBackend({ scope: "instance" });
const labels = [{ paths: ["/web/**"], as: "untrusted" }];

test("rules tell of the changes of what they show, and of nothing else", async () => {
  const files = new Watched({ files: {} });
  const deny = { operations: ["read"], paths: ["/secret/**"], mode: "deny" };
  const hiding = [{ permissions: [deny] }, { defaultMode: "deny" }].map((policy) =>
    listening(withPolicy(files, policy)),
  );
  const protecting = listening(withPolicy(files, { readOnlyPrefixes: ["/secret"] }));
  const counting = withPolicy(files, { quota: { maxFiles: 9 } });
  const open = listening(counting, "/secret");
  assert.equal(counting.capability.watch, true);
  files.write("/secret/key.txt", "x");
  await open.has("/secret/key.txt");
  await protecting.has("/secret/key.txt");
  files.write("/plain.txt", "x");
  await hiding[0].has("/plain.txt");
  assert.deepEqual([...hiding[0].seen.paths], ["/plain.txt"]);
  for (const { seen } of hiding) assert.equal(seen.rescans, 0);
  assert.deepEqual([...hiding[1].seen.paths], []);
  const blind = withPolicy(new StateBackend(), { readOnly: true });
  assert.deepEqual([blind.watch, blind.capability.watch], [undefined, undefined]);
});

/** Every wrapper over a backend, by name. */
const wrappers = {
  withPolicy: (files) => withPolicy(files, { quota: { maxFiles: 99 } }),
  ignoring: (files) => withIgnore(files),
  indexed: (files) => withIndex(files, { keepIn: { path: "/.index/" } }),
  history: (files) => withHistory(files, { keepIn: { backend: memory() } }),
  withProvenance: (files) => withProvenance(files, { labels }),
  conversation: (files) => withProvenance(files, { labels }).conversation(),
  beginKept: (files) => beginKept(files, { keepIn: { backend: memory() } }),
};

for (const [name, wrap] of Object.entries(wrappers)) {
  test(`${name} passes on what the backend below tells, and says so`, async () => {
    const files = watched();
    const wrapped = wrap(files);
    assert.equal(wrapped.capability.watch, true);
    const all = listening(wrapped);
    const part = listening(wrapped, "/d");
    files.tell("/a.txt");
    files.tell("/d/b.txt");
    for (const hear of files.heard) hear({ paths: [], rescan: true });
    await all.has("/a.txt", "/d/b.txt");
    await part.has("/d/b.txt");
    await Promise.all([all.begun(), part.begun()]);
    assert.deepEqual([...part.seen.paths], ["/d/b.txt"]);
    all.stop();
    part.stop();
    assert.equal(files.heard.size, 0);
  });

  test(`${name} over a backend that cannot watch has no watch, over a part of one it is partial`, () => {
    const blind = wrap(memory());
    assert.deepEqual([blind.watch, blind.capability.watch], [undefined, undefined]);
    const partly = wrap(new CompositeBackend(memory(), { "/m/": watched() }));
    assert.deepEqual([typeof partly.watch, partly.capability.watch], ["function", undefined]);
  });
}

test("ignored files are not told, and a changed ignore file asks for a rescan", async () => {
  const files = watched({ "/.gitignore": "*.log\ntmp/\n", "/src/.gitignore": "gen\n" });
  const shown = withIgnore(files, { patterns: ["/out/"] });
  const { seen, has, begun, stop } = listening(shown);
  const inside = listening(shown, "/tmp");
  files.tell("/a.log", "/tmp/x", "/src/gen/y", "/out/z", "/src/a.txt", "/gen/b.txt");
  await has("/src/a.txt", "/gen/b.txt");
  await inside.has("/tmp/x");
  assert.deepEqual([...seen.paths].sort(), ["/gen/b.txt", "/src/a.txt"]);
  assert.equal(seen.rescans, 0);
  files.write("/src/.gitignore", "");
  await begun();
  files.tell("/src/gen/y");
  await has("/src/gen/y");
  stop();
  inside.stop();
});

test("if ignore files cannot be read, a rescan is asked for", async () => {
  class Broken extends Watched {
    downloadFiles(paths) {
      return paths.map((path) => ({ path, content: null, error: "permission_denied" }));
    }
  }
  const files = new Broken({ scope: "instance", files: { "/.gitignore": "*.log\n" } });
  const { seen, begun, stop } = listening(withIgnore(files));
  files.tell("/a.log");
  await begun();
  assert.deepEqual([...seen.paths], []);
  stop();
});

test("the folder of an index and the notes of a history are not told", async () => {
  const files = watched({ "/a.txt": "needle\n" });
  const index = withIndex(files, { keepIn: { path: "/.index/" } });
  const heard = listening(index);
  await index.updateIndex();
  files.tell("/.index", "/.index2/a", "/.index/manifest");
  await heard.has("/.index2/a");
  assert.deepEqual([...heard.seen.paths], ["/.index2/a"]);
  heard.stop();

  // The same files by another object: the notes are beside them.
  const beside = withPolicy(files, {});
  const noted = withHistory(files, { keepIn: { backend: beside } });
  const told = listening(noted);
  await noted.write("/b.txt", "new\n");
  await told.has("/b.txt");
  assert.equal((await noted.log()).entries.length, 1);
  assert.deepEqual([...told.seen.paths], ["/b.txt"]);
  told.stop();
  // A folder that others may use as well hides nothing.
  const own = listening(withHistory(files, { keepIn: { backend: memory(), path: "/notes" } }));
  files.tell("/notes/log/x");
  await own.has("/notes/log/x");
  own.stop();
});

test("a kept turn tells of its own changes, and of those below that show through", async () => {
  const files = watched({ "/a.txt": "1\n2\n3\n4\n5\n", "/b.txt": "b\n" });
  const turn = beginKept(files, { keepIn: { backend: memory() }, name: "t" });
  const { seen, has, stop } = listening(turn);
  await turn.edit("/a.txt", "1", "one");
  await has("/a.txt");
  seen.paths.clear();
  // The turn has its own /a.txt, and /.kitbag/turns is not shown.
  files.tell("/a.txt", "/.kitbag/turns/journal", "/b.txt");
  await has("/b.txt");
  assert.deepEqual([...seen.paths], ["/b.txt"]);
  // A change that is refused is none.
  await turn.edit("/a.txt", "nowhere", "x");
  await turn.move("/b.txt", "/c.txt");
  await has("/b.txt", "/c.txt");
  await turn.discard(["/c.txt", "/b.txt"]);
  seen.paths.clear();
  files.write("/a.txt", "1\n2\n3\n4\nfive\n");
  files.tell("/b.txt");
  await has("/b.txt");
  assert.ok(!seen.paths.has("/a.txt"));
  await turn.rebase();
  await has("/a.txt");
  assert.equal((await turn.read("/a.txt")).content, "one\n2\n3\n4\nfive\n");
  seen.paths.clear();
  assert.ok((await turn.commit()).receipt);
  await has("/a.txt");
  assert.ok([...seen.paths].every((path) => !path.startsWith("/.kitbag")));
  // Now it covers nothing.
  seen.paths.clear();
  files.tell("/a.txt");
  await has("/a.txt");
  stop();
});

test("a turn that is begun again knows at once what it covers", async () => {
  const files = watched({ "/a.txt": "a", "/b.txt": "b" });
  const keepIn = memory();
  await beginKept(files, { keepIn: { backend: keepIn }, name: "t" }).edit("/a.txt", "a", "A");
  const { seen, has, stop } = listening(
    beginKept(files, { keepIn: { backend: keepIn }, name: "t" }),
  );
  files.tell("/a.txt", "/b.txt");
  await has("/b.txt");
  assert.deepEqual([...seen.paths], ["/b.txt"]);
  stop();
});

test("listeners of a kept turn come and go", async () => {
  const files = watched();
  const turn = beginKept(files, { keepIn: { backend: memory() } });
  const first = listening(turn);
  const second = listening(turn, "/d");
  first.stop();
  await turn.write("/a.txt", "x");
  await turn.write("/d/b.txt", "x");
  await second.has("/d/b.txt");
  assert.deepEqual([[...first.seen.paths], [...second.seen.paths]], [[], ["/d/b.txt"]]);
  second.stop();
  const again = listening(turn);
  await turn.write("/c.txt", "x");
  await again.has("/c.txt");
  assert.deepEqual([...again.seen.paths], ["/c.txt"]);
  again.stop();
});

/** What was thrown and caught by nobody while `run` ran; `count` errors are waited for. */
async function uncaught(count, run) {
  const errors = [];
  let done;
  let timer;
  const all = new Promise((resolve, reject) => {
    done = resolve;
    timer = setTimeout(() => reject(new Error(`only ${errors.length} errors`)), 150_000);
  });
  process.setUncaughtExceptionCaptureCallback((error) => {
    errors.push(error.message);
    if (errors.length === count) done();
  });
  try {
    await run();
    await all;
  } finally {
    clearTimeout(timer);
    process.setUncaughtExceptionCaptureCallback(null);
  }
  return errors;
}

test("a listener that throws is an uncaught error, and the others hear of the change", async () => {
  const files = watched();
  const guarded = withPolicy(files, {});
  const turn = beginKept(files, { keepIn: { backend: memory() } });
  const bad = (name) => () => {
    throw new Error(name);
  };
  const stops = [
    guarded.watch(bad("rules")),
    turn.watch(bad("turn")),
    withIgnore(files).watch(bad("ignoring")),
  ];
  const after = [guarded, turn].map((backend) => listening(backend));
  const errors = await uncaught(4, async () => {
    files.tell("/a.txt");
    for (const { has } of after) await has("/a.txt");
    await turn.write("/b.txt", "x");
    await after[1].has("/b.txt");
  });
  assert.deepEqual(errors.sort(), ["ignoring", "rules", "turn", "turn"]);
  for (const stop of [...stops, ...after.map((one) => one.stop)]) stop();
});
