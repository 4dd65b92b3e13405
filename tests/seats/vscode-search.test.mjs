// The searches of `kitbag/vscode` under the managers of VS Code: find in files against `RegExp`, names against
// VS Code's own patterns, limits, and what cannot be searched for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend, withPolicy } from "kitbag";
import { withIndex } from "kitbag/indexed";
import { fileSystemProvider } from "kitbag/vscode";
import { editorOf, uri, vscode, glob as vsGlob } from "./editor.mjs";
import { BACKENDS, dice, failure } from "./lib.mjs";

const FILES = {
  "/src/a.ts": "import one from 'one';\nconst One = one + 1; // one\nexport { One };\n",
  "/src/deep/b.ts": "// nothing\r\nlet oneMore = 1;\r\n",
  "/src/node_modules/p/index.js": "one\n",
  "/notes/ü.md": "größer ONE\n\tone\n",
  "/empty.txt": "",
  "/image.png": "\u0000one\u0000",
};

async function filled(backend, files = FILES) {
  const entries = Object.entries(files).map(([path, text]) => [
    path,
    new TextEncoder().encode(text),
  ]);
  await backend.uploadFiles(entries);
  return backend;
}

/** The places that `RegExp` finds in text files. */
function placesOf(files, form) {
  return Object.entries(files)
    .filter(([, text]) => !text.includes("\u0000"))
    .flatMap(([path, text]) =>
      text
        .split("\n")
        .flatMap((line, at) =>
          Array.from(line.replace(/\r$/, "").matchAll(form), ({ 0: found, index }) => [
            path,
            at,
            index,
            found,
          ]).filter(([, , , found]) => found !== ""),
        ),
    )
    .sort();
}

const QUERIES = [
  ["one", {}, /one/giu],
  ["one", { isCaseSensitive: true }, /one/gu],
  ["One", { isCaseSensitive: true, isWordMatch: true }, /\bOne\b/gu],
  ["one", { isWordMatch: true }, /\bone\b/giu],
  ["ONE", {}, /one/giu],
  ["GRÖSSER", {}, /GRÖSSER/giu],
  ["größer", {}, /größer/giu],
  ["1; // ", {}, /1; \/\/ /giu],
  ["o.e(", {}, /o\.e\(/giu],
  ["{ One }", { isWordMatch: true }, /\{ One \}/giu],
  ["nowhere", {}, /nowhere/giu],
];

for (const [where, make] of Object.entries(BACKENDS)) {
  test(`${where}: texts are found where RegExp finds them`, async (t) => {
    const editor = await editorOf(await filled(await make(t)));
    for (const [pattern, how, form] of QUERIES) {
      // Objects of other libraries compare case.
      if (where === "stranger" && !how.isCaseSensitive) continue;
      const { places, limitHit } = await editor.find(pattern, how);
      assert.deepEqual(places.sort(), placesOf(FILES, form), JSON.stringify([pattern, how]));
      assert.equal(limitHit, false);
    }
  });
}

const EXPRESSIONS = [
  "one",
  "o.e",
  "\\bone\\b",
  "^one",
  "one$",
  "[A-Z]\\w+",
  "(?:one|One) ?",
  "o|one",
  "on?e??",
  "\\w+?;",
  "o{1,2}n",
  "'[^']*'",
  "(\\w)+ = ",
  "x*",
  "\\/\\/.*",
];

test("expressions are found where RegExp finds them", async () => {
  const editor = await editorOf(await filled(new StateBackend({ files: {} })));
  for (const pattern of EXPRESSIONS) {
    for (const isCaseSensitive of [true, false]) {
      // What is left out cannot be said without case.
      if (!isCaseSensitive && pattern.includes("[^")) continue;
      const { places } = await editor.find(pattern, { isRegExp: true, isCaseSensitive });
      const wanted = placesOf(FILES, new RegExp(pattern, isCaseSensitive ? "g" : "gi"));
      assert.deepEqual(places.sort(), wanted, `${pattern} ${isCaseSensitive}`);
    }
  }
});

test("random expressions are found where RegExp finds them", async () => {
  const roll = dice(33);
  const one = (list) => list[roll(list.length)];
  const atom = (depth) =>
    depth > 0 && roll(3) === 0
      ? `(?:${expression(depth - 1)})`
      : one(["a", "b", "c", "[ab]", "[b-c]", ".", "\\w", "\\b", "^", "$", "ab"]);
  const expression = (depth) => {
    const branch = () =>
      Array.from({ length: 1 + roll(3) }, () => {
        const part = atom(depth);
        if (/^(\^|\$|\\b)$/.test(part)) return part;
        return part + one(["", "", "*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}"]);
      }).join("");
    return Array.from({ length: 1 + roll(2) }, branch).join("|");
  };
  const line = () => Array.from({ length: roll(12) }, () => one(["a", "b", "c", " "])).join("");
  const text = Array.from({ length: 40 }, line).join("\n");
  const files = { "/a": text };
  const editor = await editorOf(await filled(new StateBackend({ files: {} }), files));
  let [found, refused] = [0, 0];
  for (let n = 0; n < 600; n++) {
    const pattern = expression(2);
    try {
      const { places } = await editor.find(pattern, { isRegExp: true, isCaseSensitive: true });
      assert.deepEqual(places.sort(), placesOf(files, new RegExp(pattern, "g")), pattern);
      found += places.length;
    } catch (error) {
      // Such loops may end elsewhere than those of `RegExp`.
      if (!/may be empty/.test(error.message)) throw error;
      refused += 1;
    }
  }
  assert.ok(found > 5000 && refused < 250, `${found} places, ${refused} patterns refused`);
});

test("an expression that takes RegExp for ever is found at once", async () => {
  const files = { "/a": `${"a".repeat(5000)}b\n${"a".repeat(5000)}c\n` };
  const editor = await editorOf(await filled(new StateBackend({ files: {} }), files));
  for (const pattern of ["(a+)+b", "(?:a|a)*b", "(a+)*b$"]) {
    const began = performance.now();
    const { places } = await editor.find(pattern, { isRegExp: true, isCaseSensitive: true });
    assert.deepEqual(
      places.map(([, line, column, text]) => [line, column, text.length]),
      [[0, 0, 5001]],
      pattern,
    );
    assert.ok(performance.now() - began < 2000);
  }
});

test("lines around a match are shown once", async () => {
  const files = { "/a": "1\n2\nx\n4\nx\n6\n7\n8\n9\nx" };
  const editor = await editorOf(await filled(new StateBackend({ files: {} }), files));
  const { places, context } = await editor.find("x", { surroundingContext: 1 });
  assert.deepEqual(
    places.map(([, line]) => line),
    [2, 4, 9],
  );
  assert.deepEqual(context, [
    [2, "2"],
    [4, "4"],
    [6, "6"],
    [9, "9"],
  ]);
});

test("a long line is shown around its matches", async () => {
  const line = `${"-".repeat(30_000)}one${"-".repeat(30_000)}one`;
  const editor = await editorOf(await filled(new StateBackend({ files: {} }), { "/a": line }));
  const previewOptions = { matchLines: 1, charsPerLine: 100 };
  const { places, results } = await editor.find("one", { previewOptions });
  assert.deepEqual(places, [
    ["/a", 0, 30_000, "one"],
    ["/a", 0, 60_003, "one"],
  ]);
  for (const { previewText } of results[0].results) assert.ok(previewText.length <= 100);
});

for (const [maxResults, wanted, limitHit] of [
  [1, 1, true],
  [4, 4, true],
  [5, 5, true],
  [6, 6, false],
  [100, 6, false],
]) {
  test(`of 6 places at most ${maxResults} are shown`, async () => {
    const files = { "/a": "x x\n\nx\n", "/b": "x x x\n" };
    const provider = fileSystemProvider(
      await filled(new StateBackend({ files: {} }), files),
      vscode,
    );
    const shown = [];
    const complete = await provider.provideTextSearchResults(
      { pattern: "x" },
      { ...settings(), maxResults },
      { report: ({ ranges }) => assert.ok(shown.push(...ranges) && ranges.length > 0) },
      never,
    );
    assert.deepEqual([shown.length, complete.limitHit], [wanted, limitHit]);
  });
}

const never = {
  isCancellationRequested: false,
  onCancellationRequested: () => ({ dispose() {} }),
};
const settings = (folder = "/", includes = [], excludes = []) => ({
  folderOptions: [{ folder: uri(folder), includes, excludes }],
  ...{ maxResults: 10_000, previewOptions: { matchLines: 1, charsPerLine: 1000 } },
  surroundingContext: 0,
});

test("more lines than are asked for at once, most of them left out, are all searched", async () => {
  const files = { "/node_modules/x": "one\n".repeat(20_000), "/src/a": "one\n".repeat(30) };
  const editor = await editorOf(await filled(new StateBackend({ files: {} }), files));
  const { places, limitHit } = await editor.find("one", { exclude: ["**/node_modules"] });
  assert.deepEqual([places.length, places[0][0], limitHit], [30, "/src/a", false]);
});

test("what cannot be searched for is said", async () => {
  const editor = await editorOf(await filled(new StateBackend({ files: {} })));
  for (const [pattern, isRegExp, said] of [
    ["one\ntwo", false, /several lines/],
    ["one\\ntwo", true, /several lines/],
    ["(?<=a)b", true, /\(\?/],
    ["(a)\\1", true, /\\1/],
    ["(a*?)*b", true, /may be empty/],
    ["(?:a|)?b", true, /may be empty/],
    ["(", true, /Invalid regular expression|Unterminated/],
  ]) {
    const error = await failure(editor.find(pattern, { isRegExp, isCaseSensitive: true }));
    assert.match(String(error?.message), said, pattern);
  }
  // A backslash and an n.
  await editor.find("\\\\n", { isRegExp: true, isCaseSensitive: true });
  const other = await editorOf(await filled(BACKENDS.stranger()));
  assert.match(
    String((await failure(other.find("o.e", { isRegExp: true }))).message),
    /plain text/,
  );
});

test("a search that VS Code gives up ends", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [`/f${at}`, "abcdefgh ".repeat(2000)]),
  );
  const backend = await filled(new StateBackend({ files: {} }), files);
  const provider = fileSystemProvider(backend, vscode);
  let cancel = () => {};
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener) => {
      cancel = listener;
      return { dispose() {} };
    },
  };
  let reported = 0;
  const report = () => {
    reported += 1;
  };
  const query = { pattern: "(?:[a-z]+ )+x", isRegExp: true, isCaseSensitive: true };
  const search = provider.provideTextSearchResults(query, settings(), { report }, token);
  cancel();
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("it goes on")), 5000));
  assert.deepEqual(await Promise.race([search, late]), { limitHit: true });
  assert.equal(reported, 0);
  const given = { ...token, isCancellationRequested: true };
  assert.deepEqual(await provider.provideFileSearchResults("f", settings(), given), []);
});

test("quick open finds files by letters of their paths, and leaves out what is left out", async () => {
  const editor = await editorOf(await filled(new StateBackend({ files: {} })));
  for (const [letters, wanted] of [
    ["", Object.keys(FILES).sort()],
    ["ats", ["/src/a.ts"]],
    ["A.TS", ["/src/a.ts"]],
    ["src b", ["/src/deep/b.ts"]],
    ["ü", ["/notes/ü.md"]],
    ["zzz", []],
  ]) {
    assert.deepEqual((await editor.quick(letters)).paths, wanted, letters);
  }
  const exclude = ["**/node_modules", "*.png"];
  const { paths } = await editor.quick("", { exclude });
  assert.deepEqual(paths, ["/empty.txt", "/notes/ü.md", "/src/a.ts", "/src/deep/b.ts"]);
  assert.deepEqual((await editor.quick("", { path: "/src", include: ["*.ts"] })).paths, [
    "/src/a.ts",
  ]);
  assert.deepEqual((await editor.quick("", { maxResults: 2 })).paths.length, 2);
});

test("one dialog lists the files once, the next one anew", async () => {
  let listed = 0;
  const backend = new StateBackend({ files: { "/a.txt": "" } });
  const counting = new Proxy(backend, {
    get: (target, name) => {
      if (name === "glob") listed += 1;
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const provider = fileSystemProvider(counting, vscode);
  const session = {};
  const find = (one) =>
    provider.provideFileSearchResults("a", { ...settings(), session: one }, never);
  for (const letters of [1, 2, 3]) assert.equal((await find(session)).length, 1, String(letters));
  assert.equal(listed, 1);
  backend.write("/aa.txt", "");
  assert.equal((await find({})).length, 2);
  assert.equal((await find(undefined)).length, 2);
});

/** Patterns whose parts are put together at random. */
const PARTS = ["**", "*", "a", "b", "a*", "?", "*.ts", "{a,b}", "{a/b,*.ts}", "[ab]", "[!a]", ".x"];

test("patterns of names mean what they mean for VS Code", async () => {
  const roll = dice(7);
  const names = ["a", "b", "ab", "x.ts", ".x", "c"];
  const paths = new Set();
  for (let n = 0; n < 120; n++) {
    const depth = 1 + roll(4);
    paths.add(`/${Array.from({ length: depth }, () => names[roll(names.length)]).join("/")}`);
  }
  // No file is also a directory.
  const all = [...paths].filter((one) => ![...paths].some((other) => other.startsWith(`${one}/`)));
  const files = Object.fromEntries(all.map((path) => [path, "x"]));
  const provider = fileSystemProvider(await filled(new StateBackend({ files: {} }), files), vscode);
  const list = async (includes, excludes) => {
    const found = await provider.provideFileSearchResults(
      "",
      settings("/", includes, excludes),
      never,
    );
    return found.map(({ path }) => path).sort();
  };
  let some = 0;
  for (let n = 0; n < 600; n++) {
    const pattern = Array.from({ length: 1 + roll(3) }, () => PARTS[roll(PARTS.length)])
      .join("/")
      .replace(/(\*\*\/)+\*\*/, "**");
    const is = vsGlob.parse(pattern);
    const matches = (path) => Boolean(is(path.slice(1)));
    const above = (path) =>
      path
        .split("/")
        .map((_, at, parts) => parts.slice(0, at + 1).join("/"))
        .slice(1);
    assert.deepEqual(await list([pattern], []), all.filter(matches).sort(), `only ${pattern}`);
    const left = all.filter((path) => !above(path).some(matches)).sort();
    assert.deepEqual(await list([], [pattern]), left, `not ${pattern}`);
    if (left.length > 0 && left.length < all.length) some += 1;
  }
  assert.ok(some > 200, `${some} patterns leave something out`);
});

test("a pattern that begins at a place of its own, and one that is broken", async () => {
  const provider = fileSystemProvider(await filled(new StateBackend({ files: {} })), vscode);
  const list = async (folder, excludes) => {
    const found = await provider.provideFileSearchResults(
      "",
      settings(folder, [], excludes),
      never,
    );
    return found.map(({ path }) => path).sort();
  };
  assert.deepEqual(await list("/src", [{ baseUri: uri("/src/deep"), pattern: "*.ts" }]), [
    "/src/a.ts",
    "/src/node_modules/p/index.js",
  ]);
  assert.deepEqual(await list("/src/deep", ["[z-a]", "{", "[", "(", "\\", "a{b"]), [
    "/src/deep/b.ts",
  ]);
});

test("rules hide lines and names, and an index is asked", async () => {
  const inner = await filled(new StateBackend({ files: {} }));
  const permissions = [{ operations: ["read"], paths: ["/src/**"], mode: "deny" }];
  const editor = await editorOf(withPolicy(inner, { permissions }));
  assert.deepEqual(
    (await editor.find("one")).places.map(([path]) => path),
    ["/notes/ü.md", "/notes/ü.md"],
  );
  assert.ok(!(await editor.quick("")).paths.some((path) => path.startsWith("/src")));
  const indexed = await editorOf(withIndex(inner, { keepIn: { path: "/.index/" } }));
  assert.deepEqual((await indexed.find("oneMore")).places, [["/src/deep/b.ts", 1, 4, "oneMore"]]);
});
