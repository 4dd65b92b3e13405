// Labels on the ways through another place or another seat: a labelled text that leaves and comes back by
// `sync`, `mirror`, a server, `kitbag/fs`, Mastra or an editor of patches, through a conversation that has
// read nothing, is labelled, and no way brings it into a protected file. Of a place with labels of its own
// nothing is known: the last test says so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpBackend, StateBackend, undo } from "kitbag";
import { createFs } from "kitbag/fs";
import { workspaceFilesystem } from "kitbag/mastra";
import { patchEditor } from "kitbag/openai";
import { withProvenance } from "kitbag/provenance";
import { serveFiles } from "kitbag/server";
import { sync } from "kitbag/sync";
import { mirror } from "kitbag/transfer";
import { fileSystemProvider } from "kitbag/vscode";
import { memory, must, opened, PAGE, PLANT, rules, stolen } from "../provenance/lib.mjs";
import { uri, vscode } from "./editor.mjs";

const SUMMARY = "/work/summary.md";
const TEXT = `It says: ${PLANT}\n`;
const GUARDED = "/memories/new.md";
const ALL = { create: true, overwrite: true };
const bytes = (text) => new TextEncoder().encode(text);
const put = async (files, path, text) => must(await files.uploadFiles([[path, bytes(text)]]));

/** A client of a server of these files. */
function client(backend) {
  const serve = serveFiles(() => backend);
  return new HttpBackend({
    url: "http://files.test",
    fetch: (...given) => serve(new Request(...given)),
  });
}

const place = () => ({ keepIn: { backend: memory({}) } });

const synced = async (a, b, state = place()) => {
  const { error, refused } = await sync(a, b, state);
  assert.deepEqual([error, refused], [undefined, []]);
};

const edited = async (change) => {
  const { status, output } = await change;
  if (status === "failed") throw new Error(output);
};
const added = TEXT.trimEnd()
  .split("\n")
  .map((line) => `+${line}`)
  .join("\n");

/**
 * Each brings the text to a path, through `files`, which has read nothing. `away` has the text under the same
 * path.
 */
const WAYS = {
  "mirror and collect": async ({ files, path }) => {
    const sandbox = memory({});
    const work = mirror(files, sandbox);
    must(await work.send());
    await put(sandbox, path, TEXT);
    must(await must(await work.collect()).turn?.commit());
  },
  "mirror, and a file that a command copied": async ({ files, path }) => {
    const sandbox = memory({});
    const work = mirror(files, sandbox);
    must(await work.send());
    await put(sandbox, `${path}.copy`, TEXT);
    const { turn } = must(await work.collect());
    must(await turn.commit());
    return `${path}.copy`;
  },
  "a server, by PUT": async ({ files, path }) => {
    const serve = serveFiles(() => files);
    const init = { method: "PUT", headers: { "x-kitbag": "1" }, body: TEXT };
    const answer = await serve(new Request(`http://files.test${path}`, init));
    if (!answer.ok) throw new Error(await answer.text());
  },
  "a server, by HttpBackend": async ({ files, path }) =>
    void must(await client(files).write(path, TEXT)),
  "a server, by a commit": async ({ files, path }) => {
    const { begin } = await import("kitbag");
    const turn = begin(client(files));
    await put(turn, path, TEXT);
    must(await turn.commit());
  },
  "a server, by an undo": async ({ files, path }) => {
    const after = null;
    const one = { path, before: bytes(TEXT), after };
    const receipt = { files: [one], by: "x", at: new Date().toISOString(), id: "x" };
    must(await undo(client(files), receipt));
  },
  "a drive": async ({ files, path }) => {
    const serve = serveFiles(() => files, { webdav: true });
    const ask = async (at, init) => {
      const answer = await serve(new Request(`http://files.test${at}`, init));
      if (!answer.ok) throw new Error(await answer.text());
    };
    await ask("/work/upload.tmp", { method: "PUT", body: TEXT });
    const destination = `http://files.test${path}`;
    await ask("/work/upload.tmp", { method: "MOVE", headers: { destination } });
  },
  "fs, writeFile": async ({ files, path }) => createFs(files).promises.writeFile(path, TEXT),
  "fs, in parts through a handle": async ({ files, path }) => {
    const handle = await createFs(files).promises.open(path, "w");
    await handle.write(TEXT.slice(0, 5));
    await handle.write(TEXT.slice(5));
    await handle.close();
  },
  "fs, a temporary file and rename": async ({ files, path }) => {
    const { promises } = createFs(files);
    await promises.writeFile("/work/tmp", TEXT);
    await promises.rename("/work/tmp", path);
  },
  "fs, cp": async ({ files, path }) => {
    const { promises } = createFs(files);
    await promises.writeFile("/work/tmp", TEXT);
    await promises.cp("/work/tmp", path);
  },
  "fs, a stream": async ({ files, path }) => {
    const stream = createFs(files).createWriteStream(path);
    await new Promise((resolve, reject) => {
      stream.on("error", reject);
      stream.on("finish", resolve);
      stream.end(TEXT);
    });
  },
  "Mastra, writeFile": async ({ files, path }) =>
    workspaceFilesystem(files).writeFile(path, TEXT, { recursive: true }),
  "Mastra, copyFile": async ({ files, path }) => {
    const workspace = workspaceFilesystem(files);
    await workspace.writeFile("/work/tmp", TEXT);
    await workspace.copyFile("/work/tmp", path);
  },
  "Mastra, moveFile": async ({ files, path }) => {
    const workspace = workspaceFilesystem(files);
    await workspace.writeFile("/work/tmp", TEXT);
    await workspace.moveFile("/work/tmp", path);
  },
  "VS Code, a new file": async ({ files, path }) =>
    fileSystemProvider(files, vscode).writeFile(uri(path), bytes(TEXT), ALL),
  "VS Code, a save": async ({ files, path }) => {
    await put(files, path, "clean\n");
    const provider = fileSystemProvider(files, vscode);
    await provider.stat(uri(path));
    await provider.writeFile(uri(path), bytes(TEXT), ALL);
  },
  "VS Code, a rename": async ({ files, path }) => {
    const provider = fileSystemProvider(files, vscode);
    await provider.writeFile(uri("/work/tmp"), bytes(TEXT), ALL);
    await provider.rename(uri("/work/tmp"), uri(path), { overwrite: true });
  },
  "an editor of patches, a new file": async ({ files, path }) =>
    edited(patchEditor(files).createFile({ type: "create_file", path, diff: `${added}\n+` })),
  "an editor of patches, an update": async ({ files, path }) => {
    await put(files, path, "clean\n");
    const diff = `@@\n-clean\n${added}`;
    await edited(patchEditor(files).updateFile({ type: "update_file", path, diff }));
  },
};

/** Files with a labelled summary that is gone, and a conversation that has read nothing. */
async function stack(path, labelled = true) {
  const { inner, files: tainted } = opened(labelled);
  if (labelled) must(await tainted.read(PAGE));
  await put(tainted, SUMMARY, TEXT);
  const away = memory({});
  await put(away, path, TEXT);
  must(await tainted.delete(SUMMARY));
  return { inner, tainted, away, files: tainted.conversation(), path };
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`what comes back is labelled: ${name}`, async () => {
    const made = await stack(SUMMARY);
    assert.deepEqual(made.files.reads, []);
    const path = (await way(made)) ?? SUMMARY;
    assert.equal(made.inner.read(path).content, TEXT);
    assert.deepEqual(await made.tainted.labels(path), { labels: ["untrusted"] });
  });

  test(`it comes into no protected file: ${name}`, async () => {
    const made = await stack(GUARDED);
    await Promise.resolve()
      .then(() => way(made))
      .catch(() => {});
    assert.deepEqual(await stolen(made.inner), []);
  });

  test(`without a label it comes without one, also into such a file: ${name}`, async () => {
    const made = await stack(GUARDED, false);
    const path = (await way(made)) ?? GUARDED;
    assert.equal(made.inner.read(path).content, TEXT);
    assert.deepEqual(await made.tainted.labels(path), { labels: [] });
  });
}

test("a sync sends nothing that has a label to a side without labels, and what comes is judged", async () => {
  for (const turned of [false, true]) {
    for (const path of [SUMMARY, GUARDED]) {
      const { inner, files, away } = await stack(path);
      const sides = turned ? [away, files] : [files, away];
      const { error, refused } = await sync(...sides, place());
      assert.equal(error, undefined);
      const page = refused.filter((one) => one.path === PAGE);
      assert.deepEqual([page.length, page[0]?.code], [1, "unsupported"], JSON.stringify(refused));
      assert.equal(away.read(PAGE).code, "not_found");
      assert.deepEqual(await stolen(inner), []);
    }
  }
});

test("a sync of the backend inside is past the labels: a file keeps those that it has, and gets no new one", async () => {
  for (const turned of [false, true]) {
    const { inner, tainted, files, away } = await stack(SUMMARY);
    await put(tainted, "/work/kept.md", TEXT);
    const state = place();
    const both = () => (turned ? synced(away, inner, state) : synced(inner, away, state));
    await both();
    // Its label was lost with the file, and comes back with none of the text's ways through the object.
    assert.equal((await files.read(SUMMARY)).content, TEXT);
    assert.deepEqual(await tainted.labels(SUMMARY), { labels: [] });
    await put(away, "/work/kept.md", "another text\n");
    await both();
    assert.equal(inner.read("/work/kept.md").content, "another text\n");
    assert.deepEqual(await tainted.labels("/work/kept.md"), { labels: ["untrusted"] });
    must(await away.delete("/work/kept.md"));
    await both();
    await put(away, "/work/kept.md", TEXT);
    await both();
    assert.deepEqual(await tainted.labels("/work/kept.md"), { labels: ["untrusted"] });
    // What goes on through the object is judged by its content again.
    must(await files.write("/work/again.md", TEXT));
    assert.deepEqual(await tainted.labels("/work/again.md"), { labels: ["untrusted"] });
  }
});

test("another place knows the labels only with the same file of labels", async () => {
  const keepIn = { backend: memory({}), path: "/l.tsv" };
  const source = memory();
  const first = withProvenance(source, rules(true, { keepIn }));
  must(await first.read(PAGE));
  await put(first, SUMMARY, TEXT);
  for (const [more, labels] of [
    [{ keepIn }, ["untrusted"]],
    [{}, []],
  ]) {
    const target = new StateBackend({ files: {} });
    await synced(source, target);
    const elsewhere = withProvenance(target, rules(true, more));
    assert.deepEqual(await elsewhere.labels(SUMMARY), { labels });
  }
});
