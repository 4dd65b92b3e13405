// A network that loses, delays and doubles requests and answers, and a server that is restarted. Whatever it
// does, a change that was acknowledged is there, and no change is made twice.

import assert from "node:assert/strict";
import test from "node:test";
import { HttpBackend, StateBackend, serveFiles } from "./lib.mjs";

const SEEDS = Number(process.env.KITBAG_REACH_SEEDS ?? 200);
/** Histories at the same time: most of their time they wait. */
const TOGETHER = 100;
const STEPS = 14;

/** A sequence of numbers from 0 to 1 that a seed decides. */
function numbers(seed) {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

const slept = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A server that can be restarted, behind a network that fails. */
class World {
  constructor(seed) {
    this.random = numbers(seed);
    this.backend = new StateBackend({ files: { "/log": ";" } });
    this.late = [];
    this.faults = 0;
    this.calm = false;
    this.restart();
  }

  restart() {
    this.server = serveFiles(() => this.backend);
  }

  deliver(url, init) {
    return this.server(
      new Request(url, { method: init.method, headers: init.headers, body: init.body }),
    );
  }

  fetch = async (url, init) => {
    const lost = (code) => Object.assign(new TypeError("fetch failed"), { cause: { code } });
    const dice = this.calm ? 1 : this.random();
    if (dice < 0.3) this.faults += 1;
    if (dice < 0.06) throw lost("ECONNREFUSED");
    if (dice < 0.12) {
      await this.deliver(url, init);
      throw lost("ECONNRESET");
    }
    if (dice < 0.18) {
      const wait = this.random() * 60;
      this.late.push(slept(wait).then(() => this.deliver(url, init)));
      throw lost("ETIMEDOUT");
    }
    if (dice < 0.22) {
      const answers = await Promise.all([this.deliver(url, init), this.deliver(url, init)]);
      return answers[this.random() < 0.5 ? 0 : 1];
    }
    if (dice < 0.26) {
      const answer = await this.deliver(url, init);
      this.late.push(slept(this.random() * 60).then(() => this.deliver(url, init)));
      return answer;
    }
    if (dice < 0.28) return new Response("<h1>Bad gateway</h1>", { status: 502 });
    if (dice < 0.3) {
      await this.deliver(url, init);
      return new Response('{"pa', { headers: { "content-type": "application/vnd.kitbag" } });
    }
    if (dice < 0.33) this.restart();
    return this.deliver(url, init);
  };
}

/** One client's changes; `found` has what each must have come to. */
async function client(world, name, found) {
  const files = new HttpBackend({ url: "http://files.test", fetch: world.fetch });
  const said = (what, answer) => {
    found.push({ what, done: answer.error === undefined, code: answer.code });
    return answer.error === undefined;
  };
  for (let step = 0; step < STEPS; step++) {
    const token = `${name}${step}`;
    const dice = world.random();
    if (dice < 0.5) said({ token }, await files.append("/log", `${token};`));
    else if (dice < 0.65) {
      const bytes = new TextEncoder().encode(token);
      const path = `/one-${Math.floor(world.random() * 6)}`;
      said({ path, token }, await files.write(path, bytes, { ifAbsent: true }));
    } else if (dice < 0.8) {
      if (said({ token }, await files.append("/log", `${token};`))) {
        said(
          { token: `x${token}`, instead: token },
          await files.edit("/log", `;${token};`, `;x${token};`),
        );
      }
    } else if (dice < 0.9) {
      const { content } = await files.read("/log", 0, 1e6);
      if (content !== undefined) found.push({ read: content });
    } else {
      const bytes = new TextEncoder().encode(token);
      if (
        said({ made: `/m-${token}` }, await files.write(`/m-${token}`, bytes, { ifAbsent: true }))
      ) {
        said({ moved: `/m-${token}`, token }, await files.move(`/m-${token}`, `/n-${token}`));
      }
    }
  }
}

async function history(seed) {
  const world = new World(seed);
  const found = [];
  await Promise.all([client(world, "a", found), client(world, "b", found)]);
  await Promise.all(world.late);
  const { content: log } = world.backend.read("/log", 0, 1e6);
  const times = (token) => log.split(";").filter((one) => one === token).length;
  const of = (path) => world.backend.read(path).content;
  const at = (what) => `seed ${seed}: ${JSON.stringify(what)} in ${log}`;
  let [unknown, done] = [0, 0];
  const edited = new Set(
    found.filter(({ what, done }) => what?.instead && done).map(({ what }) => what.instead),
  );
  const maybe = new Set(
    found.filter(({ what, done }) => what?.instead && !done).map(({ what }) => what.instead),
  );
  for (const { what, done: made, code } of found) {
    if (!what) continue;
    const is = made || code === "unavailable" || code === "timeout" || code === "already_exists";
    assert.ok(is || code === "not_found" || code === "no_match", `${at(what)}: ${code}`);
    if (made) done += 1;
    else if (code === "unavailable") unknown += 1;
    if (what.path) {
      if (made) assert.equal(of(what.path), what.token, at(what));
    } else if (what.moved) {
      const both = [of(what.moved), of(`/n${what.moved.slice(2)}`)].filter(
        (one) => one === what.token,
      );
      assert.equal(both.length, 1, at(what));
      if (made) assert.equal(of(what.moved), undefined, at(what));
    } else if (what.token) {
      const count = times(what.token);
      assert.ok(count <= 1, `twice: ${at(what)}`);
      const replaced =
        edited.has(what.token) || (maybe.has(what.token) && times(`x${what.token}`) === 1);
      if (made) assert.equal(count, replaced ? 0 : 1, `lost: ${at(what)}`);
    }
  }
  return { done, unknown, faults: world.faults };
}

test(`${SEEDS} histories over a network that fails`, async (t) => {
  const sums = { done: 0, unknown: 0, faults: 0 };
  let next = 1;
  const run = async () => {
    while (next <= SEEDS) {
      const one = await history(next++);
      for (const name of Object.keys(sums)) sums[name] += one[name];
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, run));
  t.diagnostic(JSON.stringify(sums));
  // The network was as bad as it was meant to be, and the client came through.
  assert.ok(sums.faults > SEEDS * 4, JSON.stringify(sums));
  assert.ok(sums.done > SEEDS * STEPS, JSON.stringify(sums));
  assert.ok(sums.unknown < sums.done / 5, JSON.stringify(sums));
});

test("a server without a memory would make changes twice", async () => {
  const backend = new StateBackend({ files: { "/log": "" } });
  const serve = serveFiles(() => backend);
  let sent = 0;
  const fetch = async (url, init) => {
    const { "idempotency-key": _, ...headers } = init.headers;
    const answer = await serve(new Request(url, { ...init, headers, signal: undefined }));
    sent += 1;
    if (init.headers["idempotency-key"] && sent === 2) throw new TypeError("lost");
    return answer;
  };
  const files = new HttpBackend({ url: "http://files.test", fetch });
  await files.append("/log", "x");
  assert.equal(backend.read("/log").content, "xx");
});
