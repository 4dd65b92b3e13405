// What has a label, what gets one, and what loses it; conversations, and where labels are kept.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { begin, LocalShellBackend, ringAudit, StateBackend, withPolicy } from "kitbag";
import { runConformance } from "kitbag/conformance";
import { withBash } from "kitbag/just-bash";
import { withProvenance } from "kitbag/provenance";
import { roomOf } from "../lib/room.mjs";
import { FILES, memory, must, opened, PAGE, rules, SCRATCH } from "./lib.mjs";

const encoder = new TextEncoder();
const NONE = { labels: [] };
const UNTRUSTED = { labels: ["untrusted"] };
const read = { label: "untrusted", path: PAGE, operation: "read" };

/** A conversation that has read the page, one that has read nothing, and the backend below. */
async function tainted(more) {
  const { inner, files } = opened(true, memory(), more);
  must(await files.read(PAGE));
  return { inner, files, next: files.conversation() };
}

test("names, sizes and searches without a match do not taint", async () => {
  const { files } = opened();
  must(await files.ls("/web"));
  must(await files.glob("**/*.md", "/"));
  must(await files.grep("no such text"));
  must(await files.grep("milk"));
  must(await files.read("/work/todo.md"));
  must(await files.read(PAGE, 1_000));
  must(await files.readRaw(PAGE, { start: 0, end: 0 }));
  must(await files.readRaw(PAGE, { start: 1_000_000 }));
  assert.equal((await files.read("/web/none")).code, "not_found");
  assert.equal((await files.edit(PAGE, "no such text", "x")).code, "no_match");
  assert.deepEqual(files.reads, []);
});

test("every read is listed once, with its call", async () => {
  const { files } = opened();
  for (let turn = 0; turn < 2; turn += 1) {
    must(await files.read(PAGE));
    must(await files.readRaw(PAGE));
    must(await files.grep("Title"));
    must(await files.downloadFiles(["/web/deep/more.md", "/work/todo.md"]));
  }
  assert.deepEqual(files.reads, [
    read,
    { ...read, operation: "readRaw" },
    { ...read, operation: "grep" },
    { ...read, operation: "downloadFiles", path: "/web/deep/more.md" },
  ]);
});

test("a hundred reads are remembered, and the first of each label", async () => {
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`/web/${at}`, "x"]));
  const labels = [
    { paths: ["/web/**"], as: "untrusted" },
    { paths: ["/inbox/*"], as: "mail" },
  ];
  const files = withProvenance(memory({ ...many, "/inbox/a": "x" }), { labels });
  must(await files.downloadFiles(Object.keys(many)));
  assert.equal(files.reads.length, 100);
  must(await files.read("/inbox/a"));
  assert.deepEqual(files.reads[100], { label: "mail", path: "/inbox/a", operation: "read" });
});

const WRITES = {
  write: (files) => files.write(SCRATCH, "x"),
  uploadFiles: (files) => files.uploadFiles([[SCRATCH, encoder.encode("x")]]),
  append: async (files) => {
    must(await files.move("/work/todo.md", SCRATCH));
    return files.append(SCRATCH, "x");
  },
  edit: async (files) => {
    must(await files.copy("/work/todo.md", SCRATCH));
    return files.edit(SCRATCH, "milk", "x");
  },
  "copy of a file without a label": (files) => files.copy("/work/todo.md", SCRATCH),
  "move of a file without a label": (files) => files.move("/work/todo.md", SCRATCH),
  "a shell": (files) => withBash(files).execute(`echo x > ${SCRATCH}`),
  "a turn": async (files) => {
    const turn = begin(files);
    must(await turn.write(SCRATCH, "x"));
    return turn.commit();
  },
};

for (const [name, write] of Object.entries(WRITES)) {
  test(`what a tainted conversation stores carries the label: ${name}`, async () => {
    const { files, next } = await tainted();
    must(await write(files));
    assert.deepEqual(await next.labels(SCRATCH), UNTRUSTED);
    must(await next.read(SCRATCH));
    assert.deepEqual(next.reads, [{ ...read, path: SCRATCH }]);
    const control = opened(false).files;
    must(await write(control));
    assert.deepEqual(await control.labels(SCRATCH), NONE);
  });
}

test("after clear a conversation writes without a label, and can be tainted again", async () => {
  const { files } = await tainted();
  assert.equal((await files.write("/memories/a.md", "x")).code, "permission_denied");
  files.clear();
  assert.deepEqual(files.reads, []);
  must(await files.write("/memories/a.md", "x"));
  assert.deepEqual(await files.labels("/memories/a.md"), NONE);
  must(await files.grep("obey"));
  assert.equal((await files.append("/memories/a.md", "x")).code, "permission_denied");
});

test("conversations are tainted one by one, and begin with what they are given", async () => {
  const { files, next } = await tainted();
  assert.deepEqual(next.reads, []);
  must(await next.write("/memories/a.md", "x"));
  const resumed = next.conversation(files.reads);
  assert.deepEqual(resumed.reads, [read]);
  assert.equal((await resumed.write("/memories/b.md", "x")).code, "permission_denied");
});

test("only a replacement of the whole content by an untainted conversation ends a label", async () => {
  const { files, next } = await tainted();
  must(await files.write(SCRATCH, "one two\n"));
  must(await next.edit(SCRATCH, "one", "1"));
  must(await next.append(SCRATCH, "3\n"));
  assert.deepEqual(await next.labels(SCRATCH), UNTRUSTED);
  must(await next.uploadFiles([[SCRATCH, encoder.encode("clean\n")]]));
  assert.deepEqual(await next.labels(SCRATCH), NONE);
  // What is built on that is clean as well.
  for (let turn = 0; turn < 20; turn += 1) must(await next.append(SCRATCH, `${turn}\n`));
  must(await next.edit(SCRATCH, "clean", "cleaner"));
  must(await next.copy(SCRATCH, "/memories/a.md"));
  must(await next.read(SCRATCH));
  must(await next.grep("cleaner"));
  assert.deepEqual(next.reads, []);
  must(await files.append(SCRATCH, "again\n"));
  assert.deepEqual(await next.labels(SCRATCH), UNTRUSTED);
});

test("a clean file that is copied over a labelled one makes it clean", async () => {
  const { files, next } = await tainted();
  must(await files.write(SCRATCH, "x"));
  must(await next.copy("/work/todo.md", SCRATCH, { overwrite: true }));
  assert.deepEqual(await next.labels(SCRATCH), NONE);
});

const REFUSED = {
  "a write over a file": (files) => files.write("/work/todo.md", "x"),
  "an edit without a match": (files) => files.edit("/work/todo.md", "no such text", "x"),
  "a copy over a file": (files) => files.copy(PAGE, "/work/todo.md"),
  "a move of nothing": (files) => files.move("/none", "/work/todo.md", { overwrite: true }),
};

for (const [name, call] of Object.entries(REFUSED)) {
  test(`a change that fails leaves the file without a label: ${name}`, async () => {
    const { files } = await tainted();
    assert.ok((await call(files)).error);
    assert.deepEqual(await files.labels("/work/todo.md"), NONE);
  });
}

test("a file that is twice in a batch keeps its label if one of both was stored", async () => {
  const inner = memory({ "/web/a": "x" });
  const small = withPolicy(inner, { quota: { maxFileBytes: 10 } });
  const files = withProvenance(small, rules());
  must(await files.read("/web/a"));
  for (const sizes of [
    [1, 100],
    [100, 1],
  ]) {
    const answers = await files.uploadFiles(sizes.map((size) => ["/b", new Uint8Array(size)]));
    assert.equal(answers.filter(({ error }) => error === null).length, 1);
    assert.deepEqual(await files.labels("/b"), UNTRUSTED);
    must(await files.trust("/"));
  }
});

test("a deleted or moved file leaves no label for the next one of its name", async () => {
  const { files, next } = await tainted();
  must(await files.write("/work/a.md", "x"));
  must(await files.write("/work/b.md", "x"));
  must(await next.delete("/work/a.md"));
  must(await next.move("/work/b.md", "/work/c.md"));
  must(await next.write("/work/a.md", "1"));
  must(await next.write("/work/b.md", "1"));
  for (const path of ["/work/a.md", "/work/b.md"]) assert.deepEqual(await next.labels(path), NONE);
  assert.deepEqual(await next.labels("/work/c.md"), UNTRUSTED);
});

test("a change past the rules does not end a label, and a person can", async () => {
  const { inner, files, next } = await tainted();
  must(await files.write("/work/a.md", "x"));
  must(await files.write("/work/d/b.md", "x"));
  must(inner.uploadFiles([["/work/a.md", encoder.encode("y")]]));
  assert.deepEqual(await next.labels("/work/a.md"), UNTRUSTED);
  assert.deepEqual(await next.trust("/work/a.md"), { path: "/work/a.md" });
  assert.deepEqual(await next.labels("/work/a.md"), NONE);
  assert.deepEqual(await next.labels("/work/d/b.md"), UNTRUSTED);
  must(await next.trust("/"));
  assert.deepEqual(await next.labels("/work/d/b.md"), NONE);
  assert.deepEqual(await next.labels(PAGE), UNTRUSTED);
});

test("a wrong path is an error of labels and trust", async () => {
  const { files } = opened();
  assert.equal((await files.labels("/../a")).code, "invalid_path");
  assert.equal((await files.trust("~")).code, "invalid_path");
  assert.equal((await files.labels(1)).code, "invalid_argument");
  const signal = AbortSignal.abort();
  assert.equal((await files.labels("/a", { signal })).code, "timeout");
});

test("labels are told apart, and a flow is about its own", async () => {
  const files = withProvenance(memory({ "/web/a": "a", "/inbox/b": "b" }), {
    labels: [
      { paths: ["/web/**"], as: "web" },
      { paths: ["/inbox/**", "/web/both"], as: "mail" },
    ],
    flows: [{ from: "mail", to: ["/sent/**"], then: "refuse" }],
  });
  must(await files.read("/web/a"));
  must(await files.write("/sent/1", "x"));
  must(await files.read("/inbox/b"));
  assert.equal((await files.write("/sent/2", "x")).code, "permission_denied");
  must(await files.write("/web/both", "x"));
  assert.deepEqual(await files.labels("/web/both"), { labels: ["mail", "web"] });
  assert.deepEqual(await files.labels("/sent/1"), { labels: ["web"] });
});

test("patterns match the directory itself, and files at the root", async () => {
  const files = withProvenance(memory({ "/in": "x", "/a.eml": "x", "/d/b.eml": "x" }), {
    labels: [{ paths: ["/in/**", "/**/*.eml"], as: "in" }],
  });
  for (const path of ["/in", "/a.eml", "/d/b.eml", "/in/deep/x"]) {
    assert.deepEqual(await files.labels(path), { labels: ["in"] }, path);
  }
  for (const path of ["/inn", "/a.emlx"]) assert.deepEqual(await files.labels(path), NONE, path);
});

test("with keepIn labels are there for the next object, and for other ones", async () => {
  const place = { keepIn: { backend: memory({}), path: "/kept/labels.tsv" } };
  const inner = memory();
  const first = withProvenance(inner, rules(true, place));
  const second = withProvenance(inner, rules(true, place));
  must(await first.read(PAGE));
  must(await first.write(SCRATCH, "x"));
  assert.deepEqual(await second.labels(SCRATCH), UNTRUSTED);
  // No call shows or changes the labels.
  assert.deepEqual(place.keepIn.backend.glob("**").files, []);
  must(await second.uploadFiles([[SCRATCH, encoder.encode("clean")]]));
  const third = withProvenance(inner, rules(true, place));
  assert.deepEqual(await third.labels(SCRATCH), NONE);
  must(await first.edit(SCRATCH, "clean", "x"));
  must(await third.read(SCRATCH));
  assert.equal(third.reads.length, 1);
  // Many at once, so that they change the file of labels beside each other.
  const paths = Array.from({ length: 20 }, (_, at) => `/work/${at}.md`);
  await Promise.all(
    paths.map(async (path, at) => must(await (at % 2 ? first : third).write(path, "x"))),
  );
  for (const path of paths) assert.deepEqual(await second.labels(path), UNTRUSTED, path);
});

test("if the labels cannot be read, every file has all of them until it is trusted", async () => {
  const own = await roomOf({ begin, StateBackend });
  const keep = memory({});
  must(await keep.write(own("/.kitbag/labels.tsv"), "something else"));
  const files = withProvenance(memory(), rules(true, { keepIn: { backend: keep } }));
  assert.deepEqual(await files.labels("/work/todo.md"), UNTRUSTED);
  const kept = await keep.ls(own("/.kitbag/.aside"));
  assert.equal(kept.files.length, 1);
  assert.equal((await keep.read(own(kept.files[0].path))).content, "something else");
  must(await files.write("/work/a.md", "x"));
  must(await files.read("/work/todo.md"));
  const refused = await files.write("/memories/a.md", "x");
  assert.equal(refused.code, "permission_denied");
  const [upload] = await files.uploadFiles([["/memories/a.md", encoder.encode("x")]]);
  assert.ok(upload.error);
  must(await files.trust("/"));
  assert.deepEqual(await files.labels("/work/todo.md"), { labels: [] });
});

test("if a label cannot be kept, what would carry it is not written", async () => {
  const keep = withPolicy(memory({}), { readOnly: true });
  const inner = memory();
  const files = withProvenance(inner, rules(true, { keepIn: { backend: keep } }));
  must(await files.write("/work/a.md", "x"));
  must(await files.read(PAGE));
  assert.equal((await files.write("/work/b.md", "x")).code, "permission_denied");
  assert.equal(inner.read("/work/b.md").code, "not_found");
});

test("an audit of a policy around it names the rule", async () => {
  const audit = ringAudit(10);
  const { files } = await tainted();
  const watched = withPolicy(files, { audit });
  await watched.write("/memories/a.md", "x");
  assert.equal(audit.records[0].rule, "flows");
  assert.equal(audit.records[0].code, "permission_denied");
});

async function folder(t, more) {
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-provenance-"));
  t.after(() => rmSync(rootDir, { recursive: true, force: true }));
  const inner = await LocalShellBackend.create({ rootDir, virtualMode: true });
  const made = Object.entries(FILES).map(([path, text]) => [path, encoder.encode(text)]);
  must(await inner.uploadFiles(made));
  return { inner, files: withProvenance(inner, { ...rules(), flows: [], ...more }) };
}

test("a command taints, and what it changes carries the labels", async (t) => {
  const { files } = await folder(t);
  const next = files.conversation();
  must(await files.execute("/bin/echo new > work/new.md; /bin/echo more >> work/todo.md"));
  assert.deepEqual(files.reads, [
    { label: "untrusted", path: "/web/deep/more.md", operation: "execute" },
  ]);
  assert.deepEqual(await next.labels("/work/new.md"), UNTRUSTED);
  assert.deepEqual(await next.labels("/work/todo.md"), UNTRUSTED);
  assert.deepEqual(await next.labels("/AGENTS.md"), NONE);
});

test("a command is not asked about where no file has a label", async (t) => {
  const { inner, files } = await folder(t, rules());
  assert.equal((await files.execute("/bin/echo hi")).code, "permission_denied");
  must(await inner.delete("/web"));
  const again = withProvenance(inner, rules());
  assert.equal(must(await again.execute("/bin/echo hi")).output, "hi\n");
  assert.deepEqual(again.reads, []);
});

test("while the end of a command is not seen, every file may be one that it has written", async (t) => {
  const { files } = await folder(t);
  const next = files.conversation();
  const ended = new AbortController();
  const running = files.execute("/bin/sleep 30", { signal: ended.signal });
  while ((await next.labels("/AGENTS.md")).labels.length === 0) await setImmediate();
  ended.abort();
  await running;
  assert.deepEqual(await next.labels("/AGENTS.md"), UNTRUSTED);
  must(await next.uploadFiles([["/AGENTS.md", encoder.encode("clean")]]));
  assert.deepEqual(await next.labels("/AGENTS.md"), NONE);
  must(await next.trust("/"));
  assert.deepEqual(await next.labels("/skills/a/SKILL.md"), NONE);
});

test("a link is no way to another path", async (t) => {
  const { inner, files } = await folder(t);
  must(await inner.execute("/bin/ln -s ../memories work/link"));
  const answer = await files.write("/work/link/new.md", "x");
  assert.match(answer.error, /symbolic link/);
  assert.match((await files.read("/work/link/notes.md")).error, /symbolic link/);
});

const everything = { labels: [{ paths: ["/**"], as: "all" }] };
for (const [name, wrap] of [
  ["nothing has a label", (inner) => withProvenance(inner, rules())],
  ["everything has a label", (inner) => withProvenance(inner, everything)],
  ["every file gets a label", (inner) => withProvenance(inner, rules()).conversation([read])],
]) {
  test(`the conformance suite passes where ${name}`, async () => {
    const { passed, failures } = await runConformance(({ writeMode }) =>
      wrap(new StateBackend({ scope: "instance", writeMode })),
    );
    assert.deepEqual(failures, []);
    assert.ok(passed > 100);
  });
}
