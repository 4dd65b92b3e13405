// Files as other packages, and serialisers, leave them in a state: images as base64 in lines, bytes as
// JSON. They are read as what they are, and an entry that is no file is never replaced unseen.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StateBackend } from "../lib/kitbag.mjs";

const PNG = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 255, 254, 253, 1, 2, 3]);
const BASE64 = Buffer.from(PNG).toString("base64");
const times = { created_at: "2026-01-02T03:04:05.000Z", modified_at: "2026-01-02T03:04:05.000Z" };

/** What is stored, and the bytes that it stands for. */
const FORMS = {
  "base64 in one line": ["/a.png", { content: [BASE64] }, PNG],
  "base64 in several lines": [
    "/a.png",
    { content: [BASE64.slice(0, 4), BASE64.slice(4, 12), BASE64.slice(12)] },
    PNG,
  ],
  "base64 without padding": ["/a.png", { content: [BASE64.replace(/=+$/, "")] }, PNG],
  "a data URL": ["/a.png", { content: [`data:image/png;base64,${BASE64}`] }, PNG],
  "base64 as one text with a type": ["/a", { content: BASE64, mimeType: "image/png" }, PNG],
  "base64 of a PDF": ["/a.pdf", { content: [BASE64] }, PNG],
  "bytes as JSON": ["/a.png", { content: JSON.parse(JSON.stringify(PNG)) }, PNG],
  "bytes as JSON, with a type": [
    "/a.bin",
    { content: { 0: 137, 1: 0 }, mimeType: "application/octet-stream" },
    [137, 0],
  ],
  "a Buffer as JSON": ["/a.png", { content: JSON.parse(JSON.stringify(Buffer.from(PNG))) }, PNG],
  "no bytes as JSON": ["/a.png", { content: {} }, []],
  "bytes of a text as JSON": ["/a.txt", { content: { 0: 104, 1: 105 } }, [104, 105]],
};

/** What stays as it is. */
const KEPT = {
  "lines of text": ["/a.txt", { content: ["aGk=", "b"] }, "aGk=\nb"],
  "base64 in a text file": ["/a.txt", { content: [BASE64] }, BASE64],
  "a file without an extension": ["/a", { content: ["aGk="] }, "aGk="],
  "lines that are no base64": ["/a.png", { content: ["not base64!"] }, "not base64!"],
  "a text that is said to be UTF-8": ["/a.png", { content: "aGk=", encoding: "utf-8" }, "aGk="],
  "a plain text as an initial file": ["/a.png", "aGk=", "aGk="],
};

function channelOf(files) {
  const channel = { files, read: () => channel.files };
  channel.send = (update) => {
    channel.files = { ...channel.files, ...update };
  };
  return channel;
}

/** The ways into a StateBackend: a state elsewhere, a runtime's, and its own. */
const WAYS = {
  channel: (files) => new StateBackend({ channel: channelOf(files) }),
  runtime: (files) => new StateBackend({ state: { files } }),
  files: (files) => new StateBackend({ files }),
};

for (const [way, make] of Object.entries(WAYS)) {
  describe(way, () => {
    for (const [what, [path, file, expected]] of Object.entries({ ...FORMS, ...KEPT })) {
      test(what, () => {
        const stored = typeof file === "string" ? file : { ...file, ...times };
        const backend = make({ [path]: stored });
        const [{ content }] = backend.downloadFiles([path]);
        const bytes = typeof expected === "string" ? Buffer.from(expected) : expected;
        assert.deepEqual([...content], [...bytes]);
        assert.equal(backend.glob("**").files.length, 1);
        assert.equal(backend.write(path, "aGk=").code, "already_exists");
        if (what in FORMS && path !== "/a.txt") {
          assert.deepEqual([...backend.readRaw(path).data.content], [...bytes]);
          assert.deepEqual([...backend.read(path).content], [...bytes]);
        }
      });
    }
  });
}

test("a file that is moved or copied arrives in the state", () => {
  const channel = channelOf({ "/a.txt": { content: "x", ...times } });
  const backend = new StateBackend({ channel });
  for (const act of ["copy", "move"]) {
    assert.equal(backend[act]("/a.txt", `/${act}.txt`).error, undefined);
    assert.equal(channel.files[`/${act}.txt`].content, "x");
  }
  assert.equal(channel.files["/a.txt"], null);
});

const ODD = {
  "a number": 5,
  "an object without content": { hello: 1 },
  "content of numbers beyond bytes": { content: { 0: 256 }, ...times },
  "content with a hole": { content: { 0: 1, 2: 3 }, ...times },
  "content of fractions": { content: [0.5], ...times },
  "content of true": { content: true, ...times },
  "content with negative numbers": { content: { 0: -1 }, ...times },
  "mixed lines": { content: ["a", 1], ...times },
  "an unknown encoding": { content: "x", encoding: "rot13", ...times },
  "base64 that is none": { content: "!", encoding: "base64", ...times },
};

for (const [what, entry] of Object.entries(ODD)) {
  for (const key of ["/odd.png", "odd.png"]) {
    test(`an entry that is ${what} (${key}) is not replaced`, () => {
      const channel = channelOf({ [key]: entry, "/other.txt": { content: "x", ...times } });
      const backend = new StateBackend({ channel, writeMode: "overwrite" });
      for (const act of [
        () => backend.write("/odd.png", "aGk="),
        () => backend.uploadFiles([["/odd.png", PNG]])[0],
        () => backend.copy("/other.txt", "/odd.png"),
        () => backend.write("/odd.png", "aGk="),
      ]) {
        const answer = act();
        assert.ok(answer.error, JSON.stringify(answer));
        assert.match(answer.message ?? answer.error, /an entry there that is not a file/);
        assert.equal(channel.files[key], entry);
        assert.equal(backend.read("/odd.png").code, "not_found");
      }
      assert.deepEqual(Object.keys(channel.files), [key, "/other.txt"]);
      channel.files = { "/other.txt": channel.files["/other.txt"] };
      assert.equal(backend.write("/odd.png", "aGk=").error, undefined);
      assert.ok(channel.files["/odd.png"]);
    });
  }
}
