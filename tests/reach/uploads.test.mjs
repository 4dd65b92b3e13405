// Files that are stored while they arrive: `PUT` of a large file, and `uploadFiles` with a `Blob` or a stream.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  openAsBlob,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import test, { describe } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { copyTree } from "../../pkg/dist/transfer.js";
import {
  begin,
  CompositeBackend,
  FilesystemBackend,
  folder,
  HttpBackend,
  over,
  StateBackend,
  served,
  serveFiles,
  withPolicy,
} from "./lib.mjs";

const OWN = { "x-kitbag": "1" };
const MIB = 1 << 20;
const SIZE = 3 * MIB + 7;
const BYTES = randomBytes(SIZE);
const FAST = 500;

/** Frees what nobody uses any more. */
const collect = (() => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
})();

/** A stream of some bytes, in pieces; `fails` breaks it off behind so many bytes. */
const streamOf = (bytes, { piece = 100_000, fails = Number.POSITIVE_INFINITY } = {}) => {
  let at = 0;
  return new ReadableStream({
    pull(to) {
      if (at >= fails) return to.error(new Error("torn"));
      if (at >= bytes.length) return to.close();
      to.enqueue(new Uint8Array(bytes.subarray(at, at + piece)));
      at += piece;
    },
  });
};
const partsOf = (bytes, options) => ({
  size: bytes.length,
  stream: () => streamOf(bytes, options),
});

const disk = (t, options = {}) => {
  const rootDir = folder(t);
  const backend = new FilesystemBackend({ rootDir, maxFileBytes: 2 ** 31, ...options });
  return { rootDir, backend, at: (name) => join(rootDir, name) };
};
const left = (rootDir) => readdirSync(rootDir, { recursive: true }).sort();
/** Waits until these files are left in a folder: its server may still take away what broke off. */
async function leaves(rootDir, names) {
  for (let tries = 0; `${left(rootDir)}` !== `${names}` && tries < 500; tries++) await later(20);
  assert.deepEqual(left(rootDir), names);
}

const KINDS = {
  "a Blob": () => new Blob([BYTES]),
  "a stream": () => partsOf(BYTES),
  "a stream of small pieces": () => partsOf(BYTES, { piece: 777 }),
  "a stream of one piece": () => partsOf(BYTES, { piece: SIZE }),
};

describe("uploadFiles in parts", () => {
  for (const [name, given] of Object.entries(KINDS)) {
    test(`to a folder: ${name}`, async (t) => {
      const { backend, rootDir, at } = disk(t);
      for (let round = 0; round < 2; round++) {
        assert.deepEqual(await backend.uploadFiles([["/a/film.bin", given()]]), [
          { path: "/a/film.bin", error: null },
        ]);
        assert.ok(BYTES.equals(readFileSync(at("a/film.bin"))));
      }
      assert.deepEqual(left(rootDir), ["a", "a/film.bin"]);
    });
    test(`through a server: ${name}`, async (t) => {
      const { backend, rootDir, at } = disk(t);
      const { files } = await over(t, backend);
      const [answer] = await files.uploadFiles([["/ä b/100%.bin", given()]]);
      assert.deepEqual(answer, { path: "/ä b/100%.bin", error: null });
      assert.ok(BYTES.equals(readFileSync(at("ä b/100%.bin"))));
      assert.deepEqual(left(rootDir), ["ä b", "ä b/100%.bin"]);
    });
  }

  const LAYERS = {
    "a policy": (inner) => withPolicy(inner, { readOnlyPrefixes: ["/no"] }),
    "a quota": (inner) => withPolicy(inner, { quota: { maxBytes: 2 ** 30 } }),
    "an inspection": (inner) => withPolicy(inner, { inspect: () => undefined }),
    "a rate": (inner) => withPolicy(inner, { rateLimit: { operations: 9, perMs: 1000 } }),
    "a router": (inner) => new CompositeBackend(inner, {}),
    "a mount": (inner) => new CompositeBackend(new StateBackend(), { "/a": inner }),
    "a server": null,
    "a server of a server": null,
  };
  for (const [name, wrap] of Object.entries(LAYERS)) {
    test(`below ${name}`, async (t) => {
      const { backend, rootDir } = disk(t);
      let files = wrap?.(backend);
      if (!files) ({ files } = await over(t, backend));
      if (name.endsWith("of a server")) ({ files } = await over(t, files));
      assert.deepEqual(await files.uploadFiles([["/a/film.bin", partsOf(BYTES)]]), [
        { path: "/a/film.bin", error: null },
      ]);
      const [stored] = left(rootDir).filter((one) => one.endsWith("film.bin"));
      assert.ok(BYTES.equals(readFileSync(join(rootDir, stored))));
    });
  }

  test("into a turn, and from there into its folder", async (t) => {
    const { backend, at } = disk(t);
    const turn = await begin(backend);
    assert.equal((await turn.uploadFiles([["/film.bin", partsOf(BYTES)]]))[0].error, null);
    assert.ok(!existsSync(at("film.bin")));
    assert.equal((await turn.commit()).error, undefined);
    assert.ok(BYTES.equals(readFileSync(at("film.bin"))));
  });

  test("in their order, beside others", async (t) => {
    const { backend, at } = disk(t);
    const answers = await backend.uploadFiles([
      ["/a", Buffer.from("first")],
      ["/a", partsOf(BYTES)],
      ["/b", partsOf(BYTES)],
      ["/b", Buffer.from("last")],
      ["/../c", partsOf(BYTES)],
      [7, partsOf(BYTES)],
      ["/d", { size: -1, stream: () => streamOf(BYTES) }],
      ["/e", "text"],
      "/f",
    ]);
    assert.deepEqual(
      answers.map(({ path, code }) => [path, code]),
      [
        ...["/a", "/a", "/b", "/b"].map((path) => [path, undefined]),
        ["/../c", "invalid_path"],
        ...["", "/d", "/e", ""].map((path) => [path, "invalid_argument"]),
      ],
    );
    assert.equal(statSync(at("a")).size, SIZE);
    assert.equal(readFileSync(at("b"), "utf8"), "last");
  });

  const BROKEN = {
    "ends early": () => ({ ...partsOf(BYTES.subarray(0, 2 * MIB)), size: SIZE }),
    "has more": () => ({ ...partsOf(BYTES), size: SIZE - 1 }),
    "is torn": () => partsOf(BYTES, { fails: 2 * MIB }),
    "cannot begin": () => ({
      size: SIZE,
      stream() {
        throw new Error("no");
      },
    }),
    "has texts": () => ({
      size: SIZE,
      stream: () => new ReadableStream({ pull: (to) => to.enqueue("x") }),
    }),
  };
  for (const [name, given] of Object.entries(BROKEN)) {
    for (const way of ["a folder", "a server"]) {
      test(`a stream that ${name} stores nothing in ${way}`, async (t) => {
        const { backend, rootDir, at } = disk(t);
        writeFileSync(at("film.bin"), "before");
        const files = way === "a folder" ? backend : (await over(t, backend)).files;
        const [answer] = await files.uploadFiles([["/film.bin", given()]]);
        assert.equal(answer.code, "unavailable", JSON.stringify(answer));
        assert.match(answer.message, /could not be read|is not known/);
        await leaves(rootDir, ["film.bin"]);
        assert.equal(readFileSync(at("film.bin"), "utf8"), "before");
      });
    }
  }

  test("a signal ends it, and nothing is stored", async (t) => {
    const { backend, rootDir } = disk(t);
    let cancelled = false;
    const endless = {
      size: SIZE,
      stream: () =>
        new ReadableStream({
          pull: () => later(20),
          cancel() {
            cancelled = true;
          },
        }),
    };
    const [answer] = await backend.uploadFiles([["/film.bin", endless]], { timeoutMs: 200 });
    assert.equal(answer.code, "timeout");
    await leaves(rootDir, []);
    assert.ok(cancelled);
  });

  test("no directory is replaced, and no link leads outside", async (t) => {
    const { backend, rootDir } = disk(t);
    await backend.write("/dir/a.txt", "a");
    const [answer] = await backend.uploadFiles([["/dir", partsOf(BYTES)]]);
    assert.equal(answer.code, "is_directory");
    assert.deepEqual(left(rootDir), ["dir", "dir/a.txt"]);
  });

  const REFUSED = [
    [{ readOnlyPrefixes: ["/a"] }, "permission_denied"],
    [{ readOnly: true }, "permission_denied"],
    [
      { permissions: [{ operations: ["write"], paths: ["/a/**"], mode: "deny" }] },
      "permission_denied",
    ],
    [
      {
        permissions: [{ operations: ["write"], paths: ["/a/**"], mode: "ask" }],
        onAsk: () => false,
      },
      "permission_denied",
    ],
    [{ quota: { maxFileBytes: SIZE - 1 } }, "quota_exceeded"],
    [{ quota: { maxBytes: SIZE - 1 } }, "quota_exceeded"],
    [{ rateLimit: { operations: 1, perMs: 100_000 } }, "rate_limited"],
    [
      {
        hooks: {
          before: () => {
            throw new Error("no");
          },
        },
      },
      "permission_denied",
    ],
    [
      {
        inspect: () => {
          throw new Error("no");
        },
      },
      undefined,
    ],
  ];
  for (const [rules, code] of REFUSED) {
    for (const way of ["at hand", "over HTTP"]) {
      test(`${JSON.stringify(rules)} refuses it ${way}`, async (t) => {
        const { backend, rootDir } = disk(t);
        const ruled = withPolicy(backend, rules);
        const files = way === "at hand" ? ruled : (await over(t, ruled)).files;
        if (rules.rateLimit) await ruled.ls("/");
        let reads = 0;
        const given = partsOf(BYTES);
        const counted = {
          size: SIZE,
          stream: () => {
            reads++;
            return given.stream();
          },
        };
        const [answer] = await files.uploadFiles([["/a/film.bin", counted]]);
        assert.notEqual(answer.error, null);
        if (code) assert.equal(answer.code, code, answer.message);
        // What is refused by its path is not read.
        if (code && way === "at hand") assert.equal(reads, 0);
        assert.deepEqual(left(rootDir), []);
      });
    }
  }

  test("a person is asked with its size", async (t) => {
    const { backend } = disk(t);
    const asked = [];
    const files = withPolicy(backend, {
      permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
      onAsk: (question) => asked.push(question) > 0,
    });
    assert.equal((await files.uploadFiles([["/film.bin", partsOf(BYTES)]]))[0].error, null);
    assert.deepEqual(
      asked.map(({ operation, path, preview }) => [operation, path, preview]),
      [["uploadFiles", "/film.bin", `${SIZE} bytes`]],
    );
  });

  test("where a file must be in memory, most says how large it may be", async () => {
    const files = withPolicy(new StateBackend(), {});
    const answers = await files.uploadFiles([
      ["/a", { ...partsOf(BYTES), most: SIZE }],
      ["/b", { ...partsOf(BYTES), most: SIZE - 1 }],
    ]);
    assert.deepEqual(
      answers.map(({ code }) => code),
      [undefined, "too_large"],
    );
  });
});

describe("PUT of a large file", () => {
  const put = (url, body, headers = {}) =>
    fetch(url, { method: "PUT", body, duplex: "half", headers: { ...OWN, ...headers } });

  /** Sends the beginning of a request, and returns the socket. */
  const begun = async (t, port, lines, body) => {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.write(body);
    return socket;
  };
  const LINES = ["PUT /film.bin HTTP/1.1", "host: x", "x-kitbag: 1", `content-length: ${SIZE}`];

  test("is stored while it arrives, in little memory", async (t) => {
    const { backend, at } = disk(t);
    const { url } = await over(t, backend);
    const large = 256 * MIB;
    const piece = new Uint8Array(MIB).fill(7);
    collect();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    // `fetch` of Node keeps what it has sent.
    const sending = request(`${url}/film.bin`, {
      method: "PUT",
      headers: { ...OWN, "content-length": large },
    });
    const answered = once(sending, "response");
    for (let sent = 0; sent < large; sent += MIB) {
      if (!sending.write(piece)) await once(sending, "drain");
      if (sent % (16 * MIB) !== 0) continue;
      collect();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    sending.end();
    const [answer] = await answered;
    assert.equal(answer.statusCode, 204);
    assert.equal(statSync(at("film.bin")).size, large);
    assert.ok(most < 64 * MIB, `${Math.round(most / MIB)} MiB`);
  });

  test("of a file of the host's, by its length", async (t) => {
    const { backend, at } = disk(t);
    const { url } = await over(t, backend);
    writeFileSync(at("from.bin"), BYTES);
    const answer = await put(`${url}/to.bin`, await openAsBlob(at("from.bin")));
    assert.equal(answer.status, 204);
    assert.ok(BYTES.equals(readFileSync(at("to.bin"))));
  });

  const WRONG = [
    ["no number", { "x-kitbag-size": "many" }, 400],
    ["less than comes", { "x-kitbag-size": String(SIZE - 1) }, 400],
    ["more than comes", { "x-kitbag-size": String(SIZE + 1) }, 400],
  ];
  for (const [name, headers] of WRONG) {
    test(`a size that is ${name} stores nothing`, async (t) => {
      const { backend, rootDir } = disk(t);
      const { url } = await over(t, backend);
      const answer = await put(`${url}/film.bin`, streamOf(BYTES), headers);
      assert.ok(answer.status >= 400, String(answer.status));
      assert.deepEqual(left(rootDir), []);
    });
  }

  test("is refused before it is read where it is too large", async (t) => {
    const { backend, rootDir } = disk(t);
    const { url } = await over(t, backend, { maxUploadBytes: SIZE - 1 });
    const answer = await put(`${url}/film.bin`, new Blob([BYTES]));
    assert.equal((await answer.json()).code, "too_large");
    assert.deepEqual(left(rootDir), []);
  });

  test("goes to a backend that needs all of it, up to maxBodyBytes", async (t) => {
    for (const backend of [new StateBackend(), withPolicy(new StateBackend(), {})]) {
      const { url } = await over(t, backend);
      assert.equal((await put(`${url}/film.bin`, new Blob([BYTES]))).status, 204);
      assert.ok(BYTES.equals((await backend.downloadFiles(["/film.bin"]))[0].content));
      const small = await over(t, backend, { maxBodyBytes: SIZE - 1 });
      const answer = await put(`${small.url}/other.bin`, new Blob([BYTES]));
      assert.equal((await answer.json()).code, "too_large");
      assert.equal((await backend.downloadFiles(["/other.bin"]))[0].code, "not_found");
    }
  });

  test("with a condition is made only if that holds", async (t) => {
    const { backend, at } = disk(t);
    const { url } = await over(t, backend);
    const blob = new Blob([BYTES]);
    assert.equal((await put(`${url}/film.bin`, blob, { "if-none-match": "*" })).status, 201);
    assert.equal((await put(`${url}/film.bin`, blob, { "if-none-match": "*" })).status, 412);
    assert.equal((await put(`${url}/film.bin`, blob, { "if-match": '"other"' })).status, 412);
    assert.ok(BYTES.equals(readFileSync(at("film.bin"))));
  });

  test("of a new file is stored while it arrives, or refused where there is one", async (t) => {
    const kinds = {
      folder: (inner) => inner,
      rules: (inner) => withPolicy(inner, { quota: { maxBytes: 2 ** 30 } }),
      server: async (inner) => (await over(t, inner)).files,
    };
    for (const [name, around] of Object.entries(kinds)) {
      const { backend, rootDir, at } = disk(t);
      // More than the server takes into memory.
      const { url } = await over(t, await around(backend), { maxBodyBytes: MIB });
      const blob = new Blob([BYTES]);
      const none = { "if-none-match": "*" };
      assert.equal((await put(`${url}/film.bin`, blob, none)).status, 201, name);
      assert.ok(BYTES.equals(readFileSync(at("film.bin"))), name);
      writeFileSync(at("film.bin"), "mine");
      const again = await put(`${url}/film.bin`, streamOf(BYTES), {
        ...none,
        "x-kitbag-size": String(SIZE),
      });
      assert.equal(again.status, 412, name);
      assert.equal((await again.json()).code, "already_exists", name);
      assert.equal(readFileSync(at("film.bin"), "utf8"), "mine", name);
      await leaves(rootDir, ["film.bin"]);
    }
  });

  test("that is refused is refused with the reason, also through a second server", async (t) => {
    const { backend, rootDir } = disk(t);
    const inner = await over(t, withPolicy(backend, { readOnly: true }));
    const { url } = await over(t, inner.files);
    const headers = { "x-kitbag-size": String(SIZE) };
    for (const [at, body] of [
      [inner.url, new Blob([BYTES])],
      [inner.url, streamOf(BYTES)],
      [url, new Blob([BYTES])],
      [url, streamOf(BYTES)],
    ]) {
      const answer = await put(`${at}/film.bin`, body, headers);
      assert.equal(answer.status, 403);
      assert.equal((await answer.json()).code, "permission_denied");
    }
    assert.deepEqual(left(rootDir), []);
  });

  test("that is refused is read on for a second, and then the connection ends", async (t) => {
    const { backend, rootDir } = disk(t);
    // Of Node's own requests: what reads on is a part of the listener.
    const { listener } = serveFiles(() => withPolicy(backend, { readOnly: true }));
    const server = createServer(listener);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const socket = await begun(t, server.address().port, LINES, BYTES.subarray(0, 2 * MIB));
    const began = performance.now();
    let said = "";
    socket.on("data", (data) => {
      said += data;
    });
    const sending = setInterval(() => socket.write(BYTES.subarray(0, 1_000)), 100);
    t.after(() => clearInterval(sending));
    // It may end amid a write, which is an error of the socket.
    const closed = new Promise((resolve) => socket.on("close", () => resolve("closed")));
    const open = later(20_000, "open", { ref: false });
    assert.equal(await Promise.race([closed, open]), "closed");
    assert.match(said, /^HTTP\/1\.1 403 .*permission_denied/s);
    const took = performance.now() - began;
    assert.ok(took > 900, `${took} ms`);
    assert.deepEqual(left(rootDir), []);
  });

  test("of a new file is how copies go to a server", async (t) => {
    const from = disk(t);
    // Files of at most 8 MiB are written at once.
    const large = randomBytes(9 * MIB);
    writeFileSync(from.at("film.bin"), large);
    writeFileSync(from.at("note.txt"), "short");
    const to = disk(t);
    const { files } = await over(t, to.backend, { maxBodyBytes: MIB });
    const copied = await copyTree(from.backend, files);
    assert.deepEqual([copied.copied, copied.failed], [2, 0]);
    assert.ok(large.equals(readFileSync(to.at("film.bin"))));
    writeFileSync(from.at("film.bin"), "other");
    const kept = await copyTree(from.backend, files, { onConflict: "skip" });
    assert.deepEqual([kept.copied, kept.failed], [0, 0]);
    assert.ok(large.equals(readFileSync(to.at("film.bin"))));
  });

  test("of a new file goes to a backend in memory, which creates it", async (t) => {
    const backend = new StateBackend();
    const { url } = await over(t, backend);
    const none = { "if-none-match": "*" };
    assert.equal((await put(`${url}/film.bin`, new Blob([BYTES]), none)).status, 201);
    assert.equal((await put(`${url}/film.bin`, new Blob(["two"]), none)).status, 412);
    assert.ok(BYTES.equals(backend.downloadFiles(["/film.bin"])[0].content));
  });

  test("whose client goes away stores nothing and leaves nothing", async (t) => {
    const { backend, rootDir } = disk(t);
    const { port } = await over(t, backend);
    const socket = await begun(t, port, LINES, BYTES.subarray(0, 2 * MIB));
    for (let tries = 0; left(rootDir).length === 0 && tries < 200; tries++) await later(20);
    assert.equal(left(rootDir).length, 1);
    socket.destroy();
    await leaves(rootDir, []);
  });

  test("that stops to come has its time", async (t) => {
    const { backend, rootDir } = disk(t);
    const { port } = await over(t, backend, { timeoutMs: FAST });
    const socket = await begun(t, port, LINES, BYTES.subarray(0, 2 * MIB));
    let said = "";
    socket.on("data", (data) => {
      said += data;
    });
    for (let tries = 0; !said.includes("}") && tries < 500; tries++) await later(20);
    assert.match(said, /"code":"timeout"/);
    await leaves(rootDir, []);
  });

  test("may take longer than the time of a call, if it comes on", async (t) => {
    const { backend, at } = disk(t);
    const { url } = await over(t, backend, { timeoutMs: 2 * FAST });
    let sent = 0;
    const slow = new ReadableStream({
      async pull(to) {
        if (sent >= SIZE) return to.close();
        await later(FAST / 5);
        to.enqueue(new Uint8Array(BYTES.subarray(sent, sent + MIB / 4)));
        sent += MIB / 4;
      },
    });
    const begins = performance.now();
    const answer = await put(`${url}/film.bin`, slow, { "x-kitbag-size": String(SIZE) });
    assert.equal(answer.status, 204, await answer.text());
    assert.ok(performance.now() - begins > 2 * FAST);
    assert.ok(BYTES.equals(readFileSync(at("film.bin"))));
  });

  test("is made once for each key, and anew if it had not arrived", async (t) => {
    const { backend, at } = disk(t);
    const { url, port } = await over(t, backend);
    const first = await fetch(`${url}/none`, { headers: OWN });
    const key = `${first.headers.get("kitbag-ticket")}.abcdefgh12`;
    const torn = await begun(
      t,
      port,
      [...LINES, `idempotency-key: ${key}`],
      BYTES.subarray(0, 2 * MIB),
    );
    await later(FAST);
    torn.destroy();
    await later(FAST);
    const headers = { "idempotency-key": key };
    assert.equal((await put(`${url}/film.bin`, new Blob([BYTES]), headers)).status, 204);
    writeFileSync(at("film.bin"), "newer");
    assert.equal((await put(`${url}/film.bin`, new Blob([BYTES]), headers)).status, 204);
    assert.equal(readFileSync(at("film.bin"), "utf8"), "newer");
  });

  test("whose answer is lost is asked for again, and not sent twice where a stream ended", async (t) => {
    const { backend, at } = disk(t);
    const { url } = await served(t, () => backend);
    let lost = 1;
    const files = new HttpBackend({
      url,
      async fetch(to, init) {
        const answer = await fetch(to, init);
        if (init.method === "PUT" && lost-- > 0) {
          writeFileSync(at("film.bin"), "newer");
          throw new TypeError("lost");
        }
        return answer;
      },
    });
    assert.equal((await files.uploadFiles([["/film.bin", new Blob([BYTES])]]))[0].error, null);
    assert.equal(readFileSync(at("film.bin"), "utf8"), "newer");
  });
});
