// Each command over folders and databases: what it prints, its exit code, and its messages for wrong
// addresses, missing drivers and missing keys.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Postgres } from "../durable/postgres.mjs";
import { installed, plant } from "./lib.mjs";

const PICTURE = Buffer.from([0x89, 0, 255, 10]);
const FILES = {
  "notes/a.txt": "Alpha\nbeta alpha\n",
  "notes/b.md": "# Title\r\nalpha: 1\n",
  "src/main.ts": "const alpha = 1;\nexport { alpha };",
  "src/deep/x y.ts": "// 日本 alpha\n",
  "dot.png": PICTURE,
  "empty.txt": "",
};

let kitbag;
let folder;
const scratch = () => mkdtempSync(join(tmpdir(), "kitbag-cp-"));

before(async () => {
  kitbag = await installed();
  folder = scratch();
  plant(folder, FILES);
});
after(() => {
  kitbag?.remove();
  rmSync(folder, { recursive: true });
});

const rg = (...args) =>
  execFileSync(process.env.KITBAG_RG, ["-uu", "-n", "--no-heading", "--sort", "path", ...args], {
    cwd: folder,
    encoding: "utf8",
    // Not a pipe, which it would search.
    stdio: ["ignore", "pipe", "inherit"],
  });

test("grep prints what ripgrep prints", async () => {
  for (const args of [
    ["alpha"],
    ["-i", "ALPHA"],
    ["-F", "1;"],
    ["^(const|export) .*alpha"],
    ["-g", "*.ts", "alpha"],
    ["-m", "1", "alpha"],
    ["-l", "alpha"],
    ["-c", "alpha"],
    ["日本"],
  ]) {
    const pattern = args.at(-1);
    const { code, out, err } = await kitbag.run(["grep", ...args.slice(0, -1), pattern, folder]);
    assert.equal(out, rg(...args), args.join(" "));
    assert.deepEqual([code, err], [0, ""]);
  }
  const none = await kitbag.run(["grep", "gamma", folder]);
  assert.deepEqual(none, { code: 1, out: "", err: "" });
  const wrong = await kitbag.run(["grep", "(", folder]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /Invalid regex/);
  const inside = await kitbag.run(["grep", "alpha", folder, "notes/b.md"]);
  assert.equal(inside.out, "notes/b.md:2:alpha: 1\n");
});

test("ls lists a level, or all files, as text or JSON", async () => {
  const level = await kitbag.run(["ls", folder]);
  assert.deepEqual(
    level.out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/).at(-1)),
    ["dot.png", "empty.txt", "notes/", "src/"],
  );
  const all = await kitbag.run(["ls", "-r", "--json", `file:${folder}`, "src"]);
  assert.deepEqual(
    JSON.parse(all.out).map(({ path, size }) => [path, size]),
    [
      ["src/deep/x y.ts", 16],
      ["src/main.ts", 34],
    ],
  );
});

test("cat prints bytes unchanged, and names what it cannot read", async () => {
  const shown = execFileSync(kitbag.bin, ["cat", folder, "dot.png", "notes/b.md"]);
  assert.deepEqual(shown, Buffer.concat([PICTURE, Buffer.from(FILES["notes/b.md"])]));
  const missing = await kitbag.run(["cat", folder, "none.txt", "empty.txt"]);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /^kitbag cat: none\.txt: .*not found/);
});

test("cp and diff over a folder, SQLite and PostgreSQL, and back", async () => {
  const back = scratch();
  const database = join(back, "files.db");
  const server = await Postgres.start();
  const undo = [kitbag.link("node-sqlite3-wasm", "durable"), kitbag.link("pg", "durable")];
  try {
    const places = [
      `sqlite:${database}?table=things#/backup/one`,
      `${server.url}?table=things&namespace=me#/two`,
      join(back, "new/folder"),
    ];
    let from = folder;
    for (const to of places) {
      const copied = await kitbag.run(["cp", from, to]);
      assert.deepEqual([copied.code, copied.err], [0, ""], to);
      assert.match(copied.out, /^6 files copied \(89 B\), 0 equal, 0 skipped\n$/);
      const again = await kitbag.run(["cp", "--json", from, to]);
      assert.equal(JSON.parse(again.out).equal, 6);
      const same = await kitbag.run(["diff", folder, to]);
      assert.deepEqual(same, { code: 0, out: "", err: "" });
      from = to;
    }
    for (const [path, content] of Object.entries(FILES)) {
      assert.deepEqual(readFileSync(join(back, "new/folder", path)), Buffer.from(content));
    }
    const found = await kitbag.run(["grep", "alpha", places[1]]);
    assert.equal(found.out, rg("alpha"));
  } finally {
    for (const one of undo) one();
    await server.stop();
    rmSync(back, { recursive: true });
  }
});

test("cp and diff draw a bar of their progress on a terminal, and only there", async () => {
  const terminal = "--import=data:text/javascript,process.stderr.isTTY=true";
  const back = scratch();
  for (const args of [
    ["cp", folder, join(back, "copy")],
    ["diff", folder, join(back, "copy")],
  ]) {
    const { code, err } = await kitbag.run(args, { env: { NODE_OPTIONS: terminal } });
    assert.equal(code, 0, err);
    // What is drawn first, and nothing stays of it at the end.
    assert.match(err, /^\r\u001b\[K[█░]{24} \d+ % {2}\d+\/6 files {2}\d+ B/);
    assert.ok(err.endsWith("\r\u001b[K"));
    assert.equal((await kitbag.run(["diff", ...args.slice(1)])).err, "");
  }
  rmSync(back, { recursive: true });
});

test("diff marks what differs, cp refuses to replace it, and --on-conflict decides", async () => {
  const other = scratch();
  try {
    plant(other, { ...FILES, "notes/a.txt": "changed", "extra.txt": "e" });
    rmSync(join(other, "dot.png"));
    const marked = await kitbag.run(["diff", folder, other]);
    assert.deepEqual(marked, { code: 1, out: "- dot.png\n+ extra.txt\n~ notes/a.txt\n", err: "" });
    const refused = await kitbag.run(["cp", folder, other]);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /\/notes\/a\.txt exists with other content/);
    assert.equal(readFileSync(join(other, "notes/a.txt"), "utf8"), "changed");
    const skipped = await kitbag.run(["cp", "--on-conflict", "skip", folder, other]);
    assert.match(skipped.out, /1 skipped/);
    const replaced = await kitbag.run(["cp", "--on-conflict", "overwrite", folder, other]);
    assert.equal(replaced.code, 0);
    assert.equal(readFileSync(join(other, "notes/a.txt"), "utf8"), FILES["notes/a.txt"]);
  } finally {
    rmSync(other, { recursive: true });
  }
});

test("du sums by directory, the largest first", async () => {
  const { out } = await kitbag.run(["du", "--json", "--depth", "2", folder]);
  assert.deepEqual(JSON.parse(out), [
    { path: "./", bytes: 89, files: 6 },
    { path: "src/", bytes: 50, files: 2 },
    { path: "notes/", bytes: 35, files: 2 },
    { path: "src/deep/", bytes: 16, files: 1 },
  ]);
  const picture = await kitbag.run(["du", folder]);
  assert.match(picture.out, /^ +89 B {2}█{20} {2} +6 files {2}\.\/\n/);
});

test("every command has a help, with its flags and the addresses", async () => {
  const all = await kitbag.run(["--help"]);
  for (const name of ["ls", "cat", "grep", "cp", "diff", "du", "serve"]) {
    assert.match(all.out, new RegExp(`\\n  ${name} `));
    const { code, out } = await kitbag.run([name, "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: kitbag ${name} `));
    assert.match(out, /--json[\s\S]*s3:\/\/bucket\/prefix/);
  }
  assert.match((await kitbag.run(["--version"])).out, /^\d+\.\d+\.\d+\n$/);
  assert.equal((await kitbag.run([])).code, 2);
});

const KEYS = { AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: "s3cr3t/Key+Value" };

/** A command line, its environment, and what its message must say. */
const MISTAKES = [
  [["lss", "."], {}, /there is no command "lss"; is "ls" meant\?/],
  [["ls", "--recursiv", "."], {}, /--recursiv/],
  [["ls"], {}, /Usage: kitbag ls ADDRESS/],
  [["ls", "./none"], {}, /There is no folder \.\/none/],
  [["ls", "package.json"], {}, /package\.json is a file; name its folder/],
  [["ls", ""], {}, /address is empty/],
  [["ls", "s4://bucket"], {}, /no kind of address "s4:"; is "s3" meant\?/],
  [["ls", "s3://bucket"], {}, /needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
  [["ls", "s3://bucket"], { AWS_ACCESS_KEY_ID: "a" }, /needs AWS_SECRET_ACCESS_KEY/],
  [["ls", "s3://"], KEYS, /s3:\/\/BUCKET/],
  [["ls", "s3://id:s3cr3tkey@bucket"], KEYS, /Keys do not belong into an address/],
  [["ls", "s3://bucket?regoin=x"], KEYS, /no parameter "regoin"; is "region" meant/],
  [["ls", "s3://b", "--endpoint", "http://127.0.0.1:1"], KEYS, /./],
  [["ls", "postgres://me:pa%2Fss@127.0.0.1:1/db"], {}, /npx -p kitbag -p pg kitbag/],
  [["ls", "postgres://me:pa/ss@host/db"], {}, /./],
  [["ls", "sqlite:none.db"], {}, /There is no file none\.db/],
  [["cp", ".", "sqlite:new.db"], {}, /better-sqlite3|node:sqlite/],
  [["cp", ".", "x", "--on-conflict", "ask"], {}, /--on-conflict must be error or skip/],
  [["grep", "-m", "0", "x", "."], {}, /--max-count takes a number/],
  [["du", "-d", "x", "."], {}, /--depth takes a number/],
  [["serve", ".", "--http", "http"], {}, /--http takes the number of a port/],
  [["serve", ".", "--http", "0", "--host", "0.0.0.0"], {}, /set KITBAG_TOKEN/],
  [["serve", "."], {}, /npx -p kitbag -p @modelcontextprotocol\/sdk kitbag serve/],
];

for (const [args, env, words] of MISTAKES) {
  test(`${args.join(" ").replace(/:[^:@/]*@/, ":…@") || "nothing"} with ${Object.keys(env).length} keys ends with 2 and says what to do`, async () => {
    const { code, out, err } = await kitbag.run(args, { env });
    // Where Node has SQLite of its own, that address is right.
    if (args[1] === "." && args[2] === "sqlite:new.db" && code === 0) return;
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, words);
    assert.match(err, /^kitbag: /);
    assert.doesNotMatch(err, /s3cr3t|pa%2Fss|pa\/ss|at .*\.js:\d/, "no secret and no stack");
  });
}

test("a wrong password of a database is not printed", async () => {
  const undo = kitbag.link("pg", "durable");
  try {
    const { code, err } = await kitbag.run(["ls", "postgres://me:hunter22@127.0.0.1:1/db"]);
    assert.equal(code, 2);
    assert.doesNotMatch(err, /hunter22/);
  } finally {
    undo();
  }
});

test("a password in the address of a folder, a file or another kind is not printed", async () => {
  const addresses = [
    ...["file://me:hunter22@host/folder", "file://hunter22@host/", "file:me:hunter22@host/x"],
    ...["FILE://me:hunter22@host/x", "file:///me:hunter22@host/%2F", "file://me:hunter22@[::1/x"],
    ...["//me:hunter22@host/x", "me:hunter22@host", "https://me:hunter22@host/x", "./a:hunter22@b"],
    ...["sqlite:me:hunter22@host/x.db", "sqlite://me:hunter22@host/x.db", "s3://me:hunter22@host"],
    ...["s3://me:hunter22@@host", "file://me:hunter22@p@host/x", "postgres://me:hunter22@[::1/db"],
  ];
  const undo = kitbag.link("pg", "durable");
  try {
    for (const address of addresses) {
      for (const args of [
        ["ls", address],
        ["cat", address, "a"],
        ["diff", folder, address],
      ]) {
        const { code, err, out } = await kitbag.run(args);
        assert.notEqual(code, 0, address);
        assert.doesNotMatch(`${err}${out}`, /hunter22/, args.join(" "));
      }
    }
  } finally {
    undo();
  }
});

test("no command makes a folder or a file that it only reads", async () => {
  await kitbag.run(["ls", "not-there"]);
  await kitbag.run(["diff", folder, "not-there"]);
  assert.equal(existsSync(join(kitbag.root, "not-there")), false);
});

test("a pipe that is closed early is no failure", async () => {
  const many = scratch();
  try {
    mkdirSync(join(many, "d"));
    plant(many, { "d/large.txt": "line\n".repeat(200_000) });
    const child = kitbag.begin(["grep", "line", many]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.stdout.destroy();
    assert.equal(await ended, 0);
  } finally {
    rmSync(many, { recursive: true });
  }
});

test("a file of a folder that is larger than 2 GiB is named as too large", async (t) => {
  const large = scratch();
  t.after(() => rmSync(large, { recursive: true }));
  writeFileSync(join(large, "large.bin"), "");
  truncateSync(join(large, "large.bin"), 2 ** 31);
  const { code, out, err } = await kitbag.run(["cat", large, "large.bin"]);
  assert.equal(out, "");
  assert.notEqual(code, 0);
  assert.match(err, /large\.bin.*2147483647/);
});

test("cp keeps executable bits and linked directories, and diff knows both", async () => {
  const source = scratch();
  const target = scratch();
  plant(source, { "bin/run.sh": "echo hello\n", "lib/a.txt": "a" });
  chmodSync(join(source, "bin/run.sh"), 0o755);
  symlinkSync("lib", join(source, "linked"));
  const copied = await kitbag.run(["cp", source, target]);
  assert.deepEqual([copied.code, copied.err], [0, ""]);
  assert.match(copied.out, /^3 files copied/);
  assert.equal(readFileSync(join(target, "linked/a.txt"), "utf8"), "a");
  assert.equal(statSync(join(target, "bin/run.sh")).mode & 0o777, 0o755);
  assert.equal((await kitbag.run(["diff", source, target])).code, 0);
  rmSync(join(target, "linked"), { recursive: true });
  const differs = await kitbag.run(["diff", source, target]);
  assert.deepEqual([differs.code, differs.out], [1, "- linked/a.txt\n"]);
  symlinkSync("..", join(source, "lib/loop"));
  const looped = await kitbag.run(["cp", source, target]);
  assert.equal(looped.code, 1);
  assert.match(looped.err, /lib\/loop\/: It is a link to a directory above it/);
  for (const one of [source, target]) rmSync(one, { recursive: true });
});

test("cp refuses a target inside its source, in folders and databases", async () => {
  const source = scratch();
  plant(source, { "a.txt": "a", "b/c.txt": "c" });
  symlinkSync(join(source, "b"), `${source}-link`);
  const undo = kitbag.link("node-sqlite3-wasm", "durable");
  const table = `sqlite:${join(source, "files.db")}`;
  assert.equal((await kitbag.run(["cp", join(source, "b"), `${table}#/x`])).code, 0);
  for (const [from, to] of [
    [source, join(source, "b")],
    [source, join(source, "new/deep")],
    [source, `${source}/./b/..//b`],
    [source, `file:${source}/b`],
    [source, `${source}-link`],
    [table, `${table}#/x`],
    [`${table}#/x`, `${table}#/x/y`],
    [`${table}?table=files`, `${table}?table=files#/x`],
  ]) {
    const { code, err } = await kitbag.run(["cp", from, to]);
    assert.notEqual(code, 0, to);
    assert.match(err, /inside (the source|FROM)/, `${from} ${to}`);
  }
  assert.equal(existsSync(join(source, "new")), false);
  const ordinary = await kitbag.run(["cp", `${table}#/x`, `${table}#/xy`]);
  assert.equal(ordinary.code, 0, ordinary.err);
  undo();
  rmSync(`${source}-link`);
  rmSync(source, { recursive: true });
});
