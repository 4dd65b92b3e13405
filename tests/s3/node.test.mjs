// S3Backend in Node, on real servers.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import test from "node:test";
import { histories } from "../lib/histories.mjs";
import {
  backend,
  good,
  kitbag,
  location,
  newBucket,
  runConformance,
  servers,
  withIndex,
} from "./lib.mjs";
import { startQuick } from "./quick.mjs";
import { startRelay } from "./relay.mjs";
import { KEYS } from "./servers.mjs";
import { signed } from "./sign.mjs";
import { held, work } from "./work.mjs";

const turns = { begin: kitbag.begin, undo: kitbag.undo };

for (const [name, endpoint] of Object.entries(servers)) {
  const make = async () => {
    const where = await location(endpoint);
    return (options) => new kitbag.S3Backend({ ...where, ...options });
  };

  for (const what of ["suite", "edits", "creates", "names", "many", "uploads"]) {
    test(`${name}: ${what}`, async () => {
      held(assert, what, await work[what](await make(), { runConformance, turns }));
    });
  }

  test(`${name}: searches with an index find what a scan finds`, async () => {
    const [bucket, seeds] = [await newBucket(endpoint), 12];
    let last = 0;
    const make = () => backend(endpoint, bucket, { prefix: `index ${++last}/` });
    const seen = await histories({ ...kitbag, withIndex }, make, { seeds });
    assert.deepEqual(seen.failures, []);
    assert.ok(seen.excluded > seeds, `${seen.excluded} files were excluded`);
  });

  test(`${name}: pages of a large text move the parts that they need`, async (t) => {
    const relay = await startRelay(endpoint);
    t.after(() => relay.stop());
    const where = { ...(await location(endpoint)), endpoint: relay.endpoint };
    const moved = () => {
      const { received } = relay;
      relay.received = 0;
      return received;
    };
    held(assert, "pages", await work.pages((o) => new kitbag.S3Backend({ ...where, ...o }), moved));
  });

  test(`${name}: of another tool's text the lines are counted on the way`, async () => {
    const bucket = await newBucket(endpoint);
    const text = "a line that another tool has written\r\n".repeat(10_000);
    const url = `${endpoint}/${bucket}/theirs.txt`;
    assert.ok((await signed(KEYS, { method: "PUT", url, body: text })).ok);
    const s3 = backend(endpoint, bucket);
    const first = good(await s3.read("/theirs.txt", 0, 2));
    assert.equal(first.content, "a line that another tool has written\r\n".repeat(2).slice(0, -1));
    assert.deepEqual(
      [first.totalLines, first.startLine, first.endLine, first.nextOffset],
      [undefined, 1, 2, 2],
    );
    assert.equal(good(await s3.read("/theirs.txt", 9_999)).totalLines, 10_000);
    assert.equal(good(await s3.read("/theirs.txt", 0, 2)).totalLines, 10_000);
    // Changed in between, it is read anew.
    assert.ok((await signed(KEYS, { method: "PUT", url, body: `new ${text}` })).ok);
    const anew = good(await s3.read("/theirs.txt", 9_000, 1));
    assert.deepEqual([anew.startLine, anew.content.slice(0, 6)], [9001, "a line"]);
    assert.equal(good(await s3.read("/theirs.txt", 0, 1)).content.slice(0, 5), "new a");
  });

  test(`${name}: the probe finds that conditions are honoured`, async () => {
    const warnings = [];
    const s3 = backend(endpoint, await newBucket(endpoint), {
      onWarning: (text) => warnings.push(text),
    });
    good(await s3.write("/a.txt", "one"));
    assert.equal(s3.capability.create, "storage");
    assert.equal(s3.capability.update, "storage");
    good(await s3.edit("/a.txt", "one", "two"));
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      (await s3.glob("**")).files.map((file) => file.path),
      ["/a.txt"],
    );
  });

  test(`${name}: what other tools leave among a thousand files does no harm`, async () => {
    const bucket = await newBucket(endpoint);
    const s3 = backend(endpoint, bucket);
    const files = Array.from({ length: 1203 }, (_, at) => [
      `/many/${String(at).padStart(4, "0")}.txt`,
      new TextEncoder().encode(`file ${at}`),
    ]);
    const uploads = await s3.uploadFiles(files);
    assert.ok(uploads.every(({ error }) => error === null));
    // What other tools leave: a directory's own object, and keys that no path can name.
    for (const key of ["many/", "many/sub/", "hollow/", "many/a//b"]) {
      const url = `${endpoint}/${bucket}/${key}`;
      assert.ok((await signed(KEYS, { method: "PUT", url })).ok, key);
    }
    assert.equal(good(await s3.ls("/many")).files.length, 1205);
    assert.deepEqual(
      good(await s3.ls("/")).files.map((file) => file.path),
      ["/hollow/", "/many/"],
    );
    assert.equal(good(await s3.glob("many/*.txt")).files.length, 1203);
    good(await s3.delete("/many"));
    assert.deepEqual(
      good(await s3.ls("/")).files.map((file) => file.path),
      ["/hollow/"],
    );
    good(await s3.delete("/hollow"));
    assert.equal((await s3.delete("/hollow")).code, "not_found");
  });

  test(`${name}: a host can sign in place of keys`, async () => {
    const bucket = await newBucket(endpoint);
    const asked = [];
    const location = { endpoint, region: "us-east-1", bucket, credentials: KEYS };
    const s3 = backend(endpoint, bucket, {
      sign: async (request) => {
        asked.push(`${request.method} ${request.key}`);
        return kitbag.presignS3(location, request);
      },
    });
    good(await s3.write("/a b.txt", "one"));
    assert.equal((await s3.write("/a b.txt", "two")).code, "already_exists");
    good(await s3.edit("/a b.txt", "one", "two"));
    assert.equal(good(await s3.grep("two")).matches.length, 1);
    good(await s3.write("/dir/x", "x"));
    good(await s3.write("/dir/y", "y"));
    good(await s3.delete("/dir"));
    good(await s3.delete("/a b.txt"));
    assert.deepEqual(good(await s3.ls("/")).files, []);
    assert.ok(asked.includes("PUT a b.txt"));
  });

  test(`${name}: a function lends keys, once for all who wait, and again before they end`, async () => {
    let lent = 0;
    const s3 = backend(endpoint, await newBucket(endpoint), {
      credentials: async () => {
        lent += 1;
        // The first ones are about to end.
        return { ...KEYS, expiration: new Date(Date.now() + (lent === 1 ? 60_000 : 3_600_000)) };
      },
    });
    await Promise.all([s3.ls("/"), s3.ls("/a"), s3.ls("/b")]);
    assert.ok(lent <= 3);
    const before = lent;
    good(await s3.write("/a.txt", "x"));
    await Promise.all(Array.from({ length: 10 }, () => s3.read("/a.txt")));
    assert.ok(lent - before <= 1);
  });

  test(`${name}: a missing bucket is named`, async () => {
    const s3 = backend(endpoint, "no-such-bucket-here");
    for (const answer of [await s3.ls("/"), await s3.write("/a", "x"), await s3.read("/a")]) {
      assert.equal(answer.code, "unavailable");
      assert.match(answer.error, /no-such-bucket-here/);
    }
  });
}

test("ceph: the shared suite holds where conditions are not relied on", async () => {
  const where = { ...(await location(servers.ceph)), conditions: "ignore" };
  const make = (options) => new kitbag.S3Backend({ ...where, ...options });
  held(assert, "suite", await work.suite(make, { runConformance, turns }));
});

test("ceph: wrong keys are refused without showing them", async () => {
  const bucket = await newBucket(servers.ceph);
  const wrong = { accessKeyId: "AKIDWRONG", secretAccessKey: "WRONGSECRET", sessionToken: "TOKEN" };
  const s3 = backend(servers.ceph, bucket, { credentials: wrong });
  const halfWrong = backend(servers.ceph, bucket, {
    credentials: { accessKeyId: KEYS.accessKeyId, secretAccessKey: "WRONGSECRET" },
  });
  for (const each of [s3, halfWrong]) {
    for (const answer of [
      await each.ls("/"),
      await each.write("/a", "x"),
      await each.read("/a"),
      await each.grep("x"),
      await each.delete("/a"),
    ]) {
      assert.equal(answer.code, "permission_denied", JSON.stringify(answer));
      assert.doesNotMatch(JSON.stringify(answer), /AKID|SECRET|TOKEN|KITBAGTEST|Signature=/);
    }
  }
});

test("what a host's own functions throw is kept as the cause and not repeated", async () => {
  const failure = new Error("the vault says: VERYSECRET");
  for (const option of ["credentials", "sign"]) {
    const s3 = backend(servers.ceph, "any-bucket", {
      credentials: undefined,
      [option]: async () => {
        throw failure;
      },
    });
    const answer = await s3.ls("/");
    assert.equal(answer.code, "unavailable");
    assert.doesNotMatch(answer.error, /SECRET/);
    assert.equal(answer.cause, failure);
  }
});

test("a server that cannot be reached is told as such, within the time given", async () => {
  const s3 = backend("http://127.0.0.1:9", "bucket", { retry: { attempts: 2, baseMs: 1 } });
  const answer = await s3.read("/a");
  assert.equal(answer.code, "unavailable");
  const patient = backend("http://127.0.0.1:9", "bucket", { retry: { baseMs: 10_000 } });
  const began = performance.now();
  assert.equal((await patient.read("/a", 0, 1, { timeoutMs: 200 })).code, "timeout");
  const controller = new AbortController();
  const waiting = patient.read("/a", 0, 1, { signal: controller.signal });
  controller.abort();
  assert.equal((await waiting).code, "timeout");
  assert.ok(performance.now() - began < 5000);
});

test("a server that ignores conditions is found out, told of once, and calls take turns", async (t) => {
  const quick = await startQuick();
  t.after(() => quick.stop());
  const warnings = [];
  const s3 = backend(quick.endpoint, "files", { onWarning: (text) => warnings.push(text) });
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, who) => s3.write("/race.txt", `writer ${who}`)),
  );
  assert.equal(answers.filter(({ error }) => error === undefined).length, 1);
  assert.equal(s3.capability.create, "instance");
  assert.equal(s3.capability.update, "instance");
  good(await s3.write("/log.txt", "end"));
  const edits = Array.from({ length: 20 }, (_, at) => s3.edit("/log.txt", "end", `${at}\nend`));
  for (const answer of await Promise.all(edits)) good(answer);
  assert.equal(good(await s3.read("/log.txt")).totalLines, 21);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /ignores conditional writes/);
  assert.deepEqual(
    good(await s3.glob("**"))
      .files.map(({ path }) => path)
      .sort(),
    ["/log.txt", "/race.txt"],
  );
});

test("a call given up ends its requests on the way", async (t) => {
  const open = new Set();
  const server = createServer((_, outgoing) => {
    open.add(outgoing);
    outgoing.on("close", () => {
      open.delete(outgoing);
      server.emit("gone");
    });
    server.emit("asked");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const s3 = backend(`http://127.0.0.1:${server.address().port}`, "files");
  for (const give of ["signal", "timeoutMs"]) {
    const controller = new AbortController();
    const [asked, gone] = [once(server, "asked"), once(server, "gone")];
    const options = give === "signal" ? { signal: controller.signal } : { timeoutMs: 1000 };
    const reading = s3.read("/a.txt", 0, 1, options);
    await asked;
    controller.abort();
    assert.equal((await reading).code, "timeout");
    await gone;
    assert.equal(open.size, 0);
  }
});

test("wrong options are refused by name", () => {
  const sound = { region: "us-east-1", bucket: "files", credentials: KEYS };
  new kitbag.S3Backend(sound);
  for (const [change, option] of [
    [{ region: undefined }, "region"],
    [{ region: "a b" }, "region"],
    [{ bucket: "" }, "bucket"],
    [{ bucket: "a/b" }, "bucket"],
    [{ endpoint: "files.example.com" }, "endpoint"],
    [{ endpoint: 7 }, "endpoint"],
    [{ prefix: "a/../b" }, "prefix"],
    [{ credentials: undefined }, "credentials"],
    [{ credentials: "AKIDSECRET" }, "credentials"],
    [{ credentials: { accessKeyId: "AKIDSECRET" } }, "credentials.secretAccessKey"],
    [{ credentials: { ...KEYS, sessionToken: 7 } }, "credentials.sessionToken"],
    [{ sign: () => ({ url: "" }) }, "sign"],
    [{ sign: "x", credentials: undefined }, "sign"],
    [{ forcePathStyle: "yes" }, "forcePathStyle"],
    [{ writeMode: "append" }, "writeMode"],
    [{ concurrency: 0 }, "concurrency"],
    [{ concurrency: 1.5 }, "concurrency"],
    [{ cache: "big" }, "cache"],
    [{ cache: { maxBytes: -1 } }, "maxBytes"],
    [{ retry: true }, "retry"],
    [{ retry: { attempts: 0 } }, "attempts"],
    [{ conditions: "maybe" }, "conditions"],
    [{ onWarning: 1 }, "onWarning"],
    [{ regoin: "x" }, "regoin"],
  ]) {
    assert.throws(
      () => new kitbag.S3Backend({ ...sound, ...change }),
      (error) =>
        error instanceof TypeError &&
        error.message.includes(`"${option}"`) &&
        !error.message.includes("SECRET"),
      option,
    );
  }
  assert.throws(() => new kitbag.R2Backend({ bucket: {} }), /"bucket" must be an R2 binding/);
});
