// Ways round a rule, each a case of its own. A case tries something and then looks at what
// counts: protected files are byte for byte what they were, nothing new lies beside them, and no
// answer holds a protected text or, where names are protected, the name of a hidden file.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  adaptBackendProtocol,
  CompositeBackend,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const SECRET = "TOP-5ECRET";
const HIDDEN = "unguessable-name";
const files = {
  "/secrets/key.txt": SECRET,
  [`/secrets/${HIDDEN}.txt`]: `${SECRET} too`,
  "/secrets/deep/down/key.txt": SECRET,
  "/secrets/caf\u00e9.txt": SECRET,
  "/public/a.txt": "public needle",
  "/secretsauce/a.txt": "public needle",
};
const bytes = (text) => new TextEncoder().encode(text);

/** Spellings that must mean the protected file, another file, or nothing at all. */
const SPELLINGS = {
  "the path itself": "/secrets/key.txt",
  "no leading slash": "secrets/key.txt",
  "doubled slashes": "//secrets///key.txt",
  "dot segments": "/./secrets/./key.txt",
  "a trailing slash": "/secrets/key.txt/",
  "dot dot inside": "/public/../secrets/key.txt",
  "dot dot in front": "../secrets/key.txt",
  "dot dot back into it": "/secrets/deep/../key.txt",
  "percent-encoded letters": "/%73ecrets/key.txt",
  "a percent-encoded slash": "/secrets%2Fkey.txt",
  "percent-encoded dots": "/public/%2e%2e/secrets/key.txt",
  "doubly percent-encoded": "/%2573ecrets/key.txt",
  backslashes: "\\secrets\\key.txt",
  "a backslash between": "/secrets\\key.txt",
  "a NUL at the end": "/secrets/key.txt\0",
  "a NUL inside": "/secrets\0/key.txt",
  "a line feed": "/secrets/key.txt\n",
  "upper case": "/SECRETS/KEY.TXT",
  "a Cyrillic look-alike": "/\u0455ecrets/key.txt",
  "full-width letters": "/\uff53ecrets/key.txt",
  "a full-width slash": "/secrets\uff0fkey.txt",
  "a division slash": "/secrets\u2215key.txt",
  "a zero-width space": "/sec\u200brets/key.txt",
  "a soft hyphen": "/sec\u00adrets/key.txt",
  "the composed form": "/secrets/caf\u00e9.txt",
  "the decomposed form": "/secrets/cafe\u0301.txt",
  "a lone surrogate": "/secrets\ud800/key.txt",
  "a trailing space": "/secrets /key.txt",
  "a trailing dot": "/secrets./key.txt",
  "a home directory": "~/../secrets/key.txt",
  "a Windows drive": "C:/secrets/key.txt",
  "a file URL": "file:///secrets/key.txt",
  "a bare directory": "/secrets",
  "a directory with a slash": "/secrets/",
  "a path of 1,030 bytes": `/secrets/${"x".repeat(1030)}`,
};

const rules = {
  permissions: {
    permissions: [{ operations: ["read", "write"], paths: ["/secrets/**"], mode: "deny" }],
  },
  "the default deny": {
    permissions: [{ operations: ["read", "write"], paths: ["/public/**", "/secretsauce/**"] }],
    defaultMode: "deny",
  },
  "an ask that throws": {
    permissions: [{ operations: ["read", "write"], paths: ["/secrets/**"], mode: "ask" }],
    onAsk() {
      throw new Error("no");
    },
  },
  readOnlyPrefixes: { readOnlyPrefixes: ["/secrets/"] },
  readOnly: { readOnly: true },
};
/** Which rules keep content from being read as well. */
const READS = ["permissions", "the default deny", "an ask that throws"];
/** Names too: an ask shows what there is to be asked for. */
const NAMES = ["permissions", "the default deny"];

const READERS = {
  read: (backend, path) => backend.read(path),
  readRaw: (backend, path) => backend.readRaw(path),
  downloadFiles: (backend, path) => backend.downloadFiles([path, "/public/a.txt", path]),
  "grep's path": (backend, path) => backend.grep("TOP", path),
  "glob's path": (backend, path) => backend.glob("**", path),
  ls: (backend, path) => backend.ls(path),
};
const WRITERS = {
  write: (backend, path) => backend.write(path, "overwritten"),
  edit: (backend, path) => backend.edit(path, "TOP", "BOTTOM"),
  "edit of everything": (backend, path) => backend.edit(path, SECRET, "", true),
  delete: (backend, path) => backend.delete(path),
  uploadFiles: (backend, path) =>
    backend.uploadFiles([
      ["/public/b.txt", bytes("b")],
      [path, bytes("overwritten")],
    ]),
};

const shown = (answer) =>
  JSON.stringify(answer, (_, value) =>
    value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
  ) ?? "";

/** Runs an attempt against a guarded backend and looks at what counts. */
async function attempt(rule, inner, run, guarded = (backend) => withPolicy(backend, rules[rule])) {
  const before = inner.snapshot();
  const answer = await run(guarded(inner));
  const after = inner.snapshot();
  const protectedOnes = (all) =>
    Object.fromEntries(
      Object.entries(all).filter(([path]) => path === "/secrets" || path.startsWith("/secrets/")),
    );
  assert.deepEqual(
    protectedOnes(after),
    protectedOnes(before),
    "protected files stand as they were",
  );
  if (rule === "readOnly") assert.deepEqual(after, before);
  if (READS.includes(rule)) assert.ok(!shown(answer).includes(SECRET), shown(answer));
  if (NAMES.includes(rule)) assert.ok(!shown(answer).includes(HIDDEN), shown(answer));
  return answer;
}

let cases = 0;
function attack(name, run) {
  cases += 1;
  test(name, run);
}

const state = () => new StateBackend({ files, writeMode: "overwrite" });

for (const rule of Object.keys(rules)) {
  const ways = READS.includes(rule) ? { ...READERS, ...WRITERS } : WRITERS;
  for (const [operation, run] of Object.entries(ways)) {
    for (const [spelling, path] of Object.entries(SPELLINGS)) {
      attack(`${rule}: ${operation} by ${spelling}`, () =>
        attempt(rule, state(), (backend) => run(backend, path)),
      );
    }
  }
  const writes = {
    "delete of the root": (backend) => backend.delete("/"),
    "delete of the directory": (backend) => backend.delete("/secrets"),
    "delete of a directory beneath": (backend) => backend.delete("/secrets/deep"),
    "a file in place of the directory": (backend) => backend.write("/secrets", "x"),
    "a new file beside the others": (backend) => backend.write("/secrets/new.txt", "x"),
    "a new directory beneath": (backend) =>
      backend.uploadFiles([["/secrets/a/b/c.txt", bytes("x")]]),
    "an upload list with the same path twice": (backend) =>
      backend.uploadFiles([
        ["/secrets/key.txt", bytes("1")],
        ["secrets//key.txt", bytes("2")],
      ]),
    "an empty edit that would fill a new file": (backend) =>
      backend.edit("/secrets/new.txt", "", "x"),
    "writes in a burst": (backend) =>
      Promise.all(Array.from({ length: 20 }, (_, n) => backend.write(`/secrets/${n}`, "x"))),
  };
  for (const [name, run] of Object.entries(writes)) {
    attack(`${rule}: ${name}`, () => attempt(rule, state(), run));
  }
}

const searches = {
  "glob **": (b) => b.glob("**"),
  "glob anchored at it": (b) => b.glob("/secrets/**", "/public"),
  "glob in braces": (b) => b.glob("{public,secrets}/*"),
  "glob in braces anchored": (b) => b.glob("{/secrets/*,x}", "/public"),
  "glob by a class": (b) => b.glob("/[s]ecrets/*"),
  "glob by an escape": (b) => b.glob("/\\secrets/*"),
  "glob by question marks": (b) => b.glob("/secre??/**"),
  "glob of one name": (b) => b.glob("**/key.txt"),
  "glob from a look-alike root": (b) => b.glob("**", "/secrets/."),
  "grep everywhere": (b) => b.grep("TOP"),
  "grep of every line": (b) => b.grep(""),
  "grep by a regular expression": (b) => b.grep("T.P", "/", null, null, { regex: true }),
  "grep ignoring case": (b) => b.grep("top", "/", null, null, { ignoreCase: true }),
  "grep with its glob": (b) => b.grep("TOP", "/", "secrets/**"),
  "grep with its glob anchored": (b) => b.grep("TOP", "/public", "/secrets/**"),
  "grep with context": (b) => b.grep("needle", "/", null, null, { before: 5, after: 5 }),
  "grep at its path null": (b) => b.grep("TOP", null),
  "grep at a path beneath": (b) => b.grep("TOP", "/secrets/deep/down"),
  "grep with maxCount 1": (b) => b.grep("TOP", "/", null, 1),
  "grep with maxPerFile": (b) => b.grep("TOP", "/", null, null, { maxPerFile: 1 }),
  "ls of the root": (b) => b.ls("/"),
  "a copy by edit": (b) => b.edit("/secrets/key.txt", SECRET, SECRET),
  "a copy by upload of a download": async (b) => {
    const [one] = await b.downloadFiles(["/secrets/key.txt"]);
    await b.uploadFiles([["/public/copy.txt", one.content ?? new Uint8Array()]]);
    return b.read("/public/copy.txt");
  },
  "reading page by page": (b) =>
    Promise.all([0, 1, 2].map((n) => b.read("/secrets/key.txt", n, 1))),
  "downloads with the path doubled": (b) =>
    b.downloadFiles(["/secrets/key.txt", "secrets/key.txt", "//secrets/key.txt"]),
};
for (const rule of READS) {
  for (const [name, run] of Object.entries(searches)) {
    attack(`${rule}: ${name}`, () => attempt(rule, state(), run));
  }
}

for (const rule of NAMES) {
  attack(`${rule}: what is hidden leaves no trace in a budget`, async () => {
    const backend = withPolicy(state(), rules[rule]);
    const plain = withPolicy(
      new StateBackend({
        files: { "/public/a.txt": "public needle", "/secretsauce/a.txt": "public needle" },
      }),
      {},
    );
    for (const cap of [0, 1, 2, 3, 100]) {
      assert.deepEqual(
        await backend.grep("", "/", null, cap),
        await plain.grep("", "/", null, cap),
      );
    }
  });
  attack(`${rule}: an answer is the same whether the file exists or not`, async () => {
    const backend = withPolicy(state(), rules[rule]);
    const same = async (run) => {
      const [there, nowhere] = await Promise.all([
        run("/secrets/key.txt"),
        run("/secrets/nix.txt"),
      ]);
      assert.equal(shown(there).replaceAll("key.txt", "nix.txt"), shown(nowhere));
    };
    for (const run of [...Object.values(READERS), ...Object.values(WRITERS)]) {
      await same((path) => run(backend, path));
    }
  });
  attack(`${rule}: the directory does not show`, async () => {
    const backend = withPolicy(state(), rules[rule]);
    const listed = (await backend.ls("/")).files;
    assert.deepEqual(listed?.map((one) => one.path) ?? [], ["/public/", "/secretsauce/"]);
  });
}

// Under a mount, through a mount, and with one storage mounted twice.
for (const rule of [...NAMES, "readOnlyPrefixes", "readOnly"]) {
  const spread = { ...READERS, ...WRITERS };
  for (const [operation, run] of Object.entries(READS.includes(rule) ? spread : WRITERS)) {
    attack(`${rule}: ${operation} through a composite around it`, () =>
      attempt(
        rule,
        state(),
        (backend) => run(backend, "/m/secrets/key.txt"),
        (inner) =>
          new CompositeBackend(new StateBackend(), { "/m/": withPolicy(inner, rules[rule]) }),
      ),
    );
    attack(`${rule}: ${operation} on a mount inside it`, async () => {
      const mounted = new StateBackend({ files: { "/key.txt": SECRET }, writeMode: "overwrite" });
      const composite = new CompositeBackend(state(), { "/secrets/": mounted });
      const answer = await run(withPolicy(composite, rules[rule]), "/secrets/key.txt");
      assert.equal(mounted.read("/key.txt").content, SECRET);
      if (READS.includes(rule)) assert.ok(!shown(answer).includes(SECRET));
    });
    attack(`${rule}: ${operation} on a storage mounted twice, by the other name`, async () => {
      const inner = state();
      const twice = new CompositeBackend(new StateBackend(), { "/one/": inner, "/two/": inner });
      const both = structuredClone({ permissions: [], ...rules[rule] });
      both.permissions = both.permissions.map((one) => ({
        ...one,
        paths: one.paths.map((path) => `/*${path}`),
      }));
      if (both.readOnlyPrefixes) both.readOnlyPrefixes = ["/one/secrets", "/two/secrets"];
      const guarded = withPolicy(twice, both);
      for (const path of ["/one/secrets/key.txt", "/two/secrets/key.txt"]) {
        const answer = await run(guarded, path);
        assert.equal(inner.read("/secrets/key.txt").content, SECRET);
        if (READS.includes(rule)) assert.ok(!shown(answer).includes(SECRET));
      }
    });
    attack(`${rule}: ${operation} on a foreign object`, async () => {
      const inner = state();
      await attempt(
        rule,
        inner,
        (backend) => run(backend, "secrets//key.txt"),
        (raw) => withPolicy(adaptBackendProtocol(raw), rules[rule]),
      );
    });
  }
}

attack("a delete above a mount is refused for what the mount holds", async () => {
  const mounted = new StateBackend({ files: { "/key.txt": SECRET } });
  const composite = new CompositeBackend(new StateBackend({ files: { "/a/x": "1" } }), {
    "/a/secrets/": mounted,
  });
  const rule = { permissions: [{ operations: ["write"], paths: ["/a/secrets/**"], mode: "deny" }] };
  assert.equal((await withPolicy(composite, rule).delete("/a")).code, "permission_denied");
  assert.equal(
    (await withPolicy(composite, { readOnlyPrefixes: ["/a/secrets"] }).delete("/a")).code,
    "permission_denied",
  );
  assert.equal(mounted.read("/key.txt").content, SECRET);
  assert.equal((await composite.read("/a/x")).content, "1");
});

attack("a rule's options changed later change no rule", async () => {
  const policy = {
    readOnlyPrefixes: ["/secrets"],
    permissions: [{ operations: ["read"], paths: ["/secrets/**"], mode: "deny" }],
  };
  const backend = withPolicy(state(), policy);
  policy.readOnlyPrefixes.length = 0;
  policy.permissions[0].paths[0] = "/none";
  policy.permissions.length = 0;
  assert.equal((await backend.read("/secrets/key.txt")).code, "permission_denied");
  assert.equal((await backend.write("/secrets/key.txt", "x")).code, "permission_denied");
});

attack("a path that changes between the look and the use is read once", async () => {
  const backend = withPolicy(state(), rules.permissions);
  let turn = 0;
  const path = { toString: () => (turn++ === 0 ? "/public/a.txt" : "/secrets/key.txt") };
  assert.equal((await backend.read(path)).code, "invalid_argument");
  const entry = { 0: "/public/a.txt", length: 2, 1: bytes("x") };
  assert.equal((await backend.uploadFiles([entry]))[0].code, "invalid_argument");
});

for (const [name, limit, run] of [
  ["writes at once against maxBytes", { maxBytes: 100 }, (b, n) => b.write(`/${n}`, "0123456789")],
  [
    "uploads at once against maxBytes",
    { maxBytes: 100 },
    (b, n) => b.uploadFiles([[`/${n}`, bytes("0123456789")]]),
  ],
  ["writes at once against maxFiles", { maxFiles: 10 }, (b, n) => b.write(`/${n}`, "0123456789")],
  ["writes to one path at once", { maxBytes: 100 }, (b) => b.write("/same", "0123456789")],
  [
    "edits at once that make it grow",
    { maxBytes: 100 },
    (b, n) => b.edit("/grow", `<${n}>`, `<${n}>0123456789`),
  ],
  [
    "one batch",
    { maxBytes: 100 },
    (b, n) =>
      n === 0 &&
      b.uploadFiles(Array.from({ length: 40 }, (_, at) => [`/${at}`, bytes("0123456789")])),
  ],
  [
    "one batch of one path",
    { maxBytes: 100 },
    (b, n) =>
      n === 0 &&
      b.uploadFiles(Array.from({ length: 40 }, () => ["/x", bytes("0123456789".repeat(9))])),
  ],
  [
    "a base64 text counted by its bytes",
    { maxBytes: 100 },
    (b, n) => b.write(`/${n}.png`, btoa("0123456789")),
  ],
  [
    "a file over maxFileBytes in pieces",
    { maxFileBytes: 100, maxBytes: 100 },
    (b) => b.edit("/grow", "#", "#0123456789"),
  ],
]) {
  for (const [kind, wrap] of [
    ["at once", (b) => b],
    ["late", late],
  ]) {
    attack(`quota: ${name}, on a backend that answers ${kind}`, async () => {
      const inner = new StateBackend({ files: { "/grow": "" }, writeMode: "overwrite" });
      if (/grow|pieces/.test(name))
        inner.write("/grow", `#${Array.from({ length: 10 }, (_, n) => `<${n}>`).join("")}`);
      const backend = withPolicy(wrap(inner), { quota: limit });
      await Promise.all(Array.from({ length: 30 }, (_, n) => run(backend, n)));
      const all = Object.values(inner.snapshot()).map(
        (file) =>
          bytes(typeof file.content === "string" ? file.content : "").length +
          (typeof file.content === "string" ? 0 : file.content.length),
      );
      assert.ok(all.reduce((a, b) => a + b, 0) <= (limit.maxBytes ?? Infinity), `${all}`);
      assert.ok(all.length <= (limit.maxFiles ?? Infinity));
      if (!/one path|late/.test(name)) assert.ok(all.length > 0);
    });
  }
}

/** The same backend, each answer a few turns later. */
function late(inner) {
  const adapted = adaptBackendProtocol(inner);
  const slow = {};
  for (const [name, method] of Object.entries(adapted)) {
    if (typeof method !== "function") continue;
    slow[name] = async (...args) => {
      for (let turn = 0; turn < 3; turn++) await null;
      const answer = await method(...args);
      for (let turn = 0; turn < 3; turn++) await null;
      return answer;
    };
  }
  return slow;
}

for (const [name, run] of Object.entries({
  "reads in a burst": (b) => b.read("/public/a.txt"),
  "downloads in a burst": (b) => b.downloadFiles(["/public/a.txt"]),
  "writes in a burst": (b, n) => b.write(`/${n}`, "x"),
  "refused paths do not pay": (b, n) => (n % 2 ? b.read("/../x") : b.read("/public/a.txt")),
  "a mixture": (b, n) => (n % 2 ? b.ls("/") : b.grep("x")),
})) {
  attack(`rateLimit: ${name}`, async () => {
    const backend = withPolicy(late(state()), { rateLimit: { operations: 7, perMs: 600_000 } });
    const answers = (
      await Promise.all(Array.from({ length: 40 }, (_, n) => run(backend, n)))
    ).flat();
    const passed = answers.filter((one) => !one.error);
    assert.equal(passed.length, 7);
    assert.ok(answers.some((one) => one.code === "rate_limited"));
  });
}

attack("rateLimit: one batch counts each file", async () => {
  const backend = withPolicy(state(), { rateLimit: { write: { operations: 3, perMs: 600_000 } } });
  const batch = Array.from({ length: 9 }, (_, n) => [`/${n}`, bytes("x")]);
  const stored = (await backend.uploadFiles(batch)).filter((one) => one.error === null);
  assert.equal(stored.length, 3);
});

for (const [name, run] of Object.entries({
  "in two edits": async (b) => {
    await b.write("/a", "BAD");
    await b.edit("/a", "BAD", "BAD-WO");
    return b.edit("/a", "WO", "WORD");
  },
  "as base64": (b) => b.write("/a.png", btoa("BAD-WORD")),
  "as a data URL": (b) => b.write("/a.png", `data:image/png;base64,${btoa("BAD-WORD")}`),
  "by upload": (b) => b.uploadFiles([["/a", bytes("BAD-WORD")]]),
  "by an edit with other line endings": async (b) => {
    await b.uploadFiles([["/a", bytes("BAD\r\nx")]]);
    return b.edit("/a", "BAD\nx", "BAD-WORD");
  },
  "by two edits at once": async (b) => {
    await b.write("/a", "1 2");
    return Promise.all([b.edit("/a", "1 ", "BAD-"), b.edit("/a", "2", "WORD")]);
  },
  "by replaceAll": async (b) => {
    await b.write("/a", "xx");
    await b.edit("/a", "xx", "BAD-xORD");
    return b.edit("/a", "x", "W", true);
  },
})) {
  attack(`inspect: a word put together ${name}`, async () => {
    const inner = new StateBackend();
    const inspect = ({ content }) => {
      const text = typeof content === "string" ? content : new TextDecoder().decode(content);
      if (text.includes("BAD-WORD")) return { deny: "a bad word" };
    };
    await run(withPolicy(late(inner), { inspect }));
    for (const [path] of Object.entries(inner.snapshot())) {
      const [{ content }] = inner.downloadFiles([path]);
      assert.ok(!new TextDecoder().decode(content).includes("BAD-WORD"), path);
    }
  });
}

test("there are at least 200 cases", () => {
  assert.ok(cases >= 200, `${cases}`);
});
