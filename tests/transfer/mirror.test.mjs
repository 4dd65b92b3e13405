// mirror: a tree in a sandbox, and what commands change there, as a turn.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as kitbag from "./lib.mjs";

const { FilesystemBackend, SandboxBackend, counted, ignoreFiles, memory, mirror, withPolicy } =
  kitbag;
const bytes = (text) => new TextEncoder().encode(text);

/** A sandbox in a folder of its own, with a real shell. */
function sandbox(t) {
  const rootDir = fs.mkdtempSync(join(tmpdir(), "kitbag-mirror-"));
  t.after(() => fs.rmSync(rootDir, { recursive: true, force: true }));
  let commands = 0;
  const execute = (command) => {
    commands += 1;
    return new Promise((done) => {
      const options = { cwd: rootDir, encoding: "buffer", maxBuffer: 64 << 20 };
      execFile("/bin/sh", ["-c", command], options, (error, stdout, stderr) => {
        done({ stdout, stderr, exitCode: error ? Number(error.code ?? 1) : 0 });
      });
    });
  };
  const backend = new SandboxBackend({ id: "here", rootDir, execute });
  const sh = (script) => execute(`mkdir -p work && cd work && { ${script}\n}`);
  return { backend, rootDir, sh, commands: () => commands };
}

const textOf = async (backend, path) => {
  const [{ content, error }] = await backend.downloadFiles([path]);
  return error ? undefined : new TextDecoder().decode(content);
};

/** A tree with two files, sent to a sandbox. */
async function sent(
  t,
  options = {},
  files = { "/a.txt": "one\ntwo\nthree\n", "/src/b.js": "1\n" },
) {
  const tree = memory(files);
  const box = sandbox(t);
  const work = mirror(tree, box.backend, { to: "/work", ...options });
  const first = await work.send();
  assert.equal(first.error, undefined, first.error);
  return { tree, box, work, first };
}

// Each waits for clocks that count seconds, and has files of its own.
describe("mirror", { concurrency: true }, () => {
  test("a tree is sent, and what commands change comes back as a turn", async (t) => {
    const { tree, box, work, first } = await sent(t);
    assert.deepEqual([first.sent, first.bytes, first.equal], [2, 16, 0]);
    await box.sh("sed -i s/two/TWO/ a.txt; rm src/b.js; mkdir out; printf 'new\\n' > out/c.txt");
    const { turn, changed, conflicts, error } = await work.collect();
    assert.equal(error, undefined);
    assert.deepEqual(conflicts, []);
    assert.deepEqual(changed.map(({ path, what }) => `${what} ${path}`).sort(), [
      "changed /a.txt",
      "created /out/c.txt",
      "deleted /src/b.js",
    ]);
    assert.equal(
      await textOf(tree, "/a.txt"),
      "one\ntwo\nthree\n",
      "the tree waits for the commit",
    );
    const done = await turn.commit();
    assert.equal(done.error, undefined);
    assert.equal(done.receipt.by, "mirror");
    assert.equal(await textOf(tree, "/a.txt"), "one\nTWO\nthree\n");
    assert.equal(await textOf(tree, "/out/c.txt"), "new\n");
    assert.equal(await textOf(tree, "/src/b.js"), undefined);
    const again = await work.send();
    assert.deepEqual([again.sent, again.removed, again.equal], [0, 0, 2]);
    assert.deepEqual((await work.collect()).changed, []);
  });

  test("a second send sends only what changed, in as few commands", async (t) => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`/d/${n}.txt`, `${n}\n`]),
    );
    const { tree, box, work, first } = await sent(t, {}, files);
    assert.equal(first.sent, 300);
    const before = box.commands();
    await tree.edit("/d/7.txt", "7", "seven");
    await tree.delete("/d/8.txt");
    const { sent: files2, bytes: size, removed, equal } = await work.send();
    assert.deepEqual([files2, size, removed, equal], [1, 6, 1, 298]);
    assert.ok(box.commands() - before < 12, `${box.commands() - before} commands`);
    assert.equal(fs.readFileSync(join(box.rootDir, "work/d/7.txt"), "utf8"), "seven\n");
    assert.equal(fs.existsSync(join(box.rootDir, "work/d/8.txt")), false);
  });

  test("edits of both sides are merged; where they touch, the tree's stays and the other is beside it", async (t) => {
    const { tree, box, work } = await sent(t);
    await box.sh("sed -i s/three/THREE/ a.txt; printf '2\\n' > src/b.js");
    await tree.edit("/a.txt", "one", "ONE");
    await tree.edit("/src/b.js", "1", "3");
    const { turn, changed, conflicts } = await work.collect();
    assert.deepEqual(changed, [{ path: "/a.txt", what: "merged" }]);
    const [{ path, copy }] = conflicts;
    assert.equal(path, "/src/b.js");
    assert.match(
      copy,
      /^\/src\/b \(conflict of the sandbox, \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\)\.js$/,
    );
    assert.equal((await turn.commit()).error, undefined);
    assert.equal(await textOf(tree, "/a.txt"), "ONE\ntwo\nTHREE\n");
    assert.equal(await textOf(tree, "/src/b.js"), "3\n");
    assert.equal(await textOf(tree, copy), "2\n");
    await work.send();
    const there = (name) => fs.readFileSync(join(box.rootDir, "work", name), "utf8");
    assert.deepEqual(
      [there("a.txt"), there("src/b.js"), there(copy.slice(1))],
      ["ONE\ntwo\nTHREE\n", "3\n", "2\n"],
    );
  });

  test("a deletion never beats an edit, on either side", async (t) => {
    const { tree, box, work } = await sent(t);
    await box.sh("rm a.txt; printf '9\\n' > src/b.js");
    await tree.edit("/a.txt", "one", "ONE");
    await tree.delete("/src/b.js");
    const { turn, changed } = await work.collect();
    assert.deepEqual(changed, [{ path: "/src/b.js", what: "created" }]);
    await turn.commit();
    assert.equal(await textOf(tree, "/src/b.js"), "9\n");
    const { sent: files } = await work.send();
    assert.equal(files, 1);
    assert.equal(fs.readFileSync(join(box.rootDir, "work/a.txt"), "utf8"), "ONE\ntwo\nthree\n");
  });

  test("what a review refuses is taken back by the next send", async (t) => {
    const { tree, box, work } = await sent(t);
    await box.sh("echo planted >> a.txt; echo x > extra.txt; rm src/b.js");
    const { turn } = await work.collect();
    await turn.discard(["/**"]);
    const { sent: files, removed } = await work.send();
    assert.deepEqual([files, removed], [2, 1]);
    assert.equal(fs.readFileSync(join(box.rootDir, "work/a.txt"), "utf8"), "one\ntwo\nthree\n");
    assert.equal(fs.existsSync(join(box.rootDir, "work/extra.txt")), false);
    assert.equal(fs.readFileSync(join(box.rootDir, "work/src/b.js"), "utf8"), "1\n");
    assert.deepEqual(await (await work.collect()).turn.diff(), { changes: [] });
    assert.equal(await textOf(tree, "/a.txt"), "one\ntwo\nthree\n");
  });

  test("what was brought back is what the next change follows, without a send in between", async (t) => {
    const { tree, box, work } = await sent(t, {}, { "/a.txt": "0\n", "/b.txt": "0\n" });
    for (const text of ["1", "2", "3"]) {
      await box.sh(`echo ${text} > a.txt; echo ${text} > new.txt`);
      const { turn, changed, conflicts } = await work.collect();
      assert.deepEqual([changed.length, conflicts], [2, []]);
      await turn.commit();
      assert.equal(await textOf(tree, "/a.txt"), `${text}\n`);
    }
    await box.sh("rm new.txt a.txt");
    const { turn, changed } = await work.collect();
    assert.deepEqual(
      changed.map(({ what }) => what),
      ["deleted", "deleted"],
    );
    await turn.commit();
    await box.sh("echo 5 > b.txt");
    await tree.edit("/b.txt", "0", "7");
    for (const conflicts of [1, 0]) {
      const back = await work.collect();
      assert.equal(back.conflicts.length, conflicts, "the same conflict is not brought back twice");
      await back.turn.commit();
    }
    assert.equal((await tree.glob("**")).files.length, 2);
  });

  test("a second collect without a send brings the same changes again", async (t) => {
    const { box, work } = await sent(t);
    await box.sh("echo more >> a.txt; echo x > extra.txt; rm src/b.js");
    const [one, two] = [await work.collect(), await work.collect()];
    assert.deepEqual(one.changed.length, 3);
    assert.deepEqual(two.changed, one.changed);
  });

  test("what commands changed and nobody collected is not overwritten by a send", async (t) => {
    const { tree, box, work } = await sent(t);
    await box.sh("echo mine >> a.txt; echo x > extra.txt; rm src/b.js");
    await tree.edit("/a.txt", "one", "ONE");
    await tree.edit("/src/b.js", "1", "5");
    await tree.write("/extra.txt", "of the tree\n");
    const { waiting, sent: files } = await work.send();
    assert.deepEqual(waiting.sort(), ["/work/a.txt", "/work/extra.txt", "/work/src/b.js"]);
    assert.equal(files, 0);
    const { turn, changed, conflicts } = await work.collect();
    assert.deepEqual(changed, [{ path: "/a.txt", what: "merged" }]);
    assert.equal(conflicts.length, 1);
    await turn.commit();
    assert.equal(await textOf(tree, "/a.txt"), "ONE\ntwo\nthree\nmine\n");
    assert.equal((await work.send()).error, undefined);
    assert.deepEqual((await work.send()).waiting, []);
  });

  test("a change of the same size right after a call is seen, though the clock counts seconds", async (t) => {
    const { box, work } = await sent(t);
    for (let n = 0; n < 6; n++) {
      await box.sh(`printf '${n % 10}\\n' > src/b.js`);
      const { turn } = await work.collect();
      const text = await textOf(turn, "/src/b.js");
      assert.equal(text, `${n % 10}\n`);
      await turn.commit();
      await work.send();
    }
  });

  test("ignored files are neither sent nor brought back, nor counted", async (t) => {
    const files = { "/.gitignore": "node_modules/\n*.log\n", "/a.js": "1\n", "/x.log": "secret\n" };
    const { box, work, first } = await sent(t, { ignore: ignoreFiles(), maxFiles: 10 }, files);
    assert.equal(first.sent, 2);
    assert.equal(fs.existsSync(join(box.rootDir, "work/x.log")), false);
    await box.sh(
      "mkdir -p node_modules/m; for n in $(seq 50); do echo $n > node_modules/m/$n.js; done",
    );
    await box.sh("echo y > y.log; echo 2 > a.js");
    const { changed, error } = await work.collect();
    assert.equal(error, undefined);
    assert.deepEqual(changed, [{ path: "/a.js", what: "changed" }]);
  });

  test("patterns name a part of the tree, on both sides", async (t) => {
    const { box, work, first } = await sent(t, { paths: ["src/**"] });
    assert.equal(first.sent, 1);
    await box.sh("echo 2 > src/b.js; echo other > a.txt");
    const { changed } = await work.collect();
    assert.deepEqual(changed, [{ path: "/src/b.js", what: "changed" }]);
  });

  test("limits of number and size end it, and nothing was done", async (t) => {
    const tree = memory({ "/a": "12345", "/b": "12345" });
    const box = sandbox(t);
    const few = await mirror(tree, box.backend, { to: "/work", maxFiles: 1 }).send();
    assert.deepEqual([few.code, few.sent], ["too_large", 0]);
    assert.match(few.error, /maxFiles/);
    const small = await mirror(tree, box.backend, { to: "/work", maxBytes: 9 }).send();
    assert.deepEqual([small.code, small.sent], ["too_large", 0]);
    assert.equal(fs.existsSync(join(box.rootDir, "work")), false);
    const work = mirror(tree, box.backend, { to: "/work", maxBytes: 10 });
    assert.equal((await work.send()).sent, 2);
    await box.sh("echo 123456789012 > a; echo 1 > b");
    const { code, turn } = await work.collect();
    assert.deepEqual([code, turn], ["too_large", undefined]);
  });

  test("a file that is larger than the limit is not read", async (t) => {
    const at = fs.mkdtempSync(join(tmpdir(), "kitbag-mirror-"));
    t.after(() => fs.rmSync(at, { recursive: true }));
    const read = [];
    const folder = new FilesystemBackend({ rootDir: at });
    const { watched } = counted(folder);
    watched.downloadFiles = (paths, ...rest) => {
      read.push(...paths);
      return folder.downloadFiles(paths, ...rest);
    };
    const work = mirror(memory({ "/a": "1" }), watched, { maxBytes: 1_000 });
    assert.equal((await work.send()).error, undefined);
    fs.truncateSync(join(at, "a"), 8_000_000_000);
    const { code, turn } = await work.collect();
    assert.deepEqual([code, turn, read], ["too_large", undefined, []]);
  });

  test("files that were there before are neither overwritten nor brought back", async (t) => {
    const tree = memory({ "/a.txt": "of the tree\n", "/same.txt": "same\n" });
    const box = sandbox(t);
    await box.sh("echo theirs > a.txt; echo same > same.txt; echo 1 > old.txt; echo 2 > kept.txt");
    const refused = await mirror(tree, box.backend, { to: "/work" }).send();
    assert.equal(refused.code, "already_exists");
    assert.match(refused.error, /^\/work\/a\.txt exists with other content; pass onConflict/);
    assert.equal(fs.readFileSync(join(box.rootDir, "work/a.txt"), "utf8"), "theirs\n");
    const work = mirror(tree, box.backend, { to: "/work", onConflict: "overwrite" });
    const { sent: files, equal } = await work.send();
    assert.deepEqual([files, equal], [1, 1]);
    assert.deepEqual((await work.collect()).changed, []);
    await box.sh("echo 5 > old.txt");
    const { turn, changed } = await work.collect();
    assert.deepEqual(changed, [{ path: "/old.txt", what: "created" }]);
    await turn.discard(["/**"]);
    await work.send();
    assert.equal(fs.readFileSync(join(box.rootDir, "work/old.txt"), "utf8"), "5\n");
    assert.equal(fs.readFileSync(join(box.rootDir, "work/kept.txt"), "utf8"), "2\n");
  });

  test("rules of the tree hold: what they hide is not sent, and what they refuse is not committed", async (t) => {
    const inner = memory({ "/a.txt": "1\n", "/secret/key": "k\n", "/fixed/b.txt": "2\n" });
    const permissions = [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }];
    const tree = withPolicy(inner, { permissions, readOnlyPrefixes: ["/fixed"] });
    const box = sandbox(t);
    const work = mirror(tree, box.backend, { to: "/work" });
    assert.equal((await work.send()).sent, 2);
    assert.equal(fs.existsSync(join(box.rootDir, "work/secret")), false);
    await box.sh("mkdir secret; echo x > secret/key; echo y > fixed/b.txt; echo z > a.txt");
    const { turn, failures } = await work.collect();
    const told = JSON.stringify(failures);
    assert.ok(!told.includes("k\\n"), told);
    const refused = await turn.commit();
    assert.notEqual(refused.error, undefined);
    assert.equal(await textOf(inner, "/a.txt"), "1\n");
    assert.equal(await textOf(inner, "/secret/key"), "k\n");
    await turn.discard(["/fixed/**", "/secret/**"]);
    assert.equal((await turn.commit()).error, undefined);
    assert.equal(await textOf(inner, "/a.txt"), "z\n");
    assert.equal(await textOf(inner, "/fixed/b.txt"), "2\n");
  });

  test("planted names, links and control data come back as failures or not at all", async (t) => {
    const { tree, box, work } = await sent(t);
    await box.sh(
      [
        "echo secret > ../outside; ln -s ../outside link.txt; ln -s / root",
        "mkdir -p .kitbag/turns; echo '{}' > .kitbag/turns/journal",
        "printf x > \"$(printf 'rl\\342\\200\\256gpj.txt')\"; printf x > \"$(printf 'two\\nlines')\"",
        "mkfifo pipe; echo fine > fine.txt; rm src/b.js; mkdir src/b.js; echo 1 > src/b.js/c",
      ].join("\n"),
    );
    const { turn, changed, failures } = await work.collect();
    const paths = changed.map(({ path }) => path).sort();
    for (const path of ["/fine.txt", "/src/b.js", "/src/b.js/c"])
      assert.ok(paths.includes(path), path);
    assert.ok(!paths.some((path) => /kitbag|root\/|pipe|gpj|lines/.test(path)), paths.join());
    assert.ok(
      failures.every(({ path }) => /gpj|lines|link/.test(path)),
      JSON.stringify(failures),
    );
    assert.equal((await turn.commit()).error, undefined);
    assert.equal(await textOf(tree, "/src/b.js/c"), "1\n");
    assert.equal(await textOf(tree, "/fine.txt"), "fine\n");
    await work.send();
    assert.equal(fs.readFileSync(join(box.rootDir, "outside"), "utf8"), "secret\n");
  });

  test("a folder is a copy too, and keeps the permission bits of a folder", async (t) => {
    const [from, to] = [0, 1].map(() => fs.mkdtempSync(join(tmpdir(), "kitbag-mirror-")));
    t.after(() => {
      for (const at of [from, to]) fs.rmSync(at, { recursive: true });
    });
    fs.writeFileSync(join(from, "run.sh"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
    const [tree, copy] = [from, to].map((rootDir) => new FilesystemBackend({ rootDir }));
    const work = mirror(tree, copy, { to: "/deep/work" });
    assert.equal((await work.send()).sent, 1);
    assert.equal(fs.statSync(join(to, "deep/work/run.sh")).mode & 0o777, 0o755);
    fs.appendFileSync(join(to, "deep/work/run.sh"), "echo again\n");
    const { turn } = await work.collect();
    assert.equal((await turn.commit()).error, undefined);
    assert.match(fs.readFileSync(join(from, "run.sh"), "utf8"), /again/);
    const inside = await mirror(tree, tree, { to: "/copy" }).send();
    assert.equal(inside.code, "invalid_argument");
    const around = await mirror(tree, tree, { from: "/copy" }).send();
    assert.equal(around.code, "invalid_argument");
  });

  test("calls wait for each other; a signal ends one; wrong options are told", async (t) => {
    const { box, work } = await sent(t);
    await box.sh("echo 7 > src/b.js");
    const [one, two] = await Promise.all([work.collect(), work.send()]);
    assert.equal(one.changed.length, 1);
    assert.equal(two.sent, 1, "what was brought back and not committed is taken back");
    const gone = await work.send({ signal: AbortSignal.abort() });
    assert.equal(gone.code, "timeout");
    const early = await mirror(memory({}), box.backend).collect();
    assert.equal(early.code, "invalid_argument");
    assert.match(early.error, /call send\(\) first/);
    for (const [options, why] of [
      [{ to: "../x" }, /without "\.\."/],
      [{ to: undefined }, /"to"/],
      [{ paths: [] }, /patterns below the directory/],
      [{ paths: ["/src/**"] }, /patterns below the directory/],
      [{ ignore: [".gitignore"] }, /ignoreFiles\(\)/],
      [{ maxFiles: 0 }, /one or more/],
      [{ onConflict: "skip" }, /"error" or "overwrite"/],
      [{ onconflict: "error" }, /onConflict/],
      [{ by: "" }, /a name/],
    ]) {
      assert.throws(() => mirror(memory({}), box.backend, options), why, JSON.stringify(options));
    }
    assert.throws(() => mirror({}, box.backend), TypeError);
  });

  /** A number from a seed, again and again. */
  function random(seed) {
    let state = seed;
    return (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state >>> 8) % below;
    };
  }

  test("120 random histories: no edit of either side is lost, and both sides become one", async () => {
    for (let seed = 1; seed <= 120; seed++) {
      const next = random(seed);
      const tree = memory({ "/a": "0\n", "/b": "0\n", "/c/d": "0\n" });
      const copy = memory({});
      const work = mirror(tree, copy, { to: "/w" });
      await work.send();
      const sides = [
        { backend: tree, root: "/", edits: new Map() },
        { backend: copy, root: "/w/", edits: new Map() },
      ];
      const held = async ({ backend, root }) => {
        const { files = [] } = await backend.glob("**", root);
        const paths = files.filter(({ is_dir }) => !is_dir).map(({ path }) => path);
        const texts = await Promise.all(paths.map((path) => textOf(backend, path)));
        return new Map(paths.map((path, at) => [path.slice(root.length), texts[at]]));
      };
      const isKept = async (side, edits, when) => {
        const texts = [...(await held(side)).values()];
        for (const text of edits.values()) {
          assert.ok(texts.includes(text), `seed ${seed}, ${when}: ${JSON.stringify(text)} is lost`);
        }
      };
      const collect = async () => {
        const { turn, error } = await work.collect();
        assert.equal(error, undefined, `seed ${seed}`);
        const done = await turn.commit();
        assert.equal(done.error, undefined, `seed ${seed}: ${done.error}`);
        await isKept(sides[0], sides[1].edits, "edits of the copy after a commit");
        await isKept(sides[0], sides[0].edits, "edits of the tree after a commit");
        sides[1].edits.clear();
      };
      const send = async () => {
        const answer = await work.send();
        assert.equal(answer.error, undefined, `seed ${seed}: ${answer.error}`);
        await isKept(sides[1], sides[1].edits, "edits of the copy after a send");
        sides[0].edits.clear();
        return answer;
      };
      for (let step = 0; step < 14; step++) {
        const { backend, root, edits } = sides[next(2)];
        const name = ["a", "b", "c/d", "e"][next(4)];
        const what = next(6);
        if (what < 3) {
          // All have one size, and most are written within one millisecond.
          const text = `${step.toString(36)}${next(10)}\n`;
          const [{ error }] = await backend.uploadFiles([[root + name, bytes(text)]]);
          assert.equal(error, null);
          edits.set(name, text);
        } else if (what === 3) {
          await backend.delete(root + name);
          edits.delete(name);
        } else if (what === 4) await collect();
        else await send();
      }
      await collect();
      assert.deepEqual((await send()).waiting, [], `seed ${seed}`);
      assert.deepEqual(await held(sides[0]), await held(sides[1]), `seed ${seed}`);
    }
  });
});
