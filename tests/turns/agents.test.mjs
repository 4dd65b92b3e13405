// Two agents that work on one tree, each with a connection of its own. KITBAG_TURNS says how many turns
// each makes (`npm run soak -- turns`: two hundred). Databases and buckets on servers: `durable-sql`,
// `s3`; IndexedDB: `browser-races`.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sqlite } from "../indexed/store.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { twoAgents } from "../lib/two-agents.mjs";

const TURNS = Number(process.env.KITBAG_TURNS ?? 10);
const folder = mkdtempSync(join(tmpdir(), "kitbag-agents-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const [name, make] of Object.entries({
  SQLite: (what) => sqlite(kitbag, join(folder, `${what}.db`)),
  disk: (what) => new kitbag.FilesystemBackend({ rootDir: join(folder, what) }),
})) {
  test(`${name}: two agents of ${TURNS} turns lose nothing, and their conflicts are real`, async (t) => {
    const { failures, ...seen } = await twoAgents(kitbag.begin, make, TURNS);
    assert.deepEqual(failures, []);
    t.diagnostic(`${name}: ${JSON.stringify(seen)}`);
  });
}
