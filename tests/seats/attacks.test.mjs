// Rules hold in every seat: one table of attempts, made by each seat that can; none succeeds, none changes a
// file, and none tells what is in a hidden one. And two seats at once lose no change.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeBackend, FilesystemBackend, StateBackend, withPolicy } from "kitbag";
import { SEATS } from "./attacks.mjs";
import { ATTEMPTS, attempted, FILES, PERMISSIONS, SECRET } from "./attempts.mjs";
import { folder } from "./lib.mjs";

const contents = (backend) =>
  Object.fromEntries(
    Object.entries(backend.snapshot()).map(([path, { content }]) => [path, content]),
  );

const counts = [];
for (const [name, make] of Object.entries(SEATS)) {
  test(`${name}: no attempt gets through`, async (t) => {
    let made = 0;
    for (const attempt of ATTEMPTS) {
      const inner = new StateBackend({ files: FILES });
      const seat = await make(withPolicy(inner, { permissions: PERMISSIONS }), t);
      if (!seat[attempt[0]]) continue;
      made += 1;
      const { said, refused } = await attempted(seat, attempt);
      const shown = `${attempt.join(" ")}: ${said}`;
      // `rm -f` reports nothing.
      assert.ok(refused || attempt[1].startsWith("rm -rf "), shown);
      // The text that was searched for may be repeated.
      if (attempt[0] !== "search") assert.ok(!said.includes(SECRET), shown);
      assert.doesNotMatch(said, /key\.txt:\d/);
      assert.deepEqual(contents(inner), FILES, shown);
    }
    counts.push(made);
    t.diagnostic(`${made} of ${ATTEMPTS.length} attempts`);
    assert.ok(made >= 17, `${made} attempts`);
  });

  test(`${name}: without rules the same verbs do something`, async (t) => {
    const inner = new StateBackend({ files: FILES });
    const seat = await make(inner, t);
    const { said } = await attempted(seat, ["read", "/secret/key.txt"]);
    const shows = name === "OpenAI Agents, editor and shell" || said.includes(SECRET);
    assert.ok(shows, said);
    await attempted(seat, ["write", "/fixed/new.txt"]);
    assert.ok(inner.snapshot()["/fixed/new.txt"], "it writes");
  });
}

test("MCP: no attempt gets through over several directories, as `kitbag serve` mounts them", async (t) => {
  let made = 0;
  for (const attempt of ATTEMPTS) {
    const parts = ["secret", "fixed", "open"].map((name) => {
      const own = Object.entries(FILES).filter(([path]) => path.startsWith(`/${name}/`));
      const at = name.length + 1;
      const files = Object.fromEntries(own.map(([path, text]) => [path.slice(at), text]));
      return { mount: `/${name}/`, files, inner: new StateBackend({ files }) };
    });
    const mounts = Object.fromEntries(parts.map(({ mount, inner }) => [mount, inner]));
    const rest = withPolicy(new StateBackend(), { readOnly: true });
    const tree = new CompositeBackend(rest, mounts);
    const seat = await SEATS.MCP(withPolicy(tree, { permissions: PERMISSIONS }), t);
    if (!seat[attempt[0]]) continue;
    made += 1;
    const { said, refused } = await attempted(seat, attempt);
    const shown = `${attempt.join(" ")}: ${said}`;
    assert.ok(refused, shown);
    if (attempt[0] !== "search") assert.ok(!said.includes(SECRET), shown);
    for (const { inner, files } of parts) assert.deepEqual(contents(inner), files, shown);
  }
  assert.ok(made >= 40, `${made} attempts`);
});

test("the table has at least 40 attempts", () => {
  assert.ok(ATTEMPTS.length >= 40);
  assert.equal(counts.length, Object.keys(SEATS).length);
});

/** Two seats that change the same files, each in its own way. */
const PAIRS = [
  ["mastra", "OpenAI Agents, editor and shell"],
  ["fs", "Anthropic, memory"],
  ["MCP", "AI SDK, tools"],
  ["VS Code", "fs"],
  ["LangChain", "just-bash"],
  ["OpenAI, tools", "Anthropic, tools"],
  ["Anthropic, toolset", "Anthropic, text editor"],
  ["AI SDK, sandbox", "bash-tool"],
  ["eve", "mastra"],
];

test("every seat is in a pair", () => {
  assert.deepEqual([...new Set(PAIRS.flat())].sort(), Object.keys(SEATS).sort());
});

/** How many changes are made at once, and to how many files. */
const KINDS = {
  memory: { many: 1000, files: 25, make: () => new StateBackend({ files: {} }) },
  folder: { many: 60, files: 15, make: (t) => new FilesystemBackend({ rootDir: folder(t) }) },
};

for (const pair of PAIRS) {
  for (const [kind, { many, files, make }] of Object.entries(KINDS)) {
    test(`${kind}: ${many} changes by ${pair.join(" and ")} at once, none is lost`, async (t) => {
      const backend = await make(t);
      const paths = Array.from({ length: files }, (_, at) => `/log-${at}`);
      await backend.uploadFiles(paths.map((path) => [path, new Uint8Array()]));
      const seats = await Promise.all(pair.map((one) => SEATS[one](backend, t)));
      // Each adds one letter: at the end, or in a line of its own.
      const add = (seat, path) => (seat.add ?? seat.append ?? seat.edit)(path);
      const work = Array.from({ length: many }, (_, at) =>
        add(seats[at % 2], paths[Math.floor(at / 2) % files]),
      );
      await Promise.all(work);
      const all = await backend.downloadFiles(paths);
      const signs = all.map(({ content }) =>
        new TextDecoder().decode(content).replaceAll("\n", ""),
      );
      assert.equal(signs.join("").length, many);
    });
  }
}
