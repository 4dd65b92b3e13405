// Labels of withProvenance go where a sync carries what they label: in memory and in folders, both ways, with
// labels in memory and in a file. The flows of the receiver judge them, and what nobody would label is not sent.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { withHistory } from "../../pkg/dist/history.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { cleared, contents, kept, kitbag, put, scratch, sync } from "./lib.mjs";

after(cleared);

const { begin, CompositeBackend, FilesystemBackend, StateBackend, withPolicy } = kitbag;
const state = () => new StateBackend({ files: {} });
const folder = () => new FilesystemBackend({ rootDir: scratch() });

const RULES = {
  labels: [
    { paths: ["/web/**"], as: "web" },
    { paths: ["/inbox/**"], as: "mail" },
  ],
  flows: [{ from: "web", to: ["/memories/**"], then: "refuse" }],
};
const labelled = (inner, more = {}) => withProvenance(inner, { ...RULES, ...more });

const SIDES = {
  "memory and a folder": () => [labelled(state()), labelled(folder())],
  "a folder and memory, with labels in files": () => [
    labelled(folder(), { keepIn: { backend: state() } }),
    labelled(state(), { keepIn: { backend: state() } }),
  ],
  "a folder and memory, behind rules and a router": () => [labelled(folder()), labelled(state())],
};

/** Another conversation over the files of an object with labels, that has read something labelled. */
const tainted = (files, label) =>
  files.conversation([{ label, path: `/${label}/page`, operation: "read" }]);

/** Lets a label be seen by who reads a file: what a new conversation is tainted with. */
async function labelsOf(files, path) {
  const { labels, error } = await files.labels(path);
  assert.equal(error, undefined);
  const reader = files.conversation();
  assert.equal((await reader.readRaw(path)).error, undefined);
  assert.deepEqual([...new Set(reader.reads.map(({ label }) => label))].sort(), labels);
  return labels;
}

/** What is synced, and the objects with labels in it. */
function pair(kind) {
  const files = SIDES[kind]();
  if (!kind.endsWith("router")) return { sides: files, files };
  const hidden = [{ operations: ["read"], paths: ["/hidden"], mode: "deny" }];
  const guarded = withPolicy(files[0], { permissions: hidden });
  return { sides: [guarded, new CompositeBackend(files[1], { "/mount/": state() })], files };
}

/** Syncs without a refusal; nobody is tainted by that. */
async function synced([a, b], files, options = {}) {
  const done = await sync(a, b, { keepIn: { backend: options.notes ?? a }, ...options.sync });
  assert.equal(done.error, undefined);
  assert.deepEqual(done.refused, []);
  for (const one of files) assert.deepEqual(one.reads, []);
  return done;
}

const LINES = Array.from({ length: 9 }, (_, at) => `line ${at}\n`);
const lines = (changes) => LINES.map((line, at) => changes[at] ?? line).join("");

for (const kind of Object.keys(SIDES)) {
  for (const way of [0, 1]) {
    test(`${kind}, ${["from a to b", "from b to a"][way]}: labels travel`, async () => {
      const { sides, files } = pair(kind);
      const [from, to] = way === 0 ? files : files.toReversed();
      await put(from.conversation(), { "/web/page.md": "by its path", "/plain.md": "plain" });
      await put(tainted(from, "web"), {
        "/notes.md": "written after reading",
        "/old.md": "a text that will be moved",
        "/both.md": lines({}),
        "/x.bin": "\0one",
      });
      await synced(sides, files);
      assert.deepEqual(await labelsOf(to, "/web/page.md"), ["web"]);
      assert.deepEqual(await labelsOf(to, "/notes.md"), ["web"]);
      assert.deepEqual(await labelsOf(to, "/plain.md"), []);

      // An edit over what was agreed on, a move, edits of both sides that can be merged, and that cannot.
      await put(tainted(from, "mail"), { "/plain.md": "not plain any more" });
      await tainted(from, "mail").move("/old.md", "/new/place.md");
      await put(tainted(from, "mail"), { "/both.md": lines({ 0: "one\n" }) });
      await put(to.conversation(), { "/both.md": lines({ 8: "other\n" }) });
      await put(tainted(from, "mail"), { "/x.bin": "\0of from" });
      await put(to.conversation(), { "/x.bin": "\0of to" });
      const { changed, conflicts } = await synced(sides, files);
      assert.equal(changed.find(({ what }) => what === "moved").path, "/new/place.md");
      assert.deepEqual(await labelsOf(to, "/plain.md"), ["mail"]);
      assert.deepEqual(await labelsOf(to, "/new/place.md"), ["mail", "web"]);
      for (const side of files) {
        const both = await labelsOf(side, "/both.md");
        assert.ok(both.includes("mail"), `${both}`);
        const all = await contents(side.conversation());
        assert.equal(all["/both.md"], lines({ 0: "one\n", 8: "other\n" }));
        // Whichever of the names it has, what was written after reading has its label.
        const holds = Object.keys(all).filter(
          (path) => all[path] === Buffer.from("\0of from").toString("hex"),
        );
        assert.equal(holds.length, 1);
        assert.ok((await labelsOf(side, holds[0])).includes("mail"));
      }
      assert.equal(conflicts.length, 1);
      const again = await synced(sides, files);
      assert.deepEqual([again.changed, again.conflicts], [[], []]);

      // What came with a label cannot get where the receiver's flows do not let it go.
      const agent = to.conversation();
      await agent.read("/notes.md");
      const { code } = await agent.write("/memories/new.md", "as it says");
      assert.equal(code, "permission_denied");
    });
  }
}

test("equal files get the labels of both sides, and a label alone goes along after a write", async () => {
  const files = [labelled(state()), labelled(folder())];
  await put(tainted(files[0], "web"), { "/same.md": "the same" });
  await put(files[1].conversation(), { "/same.md": "the same" });
  await synced(files, files);
  assert.deepEqual(await labelsOf(files[1], "/same.md"), ["web"]);
  await put(tainted(files[1], "mail"), { "/same.md": "the same" });
  const { changed } = await synced(files, files);
  assert.deepEqual(changed, []);
  assert.deepEqual(await labelsOf(files[0], "/same.md"), ["mail", "web"]);
});

test("compare: content finds a label that came without a write", async () => {
  const inner = state();
  await put(inner, { "/new/page.md": "found" });
  const other = labelled(state());
  const notes = state();
  await synced([labelled(inner), other], [other], { notes });
  assert.deepEqual(await labelsOf(other, "/new/page.md"), []);
  const stricter = labelled(inner, { labels: [{ paths: ["/new/**"], as: "web" }] });
  await synced([stricter, other], [other], { notes, sync: { compare: "content" } });
  assert.deepEqual(await labelsOf(other, "/new/page.md"), ["web"]);
});

for (const way of [0, 1]) {
  test(`a side without labels gets nothing labelled, ${["as b", "as a"][way]}`, async () => {
    const files = labelled(state());
    const plain = folder();
    const notes = state();
    const run = async () => {
      const sides = way === 0 ? [files, plain] : [plain, files];
      const done = await sync(...sides, { keepIn: { backend: notes } });
      assert.equal(done.error, undefined);
      assert.deepEqual(files.reads, []);
      return done;
    };
    await put(files.conversation(), { "/fine.md": lines({}), "/moved.md": "will be moved" });
    await put(plain, { "/inbox/letter.md": "labelled by its path there", "/of plain.md": "x" });
    assert.deepEqual((await run()).refused, []);
    assert.deepEqual(await labelsOf(files, "/inbox/letter.md"), ["mail"]);
    assert.deepEqual(await labelsOf(files, "/of plain.md"), []);

    await put(tainted(files, "web"), {
      "/secret.md": "from the web",
      "/fine.md": lines({ 0: "1\n" }),
    });
    await put(plain, { "/fine.md": lines({ 8: "8\n" }), "/more.md": "more" });
    await tainted(files, "web").move("/moved.md", "/moved 2.md");
    const before = await contents(plain);
    const { refused, changed } = await run();
    assert.deepEqual(
      refused.map(({ path, side, code }) => [path, side, code]).sort(),
      ["/fine.md", "/moved 2.md", "/secret.md"].map((path) => [path, "ba"[way], "unsupported"]),
    );
    for (const { path, error } of refused) {
      assert.match(error, /has the label 'web' and was not sent: side ".*" keeps no labels there/);
      assert.ok(error.includes(path));
    }
    assert.deepEqual(
      changed.map(({ path, what }) => [path, what]),
      [["/more.md", "created"]],
    );
    assert.deepEqual(await contents(plain), before);

    // A person has looked at it.
    await files.trust("/");
    assert.deepEqual((await run()).refused, []);
    assert.equal((await contents(plain))["/secret.md"], "from the web");
  });
}

test("an edit of a labelled file where nobody knows the label keeps it", async () => {
  const files = labelled(state());
  const plain = state();
  await put(tainted(files, "web"), { "/f.md": "from the web" });
  await put(plain, { "/f.md": "from the web" });
  const sides = [plain, files];
  await synced(sides, [files]);
  await put(plain, { "/f.md": "from the web, edited" });
  await synced(sides, [files]);
  assert.equal((await contents(files.conversation()))["/f.md"], "from the web, edited");
  assert.deepEqual(await labelsOf(files, "/f.md"), ["web"]);
});

test("a flow of the receiver refuses, or a person is asked, and the rest goes on", async () => {
  const asked = [];
  const from = labelled(state(), { flows: [] });
  const to = labelled(state(), {
    flows: [
      { from: "web", to: ["/memories/**"], then: "refuse" },
      { from: "web", to: ["/skills/**"], then: "ask" },
    ],
    onAsk: ({ path, labels, reads }) => {
      asked.push([path, labels, reads.map((read) => read.path)]);
      return path === "/skills/good.md";
    },
  });
  await put(tainted(from, "web"), {
    "/memories/a.md": "obey",
    "/skills/bad.md": "obey me",
    "/skills/good.md": "fine",
    "/work/a.md": "work",
  });
  await put(from.conversation(), { "/memories/mine.md": "mine" });
  const done = await sync(from, to, kept(from));
  assert.deepEqual(
    done.refused.map(({ path, side, code }) => [path, side, code]),
    [
      ["/memories/a.md", "b", "permission_denied"],
      ["/skills/bad.md", "b", "permission_denied"],
    ],
  );
  assert.match(done.refused[0].error, /labelled 'web' from \/memories\/a\.md/);
  assert.deepEqual(asked.sort(), [
    ["/skills/bad.md", ["web"], ["/skills/bad.md"]],
    ["/skills/good.md", ["web"], ["/skills/good.md"]],
  ]);
  const all = Object.keys(await contents(to.conversation())).sort();
  assert.deepEqual(all, ["/memories/mine.md", "/skills/good.md", "/work/a.md"]);
  assert.deepEqual(await labelsOf(to, "/skills/good.md"), ["web"]);
});

test("the label is there before the content, and stays if the run is broken off between", async () => {
  const from = labelled(state());
  const disk = folder();
  const stop = new AbortController();
  const names = ["ls", "read", "readRaw", "grep", "glob", "edit", "delete"];
  const object = Object.fromEntries(
    [...names, "downloadFiles"].map((name) => [name, disk[name].bind(disk)]),
  );
  let heard;
  const hang = async (path) => {
    heard = [path, (await to.labels(path)).labels];
    stop.abort();
    return new Promise(() => {});
  };
  object.write = hang;
  object.uploadFiles = ([[path]]) => hang(path);
  const keepIn = { backend: state() };
  const to = labelled(object, { keepIn });
  await put(tainted(from, "web"), { "/notes.md": "written after reading" });
  const broken = await sync(from, to, { ...kept(from), signal: stop.signal });
  assert.equal(broken.code, "timeout");
  assert.deepEqual(heard, ["/notes.md", ["web"]]);
  assert.deepEqual(await contents(disk), {});
  assert.deepEqual((await to.labels("/notes.md")).labels, ["web"]);

  const whole = labelled(disk, { keepIn });
  await synced([from, whole], [from, whole]);
  assert.deepEqual(await labelsOf(whole, "/notes.md"), ["web"]);
});

test("a router sends nothing labelled to a mount without labels, and the rest", async () => {
  const from = labelled(state());
  const known = labelled(state());
  const to = new CompositeBackend(state(), { "/known/": known });
  await put(tainted(from, "web"), { "/known/a.md": "1", "/unknown.md": "2" });
  await put(from.conversation(), { "/plain.md": "3" });
  const { refused } = await sync(from, to, kept(from));
  assert.deepEqual(
    refused.map(({ path, side, code }) => [path, side, code]),
    [["/unknown.md", "b", "unsupported"]],
  );
  assert.deepEqual(await labelsOf(known, "/a.md"), ["web"]);
  assert.deepEqual(Object.keys(await contents(to)).sort(), ["/known/a.md", "/plain.md"]);
  // And back: the label of a file in the mount goes along.
  await put(tainted(known, "mail"), { "/b.md": "4" });
  await sync(from, to, kept(from));
  assert.deepEqual(await labelsOf(from, "/known/b.md"), ["mail"]);
});

test("what somebody reads meanwhile taints, also in a callback of the sync", async () => {
  const [a, b] = [labelled(state()), labelled(state())];
  await put(tainted(a, "web"), { "/x.bin": "\0of a", "/notes.md": "read meanwhile" });
  await put(b.conversation(), { "/x.bin": "\0of b" });
  const reads = [];
  const onConflict = () => {
    reads.push(a.read("/notes.md"));
    return "both";
  };
  const done = await sync(a, b, { ...kept(a), onConflict });
  assert.deepEqual(done.refused, []);
  assert.equal((await reads[0]).content, "read meanwhile");
  assert.deepEqual(a.reads, [{ label: "web", path: "/notes.md", operation: "read" }]);
  assert.deepEqual(b.reads, []);
  await a.write("/after.md", "it says");
  assert.deepEqual((await a.labels("/after.md")).labels, ["web"]);
});

test("a conversation that is tainted can be given to a sync, and labels nothing by that", async () => {
  const [a, b] = [labelled(state()), labelled(state())];
  await put(a.conversation(), { "/plain.md": "plain" });
  await put(a.conversation(), { "/web/page.md": "page" });
  await a.read("/web/page.md");
  const { reads } = a;
  const done = await sync(a, b, kept(a));
  assert.deepEqual(done.refused, []);
  assert.deepEqual(a.reads, reads);
  assert.deepEqual(await labelsOf(b, "/plain.md"), []);
});

test("a turn over labels is refused", async () => {
  const files = labelled(state());
  const turn = begin(files);
  const { error, code } = await sync(turn, state(), kept(state()));
  assert.equal(code, "unsupported");
  assert.match(error, /side "a" is a turn over labels of withProvenance/);
});

test("a turn over labels is refused in a router as well, and one over a plain mount is not", async () => {
  const files = labelled(state());
  const over = new CompositeBackend(state(), { "/turn/": begin(files) });
  assert.equal((await sync(over, state(), kept(state()))).code, "unsupported");
  const beside = new CompositeBackend(begin(state()), { "/files/": files });
  assert.equal((await sync(beside, state(), kept(state()))).error, undefined);
});

test("a history on the way has the labels of what comes, and not those of its conversation", async () => {
  const [a, b] = [labelled(state()), labelled(state())];
  await put(tainted(a, "web"), { "/notes.md": "written after reading" });
  await put(a.conversation(), { "/plain.md": "plain" });
  const agent = tainted(b, "mail");
  const history = withHistory(agent, { keepIn: { backend: state() } });
  const done = await sync(a, history, kept(a));
  assert.deepEqual([done.error, done.refused], [undefined, []]);
  assert.deepEqual(await labelsOf(b, "/notes.md"), ["web"]);
  assert.deepEqual(await labelsOf(b, "/plain.md"), []);
  // What comes back from the history has its label again.
  await b.conversation().delete("/notes.md");
  const clean = withHistory(b.conversation(), { keepIn: { backend: state() } });
  await clean.write("/again.md", "written after reading");
  assert.deepEqual(await labelsOf(b, "/again.md"), ["web"]);
});
