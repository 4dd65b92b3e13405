// A signal that aborts while one file is being searched: the search pauses between lines and lets
// the host's timers fire, so that it ends soon. Pauses change no result.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { kitbag } from "./lib.mjs";

const {
  CompositeBackend,
  CustomBackend,
  createFileTools,
  FilesystemBackend,
  StateBackend,
  withPolicy,
} = kitbag;

/** Lines in which slow expressions find next to nothing. */
let seed = 7;
const letter = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed >>> 31 ? "a" : "b";
};
const noise = Array.from({ length: 1_000 }, () => Array.from({ length: 1_000 }, letter).join(""));
const line = (n) => `${n} ${noise[n % 1_000]} Ünïcödé ${n % 97}\n`;
const BODY = Array.from({ length: 16_000 }, (_, n) => line(n)).join("");
const SLOW = "(?:[ab]*a[ab]{90}){8} .*[x-z]";

const folder = mkdtempSync(join(tmpdir(), "kitbag-"));
// Larger files are not searched.
writeFileSync(join(folder, "a.txt"), BODY.slice(0, 8_000_000));
writeFileSync(join(folder, "b.txt"), BODY.slice(8_000_000));
after(() => rmSync(folder, { recursive: true }));

const state = () => new StateBackend({ files: { "/a.txt": BODY } });
const many = () => {
  const files = {};
  for (let n = 0; n < 3_000; n++) files[`/d/${n}.txt`] = BODY.slice(n * 5_000, (n + 1) * 5_000);
  return new StateBackend({ files });
};
const custom = () =>
  new CustomBackend({
    get: () => ({ content: BODY }),
    list: () => ["/a.txt"],
    put: () => undefined,
    delete: () => true,
  });

const SUBJECTS = {
  CustomBackend: custom,
  FilesystemBackend: () => new FilesystemBackend({ rootDir: folder }),
  "a policy over a StateBackend": () => withPolicy(state(), { readOnly: true }),
  "a policy over many files": () => withPolicy(many(), { readOnly: true }),
  "a router": () => new CompositeBackend(new StateBackend(), { "/m/": state() }),
  "a router of two slow mounts": () =>
    new CompositeBackend(state(), { "/m/": custom(), "/n/": many() }),
};
const SEARCHES = {
  "an expression": [SLOW, { regex: true }],
  "an expression in any case": [SLOW, { regex: true, ignoreCase: true }],
  "an expression with a literal": [`${SLOW.replace("[x-z]", "zzz")}|cöd.*q`, { regex: true }],
};

for (const [name, make] of Object.entries(SUBJECTS)) {
  for (const [what, [pattern, options]] of Object.entries(SEARCHES)) {
    test(`${name}: ${what} ends soon after its signal`, async () => {
      const backend = make();
      const abort = new AbortController();
      let aborted;
      setTimeout(() => {
        aborted = performance.now();
        abort.abort();
      }, 20);
      const answer = await backend.grep(pattern, "/", null, null, {
        ...options,
        signal: abort.signal,
      });
      assert.equal(answer.code, "timeout", JSON.stringify(answer).slice(0, 200));
      assert.match(answer.error, /signal/);
      assert.ok(performance.now() - aborted < 1_000);
      assert.equal((await backend.grep("ab 77", "/", null, 1)).error, undefined);
    });
  }

  test(`${name}: AbortSignal.timeout ends a search`, async () => {
    const signal = AbortSignal.timeout(20);
    const answer = await make().grep(SLOW, "/", null, null, { regex: true, signal });
    assert.equal(answer.code, "timeout");
  });

  test(`${name}: other work goes on during a search`, async () => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 10);
    const limit = { regex: true, timeoutMs: 900 };
    const answer = await make().grep(SLOW, "/", null, null, limit);
    clearInterval(timer);
    assert.equal(answer.code, "timeout");
    assert.ok(ticks >= 1, `${ticks}`);
  });
}

test("a tool's search ends with the signal of its call", async () => {
  const { tools } = createFileTools(withPolicy(state(), { readOnly: true }));
  const grep = tools.find(({ name }) => name === "grep");
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 20);
  const input = { pattern: SLOW, regex: true, output_mode: "content" };
  assert.match(
    String(await grep.execute(input, { signal: abort.signal })),
    /cancelled by its signal/,
  );
  const early = await grep.execute(input, { signal: AbortSignal.abort() });
  assert.match(String(early), /before it began/);
});

for (const [what, pattern, options] of [
  ["an expression", "[ab]+ Ünï.*[0-9]7$", { regex: true }],
  ["an expression with context", " 9[0-9]$", { regex: true, before: 2, after: 3 }],
  ["an expression with a limit", "Ü.*7$", { regex: true, maxPerFile: 2_500 }],
  ["any case", "ÜNÏCÖDÉ 4", { ignoreCase: true, before: 1 }],
]) {
  test(`${what}: a search with pauses finds what one without finds`, async () => {
    const plain = state();
    const whole = plain.grep(pattern, "/", null, 20_000, options);
    const paused = await withPolicy(plain, { readOnly: true }).grep(
      pattern,
      "/",
      null,
      20_000,
      options,
    );
    assert.ok(whole.matches.length > 100, JSON.stringify(whole).slice(0, 200));
    assert.deepEqual(paused, whole);
  });
}
