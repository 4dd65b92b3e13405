// Searches of a folder go one of three ways: by synchronous calls that hand over only files which
// hold the text, by promises on any host, or with ripgrep's help. All answer as memory does.

import assert from "node:assert/strict";
import fs from "node:fs";
import fsPromises from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const WAYS = {
  "synchronous calls": {},
  promises: { fs: fsPromises },
  ripgrep: { ripgrep: true },
};

/** Memory and the disk, with the same files in both. */
async function withBoth(files, use) {
  await withFolder(async (rootDir) => {
    const memory = new kitbag.StateBackend();
    for (const [path, body] of Object.entries(files)) {
      const bytes = Buffer.from(body);
      fs.mkdirSync(dirname(join(rootDir, path)), { recursive: true });
      fs.writeFileSync(join(rootDir, path), bytes);
      const [{ error }] = memory.uploadFiles([[path, bytes]]);
      assert.equal(error, null, path);
    }
    await use(memory, rootDir);
  });
}

/** The same question to memory and to the disk, each way; how many matches there were. */
async function alike(memory, rootDir, ...question) {
  const expected = memory.grep(...question);
  assert.equal(expected.error, undefined);
  for (const [way, options] of Object.entries(WAYS)) {
    const disk = new kitbag.FilesystemBackend({ rootDir, ...options });
    const found = await disk.grep(...question);
    assert.deepEqual(found, expected, `${way}: ${JSON.stringify(question)}`);
  }
  return expected.matches.length;
}

/** Numbers that look random and are the same each time. */
function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

test("files come in order of their paths, whatever the names", () => {
  const names = [
    "a",
    "a-b",
    "a.txt",
    "a/b",
    "a/b-c/d",
    "a/b0",
    "a0",
    "Z",
    "é",
    "z\u{1F600}",
    "z\uFB01",
  ];
  const more = ["z\u{1F600}/x", "z\uFB01/x", "~x", "with space/and more", ".hidden/x"];
  const files = {};
  for (const name of [...names, ...more]) {
    const path =
      name === "a" ? "/a.d/a" : name.replace(/^a\//, "a.d/").replace(/^(z.+)\/x$/u, "$1.d/x");
    files[path.startsWith("/") ? path : `/${path}`] = "here it is\n";
  }
  return withBoth(files, async (memory, rootDir) => {
    assert.equal(await alike(memory, rootDir, "here it"), Object.keys(files).length);
    await alike(memory, rootDir, "here it", "/", null, 3);
    await alike(memory, rootDir, "here it", "/a.d");
    await alike(memory, rootDir, "here it", "/a.d/b0");
    await alike(memory, rootDir, "here it", "/none");
    await alike(memory, rootDir, "here it", "/", "*.txt");
  });
});

test("nothing is found across the border of two files, nor missed beside it", () => {
  const files = {
    "/1": "xxraretok",
    "/2": "enraretoken",
    "/3": "",
    "/4": "raretokenraretoken",
    "/5": "raretoke",
    "/6": "n",
    "/7": "\nraretoken\n",
    "/8": "raretoken",
    "/9": "a kangaroo",
  };
  return withBoth(files, async (memory, rootDir) => {
    assert.equal(await alike(memory, rootDir, "raretoken"), 4);
    await alike(memory, rootDir, "n");
    await alike(memory, rootDir, "nraretoken");
    await alike(memory, rootDir, "enraretoken");
    await alike(memory, rootDir, "kangaroo in the house");
  });
});

test("random texts of few letters and random questions", () => {
  const roll = dice(7);
  const text = (letters, length) =>
    Array.from({ length }, () => letters[roll(letters.length)]).join("");
  const files = {};
  for (let n = 0; n < 150; n++) files[`/d${roll(9)}/f${n}`] = text("zqa\n", roll(400));
  files["/long"] = `${"z".repeat(100_000)}a\n${"zq".repeat(5000)}`;
  return withBoth(files, async (memory, rootDir) => {
    let found = 0;
    for (let n = 0; n < 60; n++) {
      found += await alike(memory, rootDir, text("zqa", 1 + roll(n < 30 ? 4 : 12)), "/");
    }
    assert.ok(found > 1000, String(found));
    // Its rarest letter is everywhere, and the whole only at the end.
    assert.equal(await alike(memory, rootDir, `${"z".repeat(20)}a`), 1);
    await alike(memory, rootDir, "z+a", "/", null, null, { regex: true });
    await alike(memory, rootDir, "QA", "/", "**/f1*", null, { ignoreCase: true, after: 1 });
  });
});

test("large files, many bytes of hits, and a limit", () => {
  const line = `${"filler ".repeat(20)}\n`;
  const large = (bytes, at) => {
    const body = Buffer.alloc(bytes, line);
    body.write("\nneedle\n", at);
    return body;
  };
  const files = {
    "/a-small.txt": "needle\n",
    "/b-three.txt": large(3 << 20, (3 << 20) - 8),
    "/c-none.txt": Buffer.alloc(5 << 20, line),
    "/d-small.txt": "no such thing\n",
    "/e-seven.txt": large(7 << 20, 0),
    "/f-exactly-the-room.txt": large(2 << 20, (2 << 20) >> 1),
    "/g.txt": "needle at the end needle",
    "/h.bin": Buffer.from([0, 1, 2, ...Buffer.from("needle")]),
    "/i.png": "needle",
    "/j-nul.txt": Buffer.from("needle\0needle\n"),
    "/k-latin1.txt": Buffer.from([0xe9, ...Buffer.from("needle"), 0xe9, 10]),
  };
  for (let n = 0; n < 40; n++) files[`/many/${n}.txt`] = large(100_000, n * 1000);
  return withBoth(files, async (memory, rootDir) => {
    assert.ok((await alike(memory, rootDir, "needle")) > 44);
    assert.equal(await alike(memory, rootDir, "needle", "/", null, 3), 3);
    await alike(memory, rootDir, "filler filler", "/many", null, 10);
    const least = (limit) => new kitbag.FilesystemBackend({ rootDir, maxFileBytes: limit });
    for (const limit of [6, 7, (3 << 20) - 1, 3 << 20, (7 << 20) - 1]) {
      const { matches } = await least(limit).grep("needle");
      const shown = new Set(matches.map(({ path }) => path));
      const whole = memory.grep("needle").matches.map(({ path }) => path);
      const wanted = new Set(whole.filter((path) => Buffer.from(files[path]).length <= limit));
      assert.deepEqual(shown, wanted, String(limit));
    }
  });
});

test("files that come and go, or grow, while they are searched", () =>
  withFolder(async (rootDir) => {
    for (let n = 0; n < 300; n++) {
      fs.mkdirSync(join(rootDir, `d${n % 10}`), { recursive: true });
      fs.writeFileSync(join(rootDir, `d${n % 10}/stays${n}.txt`), "needle\n");
    }
    const disk = new kitbag.FilesystemBackend({ rootDir });
    let searching = true;
    const others = (async () => {
      for (let n = 0; searching; n++) {
        const dir = join(rootDir, `d${n % 10}`);
        await fsPromises.writeFile(join(dir, "comes.txt"), "needle".repeat(n % 500));
        await fsPromises.rm(join(dir, "comes.txt"));
        await fsPromises.mkdir(join(rootDir, "e/f"), { recursive: true });
        await fsPromises.rm(join(rootDir, "e"), { recursive: true });
      }
    })();
    for (let round = 0; round < 20; round++) {
      const { matches, error } = await disk.grep("needle");
      assert.equal(error, undefined);
      const stay = matches.filter(({ path }) => path.includes("stays"));
      assert.equal(stay.length, 300);
      assert.ok(matches.every(({ text }) => text.startsWith("needle")));
    }
    searching = false;
    await others;
  }));

test("others have their turns while one large directory is searched", () =>
  withFolder(async (rootDir) => {
    for (let n = 0; n < 10_000; n++) fs.writeFileSync(join(rootDir, `${n + 10_000}.txt`), `n${n}`);
    // What an earlier search has learned would spare later ones the files.
    const disk = new kitbag.FilesystemBackend({ rootDir, searchCache: false });
    for (const [pattern, expected] of [
      ["n", 10_000],
      ["n99", 111],
      ["none", 0],
    ]) {
      let searching = true;
      let turns = 0;
      const others = (async () => {
        while (searching) {
          await new Promise((resolve) => setImmediate(resolve));
          turns += 1;
        }
      })();
      const { matches } = await disk.grep(pattern);
      searching = false;
      await others;
      assert.equal(matches.length, expected);
      const paths = matches.map(({ path }) => path);
      assert.deepEqual(paths, [...new Set(paths)].sort());
      // Opening so many takes longer than a few turns.
      assert.ok(turns >= 3, `${turns} turns`);
    }
  }));

test("no directory stays open, however a search ends", () =>
  withFolder(async (rootDir) => {
    fs.mkdirSync(join(rootDir, "in/deep"), { recursive: true });
    for (let n = 0; n < 2000; n++) fs.writeFileSync(join(rootDir, `in/${n}.txt`), "needle\n");
    fs.writeFileSync(join(rootDir, "in/deep/one.txt"), "needle\n");
    fs.symlinkSync("/tmp", join(rootDir, "out"));
    const disk = new kitbag.FilesystemBackend({ rootDir });
    const open = () => fs.readdirSync("/proc/self/fd").map((fd) => linkOf(fd));
    const ours = () => open().filter((path) => path?.startsWith(rootDir) || path === "/tmp").length;
    assert.equal(ours(), 0);
    let givenUp = 0;
    for (let round = 0; round < 20; round++) {
      assert.equal((await disk.grep("needle", "/", null, 1)).matches.length, 1);
      assert.ok((await disk.grep("needle", "/out")).error);
      assert.deepEqual((await disk.grep("needle", "/none")).matches, []);
      assert.equal((await disk.grep("needle", "/in/deep")).matches.length, 1);
      assert.equal((await disk.glob("**/one.txt")).files.length, 1);
      const controller = new AbortController();
      const answer = disk.grep("needle", "/", null, null, { signal: controller.signal });
      for (let turn = 0; turn < round; turn++) await null;
      controller.abort();
      const { error } = await answer.catch((thrown) => ({ error: String(thrown) }));
      if (error) givenUp += 1;
    }
    assert.ok(givenUp > 0, "no search was given up");
    for (let n = 0; n < 200 && ours() > 0; n++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.equal(ours(), 0, open().join(" "));
  }));

function linkOf(fd) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
