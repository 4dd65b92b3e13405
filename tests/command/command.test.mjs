// Each command over folders and databases: what it prints, its exit code, and its messages for wrong
// addresses, missing drivers and missing keys.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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

test("grep prints what ripgrep prints", async (t) => {
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
    await t.test(args.join(" "), async () => {
      const pattern = args.at(-1);
      const { code, out, err } = await kitbag.run(["grep", ...args.slice(0, -1), pattern, folder]);
      assert.equal(out, rg(...args), args.join(" "));
      assert.deepEqual([code, err], [0, ""]);
    });
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

test("every command has a help with its flags that fits a screen, and so do the addresses", async (t) => {
  const fits = ({ code, out }) => {
    assert.equal(code, 0);
    const lines = out.trimEnd().split("\n");
    assert.ok(lines.length <= 23, `${lines.length} lines beside the prompt`);
    for (const line of lines) assert.ok(line.length <= 80, line);
    return out;
  };
  const all = fits(await kitbag.run(["--help"]));
  for (const name of ["ls", "cat", "grep", "cp", "diff", "du", "serve"]) {
    await t.test(name, async () => {
      assert.match(all, new RegExp(`\\n  ${name} `));
      const out = fits(await kitbag.run([name, "--help"]));
      assert.match(out, new RegExp(`^Usage: kitbag ${name} `));
      assert.match(out, /--endpoint URL[\s\S]*s3:\/\/bucket\/prefix/);
      if (name !== "serve") assert.match(out, /--json/);
      assert.equal((await kitbag.run(["help", name])).out, out);
    });
  }
  const addresses = fits(await kitbag.run(["help", "addresses"]));
  assert.match(addresses, /s3:\/\/[\s\S]*AWS_ACCESS_KEY_ID[\s\S]*sqlite:/);
  assert.match((await kitbag.run(["--version"])).out, /^\d+\.\d+\.\d+\n$/);
  assert.equal((await kitbag.run([])).code, 2);
});

const KEYS = { AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: "s3cr3t/Key+Value" };

/** A command line, its environment, and what its message must say. */
const MISTAKES = [
  [["lss", "."], {}, /there is no command "lss"; is "ls" meant\?/],
  [["ls", "--recursiv", "."], {}, /--recursiv/],
  [["ls"], {}, /Usage: kitbag ls ADDRESS/],
  [["diff", "./none", "."], {}, /There is no folder \.\/none/],
  [["grep", "x", "./none"], {}, /There is no folder or file \.\/none/],
  [["grep", "x", ".", "none"], {}, /There is nothing at none/],
  [["cp", "package.json", "x"], {}, /package\.json is a file; name its folder/],
  [["ls", "package.json", "x"], {}, /package\.json is a file; a path follows behind a folder/],
  [["ls", "--color", "sometimes", "."], {}, /--color must be auto or always or never/],
  [["cp", "-a", ".", "s3://bucket"], KEYS, /--archive is for two folders/],
  [["completion", "fish"], {}, /kitbag completion bash\|zsh/],
  [["ls", ""], {}, /address is empty/],
  [["ls", "s4://bucket"], {}, /no kind of address "s4:"; is "s3" meant\?/],
  [["ls", "s3://bucket"], {}, /needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
  [["ls", "s3://bucket"], { AWS_ACCESS_KEY_ID: "a" }, /needs AWS_SECRET_ACCESS_KEY/],
  [["ls", "s3://"], KEYS, /s3:\/\/BUCKET/],
  [["ls", "s3://id:s3cr3tkey@bucket"], KEYS, /Keys do not belong into an address/],
  [["ls", "s3://bucket?regoin=x"], KEYS, /no parameter "regoin"; is "region" meant/],
  [["ls", "s3://bucket/a#/b"], KEYS, /nothing behind #; a prefix is s3:\/\/BUCKET\/PREFIX/],
  [["ls", "s3://bucket:9000/a"], KEYS, /takes no port; another server is --endpoint/],
  [["ls", "file:///tmp#/a"], {}, /A # in the name of a folder is written %23/],
  [["ls", "file:///tmp?a"], {}, /A \? in the name of a folder is written %3F/],
  [["ls", "s3://b", "--endpoint", "http://127.0.0.1:1"], KEYS, /./],
  [["diff", "package.json/x", "."], {}, /There is no folder package\.json\/x/],
  [["ls", "postgres://me:pa%2Fss@127.0.0.1:1/db"], {}, /npx -p kitbag -p pg kitbag/],
  [["ls", "postgres://me:pa/ss@host/db"], {}, /./],
  [["ls", "sqlite:none.db"], {}, /There is no file none\.db/],
  [["cp", ".", "sqlite:new.db"], {}, /better-sqlite3|node:sqlite/],
  [["cp", ".", "x", "--on-conflict", "ask"], {}, /--on-conflict must be error or skip/],
  [["grep", "-m", "0", "x", "."], {}, /--max-count takes a number/],
  [["du", "-d", "x", "."], {}, /--depth takes a number/],
  [["serve", ".", "--http", "http"], {}, /--http takes the number of a port/],
  [["serve", ".", "--http", "0", "--host", "0.0.0.0"], {}, /set KITBAG_TOKEN/],
  [["serve", "."], {}, /npx -p kitbag -p @modelcontextprotocol\/server kitbag serve/],
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

test("cp and cat end with 2 where a server does not answer", async () => {
  const server = "http://127.0.0.1:1/x";
  for (const args of [
    ["cp", folder, server],
    ["cp", server, folder],
    ["cat", server, "a.txt"],
    ["cat", `${server}#/a.txt`],
  ]) {
    const { code, err } = await kitbag.run(args);
    assert.equal(code, 2, err);
    assert.match(err, /could not be reached/);
  }
});

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

test("cp -a keeps links inside the tree as links, never makes one out of it, and goes on", async () => {
  const [source, target, outside] = [scratch(), scratch(), scratch()];
  plant(source, { "lib/a.txt": "a", "lib/deep/b.txt": "b", "run.sh": "#" });
  plant(outside, { "secret.txt": "s" });
  chmodSync(join(source, "run.sh"), 0o750);
  const links = {
    linked: ["lib", "lib"],
    "lib/deep/up": ["../a.txt", "../a.txt"],
    "lib/chain": ["../linked", "../linked"],
    // An absolute one would lead back into the source.
    absolute: [join(source, "lib/a.txt"), "lib/a.txt"],
    "lib/round": [`../../${basename(source)}/run.sh`, "../run.sh"],
    "lib/loop": ["..", ".."],
  };
  for (const [name, [text]] of Object.entries(links)) symlinkSync(text, join(source, name));
  symlinkSync(join(outside, "secret.txt"), join(source, "lib/out.txt"));
  symlinkSync("nowhere", join(source, "dangling"));
  try {
    const copied = await kitbag.run(["cp", "-a", source, target]);
    assert.equal(copied.code, 0, copied.err);
    assert.match(copied.out, /^9 files copied/);
    assert.match(copied.err, /2 links out of FROM, or to nothing, were left out/);
    for (const [name, [, text]] of Object.entries(links)) {
      assert.equal(readlinkSync(join(target, name)), text, name);
    }
    assert.equal(statSync(join(target, "run.sh")).mode & 0o777, 0o750);
    for (const name of ["lib/out.txt", "dangling"]) {
      assert.throws(() => lstatSync(join(target, name)), { code: "ENOENT" });
    }
    const again = await kitbag.run(["cp", "--archive", "--json", source, target]);
    const { copied: none, equal, linksLeftOut } = JSON.parse(again.out);
    assert.deepEqual([none, equal, linksLeftOut], [0, 9, 2]);

    // What is there with that name: another link, a file, a directory.
    rmSync(join(target, "linked"));
    symlinkSync("lib/deep", join(target, "linked"));
    const other = await kitbag.run(["cp", "-a", source, target]);
    assert.equal(other.code, 1);
    assert.match(other.err, /\/linked exists with other content; pass --on-conflict skip or/);
    assert.equal(readlinkSync(join(target, "linked")), "lib/deep");
    assert.equal((await kitbag.run(["cp", "-a", "--on-conflict", "skip", source, target])).code, 0);
    assert.equal(readlinkSync(join(target, "linked")), "lib/deep");
    const over = ["cp", "-a", "--on-conflict", "overwrite", source, target];
    assert.equal((await kitbag.run(over)).code, 0);
    assert.equal(readlinkSync(join(target, "linked")), "lib");
    rmSync(join(target, "absolute"));
    plant(target, { "absolute/kept.txt": "kept" });
    const directory = await kitbag.run(over);
    assert.equal(directory.code, 1);
    assert.match(directory.err, /absolute: A directory is there, and the source has a link/);
    assert.equal(readFileSync(join(target, "absolute/kept.txt"), "utf8"), "kept");

    // A directory of the target that leads out of it is no way to make links elsewhere.
    rmSync(join(target, "lib"), { recursive: true });
    symlinkSync(outside, join(target, "lib"));
    const out = await kitbag.run(["cp", "-a", "--on-conflict", "overwrite", source, target]);
    assert.notEqual(out.code, 0);
    assert.deepEqual(readdirSync(outside), ["secret.txt"]);
  } finally {
    for (const one of [source, target, outside]) rmSync(one, { recursive: true });
  }
});

test("ls and du of what is not there end with 1 and say so, and an empty directory is no mistake", async () => {
  const root = scratch();
  const undo = kitbag.link("node-sqlite3-wasm", "durable");
  try {
    plant(root, { "tree/a.txt": "abc" });
    mkdirSync(join(root, "tree/empty"));
    const table = `sqlite:${join(root, "files.db")}`;
    assert.equal((await kitbag.run(["cp", join(root, "tree"), `${table}#/x`])).code, 0);
    for (const command of ["ls", "du"]) {
      for (const args of [
        [join(root, "none")],
        [join(root, "tree"), "none"],
        [join(root, "tree"), "a.txt/none"],
        [table, "none"],
        [`${table}#/none`],
        [`${table}#/x`, "a"],
      ]) {
        const { code, out, err } = await kitbag.run([command, ...args]);
        assert.deepEqual([code, out], [1, ""], args.join(" "));
        assert.match(err, /^kitbag: There is (nothing at|no folder or file) /);
      }
      for (const args of [
        [join(root, "tree"), "empty"],
        [join(root, "tree"), "/empty/"],
        [join(root, "tree/empty")],
      ]) {
        const { code, err } = await kitbag.run([command, ...args]);
        assert.deepEqual([code, err], [0, ""], args.join(" "));
      }
      for (const args of [
        [join(root, "tree/a.txt")],
        [join(root, "tree"), "a.txt"],
        [`${table}#/x`, "a.txt"],
      ]) {
        const { code, out } = await kitbag.run([command, ...args]);
        assert.equal(code, 0);
        assert.match(out, /^ +3 B .*a\.txt\n$/, args.join(" "));
      }
    }
  } finally {
    undo();
    rmSync(root, { recursive: true });
  }
});

test("cat goes on behind a file that is not there", async () => {
  const root = scratch();
  try {
    plant(root, { "a/f": "f\n", "a/g": "g\n" });
    for (const [files, out] of [
      [["a/f", "a/nix", "a/g"], "f\ng\n"],
      [["a/nix", "a/f"], "f\n"],
      [["a/f/x", "a/f"], "f\n"],
      [["a/f", "a", "a/g"], "f\ng\n"],
    ]) {
      const shown = await kitbag.run(["cat", ...files], { cwd: root });
      assert.deepEqual([shown.code, shown.out], [1, out], shown.err);
      assert.match(shown.err, /^kitbag cat: (There is no folder or file a\/|a is a folder)/);
    }
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("cat and grep take a file as people name it", async () => {
  const root = scratch();
  const undo = kitbag.link("node-sqlite3-wasm", "durable");
  try {
    plant(root, { "data/a.txt": "alpha\n", "data/b #1.txt": "beta\n" });
    const table = `sqlite:${join(root, "files.db")}`;
    assert.equal((await kitbag.run(["cp", join(root, "data"), `${table}#/x`])).code, 0);
    const cat = async (...args) => (await kitbag.run(["cat", ...args], { cwd: root })).out;
    assert.equal(await cat("./data/a.txt"), "alpha\n");
    assert.equal(await cat("data/a.txt", "./data/b #1.txt"), "alpha\nbeta\n");
    assert.equal(await cat("./data", "./a.txt", "/b #1.txt"), "alpha\nbeta\n");
    assert.equal(await cat(`file:${join(root, "data/a.txt")}`), "alpha\n");
    assert.equal(await cat(`${table}#/x/a.txt`), "alpha\n");
    assert.equal(await cat(`${table}#/x/b %231.txt`, `${table}#/x/a.txt`), "beta\nalpha\n");
    // A file of the database, though one of that name is here.
    plant(root, { "a.txt": "here\n" });
    assert.equal(await cat(`${table}#/x`, "a.txt"), "alpha\n");
    for (const [args, words] of [
      [["./data"], /data is a folder; name a file behind it/],
      [["./data/none"], /There is no folder or file \.\/data\/none/],
      [[table], /names no file; a file follows behind it/],
      [[`${table}#/x/none`], /^kitbag cat: none: .*not found/],
    ]) {
      const { code, err } = await kitbag.run(["cat", ...args], { cwd: root });
      assert.notEqual(code, 0);
      assert.match(err, words);
    }
    const found = await kitbag.run(["grep", "alp", "./data/a.txt"], { cwd: root });
    assert.deepEqual(found, { code: 0, out: "./data/a.txt:1:alpha\n", err: "" });
    const none = await kitbag.run(["grep", "none", "./data/a.txt"], { cwd: root });
    assert.deepEqual(none, { code: 1, out: "", err: "" });
  } finally {
    undo();
    rmSync(root, { recursive: true });
  }
});

test("colours are for terminals, unless NO_COLOR or --color decides", async () => {
  const root = scratch();
  plant(root, { "d/a.txt": "one Two.\n", "red\u202e.txt": "" });
  const tty = { NODE_OPTIONS: "--import=data:text/javascript,process.stdout.isTTY=true" };
  const run = async (args, env = {}) => (await kitbag.run([...args, root], { env })).out;
  const grep = ["grep", "-i", "two"];
  const plain = "d/a.txt:1:one Two.\n";
  const marked = "\u001b[35md/a.txt\u001b[0m:\u001b[32m1\u001b[0m:one \u001b[1;31mTwo\u001b[0m.\n";
  try {
    assert.equal(await run(grep), plain);
    assert.equal(await run(grep, tty), marked);
    assert.equal(await run(grep, { ...tty, NO_COLOR: "1" }), plain);
    assert.equal(await run(grep, { ...tty, NO_COLOR: "" }), marked);
    assert.equal(await run(grep, { ...tty, TERM: "dumb" }), plain);
    assert.equal(await run([...grep, "--color", "always"], { NO_COLOR: "1" }), marked);
    assert.equal(await run([...grep, "--color=never"], tty), plain);
    // An expression is not run a second time to mark what it found.
    assert.match(await run(["grep", "T.o"], tty), /:one Two\.\n$/);
    assert.doesNotMatch(await run(["grep", "--json", "one"], tty), /\u001b/);
    assert.match(await run(["ls"], tty), /\u001b\[1;34md\/\u001b\[0m\n/);
    // A name cannot look like another, and is unchanged for programs.
    assert.match(await run(["ls"], tty), / {2}red\\u\{202e\}\.txt\n/);
    assert.match(await run(["ls"]), / {2}red\u202e\.txt\n/);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("bash completes commands, flags, their values and files", async () => {
  const { code, out: script } = await kitbag.run(["completion", "bash"]);
  assert.equal(code, 0);
  const complete = (...words) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const ask = `COMP_WORDS=(kitbag ${list}); COMP_CWORD=${words.length}; _kitbag; printf '%s\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync("bash", ["--norc", "-c", `${script}\n${ask}`], {
      cwd: folder,
      encoding: "utf8",
    });
    return out.split("\n").filter(Boolean);
  };
  assert.deepEqual(complete("d"), ["diff", "du"]);
  assert.deepEqual(complete("grep", "--f"), ["--fixed-strings", "--files-with-matches"]);
  assert.deepEqual(complete("cp", "-a", "--on-conflict", "s"), ["skip"]);
  assert.deepEqual(complete("ls", "no"), ["notes"]);
  assert.deepEqual(complete("ls", "s3"), ["s3://"]);
  assert.deepEqual(complete("help", "addr"), ["addresses"]);
  assert.deepEqual(complete("completion", ""), ["bash", "zsh"]);
  assert.deepEqual(complete("serve", "--json"), []);
});

test("zsh completes commands, flags and their values", async () => {
  const { code, out: script } = await kitbag.run(["completion", "zsh"]);
  assert.equal(code, 0);
  // What the shell gives a completion function, and the two functions that take its answers.
  const shell = [
    'compadd() { while [[ $1 == -* && $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done; shift; print -l -- "$@" }',
    "_files() { print -l FILES }",
    script,
  ].join("\n");
  const complete = (...words) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const ask = `words=(kitbag ${list}); CURRENT=${words.length + 1}; _kitbag`;
    const out = execFileSync(process.env.KITBAG_ZSH, ["-fc", `${shell}\n${ask}`], {
      encoding: "utf8",
    });
    return out.split("\n").filter(Boolean);
  };
  assert.deepEqual(complete("d").slice(0, 3), ["ls", "cat", "grep"]);
  assert.ok(complete("grep", "-").includes("--fixed-strings"));
  assert.ok(!complete("ls", "-").includes("--fixed-strings"));
  assert.deepEqual(complete("cp", "--on-conflict", ""), ["error", "skip", "overwrite"]);
  assert.deepEqual(complete("ls", "no"), [
    "FILES",
    "file:",
    "https://",
    "postgres://",
    "s3://",
    "sqlite:",
  ]);
  assert.deepEqual(complete("completion", ""), ["bash", "zsh"]);
});

test("cp refuses a target inside its source, in folders and databases", async (t) => {
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
    await t.test(`${from} to ${to}`.replaceAll(source, "SOURCE"), async () => {
      const { code, err } = await kitbag.run(["cp", from, to]);
      assert.notEqual(code, 0, to);
      assert.match(err, /inside (the source|FROM)/, `${from} ${to}`);
    });
  }
  assert.equal(existsSync(join(source, "new")), false);
  const ordinary = await kitbag.run(["cp", `${table}#/x`, `${table}#/xy`]);
  assert.equal(ordinary.code, 0, ordinary.err);
  undo();
  rmSync(`${source}-link`);
  rmSync(source, { recursive: true });
});

test("cp ends where no folder can be made", { skip: !existsSync("/proc/self") }, async () => {
  const { code, err } = await kitbag.run(["cp", folder, "/proc/kitbag/deep"]);
  assert.equal(code, 1);
  assert.match(err, /^kitbag cp: /);
});
