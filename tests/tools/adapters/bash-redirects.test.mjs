// Redirects of kitbag/just-bash that cannot be written fail their command and nothing else, and the
// cost of a file does not grow with the number of files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Bash, InMemoryFs } from "just-bash";
import { StateBackend, withPolicy } from "kitbag";
import { bashExecute, bashFileSystem } from "kitbag/just-bash";

const rules = { readOnlyPrefixes: ["/no/"] };
const shell = (policy = rules) => bashExecute(withPolicy(new StateBackend(), policy));

const REFUSED = {
  "the others keep their output": ["echo a; echo b > /no/f; echo c", "a\nc\n", 0],
  "its exit code is 1": ["echo b > /no/f; echo $?", "1\n", 0],
  "the script's last command": ["echo a; echo b > /no/f", "a\n", 1],
  ">> as well": ["echo b >> /no/f; echo $?", "1\n", 0],
  "&> as well": ["ls nope &> /no/f; echo $?", "1\n", 0],
  "2> as well": ["ls nope 2> /no/f; echo $?", "1\n", 0],
  "the command does not run": ["touch /x; rm /x > /no/f; ls /x", "/x\n", 0],
  "|| goes on": ["echo b > /no/f || echo other", "other\n", 0],
  "&& does not": ["echo b > /no/f && echo no; echo end", "end\n", 0],
  "an if takes its else": ["if echo b > /no/f; then echo yes; else echo no; fi", "no\n", 0],
  "in a loop, each turn": ["for i in 1 2; do echo $i; echo x > /no/f; done", "1\n2\n", 1],
  "of a loop": ["for i in 1 2; do echo $i; done > /no/f; echo end", "end\n", 0],
  "of a group": ["{ echo a; } > /no/f; echo end", "end\n", 0],
  "of a subshell": ["(echo a) > /no/f; echo end", "end\n", 0],
  "in a function": ["f() { echo b > /no/f; echo in; }; f", "in\n", 0],
  "in a pipeline": ["echo a | cat > /no/f; echo end", "end\n", 0],
  "in a command substitution": ["echo [$(echo b > /no/f; echo c)]", "[c]\n", 0],
  "with a name that is only known later": ["n=/no/f; echo b > $n; echo end", "end\n", 0],
  "set -e ends there": ["set -e; echo a; echo b > /no/f; echo never", "a\n", 1],
  "exec ends nothing else": ["exec 5> /no/f; echo end", "end\n", 0],
  "of two, the other file is made": ["echo a > /ok > /no/f; ls /", "ok\n", 0],
  "bash -c": ["bash -c 'echo a; echo b > /no/f; echo c'; echo end", "a\nc\nend\n", 0],
};

for (const [what, [script, stdout, code]] of Object.entries(REFUSED)) {
  test(`a refused redirect: ${what}`, async () => {
    const { output, exitCode } = await shell()(script);
    assert.equal(output.slice(0, stdout.length), stdout);
    assert.match(output.slice(stdout.length), /\/no\/f/);
    assert.equal(exitCode, code);
    const lines = output.slice(stdout.length).trimEnd().split("\n");
    for (const line of lines) assert.match(line, /^bash: \/no\/f: /);
    if (!script.startsWith("exec")) assert.match(output, /prefix|read-only|not allowed|denied/i);
  });
}

test("content that a rule refuses fails its command, with the rule's words", async () => {
  const execute = shell({
    inspect: ({ content }) =>
      String(content).includes("secret") ? { deny: "no secrets" } : undefined,
  });
  const { output } = await execute("echo a; echo secret > /f; echo $?; echo fine > /g; cat /g");
  assert.match(output, /^a\n1\nfine\nbash: \/f: .*no secrets/);
});

test("refusals are told to the call that they belong to", async () => {
  const execute = shell();
  const one = (n) => execute(`echo ${n}; echo b > /no/${n}; sleep 0; echo $?`);
  const told = await Promise.all([1, 2, 3, 4].map(one));
  for (const [at, { output }] of told.entries()) {
    assert.deepEqual(new Set(output.match(/\/no\/\d/g)), new Set([`/no/${at + 1}`]));
  }
});

test("links are refused in words", async () => {
  const { output } = await shell()("echo a > /a; ln -s /a /b; ln /a /c; echo end");
  assert.match(output, /^end\n/);
  assert.match(output, /ln: .*these files have no links/);
});

/**
 * The times of the fastest runs, in milliseconds of CPU. Runs take turns, on equal terms. The engine still
 * compiles during the first dozens, and that counts, too; on a busy machine it does so for longer.
 */
async function timed(runs, work, makers) {
  const best = makers.map(() => Number.POSITIVE_INFINITY);
  for (let run = 0; run < runs * makers.length; run++) {
    const which = run % makers.length;
    const subject = makers[which]();
    const begin = process.cpuUsage();
    await work(subject);
    const { user, system } = process.cpuUsage(begin);
    best[which] = Math.min(best[which], (user + system) / 1000);
  }
  return best;
}

const written = async (fs) => {
  for (let n = 0; n < 2000; n++) await fs.writeFile(`/d/f${n}`, "x");
};

const redirected = (exec) => exec("mkdir /d; for i in {1..500}; do echo x > /d/f$i; done");

function inMemory() {
  const bash = new Bash({ cwd: "/", fs: new InMemoryFs() });
  return (script) => bash.exec(script);
}

const filled = () =>
  new StateBackend({
    files: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`/d/before${n}`, "x"])),
  });

for (const [what, limit, runs, work, makers] of [
  [
    "2,000 calls of writeFile as long as in memory",
    6,
    50,
    written,
    [() => new InMemoryFs(), () => bashFileSystem(new StateBackend())],
  ],
  [
    "500 redirects as long as in memory",
    5,
    3,
    redirected,
    [inMemory, () => bashExecute(new StateBackend())],
  ],
  [
    "2,000 calls of writeFile among 20,000 files as long as among none",
    2,
    50,
    written,
    [() => bashFileSystem(new StateBackend()), () => bashFileSystem(filled())],
  ],
]) {
  test(`${what}, at most ${limit} times`, async (t) => {
    const [least, most] = await timed(runs, work, makers);
    t.diagnostic(`${least} ms and ${most} ms`);
    assert.ok(most < limit * least, `${most} ms and ${least} ms`);
  });
}
