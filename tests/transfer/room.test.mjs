// Archives and trees that hold names of the library's own files, `.kitbag`: each such file is a failure,
// whatever spelling and whatever form the name has, the rest arrives, and what is kept there stays as it is.

import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { stranger } from "../lib/stranger.mjs";
import {
  adaptBackendProtocol,
  begin,
  bytes,
  CompositeBackend,
  compareTrees,
  copyTree,
  FilesystemBackend,
  fromTar,
  fromZip,
  memory,
  mirror,
  StateBackend,
  toTar,
  toZip,
  withPolicy,
  withProvenance,
} from "./lib.mjs";
import { crc, tarEntry, zipOf } from "./made.mjs";

const SECRET = "kept by the library";
const own = await roomOf({ begin, StateBackend });

/** Names below a directory, in spellings that some file system takes for the room. */
const NAMES = [
  ".kitbag/turns/journal",
  "./.kitbag//turns/./journal",
  "a/.KITBAG./x",
  "KITBAG~1/x",
  "a/KI12AB~3/x",
  ".kit\u200bbag/x",
  ".kit\ufe0fbag/x",
  ".kitbag\u3164/turns/journal",
  ".\u212aitbag/x",
  "a/.k\u0131tbag/x",
  ".kitbag::$INDEX_ALLOCATION/x",
  ".kitbag. ./x",
  ".kitbag",
  ".kitbag/.kitbag",
  `${"deep/".repeat(20)}.kitbag/history/log`,
];

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const walked = (root, dir = "") =>
  readdirSync(join(root, dir)).flatMap((name) => {
    const path = `${dir}/${name}`;
    return statSync(join(root, path)).isDirectory() ? walked(root, path) : [path];
  });

/** A memory with one file in its room; `kept` are the paths below and beside it. */
async function planted() {
  const backend = memory();
  await backend.uploadFiles([[own("/.kitbag/turns/journal"), bytes(SECRET)]]);
  return {
    backend,
    kept: async () => {
      const [{ content }] = await backend.downloadFiles([own("/.kitbag/turns/journal")]);
      assert.equal(new TextDecoder().decode(content), SECRET);
      return [...(await ownFiles(own, backend)), ...Object.keys(backend.snapshot())];
    },
  };
}

/** Each makes a target whose room has one file; `kept` checks it and tells all paths. */
const TARGETS = {
  "a memory": planted,
  "a folder": async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "kitbag-room-"));
    folders.push(rootDir);
    mkdirSync(join(rootDir, ".kitbag/turns"), { recursive: true });
    writeFileSync(join(rootDir, ".kitbag/turns/journal"), SECRET);
    return {
      backend: new FilesystemBackend({ rootDir }),
      kept: async () => {
        assert.equal(readFileSync(join(rootDir, ".kitbag/turns/journal"), "utf8"), SECRET);
        return walked(rootDir);
      },
    };
  },
  ...Object.fromEntries(
    Object.entries({
      "a stranger": (object) => object,
      "an adapted stranger": (object) => adaptBackendProtocol(object),
      "a policy over a stranger": (object) => withPolicy(object, {}),
      "a mount of a stranger": (object) => new CompositeBackend(object, {}),
    }).map(([name, wrap]) => [
      name,
      async () => {
        const map = new Map([["/.kitbag/turns/journal", SECRET]]);
        return {
          backend: wrap(stranger(map)),
          kept: async () => {
            assert.equal(map.get("/.kitbag/turns/journal"), SECRET);
            return [...map.keys()];
          },
        };
      },
    ]),
  ),
  "a policy": async () => {
    const { backend, kept } = await planted();
    return { backend: withPolicy(backend, { hiddenCharacters: "allow" }), kept };
  },
  "a conversation": async () => {
    const { backend, kept } = await planted();
    const labelled = withProvenance(backend, {
      labels: [{ paths: ["/web/**"], as: "untrusted" }],
    });
    return { backend: labelled.conversation(), kept };
  },
};

const pax = (key, value) => {
  for (let length = 1; ; length++) {
    const line = `${length} ${key}=${value}\n`;
    if (Buffer.byteLength(line) === length) return line;
  }
};
const latin = (text) => Buffer.from(text).toString("latin1");
const block = (given) => tarEntry({ ...given, size: Buffer.byteLength(given.content) });

/** A header with its directory in the field `prefix`. */
function prefixed(path) {
  const at = path.indexOf("/");
  const entry = tarEntry({ name: latin(path.slice(at + 1)), content: "evil" });
  entry.write(latin(path.slice(0, at)), 345, "latin1");
  entry.write("        ", 148);
  const sum = entry.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  entry.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return entry;
}

/** How an archive says that a file has this name. */
const TAR_FORMS = {
  "a plain name": (name) => [tarEntry({ name: latin(name), content: "evil" })],
  "pax path=": (name) => [
    block({ name: "pax", type: "x", content: pax("path", name) }),
    tarEntry({ name: "innocent.txt", content: "evil" }),
  ],
  "GNU's long name": (name) => [
    block({ name: "././@LongLink", type: "L", content: `${name}\0` }),
    tarEntry({ name: "innocent.txt", content: "evil" }),
  ],
  "a prefix": (name) => [prefixed(name)],
};

/** Info-ZIP's field 0x7075: the name in Unicode of an entry whose own name is another one. */
function unicodeName(raw, name) {
  const named = Buffer.from(name);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(5 + named.length, 2);
  field.writeUInt8(1, 4);
  field.writeUInt32LE(crc(Buffer.from(raw)), 5);
  return Buffer.concat([field, named]);
}

const ZIP_FORMS = {
  "a name in UTF-8": (name) => ({ name, content: "evil", flags: 0x800 }),
  "Info-ZIP's Unicode name": (name) => ({
    name: "innocent.txt",
    content: "evil",
    extra: unicodeName("innocent.txt", name),
  }),
};

const isShort = (name) => Buffer.byteLength(name) <= 100;

/** Checks a result of unpacking one evil and one good file. */
function refused(result, shown) {
  assert.equal(result.failed, 1, `${shown}: ${JSON.stringify(result)}`);
  assert.match(result.failures[0].error, /'\.kitbag' is for what kitbag itself keeps|link/, shown);
  assert.equal(result.copied, 1, shown);
}

for (const [target, make] of Object.entries(TARGETS)) {
  describe(`into ${target}`, () => {
    for (const [form, entries] of Object.entries(TAR_FORMS)) {
      test(`no tar with ${form} writes there`, async () => {
        for (const name of NAMES) {
          if (form === "a plain name" && !isShort(name)) continue;
          if (form === "a prefix" && !(/^[^/]+\/./.test(name) && isShort(name))) continue;
          const { backend, kept } = await make();
          const good = tarEntry({ name: "good.txt", content: "good" });
          const archive = Buffer.concat([...entries(name), good, Buffer.alloc(1024)]);
          refused(await fromTar(archive, backend, { onConflict: "overwrite" }), name);
          assert.deepEqual((await kept()).sort(), ["/.kitbag/turns/journal", "/good.txt"], name);
        }
      });
    }

    for (const [form, entry] of Object.entries(ZIP_FORMS)) {
      test(`no zip with ${form} writes there`, async () => {
        for (const name of NAMES) {
          const { backend, kept } = await make();
          const archive = zipOf(entry(name), { name: "good.txt", content: "good" });
          refused(await fromZip(archive, backend, { onConflict: "overwrite" }), name);
          assert.deepEqual((await kept()).sort(), ["/.kitbag/turns/journal", "/good.txt"], name);
        }
      });
    }

    test("no link of an archive leads there, and no option does", async () => {
      for (const to of [".kitbag", ".kitbag/turns", "../.kitbag", "a/../.KITBAG", "KITBAG~1"]) {
        const { backend, kept } = await make();
        for (const type of ["1", "2"]) {
          const entries = [
            { name: "door", type, link: to },
            { name: "good.txt", content: "good" },
          ];
          const archive = Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)]);
          refused(await fromTar(archive, backend, { onConflict: "overwrite" }), to);
          // What would go through the link is a file of its own.
          const through = tarEntry({ name: "door/journal", content: "evil" });
          await fromTar(Buffer.concat([through, Buffer.alloc(1024)]), backend, {
            onConflict: "overwrite",
          });
        }
        const linked = zipOf(
          { name: "way", content: to, mode: 0o120777 },
          { name: "good.txt", content: "good" },
        );
        refused(await fromZip(linked, backend, { onConflict: "overwrite" }), to);
        const paths = (await kept()).sort();
        assert.deepEqual(paths, ["/.kitbag/turns/journal", "/door/journal", "/good.txt"]);
      }
      const { backend, kept } = await make();
      const good = () =>
        Buffer.concat([tarEntry({ name: "x", content: "evil" }), Buffer.alloc(1024)]);
      for (const to of ["/.kitbag", "/a/.KITBAG.", "KITBAG~1", "/.kit\u200bbag/turns"]) {
        const said = await Promise.resolve()
          .then(() => fromTar(good(), backend, { to }))
          .catch((error) => ({ error: error.message }));
        assert.match(said.error ?? "", /kitbag|"to"/, to);
      }
      assert.deepEqual(await kept(), ["/.kitbag/turns/journal"]);
    });
  });
}

/** A stranger that lists, reads and stores whatever it is asked for, the room's names too. */
const liar = () =>
  new Map([
    ...NAMES.filter((name) => !name.startsWith("./")).map((name) => [`/${name}`, "evil"]),
    ["/good.txt", "good"],
  ]);

const SOURCES = {
  "a stranger": (object) => object,
  "one with a capability": (object) => ({ ...object, capability: { names: "exact" } }),
  "an adapted one": (object) => adaptBackendProtocol(object),
  "one in a policy": (object) => withPolicy(object, { hiddenCharacters: "allow" }),
  "one in a mount": (object) => new CompositeBackend(object, {}),
};

for (const [name, wrap] of Object.entries(SOURCES)) {
  describe(`from ${name} that shows such names`, () => {
    for (const [target, make] of Object.entries(TARGETS)) {
      test(`nothing of them is copied into ${target}`, async () => {
        const { backend, kept } = await make();
        const source = wrap(stranger(liar()));
        const result = await copyTree(source, backend, { onConflict: "overwrite" });
        assert.ok(result.copied === 1, JSON.stringify(result));
        assert.deepEqual((await kept()).sort(), ["/.kitbag/turns/journal", "/good.txt"]);
      });
    }

    test("archives, comparisons and mirrors have none of them", async () => {
      const source = () => wrap(stranger(liar()));
      for (const [pack, unpack] of [
        [toTar, fromTar],
        [toZip, fromZip],
      ]) {
        const target = memory();
        const result = await unpack(pack(source()), target);
        assert.deepEqual([result.copied, result.failed], [1, 0], JSON.stringify(result));
      }
      const { onlyFirst, different } = await compareTrees(source(), memory());
      assert.deepEqual([onlyFirst, different], [["good.txt"], []]);
      const { backend, kept } = await planted();
      const work = mirror(source(), backend, { to: "/" });
      const sent = await work.send();
      assert.equal(sent.error, undefined);
      assert.deepEqual((await kept()).sort(), ["/.kitbag/turns/journal", "/good.txt"]);
    });
  });
}
