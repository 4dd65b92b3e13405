// S3Backend in Node, on real servers.

import assert from "node:assert/strict";
import test from "node:test";
import { backend, good, kitbag, NASTY, newBucket, servers, sharedSuite, testing } from "./lib.mjs";
import { KEYS } from "./servers.mjs";
import { signed } from "./sign.mjs";

test("signatures made in wasm are those that were published", () => {
  const examples = testing.signingExamples();
  assert.equal(examples.length, 11);
  for (const { name, made, published } of examples) assert.equal(made, published, name);
});

for (const [name, endpoint] of Object.entries(servers)) {
  test(`${name}: the shared suite holds`, async () => {
    await sharedSuite(endpoint);
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

  test(`${name}: of eight clients' fifty edits each, all four hundred arrive`, async () => {
    const bucket = await newBucket(endpoint);
    const clients = Array.from({ length: 8 }, () => backend(endpoint, bucket));
    good(await clients[0].write("/log.txt", "end"));
    await Promise.all(
      clients.map(async (client, who) => {
        for (let turn = 0; turn < 50; turn++) {
          good(await client.edit("/log.txt", "end", `${who}.${turn}\nend`));
        }
      }),
    );
    const { content } = good(await clients[0].read("/log.txt", 0, 1000));
    const lines = content.trimEnd().split("\n");
    assert.equal(lines.length, 401);
    assert.equal(new Set(lines).size, 401);
  });

  test(`${name}: of sixteen creates one wins, every time`, async () => {
    const bucket = await newBucket(endpoint);
    const clients = Array.from({ length: 16 }, () => backend(endpoint, bucket));
    await Promise.all(clients.map((client, who) => client.write(`/probe/${who}.txt`, "x")));
    for (let round = 0; round < 5; round++) {
      const path = `/race${round}.txt`;
      const answers = await Promise.all(clients.map((c, who) => c.write(path, `writer ${who}`)));
      const winners = answers.flatMap((answer, who) => (answer.error === undefined ? [who] : []));
      assert.equal(winners.length, 1);
      assert.ok(answers.every(({ code }) => code === undefined || code === "already_exists"));
      assert.equal(good(await clients[0].read(path)).content, `writer ${winners[0]}`);
    }
  });

  test(`${name}: nasty keys round-trip`, async () => {
    const s3 = backend(endpoint, await newBucket(endpoint));
    for (const key of NASTY) {
      const path = `/d/${key}`;
      good(await s3.write(path, key));
      assert.equal(good(await s3.read(path)).content, key);
      good(await s3.edit(path, key, `${key}!`));
    }
    const { files } = good(await s3.glob("d/**"));
    assert.deepEqual(new Set(files.map((f) => f.path)), new Set(NASTY.map((key) => `/d/${key}`)));
    assert.equal(good(await s3.grep("!")).matches.length, NASTY.length);
    good(await s3.delete("/d"));
    assert.deepEqual(good(await s3.glob("**")).files, []);
  });

  test(`${name}: listings page past a thousand, and directories go in batches`, async () => {
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
  await sharedSuite(servers.ceph, { conditions: "ignore" });
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
  assert.ok(performance.now() - began < 2000);
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
