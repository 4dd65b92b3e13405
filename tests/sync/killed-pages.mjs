// Chromium is killed as a whole, again and again, while its pages sync OPFS with R2 in workerd, and IndexedDB
// with PostgreSQL, both over HTTP: the next run goes on, both trees are equal then, and every edit is there.

import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { at } from "../../scripts/lib/paths.mjs";
import { bareChromium } from "../browser/lib/browsers.mjs";
import { serve } from "../browser/lib/server.mjs";
import { dependency, kitbag, pooled } from "../durable/lib.mjs";
import { Postgres } from "../durable/postgres.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { startWorker } from "../lib/workerd.mjs";
import { listen, serveFiles } from "../reach/lib.mjs";

const KINDS = ["opfs", "indexeddb"];
/** New files of each side and round. */
const COUNT = 60;
const PATIENCE = 120_000;

/** A Worker: the files of its R2 binding over HTTP, for the pages of one origin. */
const WORKER = `
  import { R2Backend } from "kitbag";
  import { serveFiles } from "kitbag/server";
  let serve;
  export default {
    fetch(request, { FILES, ORIGIN }) {
      serve ??= serveFiles(() => new R2Backend({ bucket: FILES }), { origins: [ORIGIN] });
      return serve(request);
    },
  };
`;

/** An R2 bucket in workerd, which `serveFiles` serves. */
async function bucket(origin) {
  const alias = {
    kitbag: at("pkg/dist/workerd.js"),
    "kitbag/server": at("pkg/dist/serve_files.js"),
  };
  const modules = await workerModules(WORKER, at("tests/sync"), { alias });
  const worker = await startWorker(modules, { r2Buckets: ["FILES"], bindings: { ORIGIN: origin } });
  return { url: worker.url.href, end: worker.stop };
}

/** A table of PostgreSQL, which `serveFiles` serves. */
async function table(origin) {
  const { PostgresBackend } = await kitbag();
  const { default: pg } = await dependency("pg");
  const server = await Postgres.start();
  const client = pooled(pg, { connectionString: server.url, max: 4 });
  const files = new PostgresBackend({ client, migrate: true });
  const { url, close } = await listen(serveFiles(() => files, { origins: [origin] }));
  const end = async () => {
    await close();
    await client.end();
    await server.stop();
  };
  return { url, end };
}

/** What has to be in both trees after some rounds. */
function judge(kind, rounds, { error, refused, found: [local, remote] }) {
  strictEqual(error, undefined, `${kind}: ${error}`);
  deepStrictEqual(refused, [], kind);
  deepStrictEqual(local, remote, `${kind}: the trees differ`);
  const texts = new Set(Object.values(local));
  for (let round = 0; round < rounds; round++) {
    for (const side of ["a", "b"]) {
      for (let at = 0; at < COUNT; at++) {
        strictEqual(local[`/${side}${round}/${at}`], `of ${side} ${round} ${at}`, kind);
      }
    }
    // The first side's has become a copy; the other one was replaced in the next round.
    ok(texts.has(`of a ${round}`), `${kind}: the edit of a in ${round} is lost`);
  }
  if (rounds > 0) strictEqual(local["/both"], `of b ${rounds - 1}`, kind);
  // No copy is there twice.
  const wanted = rounds === 0 ? 0 : rounds * 2 * COUNT + 1 + rounds;
  strictEqual(Object.keys(local).length, wanted, `${kind}: ${Object.keys(local).join(" ")}`);
}

/** Kills Chromium so many times; resolves to how many runs of each kind had ended before. */
export async function killedPages({ kills, log = () => {} }) {
  const heard = new Map();
  let moved = () => {};
  let failed;
  const pages = await serve({
    pkg: at("pkg"),
    told(path, data) {
      if (path === "/failed") failed = data.error;
      else heard.set(`${path} ${data.kind}`, data);
      moved();
    },
  });
  const until = async (path, kinds = KINDS) => {
    const late = AbortSignal.timeout(PATIENCE);
    const all = kinds.map((kind) => `${path} ${kind}`);
    while (!all.every((one) => heard.has(one))) {
      if (failed) throw new Error(failed);
      await new Promise((resolve, reject) => {
        moved = resolve;
        late.onabort = () => reject(new Error(`${path} took over ${PATIENCE / 1000} s`));
      });
    }
    return all.map((one) => heard.get(one));
  };
  const profile = mkdtempSync(join(tmpdir(), "kitbag-synced-"));
  const ends = [];
  const ended = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  try {
    const r2 = await bucket(pages.origin);
    ends.push(r2.end);
    const sql = await table(pages.origin);
    ends.push(sql.end);
    const trees = new URLSearchParams({ opfs: r2.url, indexeddb: sql.url, count: COUNT });
    // How long runs take that nobody kills.
    let times = [];
    for (let round = 0; round <= kills + 1; round++) {
      heard.clear();
      trees.set("round", String(round));
      const running = bareChromium({ profile, url: `${pages.origin}/pages/synced.html?${trees}` });
      try {
        for (const [place, found] of (await until("/found")).entries()) {
          judge(KINDS[place], round, found);
        }
        if (round > kills) break;
        if (round === 0) {
          times = (await until("/ended")).map(({ ms }) => ms);
        } else {
          // In the midst of a run of each kind in turn.
          const turn = round % KINDS.length;
          await until("/begun", [KINDS[turn]]);
          await wait(Math.random() * times[turn]);
        }
      } finally {
        await running.kill();
      }
      // What was said when it died has arrived by now, or never will.
      await wait(20);
      if (round === 0) continue;
      for (const kind of KINDS) if (heard.has(`/ended ${kind}`)) ended[kind]++;
    }
    log(
      `runs take ${times.map(Math.round)} ms; of ${kills} kills, these came too late: ${JSON.stringify(ended)}`,
    );
    return ended;
  } finally {
    for (const end of ends.reverse()) await end();
    await pages.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}
