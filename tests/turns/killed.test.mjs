// Processes that are killed in the midst of commits of a hundred files: whoever comes next sees all of a
// commit or nothing. KITBAG_KILLS says how many of each kind (`npm run soak -- turns`: fifty).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";
import { FILES, open } from "./killed.mjs";

const KILLS = Number(process.env.KITBAG_KILLS ?? 4);
/** Places at once: after a kill, a journal is looked at for ten seconds. */
const PLACES = 4;
const PROGRAM = fileURLToPath(new URL("killed-process.mjs", import.meta.url));

/** Kills a process at some moment of a commit, not its first; returns how many commits it told of. */
async function killed(kind, place) {
  const child = spawn(process.execPath, [PROGRAM, kind, place], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  child.stdout.on("data", (data) => {
    told += data;
  });
  await once(child.stdout, "data");
  const began = performance.now();
  await once(child.stdout, "data");
  // Any moment of a commit as long as the one before is as likely as any other.
  const after = Math.random() * (performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, after));
  child.kill("SIGKILL");
  await once(child, "close");
  return { pid: child.pid, round: Number(told.trim().split("\n").at(-1)) };
}

const texts = async (backend, paths) => {
  const answers = await backend.downloadFiles(paths);
  return answers.map(({ content }) => content && new TextDecoder().decode(content));
};

/** What is there after a kill, once somebody else has begun a turn. */
async function looked(kind, place, { pid, round }) {
  const backend = await open(kind, place);
  const own = await roomOf(kitbag);
  const left = await ownFiles(own, backend);
  const broken = new Set(await texts(backend, FILES)).size > 1;
  assert.equal((await kitbag.begin(backend).read("/f/0")).error, undefined);
  const found = new Set(await texts(backend, FILES));
  assert.equal(found.size, 1, `${kind}: ${[...found].slice(0, 4)}`);
  const [text] = found;
  // The commit after the last one that was told of may be made, too.
  const rounds = [round, round + 1].map((one) => `${pid} ${one}\n`);
  assert.ok(rounds.includes(text), `${kind}: ${text} after ${round} of ${pid}`);
  const [often] = await texts(backend, ["/often"]);
  assert.equal(often, Number(text.split(" ")[1]) % 2 === 0 ? null : text);
  assert.deepEqual(await ownFiles(own, backend), []);
  return { broken, begun: left.length > 0 };
}

for (const kind of ["SQLite", "disk"]) {
  test(`${kind}: after ${KILLS} kills in the midst of commits, all or nothing`, async (t) => {
    const seen = { broken: 0, begun: 0 };
    const lane = async (count) => {
      const folder = mkdtempSync(join(tmpdir(), "kitbag-killed-"));
      const place = kind === "disk" ? folder : join(folder, "files.db");
      try {
        for (let at = 0; at < count; at++) {
          const { broken, begun } = await looked(kind, place, await killed(kind, place));
          seen.broken += broken;
          seen.begun += begun;
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    };
    const lanes = Array.from({ length: PLACES }, (_, at) =>
      lane(Math.floor(KILLS / PLACES) + (at < KILLS % PLACES ? 1 : 0)),
    );
    await Promise.all(lanes);
    const { broken, begun } = seen;
    t.diagnostic(
      `${kind}: ${KILLS} kills left ${begun} journals and ${broken} parts of a commit for the next turn`,
    );
    if (kind === "SQLite") assert.equal(broken, 0, "a transaction shows no part of a commit");
    // Kills that never meet a commit would show nothing.
    else if (KILLS >= 20)
      assert.ok(broken > 0 && begun > broken, `${begun} journals, ${broken} parts`);
  });
}
