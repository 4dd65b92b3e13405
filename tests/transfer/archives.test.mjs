// tar and zip: what goes in comes out, in both directions and with other programs; and what an
// archive that was made to do harm gets.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  bytes,
  contents,
  counted,
  FilesystemBackend,
  fromTar,
  fromZip,
  memory,
  toTar,
  toZip,
} from "./lib.mjs";
import { tarEntry, tarOf, zipOf } from "./made.mjs";

const FORMS = { tar: [toTar, fromTar], zip: [toZip, fromZip] };
const LONG = `/${"long-name-".repeat(14)}/${"ä".repeat(60)}.txt`;
const FILES = {
  "/a.txt": "alpha\r\n",
  "/notes/ünï 日本.md": "text",
  "/empty.txt": "",
  "/dot.png": new Uint8Array([0x89, 0, 255]),
  "/large.bin": new Uint8Array(300_000).map((_, at) => (at * 7919) % 251),
  [LONG]: "long",
};

const whole = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());

/** A folder that is removed at the end. */
async function inFolder(run) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-archive-"));
  try {
    await run(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

for (const [form, [pack, unpack]] of Object.entries(FORMS)) {
  test(`${form}: every file comes back byte for byte, from a stream, bytes and a Blob`, async () => {
    const source = memory(FILES);
    const archive = await whole(pack(source));
    for (const given of [pack(source), archive, archive.buffer, new Blob([archive])]) {
      const target = memory();
      const result = await unpack(given, target, { to: "/x" });
      assert.equal(result.error, undefined);
      assert.equal(result.copied, Object.keys(FILES).length);
      const back = Object.entries(contents(target)).map(([path, content]) => [
        path.slice(2),
        content,
      ]);
      assert.deepEqual(Object.fromEntries(back), contents(source));
    }
  });

  test(`${form}: from names the directory that is packed`, async () => {
    const target = memory();
    await unpack(pack(memory(FILES), { from: "/notes" }), target);
    assert.deepEqual(Object.keys(contents(target)), ["/ünï 日本.md"]);
  });

  test(`${form}: other programs read it, with empty directories`, async () => {
    await inFolder(async (root) => {
      mkdirSync(join(root, "in/empty"), { recursive: true });
      writeFileSync(join(root, "in/a.txt"), "a");
      const folder = new FilesystemBackend({ rootDir: join(root, "in") });
      writeFileSync(join(root, "archive"), await whole(pack(folder)));
      const read = `import sys, ${form}file\nwith ${form === "tar" ? "tarfile.open" : "zipfile.ZipFile"}(sys.argv[1]) as f: print(sorted(f.${form === "tar" ? "getnames" : "namelist"}()))`;
      const shown = execFileSync("python3", ["-c", read, join(root, "archive")], {
        encoding: "utf8",
      });
      assert.equal(shown.replaceAll("/'", "'").trim(), "['a.txt', 'empty']");
      const back = await unpack(await whole(pack(folder)), memory());
      assert.deepEqual([back.copied, back.emptyDirectories], [1, 1]);
    });
  });

  test(`${form}: conflicts follow the rule, and an equal file is none`, async () => {
    const archive = await whole(pack(memory({ "/a.txt": "new", "/b.txt": "same" })));
    const there = () => memory({ "/a.txt": "old", "/b.txt": "same" });
    const refused = there();
    assert.equal((await unpack(archive, refused)).code, "already_exists");
    assert.equal(contents(refused)["/a.txt"], "old");
    const kept = await unpack(archive, there(), { onConflict: "skip" });
    assert.deepEqual([kept.skipped, kept.equal, kept.error], [1, 1, undefined]);
    const target = there();
    await unpack(archive, target, { onConflict: "overwrite" });
    assert.equal(contents(target)["/a.txt"], "new");
  });

  test(`${form}: limits of entries, of one file and of all end the unpacking`, async () => {
    const archive = await whole(pack(memory({ "/a": "x".repeat(1000), "/b": "y".repeat(1000) })));
    for (const [limit, value] of [
      ["maxFiles", 1],
      ["maxFileBytes", 999],
      ["maxBytes", 1999],
    ]) {
      const result = await unpack(archive, memory(), { [limit]: value });
      assert.equal(result.code, "too_large", limit);
      assert.match(result.error, new RegExp(`\\(${limit}\\)`));
    }
    const fits = { maxFiles: 2, maxFileBytes: 1000, maxBytes: 2000 };
    assert.equal((await unpack(archive, memory(), fits)).error, undefined);
  });

  test(`${form}: a broken archive is an error, and a file that cannot be read ends the stream`, async () => {
    const archive = await whole(pack(memory(FILES)));
    for (const part of [archive.subarray(0, archive.length / 2), bytes("x".repeat(2000))]) {
      const result = await unpack(part, memory());
      assert.ok(result.error, `${part.length} bytes`);
    }
    const { watched } = counted(memory(FILES));
    watched.downloadFiles = async (paths) =>
      paths.map((path) => ({
        path,
        content: null,
        error: "permission_denied",
        message: "It is locked",
      }));
    await assert.rejects(whole(pack(watched)), /It is locked/);
  });

  test(`${form}: a signal ends both directions, and progress is counted`, async () => {
    const seen = [];
    const archive = await whole(
      pack(memory(FILES), { onProgress: (one) => seen.push(one.copied) }),
    );
    assert.equal(seen.at(-1), Object.keys(FILES).length);
    const signal = AbortSignal.abort();
    assert.equal((await unpack(archive, memory(), { signal })).code, "timeout");
    await assert.rejects(whole(pack(memory(FILES), { signal })), /cancelled/);
    assert.throws(() => pack(memory(), { frm: "/" }), /is "from" meant/);
    assert.throws(() => unpack(archive, memory(), { maxFile: 1 }), /is "maxFile/);
  });
}

/** Entries that do harm where they are unpacked without a look, and the words of the refusal. */
const HOSTILE = [
  ["../evil.txt", /leads out of the directory/],
  ["a/../../evil.txt", /leads out of the directory/],
  ["..", /leads out of the directory/],
  ["..\\evil.txt", /leads out of the directory/],
  ["/etc/evil.txt", /is absolute/],
  ["\\\\host\\evil.txt", /is absolute/],
  ["C:\\evil.txt", /is absolute/],
  ["a\\b.txt", /\\/],
  ["control\u0007.txt", /control/],
  [`${"d/".repeat(45)}${"n".repeat(9)}`, undefined],
];

for (const [form, unpack, archiveOf] of [
  ["tar", fromTar, tarOf],
  ["zip", fromZip, zipOf],
]) {
  for (const [name, words] of HOSTILE) {
    test(`${form}: the name ${JSON.stringify(name.slice(0, 30))} is ${words ? "refused, and the rest is unpacked" : "fine"}`, async () => {
      const target = memory();
      const archive = archiveOf({ name, content: "evil" }, { name: "good.txt", content: "good" });
      const result = await unpack(archive, target, { to: "/in/side" });
      const paths = Object.keys(contents(target));
      assert.ok(
        paths.every((path) => path.startsWith("/in/side/")),
        paths.join(),
      );
      assert.ok(paths.includes("/in/side/good.txt"));
      assert.equal(result.failed, words ? 1 : 0, result.error);
      if (words) assert.match(result.failures[0].error, words);
    });
  }

  test(`${form}: a second file of one name is refused, also in another spelling`, async () => {
    for (const again of ["a.txt", "./a.txt", ".//a.txt"]) {
      const target = memory();
      const archive = archiveOf({ name: "a.txt", content: "first" }, { name: again, content: "2" });
      const result = await unpack(archive, target, { onConflict: "overwrite" });
      assert.match(result.error, /twice; the first is kept/);
      assert.deepEqual(contents(target), { "/a.txt": "first" });
    }
  });
}

for (const [type, words] of [
  ["2", /link to "\/etc\/passwd"; links are not unpacked/],
  ["1", /link to "\/etc\/passwd"/],
  ["3", /character-device; only files/],
  ["6", /fifo; only files/],
  ["S", /sparse file; only whole files/],
  ["V", /of type "V"; only files/],
  ["D", /of type "D"; only files/],
  ["Z", /of type "Z"; only files/],
]) {
  test(`tar: an entry of type ${type} is refused`, async () => {
    const target = memory();
    const result = await fromTar(
      tarOf({ name: "x", type, link: "/etc/passwd" }, { name: "good", content: "g" }),
      target,
    );
    assert.match(result.failures[0].error, words);
    assert.deepEqual(contents(target), { "/good": "g" });
  });
}

for (const [format, more] of [
  ["gnu", []],
  ["pax", ["--sparse-version=0.0"]],
  ["pax", ["--sparse-version=1.0"]],
]) {
  test(`tar: a sparse file of the format ${format} ${more} is refused, and the rest is unpacked`, async () => {
    await inFolder(async (root) => {
      // More holes than a header has room for.
      const holes = openSync(join(root, "sparse"), "w");
      for (let at = 1; at < 40; at++) writeSync(holes, "tail", at * 65_536);
      closeSync(holes);
      writeFileSync(join(root, "whole.txt"), "whole");
      const form = [`--format=${format}`, ...more, "-S", "-c", "-C", root];
      const archive = execFileSync("tar", [...form, "sparse", "whole.txt"]);
      // Also where parts of the stream end anywhere.
      const parts = new ReadableStream({
        start(controller) {
          for (let at = 0; at < archive.length; at += 333) {
            controller.enqueue(new Uint8Array(archive.subarray(at, at + 333)));
          }
          controller.close();
        },
      });
      for (const given of [archive, parts]) {
        const target = memory();
        const result = await fromTar(given, target);
        assert.match(`${result.error}`, /^sparse: It is a sparse file; only whole files/);
        assert.deepEqual([result.failed, contents(target)], [1, { "/whole.txt": "whole" }]);
      }
    });
  });
}

test("tar: a name with U+FEFF in front is refused, not stored under another one", async () => {
  const marked = "\ufeffa.txt";
  const latin = Buffer.from(marked).toString("latin1");
  const long = { name: "././@LongLink", type: "L", content: marked, size: latin.length };
  for (const result of [
    await fromTar(tarOf({ name: latin, content: "x" }), memory()),
    await fromTar(tarOf(long, { name: "a.txt", content: "x" }), memory()),
  ]) {
    assert.deepEqual([result.failures[0]?.code, result.copied], ["invalid_path", 0]);
  }
});

test("tar: a size that a pax header gives is the entry's", async () => {
  const content = "S".repeat(700);
  const record = "12 size=700\n";
  const target = memory();
  const archive = tarOf(
    { name: "pax", type: "x", content: record },
    { name: "a", content, size: 3 },
    { name: "b", type: "Z", content: "z" },
  );
  const result = await fromTar(archive, target);
  assert.match(result.failures[0]?.error ?? `${result.error}`, /of type "Z"/);
  assert.deepEqual(contents(target), { "/a": content });
});

test("a refusal shows no character that nobody sees, or that turns a text around", async () => {
  for (const one of ["\u202e", "\u200b", "\ufe0f", "\u009b", "\u3164", "\u00a0", "\u{e0041}"]) {
    const latin = (text) => Buffer.from(text).toString("latin1");
    for (const result of [
      await fromTar(tarOf({ name: latin(`../a${one}b`), content: "x" }), memory()),
      await fromTar(tarOf({ name: "door", type: "2", link: latin(`/a${one}b`) }), memory()),
      await fromZip(zipOf({ name: `../a${one}b`, content: "x", flags: 0x800 }), memory()),
      await fromZip(
        zipOf({ name: `a${one === "\u00a0" ? "\u200b" : one}b`, content: "x" }),
        memory(),
      ),
    ]) {
      const said = result.failures.map(({ error }) => error).join();
      assert.ok(said.length > 10 && !said.includes(one), JSON.stringify(said));
    }
  }
});

test("names that are not UTF-8 are refused", async () => {
  const named = [
    await fromTar(tarOf({ name: "caf\u00e9.txt", content: "x" }), memory()),
    await fromZip(zipOf({ raw: Buffer.from("caf\u00e9.txt", "latin1"), content: "x" }), memory()),
  ];
  for (const result of named) assert.match(result.failures[0]?.error ?? "none", /is not in UTF-8/);
});

test("zip: symbolic links and encrypted entries are refused", async () => {
  const target = memory();
  const result = await fromZip(
    zipOf(
      { name: "link", content: "/etc/passwd", mode: 0o120777 },
      { name: "locked", content: "x", flags: 1 },
      { name: "good", content: "g" },
    ),
    target,
  );
  assert.deepEqual(
    result.failures.map(({ error }) => error),
    [
      "It is a symbolic link; links are not unpacked",
      "It is encrypted; encrypted files are not unpacked",
    ],
  );
  assert.deepEqual(contents(target), { "/good": "g" });
});

test("zip: a bomb that claims to be small ends at the limit of its claim or of the options", async () => {
  const bomb = "0".repeat(5_000_000);
  const lying = await fromZip(zipOf({ name: "b", content: bomb, size: 10 }), memory());
  assert.ok(lying.error, "a wrong size is an error");
  assert.equal(lying.copied, 0);
  const target = memory();
  const honest = await fromZip(zipOf({ name: "b", content: bomb }), target, {
    maxBytes: 1_000_000,
  });
  assert.equal(honest.code, "too_large");
  assert.deepEqual(contents(target), {});
});

test("zip: entries that share one content are refused, as a bomb of small size would have them", async () => {
  const archive = zipOf(
    { name: "a", content: "shared" },
    { name: "b", content: "shared", offset: 0 },
  );
  const target = memory();
  const result = await fromZip(archive, target);
  assert.ok(result.error);
  assert.ok(!("/b" in contents(target)));
});

test("zip: an archive over maxArchiveBytes is not collected", async () => {
  const result = await fromZip(zipOf({ name: "a", content: "x" }), memory(), {
    maxArchiveBytes: 50,
  });
  assert.match(result.error, /more than 50 bytes \(maxArchiveBytes\)/);
});

test("tar: a header that claims more than there is, is an error", async () => {
  const cut = tarOf({ name: "a", content: "abc", size: 100_000 });
  assert.ok((await fromTar(cut, memory())).error);
});

test("directories of an archive that have files are not counted as empty", async () => {
  const named = [
    { name: "a/", type: "5" },
    { name: "a/b/", type: "5" },
    { name: "c/", type: "5" },
  ];
  const result = await fromTar(tarOf(...named, { name: "a/b/x", content: "x" }), memory());
  assert.deepEqual([result.copied, result.emptyDirectories], [1, 1]);
});

test("a tar of gzip is read through the platform's stream", async () => {
  const packed = toTar(memory(FILES)).pipeThrough(new CompressionStream("gzip"));
  const target = memory();
  await fromTar(packed.pipeThrough(new DecompressionStream("gzip")), target);
  assert.deepEqual(contents(target), contents(memory(FILES)));
});

test("unpacking holds a batch and the file that is being read, not the whole archive", async () => {
  let stored = 0;
  let pulled = 0;
  const content = "z".repeat(20_000);
  const entries = Array.from({ length: 100 }, (_, at) => tarEntry({ name: `${at}`, content }));
  const stream = new ReadableStream(
    {
      pull(controller) {
        // The source is never far ahead of what is stored.
        assert.ok(pulled - stored <= 1_600_000, `${pulled} read, ${stored} stored`);
        const next = entries.shift() ?? Buffer.alloc(1024);
        pulled += next.length;
        controller.enqueue(new Uint8Array(next));
        if (next.length === 1024) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const result = await fromTar(stream, memory(), {
    batchBytes: 100_000,
    onProgress: ({ bytes: done }) => {
      stored = done;
    },
  });
  assert.equal(result.copied, 100);
});

test("the limit of the entries is 100,000 without an option", async () => {
  // Directories count, too, and nothing is stored of them.
  const entry = tarEntry({ name: "x/", type: "5" });
  let left = 100_010;
  const stream = new ReadableStream({
    pull(controller) {
      const count = Math.min(left, 2_000);
      left -= count;
      controller.enqueue(new Uint8Array(Buffer.concat(Array(count).fill(entry))));
      if (left === 0) controller.close();
    },
  });
  const result = await fromTar(stream, memory());
  assert.match(result.error, /more than 100000 entries/);
});

test("limits of bytes hold without an option", async () => {
  const claims = (size) => tarOf({ name: "a", size });
  const one = await fromTar(claims(268_435_457), memory());
  assert.match(one.error, /more than 268435456 bytes \(maxFileBytes\)/);
  const all = await fromTar(claims(1_073_741_825), memory(), { maxFileBytes: 2 ** 31 });
  assert.match(all.error, /more than 1073741824 bytes \(maxBytes\)/);
  const part = new Uint8Array(2 ** 24);
  let pulled = 0;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 1;
      controller.enqueue(part);
    },
  });
  const zip = await fromZip(endless, memory());
  assert.match(zip.error, /more than 268435456 bytes \(maxArchiveBytes\)/);
  assert.ok(pulled < 20, `${pulled} parts were read`);
});

/** A zip archive of one entry for each mode, made by the library of another language. */
function modes(root, entries) {
  const script = `import sys, json, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for name, mode, system, text in json.loads(sys.argv[2]):
        entry = zipfile.ZipInfo(name)
        entry.create_system = system
        entry.external_attr = mode << 16
        archive.writestr(entry, text)`;
  const file = join(root, "modes.zip");
  execFileSync("python3", ["-c", script, file, JSON.stringify(entries)]);
  return readFileSync(file);
}

test("zip: devices, pipes and sockets are refused by kind, and the rest is unpacked", async () => {
  await inFolder(async (root) => {
    const kinds = [
      ["pipe", 0o010644, /pipe/],
      ["character", 0o020644, /character device/],
      ["directory", 0o040755, /directory/],
      ["block", 0o060644, /block device/],
      ["link", 0o120777, /link/],
      ["socket", 0o140644, /socket/],
    ];
    const good = [
      ["file", 0o100644],
      ["program", 0o100755],
      ["no-mode", 0],
      ["only-permissions", 0o644],
    ];
    for (const system of [3, 19, 0]) {
      for (const text of ["", "text"]) {
        const entries = [...kinds, ...good].map(([name, mode]) => [name, mode, system, text]);
        const target = memory();
        const result = await fromZip(modes(root, entries), target);
        const expected = good.map(([name]) => `/${name}`).sort();
        assert.deepEqual(Object.keys(contents(target)).sort(), expected);
        // A directory without content is one.
        const refused = kinds.filter(([name]) => name !== "directory" || text !== "");
        assert.equal(result.failed, refused.length);
        assert.equal(result.emptyDirectories, kinds.length - refused.length);
        for (const [name, , why] of refused) {
          const failure = result.failures.find(({ path }) => path === name);
          assert.match(failure?.error ?? "", why, name);
        }
      }
    }
  });
});
