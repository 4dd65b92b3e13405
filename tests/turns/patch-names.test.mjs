// Names in patches that need quotes: what `toPatch` writes of any name, `applyPatch` and git read as that
// name, a header that names no file for sure is refused, and no patch deletes a file of which it does not
// have all lines.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { after, test } from "node:test";
import { applyPatch, begin, StateBackend, toPatch } from "../lib/kitbag.mjs";

const folder = mkdtempSync(join(tmpdir(), "kitbag-names-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const utf8 = new TextEncoder();
const backendOf = (files) => new StateBackend({ files, writeMode: "overwrite" });

/** The files of a backend by their path, with their text. */
function filesOf(backend) {
  const paths = backend.glob("**/*", "/").files.map(({ path }) => path);
  const contents = backend
    .downloadFiles(paths)
    .map(({ content }) => Buffer.from(content).toString());
  return Object.fromEntries(paths.map((path, at) => [path, contents[at]]));
}

/** The patch of a turn that makes `files` of `before`; null deletes. */
async function patchOf(before, files, moves = []) {
  const turn = begin(backendOf(before));
  for (const [from, to] of moves) assert.equal((await turn.move(from, to)).error, undefined);
  for (const [path, content] of Object.entries(files)) {
    if (content === null) assert.equal((await turn.delete(path)).error, undefined);
    else await turn.uploadFiles([[path, utf8.encode(content)]]);
  }
  const { patch, error } = toPatch((await turn.diff()).changes);
  assert.equal(error, undefined);
  return patch;
}

/** What `git apply` makes of files; undefined if it refuses the patch. */
function gitApplied(files, patch) {
  const root = mkdtempSync(join(folder, "git-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const env = {
    PATH: process.env.PATH,
    GIT_CEILING_DIRECTORIES: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
  try {
    execFileSync("git", ["apply"], { cwd: root, input: patch, env, stdio: "pipe" });
  } catch {
    return undefined;
  }
  const found = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    found.map((path) => [
      `/${relative(root, path).split(sep).join("/")}`,
      readFileSync(path, "utf8"),
    ]),
  );
}

function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % sides;
  };
}

const PIECES = [
  ...['"', '" ', ' "', '""', '" "', " ", "  ", " b/", ' "b/', '" b/', " a/", "a/", "b/"],
  ...[
    "x",
    "y",
    "a",
    "b",
    "é",
    "ß",
    "日本",
    "😀",
    "e\u0301",
    "'",
    "`",
    "$",
    "\t",
    "\n",
    "\\",
    '\\"',
  ],
  ...["\\n", "dev/null", "=>", "{", "}", "diff --git ", "#", "\r", "-", "+++ ", ".txt"],
];

/** A random path; `plain` ones have only what a path of a backend may have. */
function pathOf(roll, plain) {
  const pieces = plain ? PIECES.filter((one) => !/[\\\t\n\r]/.test(one)) : PIECES;
  for (;;) {
    const name = Array.from({ length: 1 + roll(6) }, () => pieces[roll(pieces.length)]).join("");
    const path = `/${name}`.replace(/\/+/g, "/").replace(/\/$/, "/z");
    if (!path.split("/").some((one) => one === "." || one === "..") && !/^\/~/.test(path)) {
      return path;
    }
  }
}

const CASES = 600;

test(`${CASES} random names: created, deleted and moved as toPatch wrote it`, async () => {
  const roll = dice(11);
  const text = "one\ntwo\n";
  let quoted = 0;
  for (let at = 0; at < CASES; at++) {
    const path = pathOf(roll, true);
    const other = `/other${pathOf(roll, true)}`;
    if (path.startsWith("/other") || other.startsWith(`${path}/`)) continue;
    if (path.includes('"')) quoted += 1;
    const about = JSON.stringify(path);
    const made = async (before, files, wanted, moves) => {
      const patch = await patchOf(before, files, moves);
      const backend = backendOf({ ...before, "/stays": text });
      const done = await applyPatch(backend, patch);
      assert.equal(done.error, undefined, `${about}: ${done.error}\n${patch}`);
      assert.deepEqual(filesOf(backend), { ...wanted, "/stays": text }, `${about}\n${patch}`);
      return patch;
    };
    await made({}, { [path]: "" }, { [path]: "" });
    await made({ [path]: "" }, { [path]: null }, {});
    await made({}, { [path]: text }, { [path]: text });
    await made({ [path]: text }, { [path]: null }, {});
    await made({ [path]: text }, { [path]: "one\n2\n" }, { [path]: "one\n2\n" });
    await made({ [path]: text }, {}, { [other]: text }, [[path, other]]);
    // A patch that changes the mode alone changes nothing here, and does not fail.
    const header = (await patchOf({ [path]: "" }, { [path]: null })).split("\n")[0];
    const mode = `${header}\nold mode 100644\nnew mode 100755\n`;
    const backend = backendOf({ [path]: text });
    assert.equal((await applyPatch(backend, mode)).error, undefined, mode);
    assert.deepEqual(filesOf(backend), { [path]: text });
    const missing = await applyPatch(backendOf({ "/stays": text }), mode);
    assert.equal(missing.code, "not_found", mode);
  }
  assert.ok(quoted > CASES / 4, `${quoted} names with quotes`);
});

test("git makes the same of random names", async () => {
  const roll = dice(5);
  for (let at = 0; at < 10; at++) {
    const [before, wanted, files, moves] = [{ "/stays": "s\n" }, { "/stays": "s\n" }, {}, []];
    for (let one = 0; one < 12; one++) {
      const path = `/${one}${pathOf(roll, true)}`;
      const kind = roll(4);
      if (kind !== 0) before[path] = kind === 1 ? "" : `${one}\n`;
      if (kind === 0) files[path] = wanted[path] = "";
      else if (kind < 3) files[path] = null;
      else {
        const to = `/${one}to${pathOf(roll, true)}`;
        moves.push([path, to]);
        wanted[to] = `${one}\n`;
      }
    }
    const patch = await patchOf(before, files, moves);
    assert.deepEqual(gitApplied(before, patch), wanted, patch);
    const backend = backendOf(before);
    assert.equal((await applyPatch(backend, patch)).error, undefined, patch);
    assert.deepEqual(filesOf(backend), wanted);
  }
});

test("names that no file of a backend can have are written as git reads them, and refused", async () => {
  const roll = dice(3);
  for (let at = 0; at < 60; at++) {
    const path = pathOf(roll, false);
    const change = { path, kind: "created", before: null, after: new Uint8Array(), hunks: [] };
    const { patch } = toPatch([change]);
    if (at % 6 === 0) assert.deepEqual(gitApplied({}, patch), { [path]: "" }, patch);
    const backend = backendOf({ "/stays": "" });
    const done = await applyPatch(backend, patch);
    const canHave = !/[\\\t\n\r]/.test(path);
    assert.equal(done.code, canHave ? undefined : "invalid_path", `${patch} ${done.error}`);
    assert.deepEqual(filesOf(backend), { "/stays": "", ...(canHave && { [path]: "" }) });
  }
});

/** Headers of an empty file, and the path that is created. */
const HEADERS = {
  'a/x" y': [String.raw`"a/x\" y" "b/x\" y"`, '/x" y'],
  "a quote at the end": [String.raw`"a/x\"" "b/x\""`, '/x"'],
  "quotes alone": [String.raw`"a/\"\" \" \"" "b/\"\" \" \""`, '/"" " "'],
  "quoted without need": ['"a/x" "b/x"', "/x"],
  "the first is quoted": [String.raw`"a/\303\251" b/é`, "/é"],
  "the second is quoted": [String.raw`a/é "b/\303\251"`, "/é"],
  "the second is quoted, with spaces": [String.raw`a/x é y "b/x \303\251 y"`, "/x é y"],
  octal: [String.raw`"a/gr\303\274\303\237e" "b/gr\303\274\303\237e"`, "/grüße"],
  "b/ inside": ["a/x b/x b/x b/x", "/x b/x"],
  "spaces at the end": ["a/x  b/x ", "/x "],
  "no prefix": ["dir/x dir/x", "/dir/x"],
  "prefixes of git's options": ["i/x w/x", "/x"],
  "Windows' line endings": ["a/x b/x\r", "/x"],
  "Windows' line endings, quoted": ['"a/x\\"" "b/x\\""\r', '/x"'],
};

for (const [name, [names, path]] of Object.entries(HEADERS)) {
  test(`a header: ${name}`, async () => {
    const backend = backendOf({ "/stays": "" });
    const patch = `diff --git ${names}\nnew file mode 100644\nindex 0000000..e69de29\n`;
    const done = await applyPatch(backend, patch);
    assert.equal(done.error, undefined);
    assert.deepEqual(filesOf(backend), { "/stays": "", [path]: "" });
  });
}

/** Headers that name no file for sure. */
const UNSURE = {
  "two names": "a/x b/y",
  "two quoted names": String.raw`"a/x\"" "b/y\""`,
  "two names of several lengths": "a/x y b/z",
  "one prefix twice": "a/x a/x",
  "a quote that does not end": String.raw`"a/x\" "b/x"`,
  "a second quote that does not end": String.raw`"a/x" "b/x\"`,
  "text behind the quotes": '"a/x"y "b/x"y',
  "an unknown escape": String.raw`"a/\x41" "b/\x41"`,
  "an octal number over a byte": String.raw`"a/\777" "b/\777"`,
  "a short octal number": String.raw`"a/\12" "b/\12"`,
  "bytes that are no UTF-8": String.raw`"a/\303" "b/\303"`,
  "one name": "a/x",
  nothing: "",
};

for (const [name, names] of Object.entries(UNSURE)) {
  test(`a header that is refused: ${name}`, async () => {
    for (const mode of ["new file", "deleted file", "old"]) {
      const backend = backendOf({ "/x": "", "/y": "", "/A": "", "/stays": "" });
      const before = filesOf(backend);
      const done = await applyPatch(backend, `diff --git ${names}\n${mode} mode 100644\n`);
      assert.equal(done.code, "invalid_argument", done.error);
      assert.match(done.error, /cannot be read: line 1 .*name cannot be told/);
      assert.deepEqual(filesOf(backend), before);
    }
  });
}

test("lines of a header that are unsure are read if other lines name the file", async () => {
  const backend = backendOf({ '/x" y': "one\n" });
  const patch = String.raw`diff --git "a/x\" y" b/z
--- "a/x\" y"
+++ "b/x\" y"
@@ -1 +1 @@
-one
+two
`;
  assert.equal((await applyPatch(backend, patch)).error, undefined);
  assert.deepEqual(filesOf(backend), { '/x" y': "two\n" });
});

/** Patches that must not be read as if they were whole; each leaves `/x` as it is. */
const WRONG = {
  "half of a rename": ["diff --git a/x b/y\nrename from x\n", "invalid_argument"],
  "the other half": ["diff --git a/x b/y\nrename to y\n", "invalid_argument"],
  "a rename to a broken name": [
    'diff --git a/x b/y\nrename from x\nrename to "y\n',
    "invalid_argument",
  ],
  "no file on either side": ["--- /dev/null\n+++ /dev/null\n", "invalid_argument"],
  "a broken name": ['--- "a/x\n+++ "b/x\n@@ -1 +1 @@\n-one\n+1\n', "invalid_argument"],
  "text behind a name": ['--- "a/x"y\n+++ "b/x"y\n@@ -1 +1 @@\n-one\n+1\n', "invalid_argument"],
  "a control character by its letter": [
    String.raw`diff --git "a/\tx" "b/\tx"
new file mode 100644
`,
    "invalid_path",
  ],
  "a file of several lines is deleted without lines": [
    "diff --git a/x b/x\ndeleted file mode 100644\n",
    "no_match",
  ],
  "a file is deleted by names alone": ["--- a/x\n+++ /dev/null\n", "no_match"],
  "a file is deleted with one of its lines": [
    "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
    "no_match",
  ],
  "a file is deleted with a line that stays": [
    "--- a/x\n+++ /dev/null\n@@ -1,2 +1 @@\n-one\n two\n",
    "no_match",
  ],
  "a binary file is deleted without lines": [
    "diff --git a/bin b/bin\ndeleted file mode 100644\n",
    "no_match",
  ],
  "lines for a binary file": ["--- a/bin\n+++ b/bin\n@@ -0,0 +1 @@\n+one\n", "no_match"],
  "a binary file is deleted by added lines": [
    "--- a/bin\n+++ /dev/null\n@@ -0,0 +0,0 @@\n",
    "no_match",
  ],
};

for (const [name, [patch, code]] of Object.entries(WRONG)) {
  test(`refused: ${name}`, async () => {
    const backend = backendOf({ "/x": "one\ntwo\n", "/bin": Uint8Array.of(255, 0, 1) });
    const before = filesOf(backend);
    const done = await applyPatch(backend, patch);
    assert.equal(done.code, code, done.error);
    assert.deepEqual(filesOf(backend), before);
  });
}

test("what a letter says behind the hunks is no part of the patch", async () => {
  const backend = backendOf({ "/x": "one\n" });
  const patch =
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+1\ndeleted file mode: gone\nrename from me\n";
  assert.equal((await applyPatch(backend, patch)).error, undefined);
  assert.deepEqual(filesOf(backend), { "/x": "1\n" });
});
