// Two thousand operations of four clients through a proxy that does everything wrong by a seeded
// script: nothing acknowledged is lost, nothing is written twice, every failure is an
// `{ error }`, and nothing takes longer than its timeout.

import assert from "node:assert/strict";
import test from "node:test";
import { backend, good, newBucket, servers } from "./lib.mjs";
import { random, seededFaults, startProxy } from "./proxy.mjs";

const SEED = Number(process.env.KITBAG_TEST_SEED ?? 20_261_121);
const OPERATIONS = 2000;
const CLIENTS = 4;
const TIMEOUT = 20_000;
const SHARED = ["/shared/a.txt", "/shared/b.txt", "/shared/c d.txt"];

/** Four clients at work; what they were told, to be held against what is there in the end. */
class Work {
  constructor(clients, next, proxy) {
    this.clients = clients;
    this.proxy = proxy;
    this.next = next;
    this.done = 0;
    this.errors = {};
    this.acknowledged = new Map(SHARED.map((path) => [path, new Set()]));
    this.tried = new Map(SHARED.map((path) => [path, new Set()]));
    this.own = new Map();
    this.creates = new Map();
  }

  /** One operation, which must answer in time with a result or an `{ error }`. */
  async ask(run) {
    this.done += 1;
    const began = performance.now();
    const answer = await run({ timeoutMs: TIMEOUT });
    const took = performance.now() - began;
    assert.ok(took < TIMEOUT + 2000, `it took ${took} ms`);
    if (answer.error !== undefined) {
      assert.equal(typeof answer.error, "string");
      assert.doesNotMatch(answer.error, /kitbagtestsecret|KITBAGTESTKEY|Signature=/);
      this.errors[answer.code] = (this.errors[answer.code] ?? 0) + 1;
    }
    return answer;
  }

  async client(who) {
    const s3 = this.clients[who];
    for (let turn = 0; this.done < OPERATIONS; turn++) {
      const choice = this.next();
      if (choice < 0.35) await this.editShared(s3, `${who}.${turn}`);
      else if (choice < 0.5) await this.readShared(s3);
      else if (choice < 0.65) await this.create(s3, who);
      else if (choice < 0.85) await this.overwrite(s3, who, turn);
      else if (choice < 0.92) await this.list(s3);
      else await this.remove(s3, who);
    }
  }

  shared() {
    return SHARED[Math.floor(this.next() * SHARED.length)];
  }

  async editShared(s3, token) {
    const path = this.shared();
    this.tried.get(path).add(token);
    const answer = await this.ask((o) => s3.edit(path, "END", `${token}\nEND`, false, o));
    if (answer.error === undefined) this.acknowledged.get(path).add(token);
  }

  async readShared(s3) {
    const path = this.shared();
    const known = [...this.acknowledged.get(path)];
    const answer = await this.ask((o) => s3.read(path, 0, 100_000, o));
    if (answer.error !== undefined) return;
    this.sound(path, answer.content, known);
  }

  /** Every token at most once, those known to be there exactly once, and nothing else. */
  sound(path, content, known) {
    const lines = content.split("\n");
    assert.equal(lines.pop(), "END");
    const seen = new Set(lines);
    assert.equal(seen.size, lines.length, `${path}: something was written twice`);
    for (const line of lines) assert.ok(this.tried.get(path).has(line), `${path}: ${line}?`);
    for (const token of known) assert.ok(seen.has(token), `${path}: ${token} was lost`);
  }

  /** All clients try to create the same few files; one may win each. */
  async create(s3, who) {
    const path = `/new/${Math.floor(this.next() * 60)}.txt`;
    const text = `${who}:${this.done}:${path}`;
    const tries = this.creates.get(path) ?? { won: [], tried: new Set() };
    this.creates.set(path, tries);
    tries.tried.add(text);
    const answer = await this.ask((o) => s3.write(path, text, o));
    if (answer.error === undefined) tries.won.push(text);
  }

  /** Nobody else writes what stands beneath a client's own folder. */
  async overwrite(s3, who, turn) {
    const path = `/own/${who}/${Math.floor(this.next() * 8)}.bin`;
    const bytes = new TextEncoder().encode(
      `${who} ${turn} `.repeat(1 + Math.floor(this.next() * 400)),
    );
    const answer = await this.ask(async (o) => {
      const [one] = await s3.uploadFiles([[path, bytes]], o);
      return one.error === null ? {} : { error: one.message, code: one.code };
    });
    const before = this.own.get(path) ?? [undefined];
    this.own.set(path, answer.error === undefined ? [bytes] : [...before, bytes]);
  }

  async remove(s3, who) {
    const path = `/own/${who}/${Math.floor(this.next() * 8)}.bin`;
    const answer = await this.ask((o) => s3.delete(path, o));
    const gone = answer.error === undefined || answer.code === "not_found";
    const before = this.own.get(path) ?? [undefined];
    this.own.set(path, gone ? [undefined] : [...before, undefined]);
  }

  async list(s3) {
    const { spoiled } = this.proxy;
    const answer = await this.ask((o) => s3.glob("shared/*", "/", o));
    // S3 sends no digest with a listing, so one flipped bit in a name can go unnoticed over bare
    // HTTP; every other damage must not change a listing.
    if (answer.error !== undefined || this.proxy.spoiled > spoiled) return;
    assert.equal(answer.files.length, SHARED.length);
  }
}

test(`2,000 operations over a bad network (seed ${SEED})`, async (t) => {
  const proxy = await startProxy(servers.ceph);
  t.after(() => proxy.stop());
  const bucket = await newBucket(servers.ceph);
  const retry = { attempts: 8, baseMs: 5, maxMs: 200, timeoutMs: 1500 };
  const clients = Array.from({ length: CLIENTS }, () => backend(proxy.endpoint, bucket, { retry }));
  for (const path of SHARED) good(await clients[0].write(path, "END"));
  const faults = seededFaults(SEED);
  proxy.faults = faults;
  const work = new Work(clients, random(SEED + 1), proxy);
  await Promise.all(clients.map((_, who) => work.client(who)));
  proxy.faults = undefined;
  t.diagnostic(`faults ${JSON.stringify(faults.counts)}; refusals ${JSON.stringify(work.errors)}`);

  assert.ok(work.done >= OPERATIONS);
  assert.equal(Object.keys(faults.counts).length, 13, "every kind of fault was met");
  const fresh = backend(servers.ceph, bucket);
  for (const path of SHARED) {
    const { content } = good(await fresh.read(path, 0, 100_000));
    work.sound(path, content, [...work.acknowledged.get(path)]);
  }
  for (const [path, { won, tried }] of work.creates) {
    assert.ok(won.length <= 1, `${path} was created twice`);
    const answer = await fresh.read(path);
    if (won.length === 1) assert.equal(good(answer).content, won[0]);
    else if (answer.error === undefined) assert.ok(tried.has(answer.content), path);
  }
  for (const [path, possible] of work.own) {
    const [answer] = await fresh.downloadFiles([path]);
    const found = answer.error === null ? Buffer.from(answer.content) : undefined;
    const fits = possible.some((one) => (one ? found?.equals(one) : found === undefined));
    assert.ok(fits, `${path} is neither what was acknowledged nor what was tried since`);
  }
});
