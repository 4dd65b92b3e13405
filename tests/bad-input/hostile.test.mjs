// Every argument of every method against every hostile value: no call throws or rejects, what
// must be text is refused with `error`, and the backend works as before.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StateBackend } from "../lib/kitbag.mjs";

const cyclic = {};
cyclic.self = cyclic;

function detached() {
  const bytes = new Uint8Array(8);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

const throwing = (what) => {
  throw new Error(what);
};

const trap = () => throwing("trap");
const hostileProxy = new Proxy(function target() {}, {
  get: trap,
  has: trap,
  ownKeys: trap,
  getPrototypeOf: trap,
  getOwnPropertyDescriptor: trap,
  apply: trap,
});

const HUGE = "x".repeat(100 * 1024 * 1024);

/** Name, value, and whether it is a text. */
const VALUES = [
  ["null", null],
  ["undefined", undefined],
  ["true", true],
  ["zero", 0],
  ["minus one", -1],
  ["a fraction", 1.5],
  ["NaN", Number.NaN],
  ["infinity", Number.POSITIVE_INFINITY],
  ["2^53", 2 ** 53],
  ["a big integer", 10n],
  ["a symbol", Symbol("hostile")],
  ["a function", () => "/x"],
  ["an object", {}],
  ["an object without prototype", Object.create(null)],
  ["an array", ["/x"]],
  ["nested arrays", [[["/x"]]]],
  ["a cyclic object", cyclic],
  ["a date", new Date(Number.NaN)],
  ["a map", new Map([["a", 1]])],
  ["a promise", Promise.resolve("/x")],
  ["a String object", Object("/x")],
  ["a regular expression", /x/],
  ["a Uint8Array", Uint8Array.of(1, 2, 3)],
  ["a detached buffer", detached()],
  ["a shared buffer", new Uint8Array(new SharedArrayBuffer(4))],
  [
    "an object whose getters throw",
    {
      get length() {
        return throwing("length");
      },
      get signal() {
        return throwing("signal");
      },
      get 0() {
        return throwing("0");
      },
      toString: () => throwing("toString"),
      [Symbol.toPrimitive]: () => throwing("toPrimitive"),
      [Symbol.iterator]: () => throwing("iterator"),
    },
  ],
  ["a proxy that throws", hostileProxy],
  ["a revoked proxy", revoked()],
  ["a long text", HUGE, true],
  ["a lone surrogate", "\ud800", true],
  ["a reversed pair", "\udc00\ud800", true],
  ["__proto__", "__proto__", true],
  ["constructor", "constructor", true],
  ["an empty text", "", true],
  ["NUL", "\0", true],
  ["dots", "../../../etc/passwd", true],
  ["many slashes", "/".repeat(100_000), true],
  ["many segments", "/a".repeat(100_000), true],
  ["many stars", "**/".repeat(50_000), true],
  ["many braces", "{a,b}".repeat(5_000), true],
  ["open brackets", "[".repeat(50_000), true],
];

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Method, sound arguments, and which of them must be text. */
const METHODS = [
  ["ls", ["/"], [0]],
  ["read", ["/kept.txt", 0, 10], [0]],
  ["readRaw", ["/kept.txt"], [0]],
  ["grep", ["kept", "/", "*.txt", 10, { regex: true, before: 1, after: 1 }], [0]],
  ["glob", ["**/*.txt", "/"], [0]],
  ["write", ["/new.txt", "new"], [0, 1]],
  ["edit", ["/kept.txt", "kept", "kept", false], [0, 1, 2]],
  ["delete", ["/none.txt"], [0]],
  ["move", ["/none.txt", "/to.txt", { overwrite: false }], [0, 1]],
  ["copy", ["/kept.txt", "/copy.txt"], [0, 1]],
  ["append", ["/none.txt", "more"], [0, 1]],
  ["uploadFiles", [[["/up.txt", Uint8Array.of(65)]]], []],
  ["downloadFiles", [["/kept.txt"]], []],
];

const fresh = () => new StateBackend({ files: { "/kept.txt": "kept\n" }, maxBytes: 2 ** 28 });

function works(backend) {
  assert.equal(backend.read("/kept.txt").content, "kept\n");
  assert.deepEqual(backend.grep("kept").matches, [{ path: "/kept.txt", line: 1, text: "kept" }]);
  assert.equal(backend.write("/after.txt", "after").error, undefined);
  assert.equal(backend.edit("/after.txt", "after", "before").occurrences, 1);
  assert.equal(backend.delete("/after.txt").error, undefined);
}

function isAnswer(method, answer) {
  assert.equal(typeof answer, "object");
  assert.notEqual(answer, null);
  if (Array.isArray(answer)) {
    for (const one of answer) assert.ok("error" in one, `${method} answers each input`);
    return;
  }
  if (answer.error !== undefined) {
    assert.equal(typeof answer.error, "string");
    assert.equal(typeof answer.code, "string");
    // edit names the whole text that it did not find, as recorded.
    if (method !== "edit") assert.ok(answer.error.length < 10_000, "not the argument back");
    assert.notEqual(answer.code, "internal");
  }
}

for (const [method, args, texts] of METHODS) {
  describe(method, () => {
    for (const [name, value, isText] of VALUES) {
      test(`${method}: ${name} in every place`, () => {
        const backend = fresh();
        for (let at = 0; at < args.length; at++) {
          const given = args.map((arg, index) => (index === at ? value : arg));
          const answer = backend[method](...given);
          isAnswer(method, answer);
          // Content may be bytes.
          const content = method === "write" && at === 1 && ArrayBuffer.isView(value);
          const must = texts.includes(at) && !isText && !(content && value.byteLength > 0);
          if (must) assert.equal(typeof answer.error, "string", `argument ${at} must be refused`);
          // A write or a deletion that was sound after all is undone, for the next round.
          if (answer.path && answer.path !== "/kept.txt") backend.delete(answer.path);
        }
        // `this` and what follows must not matter either.
        isAnswer(method, backend[method](...args, value, value));
        backend.uploadFiles([["/kept.txt", new TextEncoder().encode("kept\n")]]);
        backend.delete("/copy.txt");
        works(backend);
      });
    }

    test(`${method}: no argument at all`, () => {
      const backend = fresh();
      isAnswer(method, backend[method]());
      works(backend);
    });
  });
}

describe("batches", () => {
  const inside = [
    ...VALUES.filter(([name]) => name !== "a long text"),
    ["an array of one", ["/x"]],
    ["an array of three", ["/x", new Uint8Array(1), 3]],
  ];

  for (const [name, value] of inside) {
    test(`uploadFiles: ${name} among the entries`, () => {
      const backend = fresh();
      const good = ["/good.txt", Uint8Array.of(65)];
      for (const entries of [
        [good, value],
        [good, [value, Uint8Array.of(66)]],
        [good, ["/other.txt", value]],
      ]) {
        const answers = backend.uploadFiles(entries);
        assert.equal(answers.length, 2);
        assert.equal(answers[0].error, null, "the sound entry is stored");
        isAnswer("uploadFiles", answers);
      }
      assert.equal(backend.read("/good.txt").content, "A");
      works(backend);
    });

    test(`downloadFiles: ${name} among the paths`, () => {
      const backend = fresh();
      const answers = backend.downloadFiles(["/kept.txt", value]);
      assert.equal(answers.length, 2);
      assert.equal(answers[0].error, null);
      assert.equal(typeof answers[1].error, "string");
      works(backend);
    });
  }

  test("a batch that throws while it is walked", () => {
    const backend = fresh();
    const walks = [
      {
        *[Symbol.iterator]() {
          yield "/kept.txt";
          throw new Error("walk");
        },
      },
      Object.defineProperty(["/kept.txt"], 1, { get: () => throwing("element") }),
      new Array(10),
    ];
    for (const walk of walks) {
      isAnswer("downloadFiles", backend.downloadFiles(walk));
      isAnswer("uploadFiles", backend.uploadFiles(walk));
    }
    works(backend);
  });
});

describe("arguments that call back", () => {
  test("a getter that uses the backend in the midst of a call", () => {
    const backend = fresh();
    const options = {
      get regex() {
        backend.write("/inner.txt", "inner");
        backend.grep("kept");
        return true;
      },
    };
    const answer = backend.grep("k.pt", "/", null, null, options);
    assert.deepEqual(answer.matches, [{ path: "/kept.txt", line: 1, text: "kept" }]);
    assert.equal(backend.read("/inner.txt").content, "inner");
    works(backend);
  });
});

describe("grep options", () => {
  const names = [
    ...["maxCount", "regex", "ignoreCase", "before", "after", "maxPerFile", "stats"],
    ...["signal", "timeoutMs"],
  ];
  for (const name of names) {
    test(`option ${name}: every hostile value`, () => {
      const backend = fresh();
      for (const [, value] of VALUES) {
        isAnswer("grep", backend.grep("kept", "/", null, null, { [name]: value }));
        isAnswer("grep", backend.grep("kept", "/", null, { [name]: value }));
      }
      works(backend);
    });
  }
});

describe("constructors", () => {
  const options = ["files", "writeMode", "fileFormat", "maxBytes", "channel"];
  for (const name of options) {
    test(`StateBackend: option ${name}: a TypeError that names it, or a sound backend`, () => {
      let refused = 0;
      for (const [, value] of VALUES) {
        try {
          new StateBackend({ [name]: value }).ls("/");
        } catch (error) {
          refused += 1;
          assert.ok(error instanceof TypeError, `${error}`);
          assert.match(error.message, new RegExp(name));
        }
      }
      assert.ok(refused > 10, "most of them are wrong");
    });
  }

  test("StateBackend: hostile options and runtimes", () => {
    for (const [, value] of VALUES) {
      try {
        new StateBackend(value).ls("/");
      } catch (error) {
        assert.ok(error instanceof TypeError, `${error}`);
        assert.match(error.message, /StateBackend/);
      }
      isAnswer("ls", new StateBackend({ state: value }).ls("/"));
      isAnswer("ls", new StateBackend({ state: { files: value } }).ls("/"));
      isAnswer("ls", new StateBackend({ state: { files: { "/x": value } } }).ls("/"));
    }
  });

  test("restore: hostile records", () => {
    const backend = fresh();
    for (const [name, value] of VALUES) {
      if (name === "a long text") continue;
      try {
        backend.restore({ "/x.txt": value });
      } catch (error) {
        assert.ok(error instanceof TypeError, `${name}: ${error}`);
      }
      backend.restore({ "/kept.txt": "kept\n" });
    }
    works(backend);
  });
});
