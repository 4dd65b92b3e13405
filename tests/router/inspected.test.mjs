// `inspect` and changes that happen while an edit is being inspected: a file never gets a content
// that the inspector has not seen. Each case is one way to change the file meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const bytes = (text) => new TextEncoder().encode(text);

/** A JavaScript object with the least that the protocol asks for, over a memory. */
function foreign() {
  const inner = new StateBackend();
  const object = {};
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"]) {
    object[name] = async (...args) => inner[name](...args.slice(0, 4));
  }
  object.uploadFiles = async (files) => inner.uploadFiles(files);
  object.downloadFiles = async (paths) => inner.downloadFiles(paths);
  return object;
}

const PLACES = {
  "a StateBackend": () => ({ inner: new StateBackend(), path: "/f.txt" }),
  "a mount": () => ({
    inner: new CompositeBackend(new StateBackend(), { "/m/": new StateBackend() }),
    path: "/m/f.txt",
  }),
  "a subclass": () => ({ inner: new (class extends StateBackend {})(), path: "/f.txt" }),
  "a foreign object": () => ({ inner: foreign(), path: "/f.txt" }),
};

/** What else happens; `around` is the guarded backend. */
const MEANWHILE = {
  "an upload in front of the text": (around, path) =>
    around.uploadFiles([[path, bytes("red middle")]]),
  "an upload behind the text": (around, path) =>
    around.uploadFiles([[path, bytes("middle button")]]),
  "an upload around the text": (around, path) =>
    around.uploadFiles([[path, bytes("red middle button")]]),
  "an upload of another line": (around, path) =>
    around.uploadFiles([[path, bytes("red\nmiddle\nbutton\n")]]),
  "an upload with other line endings": (around, path) =>
    around.uploadFiles([[path, bytes("red\r\nmiddle\r\n")]]),
  "an upload of the same file twice": (around, path) =>
    around.uploadFiles([
      [path, bytes("one")],
      [path, bytes("red middle")],
    ]),
  "two uploads": async (around, path) => {
    await around.uploadFiles([[path, bytes("middle button")]]);
    return around.uploadFiles([[path, bytes("red middle")]]);
  },
  "an upload among others": (around, path) =>
    around.uploadFiles([
      ["/other.txt", bytes("other")],
      [path, bytes("red middle")],
    ]),
  "a delete and a write": async (around, path) => {
    await around.delete(path);
    return around.write(path, "red middle");
  },
  "a delete and an upload": async (around, path) => {
    await around.delete(path);
    return around.uploadFiles([[path, bytes("middle button")]]);
  },
};

for (const [where, make] of Object.entries(PLACES)) {
  for (const [what, change] of Object.entries(MEANWHILE)) {
    for (const replaceAll of [false, true]) {
      const all = replaceAll ? ", replaceAll" : "";
      test(`${where}: ${what} during an inspection brings in nothing uninspected${all}`, async () => {
        const { inner, path } = make();
        const seen = new Set();
        let begun;
        const first = new Promise((resolve) => {
          begun = resolve;
        });
        let go;
        const gate = new Promise((resolve) => {
          go = resolve;
        });
        const around = withPolicy(inner, {
          async inspect({ operation, content }) {
            if (operation === "edit") {
              begun();
              await gate;
            }
            seen.add(typeof content === "string" ? content : new TextDecoder().decode(content));
          },
        });
        assert.equal((await around.write(path, "middle")).error, undefined);
        const editing = around.edit(path, "middle", "[edited]", replaceAll);
        await first;
        await change(around, path);
        go();
        await editing;
        const [{ content }] = await around.downloadFiles([path]);
        const stored = new TextDecoder().decode(content);
        assert.ok(seen.has(stored), `nobody inspected ${JSON.stringify(stored)}`);
      });
    }
  }
}

test("a change from outside the policy is not merged with an inspected edit", async () => {
  const inner = new StateBackend({ files: { "/f.txt": "middle" } });
  const seen = [];
  const around = withPolicy(inner, {
    inspect({ content }) {
      if (seen.length === 0) inner.uploadFiles([["/f.txt", bytes("red middle button")]]);
      seen.push(content);
    },
  });
  const edited = await around.edit("/f.txt", "middle", "[edited]");
  assert.equal(edited.error, undefined);
  assert.deepEqual(seen, ["[edited]", "red [edited] button"]);
  assert.equal((await inner.read("/f.txt")).content, "red [edited] button");
});

test("edits of one file that are inspected at once all land", async () => {
  const inner = new StateBackend({ files: { "/f.txt": "0 1 2 3 4 5 6 7 8 9" } });
  const around = withPolicy(inner, { inspect: async () => {} });
  const edits = Array.from({ length: 10 }, (_, n) => around.edit("/f.txt", `${n}`, `<${n}>`));
  for (const answer of await Promise.all(edits)) assert.equal(answer.error, undefined);
  assert.equal((await inner.read("/f.txt")).content, "<0> <1> <2> <3> <4> <5> <6> <7> <8> <9>");
});

test("an inspector may upload the file that is being edited", async () => {
  const inner = new StateBackend({ files: { "/f.txt": "middle" } });
  let uploaded = false;
  const around = withPolicy(inner, {
    async inspect({ operation }) {
      if (operation !== "edit" || uploaded) return;
      uploaded = true;
      await around.uploadFiles([["/f.txt", bytes("another middle")]]);
    },
  });
  const edited = await around.edit("/f.txt", "middle", "end");
  assert.equal(edited.error, undefined);
  assert.equal((await inner.read("/f.txt")).content, "another end");
});
