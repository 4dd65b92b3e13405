// Random programs of calls over every class, with hosts that fail, wait and answer nonsense. No
// protocol method throws or hangs; each result has data, or an error with a code; and the same
// object works afterwards. The numbers of programs grow by KITBAG_FUZZ (soak).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import * as kitbag from "../lib/kitbag.mjs";
import { CALLS, closed, PATIENT, SUBJECTS } from "./subjects.mjs";

const require = createRequire(new URL("../deps/fuzz/package.json", import.meta.url));
const fc = require("fast-check");

const TIMES = Number(process.env.KITBAG_FUZZ ?? 1);
const CODES = new Set(
  /type ErrorCode =([^;]*);/
    .exec(readFileSync(new URL("../../ts/types.ts", import.meta.url), "utf8"))[1]
    .match(/"[a-z_]+"/g)
    .map((word) => word.slice(1, -1)),
);

const paths = fc.oneof(
  fc.constantFrom("/a.txt", "/d/b.txt", "/m/c.txt", "/m/deep/d.txt", "/", "/d", "/pic.png"),
  fc.constantFrom("", "a", "/../x", "/__proto__", "/a\0b", "~/x", "/é/語.txt", "//a//", "C:/x"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const texts = fc.oneof(
  fc.constantFrom("", "a", "a\nb\n", "x\r\ny", "**/*", "*.txt", "[", "(a|b)*", "\ud800", "\0"),
  fc.string({ unit: "grapheme", maxLength: 20 }),
);
/** Arguments that are none. */
const odd = fc.oneof(
  fc.constantFrom(null, undefined, 0, -1, Number.NaN, true, Symbol.iterator, 1n, () => 1),
  fc.anything({ withBigInt: true, withMap: true, withTypedArray: true, withNullPrototype: true }),
);

const sound = fc.record({ name: fc.constantFrom(...Object.keys(CALLS)), path: paths, text: texts });
const wild = fc.record({
  method: fc.constantFrom("ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"),
  given: fc.array(odd, { maxLength: 5 }),
});
const batches = fc.record({
  method: fc.constantFrom("uploadFiles", "downloadFiles"),
  given: fc.array(fc.oneof(odd, fc.array(odd, { maxLength: 3 })), { maxLength: 3 }),
});
const steps = fc.array(fc.oneof({ weight: 4, arbitrary: sound }, wild, batches), {
  minLength: 1,
  maxLength: 12,
});

const thrown = new Error("the host failed");
const FAULTS = {
  none: (call) => call(),
  throws: () => {
    throw thrown;
  },
  rejects: () => Promise.reject(thrown),
  "rejects with nothing": () => Promise.reject(undefined),
  late: async (call) => {
    await new Promise((resolve) => setImmediate(resolve));
    return call();
  },
  "the answer is lost": async (call) => {
    await call();
    throw thrown;
  },
  undefined: () => undefined,
  null: () => null,
  "a number": () => 7,
  "a text": () => "text",
  "an empty object": () => ({}),
  "an empty array": () => [],
  "odd rows": () => [null, 3, {}, { path: 5 }, { path: "/../x" }, "x"],
  "a proxy that throws": () =>
    new Proxy(
      {},
      {
        get(_, key) {
          if (key === "then") return undefined;
          throw thrown;
        },
      },
    ),
};
const faults = fc.array(fc.constantFrom(...Object.keys(FAULTS)), { minLength: 1, maxLength: 30 });

const LONGEST = 10_000;

async function answered(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} hangs`)), LONGEST);
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A result of the protocol. */
function isResult(answer, what) {
  assert.ok(typeof answer === "object" && answer !== null, `${what}: ${inspect(answer)}`);
  for (const one of Array.isArray(answer) ? answer : [answer]) {
    if (one.error === undefined || one.error === null) continue;
    assert.equal(typeof one.error, "string", what);
    assert.ok(one.error.length > 0, what);
    // In batches `error` is a word of the protocol, and `code` is beside it.
    assert.ok(CODES.has(one.code) || Array.isArray(answer), `${what}: ${inspect(one)}`);
    assert.notEqual(one.code, "internal", `${what}: ${one.error}`);
  }
}

const run = (backend, step) =>
  "name" in step
    ? CALLS[step.name](backend, step.path, step.text)
    : (backend[step.method]?.(...step.given) ?? {});

async function program(make, program, hostFaults) {
  let at = 0;
  let healthy = hostFaults === undefined;
  const host = (_, call) => (healthy ? call() : FAULTS[hostFaults[at++ % hostFaults.length]](call));
  const subject = make(host);
  try {
    for (const step of program) {
      isResult(await answered(inspect(step), () => run(subject.backend, step)), inspect(step));
    }
    healthy = true;
    for (const name of ["ls", "write", "read", "grep", "delete"]) {
      const answer = await answered(name, () =>
        CALLS[name](subject.backend, "/after.txt", "after"),
      );
      isResult(answer, name);
    }
    return subject;
  } finally {
    closed(subject);
  }
}

/** Programs that were wrong once. */
const CORPUS = readFileSync(new URL("corpus/programs.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

for (const [name, make] of Object.entries(SUBJECTS)) {
  const spaced = (all) =>
    PATIENT.has(name) ? all.flatMap((fault) => [fault, "none", "none", "none", "none"]) : all;
  describe(name, () => {
    test("the corpus: data or an error with a code, over a sound host and each fault", async () => {
      for (const steps of CORPUS) {
        await program(make, steps);
        for (const fault of Object.keys(FAULTS)) await program(make, steps, spaced([fault]));
      }
    });

    test("random programs over a sound host", async () => {
      const property = fc.asyncProperty(steps, async (all) => void (await program(make, all)));
      await fc.assert(property, { numRuns: 25 * TIMES, endOnFailure: TIMES === 1 });
    });

    test("random programs over a faulty host", async () => {
      const property = fc.asyncProperty(
        steps,
        faults,
        async (all, hostFaults) => void (await program(make, all, spaced(hostFaults))),
      );
      await fc.assert(property, { numRuns: 25 * TIMES, endOnFailure: TIMES === 1 });
    });
  });
}

describe("constructors and functions", () => {
  const given = fc.array(
    fc.oneof(odd, fc.dictionary(fc.constantFrom(...optionNames()), odd, { maxKeys: 4 })),
    { maxLength: 3 },
  );
  const made = [
    ...["StateBackend", "CustomBackend", "StoreBackend", "R2Backend", "S3Backend", "SqlBackend"],
    ...["PostgresBackend", "D1Backend", "FilesystemBackend", "LocalShellBackend"],
    ...["SandboxBackend", "CompositeBackend", "ContextHubBackend", "IndexedDbBackend"],
    "OpfsBackend",
  ];
  const called = ["withPolicy", "createFileTools", "adaptBackendProtocol", "presignS3", "toV1"];
  for (const name of [...made, ...called]) {
    test(`${name} takes its options, or throws an Error that says what is wrong`, () => {
      const property = fc.property(given, (all) => {
        try {
          made.includes(name) ? new kitbag[name](...all) : kitbag[name](...all);
        } catch (error) {
          assert.ok(error instanceof Error, inspect(error));
          assert.ok(!(error instanceof kitbag.KitbagPanic), error.stack);
          assert.ok(error.message.length > 0);
        }
      });
      fc.assert(property, { numRuns: 40 * TIMES, endOnFailure: TIMES === 1 });
    });
  }
});

/** Names of options of every class. */
function optionNames() {
  return [
    ...["files", "writeMode", "rootDir", "virtualMode", "bucket", "endpoint", "region"],
    ...["credentials", "namespace", "store", "query", "dialect", "client", "database", "execute"],
    ...["id", "prefix", "retry", "quota", "permissions", "rateLimit", "inspect", "readOnly"],
    ...["maxFileBytes", "timeout", "apiKey", "baseUrl", "tools", "method", "key", "headers"],
  ];
}

test("files go through snapshot and restore, and through FileData, unchanged", () => {
  const body = fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 40 }));
  const names = fc.constantFrom("/a.txt", "/d/b", "/c.png", "/é.md", "/__proto__");
  fc.assert(
    fc.property(fc.array(fc.tuple(names, body), { maxLength: 5 }), (files) => {
      const one = new kitbag.StateBackend({ writeMode: "overwrite" });
      const wanted = new Map();
      for (const [path, content] of files) {
        const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
        assert.equal(one.uploadFiles([[path, bytes]])[0].error, null);
        wanted.set(path, bytes);
      }
      const record = JSON.parse(
        JSON.stringify(one.snapshot(), (_, value) =>
          value instanceof Uint8Array ? { bytes: [...value] } : value,
        ),
        (_, value) => (Array.isArray(value?.bytes) ? Uint8Array.from(value.bytes) : value),
      );
      const two = new kitbag.StateBackend();
      two.restore(record);
      for (const [path, bytes] of wanted) {
        const [{ content }] = two.downloadFiles([path]);
        assert.deepEqual([...content], [...bytes], path);
      }
      assert.deepEqual(two.glob("**").files.length, wanted.size);
    }),
    { numRuns: 100 * TIMES },
  );
});
