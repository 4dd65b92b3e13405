// SandboxBackend: strings that would be shell syntax, through every argument; sandboxes that cut,
// greet, fail and lie; places that are not walked.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { kitbag, run, withFolder } from "./lib.mjs";

const { SandboxBackend } = kitbag;

function sandbox(rootDir, options = {}) {
  return new SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir, ...options });
}

/** What would write `pwned` if a shell ever read it. */
const INJECTIONS = [
  "$(touch pwned)",
  "`touch pwned`",
  "; touch pwned",
  "& touch pwned &",
  "| touch pwned",
  "|| touch pwned",
  "&& touch pwned",
  "x; touch pwned #",
  "' ; touch pwned ; '",
  "'; touch pwned; echo '",
  '"; touch pwned; "',
  "'$(touch pwned)'",
  '"$(touch pwned)"',
  "'\"$(touch pwned)\"'",
  "${IFS}touch${IFS}pwned",
  "$(touch${IFS}pwned)",
  "$((touch pwned))",
  "> pwned",
  ">> pwned",
  "< x > pwned",
  "<(touch pwned)",
  "{touch,pwned}",
  "x'x",
  'x"x',
  "-rf",
  "--help",
  "-e touch",
  "--files0-from=x",
  "-exec touch pwned ;",
  "%s%n%x",
  "%(touch pwned)T",
  "$0",
  "$*",
  "$@",
  "$$",
  "*",
  "?",
  "[a-z]",
  "[!a]",
  "!!",
  "!touch",
  "#touch",
  "~root",
  "a b  c",
  " lead",
  "trail ",
  "x=$(touch pwned)",
  "EOF",
  "=",
  "a|1|2|3",
  "$'\\x27;touch pwned'".replace("\\", ""),
  "\u2028touch pwned",
  "naïve 日本 🙂",
];

test(`${INJECTIONS.length} strings go through every argument and mean only themselves`, () =>
  withFolder(async (rootDir) => {
    assert.ok(INJECTIONS.length >= 40);
    const cwd = join(rootDir, "cwd");
    const files = join(rootDir, "files");
    fs.mkdirSync(cwd);
    fs.mkdirSync(files);
    const execute = run("/bin/sh");
    const it = sandbox(files, {
      execute: (command, limits) => execute(`cd '${cwd}'\n${command}`, limits),
    });
    // One of them is refused as a name elsewhere.
    const open = kitbag.withPolicy(it, { hiddenCharacters: "allow", allowExecute: true });
    const each = await Promise.allSettled(INJECTIONS.map((text, n) => one(open, files, text, n)));
    const failed = each.filter((one) => one.status === "rejected").map((one) => one.reason.message);
    assert.deepEqual(failed, []);
    assert.deepEqual(fs.readdirSync(cwd), [], "a shell read an argument");
    const strays = fs
      .readdirSync(files, { recursive: true })
      .map(String)
      .filter((name) => /(^|\/)pwned$/.test(name));
    assert.deepEqual(strays, []);
  }));

async function one(it, files, text, n) {
  const dir = `/${n}`;
  const path = `${dir}/${text}`;
  const real = join(files, String(n), text);
  const say = (what, answer) => `${what} ${JSON.stringify(text)}: ${JSON.stringify(answer)}`;
  let answer = await it.write(path, text);
  assert.equal(answer.error, undefined, say("write", answer));
  assert.equal(fs.readFileSync(real, "utf8"), text);
  answer = await it.edit(path, text, `${text}${text}`);
  assert.equal(answer.error, undefined, say("edit", answer));
  assert.equal((await it.read(path)).content, `${text}${text}`);
  assert.equal((await it.write(path, "x")).code, "already_exists");
  answer = await it.ls(dir);
  assert.deepEqual(
    answer.files.map((file) => file.path),
    [path],
    say("ls", answer),
  );
  answer = await it.grep(text, dir);
  assert.deepEqual(
    answer.matches,
    [{ path, line: 1, text: `${text}${text}` }],
    say("grep", answer),
  );
  answer = await it.grep(text, path);
  assert.equal(answer.matches.length, 1, say("grep in the file", answer));
  for (const glob of [
    await it.grep(text, dir, text),
    await it.glob(text, dir),
    await it.glob(text),
  ]) {
    assert.equal(
      glob.error === undefined || glob.code === "invalid_pattern",
      true,
      say("glob", glob),
    );
  }
  answer = await it.glob("**", dir);
  assert.deepEqual(
    answer.files.map((file) => file.path),
    [path],
    say("glob", answer),
  );
  const [up] = await it.uploadFiles([[`${path}/nested`, new TextEncoder().encode(text)]]);
  assert.notEqual(up.error, null, "a file is no directory");
  const bytes = new TextEncoder().encode(text.repeat(3));
  assert.equal((await it.uploadFiles([[`${dir}/d/${text}/u`, bytes]]))[0].error, null);
  const [down] = await it.downloadFiles([`${dir}/d/${text}/u`]);
  assert.deepEqual(down.content, bytes);
  answer = await it.delete(`${dir}/d/${text}`);
  assert.equal(answer.error, undefined, say("delete", answer));
  answer = await it.delete(path);
  assert.equal(answer.error, undefined, say("delete", answer));
  assert.deepEqual((await it.glob("**", dir)).files, []);
}

test("a root with a name of shell syntax, and bytes of every value", () =>
  withFolder(async (base) => {
    const rootDir = join(base, 'it\'s $(touch pwned) "x"');
    const it = sandbox(rootDir);
    const all = new Uint8Array(300_000).map((_, n) => (n * 7 + (n >> 8)) & 255);
    assert.equal((await it.uploadFiles([["/all.bin", all]]))[0].error, null);
    assert.deepEqual((await it.downloadFiles(["/all.bin"]))[0].content, all);
    assert.deepEqual(fs.readdirSync(base), ['it\'s $(touch pwned) "x"']);
  }));

test("a sandbox that greets, echoes and mixes in carriage returns is understood", () =>
  withFolder(async (rootDir) => {
    const execute = run("/bin/sh");
    const it = sandbox(rootDir, {
      execute: async (command, limits) => {
        const answer = await execute(command, limits);
        const output = `Welcome!\n${command}\n${answer.stdout}\nbye\n`.replace(/\n/g, "\r\n");
        return { output, exitCode: 0 };
      },
    });
    assert.equal((await it.write("/a.txt", "one\ntwo\n")).error, undefined);
    assert.equal((await it.read("/a.txt")).content, "one\ntwo\n");
    assert.deepEqual(
      (await it.ls("/")).files.map((file) => file.path),
      ["/a.txt"],
    );
    assert.equal((await it.grep("two")).matches.length, 1);
  }));

test("a sandbox that cuts its output is asked for less at a time", () =>
  withFolder(async (rootDir) => {
    const execute = run("/bin/sh");
    const it = sandbox(rootDir, {
      execute: (command, limits) => execute(command, { ...limits, maxOutputBytes: 5000 }),
    });
    const text = `${"0123456789".repeat(3000)}needle\n`;
    assert.equal((await it.write("/long.txt", text)).error, undefined);
    assert.equal((await it.read("/long.txt")).content, `${text.slice(0, -1)}\n`);
    assert.equal((await it.grep("needle")).matches.length, 1);
  }));

test("a sandbox that fails or lies becomes an error", async () => {
  const odd = [
    () => {
      throw new Error("gone");
    },
    async () => {
      throw new Error("gone");
    },
    () => ({ output: "", exitCode: 0 }),
    () => ({ output: "sh: not found", exitCode: 127 }),
    () => ({ output: "garbage".repeat(1000), exitCode: 0 }),
    () => undefined,
    () => 7,
    () => ({ exitCode: 1 }),
  ];
  for (const execute of odd) {
    const it = new SandboxBackend({ id: "s", execute });
    for (const answer of [
      await it.ls("/"),
      await it.read("/a"),
      await it.write("/a", "x"),
      await it.edit("/a", "x", "y"),
      await it.grep("x"),
      await it.glob("*"),
      await it.delete("/a"),
    ]) {
      assert.equal(answer.code, "unavailable", `${execute}: ${JSON.stringify(answer)}`);
    }
  }
});

test("a search at the root cannot flood the host, and made-up places are not walked", async () => {
  let most = 0;
  const execute = run("/bin/sh");
  const it = new SandboxBackend({
    id: "s",
    execute: async (command, limits) => {
      const answer = await execute(command, limits);
      most = Math.max(most, answer.stdout.length);
      return answer;
    },
  });
  for (const path of ["/proc", "/sys", "/dev"]) {
    assert.deepEqual((await it.glob("**", path)).files, [], path);
    assert.deepEqual((await it.grep("a", path)).matches, [], path);
  }
  const answer = await it.glob("**/passwd", "/etc");
  assert.ok(answer.files.some((file) => file.path === "/etc/passwd"));
  assert.ok(most < 9 << 20, String(most));
});

test("link cycles are not walked, and names of more than one line are passed over", () =>
  withFolder(async (rootDir) => {
    fs.mkdirSync(join(rootDir, "a/b"), { recursive: true });
    fs.symlinkSync("..", join(rootDir, "a/b/up"));
    fs.symlinkSync("self", join(rootDir, "self"));
    fs.writeFileSync(join(rootDir, "a/f.txt"), "needle\n");
    fs.writeFileSync(join(rootDir, "a/x\n5|0|evil"), "needle\n");
    const it = sandbox(rootDir);
    assert.deepEqual(
      (await it.glob("**")).files.map((file) => file.path),
      ["/a/f.txt"],
    );
    assert.deepEqual(
      (await it.grep("needle")).matches.map((match) => match.path),
      ["/a/f.txt"],
    );
  }));

test("pipes and devices are refused without waiting", () =>
  withFolder(async (rootDir) => {
    const it = sandbox(rootDir);
    await it.execute(`mkfifo '${rootDir}/pipe'; ln -s /dev/zero '${rootDir}/zero'`);
    for (const path of ["/pipe", "/zero"]) {
      assert.equal((await it.read(path)).code, "permission_denied", path);
      assert.equal((await it.edit(path, "", "x")).code, "permission_denied", path);
    }
    assert.deepEqual((await it.grep("")).matches, []);
  }));

test("commands have the same limits as on a local shell", async () => {
  const it = new SandboxBackend({
    id: "box-1",
    execute: run("/bin/sh"),
    timeout: 0.3,
    maxOutputBytes: 10,
  });
  assert.equal(it.id, "box-1");
  assert.equal((await it.execute("sleep 60")).exitCode, 124);
  assert.equal((await it.execute("echo 日本語日本語")).truncated, true);
  assert.equal((await it.execute("")).exitCode, 1);
});
